"""Losses of pairs of a positive and a negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullrank.losses.scores import clean, log_one_plus_exp, reduced

if TYPE_CHECKING:
    from torch import Tensor


def bpr(positive: Tensor, negatives: Tensor, *, reduction: str = "mean") -> Tensor:
    """Compute the loss of Bayesian personalised ranking: negatives should score below the positive.

    Parameters
    ----------
    positive : tensor of real scores, shape (n_rows,)
        Scores of one item of each row's user.
    negatives : tensor, shape (n_rows, n)
        Scores of items that the user does not have, or of items drawn from all. One per row is
        usual.
    reduction : {"mean", "none"}
        The mean over rows, or the loss of each; over a row's negatives it is always the sum.

    Returns
    -------
    tensor
        A number, or shape (n_rows,); float32 if the scores have fewer bits.

    Notes
    -----
    Σ_j log(1 + exp(ŷ_j − ŷ⁺)) = −Σ_j log σ(ŷ⁺ − ŷ_j) (Li, dissertation, equation 89).

    References
    ----------
    S. Rendle, C. Freudenthaler, Z. Gantner, L. Schmidt-Thieme, "BPR: Bayesian personalized
    ranking from implicit feedback", UAI 2009.

    Examples
    --------
    >>> import torch
    >>> print(f"{bpr(torch.tensor([2.0]), torch.tensor([[1.0, 0.0]])):.4f}")
    0.4402
    """
    rows, others = clean(positive, negatives=negatives)
    gaps = others - rows.unsqueeze(-1)
    return reduced(log_one_plus_exp(gaps).sum(dim=-1), reduction)
