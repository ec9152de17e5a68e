"""Losses of a positive against many items at once: softmax, InfoNCE, MINE and variants."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.losses.scores import (
    clean,
    load_torch,
    log_mean_exp,
    log_one_plus_exp,
    reduced,
    setting,
    share,
)

if TYPE_CHECKING:
    from torch import Tensor


def softmax(
    positive: Tensor, catalogue: Tensor, *, temperature: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Compute the softmax loss: minus the log-probability of the positive among all items.

    Parameters
    ----------
    positive : tensor of real scores, shape (n_rows,)
        Scores of one item of each row's user. All losses accept several leading axes.
    catalogue : tensor, shape (n_rows, n_items)
        Scores of all items, including the positive.
    temperature : float
        Scores are divided by it: the lower it is, the more the highest scores count.
    reduction : {"mean", "none"}
        The mean over rows, or the loss of each.

    Returns
    -------
    tensor
        A number, or shape (n_rows,); float32 if the scores have fewer bits.

    Notes
    -----
    ŷ⁺ is the positive's score and t the temperature: log Σ_j exp(ŷ_j/t) − ŷ⁺/t (Li, dissertation,
    equation 77).

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([[2.0, 1.0, 0.0]])
    >>> print(f"{softmax(scores[:, 0], scores):.4f}")
    0.4076
    """
    rows, others = clean(positive, catalogue=catalogue)
    heat = setting("temperature", temperature)
    return reduced(load_torch().logsumexp(others / heat, dim=-1) - rows / heat, reduction)


def sampled_softmax(
    positive: Tensor,
    negatives: Tensor,
    *,
    log_probability: Tensor,
    temperature: float = 1.0,
    negative_weight: float = 1.0,
    reduction: str = "mean",
) -> Tensor:
    """Estimate the softmax loss from a sample of items drawn from any distribution.

    Dividing each exponential by the probability with which its item was drawn makes their mean an
    estimate of the sum over the catalogue.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items, with replacement.
    log_probability : tensor, the shape of `negatives` or one that broadcasts to it
        The logarithm of the probability of each of these items in one draw; −log n_items when
        they are drawn uniformly.
    temperature : float
    negative_weight : float
        The weight of the estimated sum. 1 estimates the softmax; n, the number of negatives, gives
        equation 78 with a sum in place of the mean.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    −log [e^(ŷ⁺/t) / (e^(ŷ⁺/t) + λ·(1/n)·Σ_j e^(ŷ_j/t)/p(j))] (Li, dissertation, equation 78), λ the
    negative weight.

    Examples
    --------
    Every item once, at equal probabilities, gives the softmax of the positive among itself and
    all of them.

    >>> import torch
    >>> negatives = torch.tensor([[1.0, 0.0]])
    >>> chances = torch.full((2,), 0.5).log()
    >>> print(f"{sampled_softmax(torch.tensor([2.0]), negatives, log_probability=chances):.4f}")
    0.4076
    """
    torch = load_torch()
    rows, others = clean(positive, negatives=negatives)
    heat = setting("temperature", temperature)
    weight = setting("negative_weight", negative_weight, in_log=True)
    if not isinstance(log_probability, torch.Tensor):
        raise InputError(
            f"`log_probability` must be a torch tensor, not {type(log_probability).__name__}."
        )
    fits = log_probability.ndim <= others.ndim and all(
        given in (1, wanted)
        for given, wanted in zip(
            reversed(log_probability.shape), reversed(others.shape), strict=False
        )
    )
    if not fits:
        raise InputError(
            f"`log_probability` must have one value for each entry of `negatives`, shape "
            f"{tuple(others.shape)}; it has {tuple(log_probability.shape)}."
        )
    estimate = log_mean_exp(others / heat - log_probability.to(others))
    return reduced(_against(rows / heat, estimate, weight), reduction)


