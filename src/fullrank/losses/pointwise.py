"""Losses of single scores, which should be 1 for positives and low for negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullrank.losses.scores import clean, reduced, setting, share

if TYPE_CHECKING:
    from torch import Tensor


def mse(
    positive: Tensor, negatives: Tensor, *, negative_weight: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Compute the squared error: scores should be 1 for the positive and 0 for negatives.

    Parameters
    ----------
    positive : tensor of real scores, shape (n_rows,)
        Scores of one item of each row's user.
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items.
    negative_weight : float
        λ ≥ 0, the weight of the mean over negatives beside the one positive.
    reduction : {"mean", "none"}
        The mean over rows, or the loss of each.

    Returns
    -------
    tensor
        A number, or shape (n_rows,); float32 if the scores have fewer bits.

    Notes
    -----
    (1 − ŷ⁺)² + λ·(1/n)·Σ_j ŷ_j² (Li, dissertation, equation 93).

    Examples
    --------
    >>> import torch
    >>> print(f"{mse(torch.tensor([0.8]), torch.tensor([[0.2, 0.0]])):.4f}")
    0.0600
    """
    rows, others = clean(positive, negatives=negatives)
    weight = setting("negative_weight", negative_weight)
    return reduced((1 - rows).square() + weight * others.square().mean(dim=-1), reduction)


def debiased_mse(
    positive: Tensor,
    negatives: Tensor,
    extra_positives: Tensor,
    *,
    positive_share: float | Tensor,
    negative_weight: float = 1.0,
    reduction: str = "mean",
) -> Tensor:
    """Compute the squared error, corrected for positives among the negatives.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items, the user's own included.
    extra_positives : tensor, shape (n_rows, m)
        Scores of items drawn from those that the user has.
    positive_share : float in [0, 1), or tensor of shape (n_rows,)
        τ⁺, the share of all items that the user likes, the known ones included: `positive_share`
        of this package. With 0 this is `mse`.
    negative_weight : float
        λ ≥ 0, the weight of the mean over negatives beside the one positive.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    (1 − ŷ⁺)² + λ·[(1/n)·Σ_j ŷ_j² − τ⁺·(1/m)·Σ_k ŷ_k²] (Li, dissertation, equations 93 and 98). It
    can be negative, and with λ·τ⁺ ≥ 1 it has no lower bound.

    Examples
    --------
    >>> import torch
    >>> positive, extra = torch.tensor([0.8]), torch.tensor([[0.9, 0.7]])
    >>> negatives = torch.tensor([[0.2, 0.0]])
    >>> print(f"{debiased_mse(positive, negatives, extra, positive_share=0.01):.4f}")
    0.0535
    """
    rows, others, extra = clean(positive, negatives=negatives, extra_positives=extra_positives)
    weight = setting("negative_weight", negative_weight)
    biased = others.square().mean(dim=-1)
    taken = share(positive_share, rows) * extra.square().mean(dim=-1)
    return reduced((1 - rows).square() + weight * (biased - taken), reduction)


def ccl(
    positive: Tensor,
    negatives: Tensor,
    *,
    margin: float = 0.4,
    negative_weight: float = 20.0,
    reduction: str = "mean",
) -> Tensor:
    """Compute the cosine contrastive loss: cosines should be 1 or, for negatives, below a margin.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
        Cosines.
    negatives : tensor, shape (n_rows, n)
    margin : float in -1..1
        ε: negatives below it are left alone.
    negative_weight : float
        w ≥ 0, the weight of the mean over negatives beside the one positive. The higher the margin,
        the fewer negatives exceed it and the more weight they need; with too little weight, all
        vectors collapse into one.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    (1 − ŷ⁺) + w·(1/n)·Σ_j max(0, ŷ_j − ε) (Li, dissertation, equation 94).

    References
    ----------
    K. Mao et al., "SimpleX: a simple and strong baseline for collaborative filtering", CIKM 2021.

    Examples
    --------
    >>> import torch
    >>> positive, negatives = torch.tensor([0.8]), torch.tensor([[0.6, 0.2]])
    >>> print(f"{ccl(positive, negatives, margin=0.5, negative_weight=10):.4f}")
    0.7000
    """
    rows, others = clean(positive, negatives=negatives)
    above = setting("margin", margin)
    weight = setting("negative_weight", negative_weight)
    return reduced((1 - rows) + weight * (others - above).relu().mean(dim=-1), reduction)


def debiased_ccl(
    positive: Tensor,
    negatives: Tensor,
    extra_positives: Tensor,
    *,
    positive_share: float | Tensor,
    margin: float = 0.4,
    negative_weight: float = 20.0,
    reduction: str = "mean",
) -> Tensor:
    """Compute the cosine contrastive loss, corrected for positives among the negatives.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
        Cosines.
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items, including the user's own.
    extra_positives : tensor, shape (n_rows, m)
        Scores of items drawn from those that the user has.
    positive_share : float in [0, 1), or tensor of shape (n_rows,)
        τ⁺, the share of all items that the user likes, the known ones included: `positive_share`
        of this package. With 0 this is `ccl`.
    margin : float in -1..1
        ε: negatives below it are left alone.
    negative_weight : float
        λ ≥ 0, the weight of the mean over negatives beside the one positive.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    (1 − ŷ⁺) + λ·[(1/n)·Σ_j max(0, ŷ_j − ε) − τ⁺·(1/m)·Σ_k max(0, ŷ_k − ε)] (Li, dissertation,
    equation 98).

    Examples
    --------
    >>> import torch
    >>> positive, extra = torch.tensor([0.8]), torch.tensor([[0.9, 0.7]])
    >>> negatives = torch.tensor([[0.6, 0.2]])
    >>> settings = {"margin": 0.5, "negative_weight": 10, "positive_share": 0.01}
    >>> print(f"{debiased_ccl(positive, negatives, extra, **settings):.4f}")
    0.6700
    """
    rows, others, extra = clean(positive, negatives=negatives, extra_positives=extra_positives)
    above = setting("margin", margin)
    weight = setting("negative_weight", negative_weight)
    biased = (others - above).relu().mean(dim=-1)
    taken = share(positive_share, rows) * (extra - above).relu().mean(dim=-1)
    return reduced((1 - rows) + weight * (biased - taken), reduction)