def info_nce(
    positive: Tensor,
    negatives: Tensor,
    *,
    temperature: float = 1.0,
    negative_weight: float | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Compute InfoNCE: identify the positive among sampled items.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items, some of which the user may like.
    temperature : float
        1 suits dot products; cosines need less, about 0.1.
    negative_weight : float, optional
        λ, the weight of the mean over negatives; default: n, which gives the plain sum.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    −log [e^(ŷ⁺/t) / (e^(ŷ⁺/t) + λ·(1/n)·Σ_j e^(ŷ_j/t))] (Li, dissertation, equation 80,
    where λ = n).

    Examples
    --------
    >>> import torch
    >>> print(f"{info_nce(torch.tensor([2.0]), torch.tensor([[1.0, 0.0]])):.4f}")
    0.4076
    """
    rows, others = clean(positive, negatives=negatives)
    heat = setting("temperature", temperature)
    weight = _weight(negative_weight, others)
    return reduced(_against(rows / heat, log_mean_exp(others / heat), weight), reduction)


def debiased_info_nce(
    positive: Tensor,
    negatives: Tensor,
    extra_positives: Tensor,
    *,
    positive_share: float | Tensor,
    temperature: float = 1.0,
    negative_weight: float | None = None,
    lowest_score: float = -1.0,
    reduction: str = "mean",
) -> Tensor:
    """Compute InfoNCE corrected for positives among the negatives.

    Negatives drawn from all items hold unseen positives. Their contribution to the mean of
    exponentials is estimated from other positives of the same user and subtracted.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
    negatives : tensor, shape (n_rows, n)
        Scores of items drawn from all items.
    extra_positives : tensor, shape (n_rows, m)
        Scores of items drawn from those that the user has.
    positive_share : float in [0, 1), or tensor of shape (n_rows,)
        τ⁺, the share of all items that the user likes, including the known ones; see
        `positive_share`. With 0 this is `info_nce`.
    temperature : float
    negative_weight : float, optional
        λ, the weight of the mean over negatives; default: n.
    lowest_score : float
        The lowest possible score, −1 for cosines: the corrected mean is at least
        exp(lowest_score / temperature). Give `-math.inf` for dot products, which have no lower
        bound.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    The mean over negatives in `info_nce` becomes max{[(1/n)·Σ_j e^(ŷ_j/t) − τ⁺·(1/m)·Σ_k
    e^(ŷ_k/t)]/(1 − τ⁺), e^(lowest/t)} (Li, dissertation, equation 83). Rows at this lower bound
    learn only from the positive, and with `-math.inf` not at all.

    References
    ----------
    C.-Y. Chuang, J. Robinson, Y.-C. Lin, A. Torralba, S. Jegelka, "Debiased contrastive
    learning", NeurIPS 2020.

    Examples
    --------
    >>> import torch
    >>> positive, extra = torch.tensor([0.9]), torch.tensor([[0.8, 0.9]])
    >>> negatives = torch.tensor([[0.9, 0.0, -0.5]])
    >>> for share in (0.0, 0.2):
    ...     print(f"{debiased_info_nce(positive, negatives, extra, positive_share=share):.4f}")
    0.9758
    0.8553
    """
    rows, others, extra = clean(positive, negatives=negatives, extra_positives=extra_positives)
    heat = setting("temperature", temperature)
    if lowest_score != -math.inf:
        lowest_score = checks.real("lowest_score", lowest_score)
    tau = share(positive_share, rows)
    corrected = _log_difference(
        log_mean_exp(others / heat), log_mean_exp(extra / heat) + tau.log(), tau
    ).clamp(min=lowest_score / heat)
    weight = _weight(negative_weight, others)
    return reduced(_against(rows / heat, corrected, weight), reduction)


def mine(positive: Tensor, negatives: Tensor, *, reduction: str = "mean") -> Tensor:
    """Compute MINE (mutual information neural estimation): InfoNCE without the positive in the sum.

    A positive above all negatives still learns, because the loss has no lower bound.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
    negatives : tensor, shape (n_rows, n)
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    log Σ_j exp(ŷ_j) − ŷ⁺ (Li, dissertation, equation 86).

    References
    ----------
    M. I. Belghazi et al., "Mutual information neural estimation", ICML 2018.

    Examples
    --------
    >>> import torch
    >>> print(f"{mine(torch.tensor([2.0]), torch.tensor([[1.0, 0.0]])):.4f}")
    -0.6867
    """
    rows, others = clean(positive, negatives=negatives)
    return reduced(load_torch().logsumexp(others, dim=-1) - rows, reduction)


def mine_plus(
    positive: Tensor,
    negatives: Tensor,
    *,
    temperature: float = 0.15,
    negative_weight: float = 1.2,
    reduction: str = "mean",
) -> Tensor:
    """Compute MINE of cosines, with a temperature and a weight of the negatives.

    Parameters
    ----------
    positive : tensor, shape (n_rows,)
        Cosines: see Notes.
    negatives : tensor, shape (n_rows, n)
    temperature : float
        0.1 to 0.5.
    negative_weight : float
        λ ≥ 0. Above 1, negatives are pushed away more strongly than the positive is pulled closer.
    reduction : {"mean", "none"}

    Returns
    -------
    tensor

    Notes
    -----
    λ·log Σ_j exp(ŷ_j/t) − ŷ⁺/t (Li, dissertation, equation 92; its Table 19 has t = 0.4 and λ = 1.2
    for Gowalla). With λ ≠ 1 the loss depends on more than differences of scores, so it diverges for
    unbounded scores such as dot products.

    Examples
    --------
    >>> import torch
    >>> positive, negatives = torch.tensor([0.9]), torch.tensor([[0.1, -0.2]])
    >>> print(f"{mine_plus(positive, negatives, temperature=0.4):.4f}")
    -1.4858
    """
    rows, others = clean(positive, negatives=negatives)
    heat = setting("temperature", temperature)
    weight = setting("negative_weight", negative_weight)
    pushed = weight * load_torch().logsumexp(others / heat, dim=-1)
    return reduced(pushed - rows / heat, reduction)


def _weight(given: float | None, negatives: Tensor) -> float:
    """The weight of a mean over negatives that is by default their sum."""
    if given is None:
        return negatives.shape[-1]
    return setting("negative_weight", given, in_log=True)


def _against(positive: Tensor, log_mean: Tensor, weight: float) -> Tensor:
    """−log [e^p / (e^p + λ·e^m)] = log(1 + e^(m + log λ − p))."""
    return log_one_plus_exp(log_mean + math.log(weight) - positive)


def _log_difference(whole: Tensor, part: Tensor, tau: Tensor) -> Tensor:
    """The logarithm of (e^whole − e^part)/(1 − τ), −∞ where nothing is left."""
    torch = load_torch()
    left = part < whole
    # the row that is not taken needs a finite gradient too
    gap = torch.where(left, part - whole, -1.0)
    # 1 − e^gap itself would be 0 where little is left, and its slope infinite
    found = whole + (-gap.expm1()).log() - torch.log1p(-tau)
    return torch.where(left, found, -math.inf)  # type: ignore[no-any-return]
