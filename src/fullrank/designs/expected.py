"""The expected sampled metric, without simulation (Rendle 2019, section 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, memory
from fullrank._lib.types import Floats
from fullrank.designs.design import Design
from fullrank.designs.probabilities import check_sizes
from fullrank.errors import InputError
from fullrank.metrics import Metric, parse

_CELLS = 4_000_000  # kernel entries held at a time: 32 MB


def expected_metric(
    true_ranks: ArrayLike,
    metric: str | Metric,
    *,
    n_items: int,
    design: str | Design = "sampled:100",
) -> Floats:
    """Compute the expected sampled metric of targets with given true ranks.

    Parameters
    ----------
    true_ranks : ranks R in 1..n_items
    metric : such as ``"ndcg@10"``, computed among the n candidates
    n_items : catalogue size N
    design : of a fixed size, as ``"sampled:100"``; Rendle draws with replacement

    Returns
    -------
    array, E[M(r) | R] for each true rank

    Notes
    -----
    The sum over r of P(r | R) M(r) (equation 19), in closed form for

    - AUC: itself, (N - R)/(N - 1), at any n (equation 25);
    - AP and RR without a cut-off: with p = (R - 1)/(N - 1), (1 - (1 - p)^n)/(n p) with
      replacement (equation 29) and N/(n R) (1 - C(N - R, n)/C(N, n)) without. Both follow
      from C(n-1, r-1)/r = C(n, r)/n: dividing by r turns the kernel of n - 1 draws into
      that of n, short of its term at 0.

    Examples
    --------
    >>> design = "sampled:100,replacement=true"
    >>> expected_metric([2, 100, 1000], "recall@10", n_items=10_000, design=design).round(3)
    array([1.   , 1.   , 0.466])
    """
    metric = parse(metric)
    n_items, n, drawn = _sizes(n_items, design)
    ranks, where = _distinct(true_ranks, n_items)
    whole = metric.k is None or metric.k >= n
    if metric.promises.share_below and whole and n > 1 and drawn.uniform:
        values = metric.shape(ranks, n_items)
    elif metric.promises.reciprocal and whole and drawn.uniform:
        values = _expected_ap(ranks, n, n_items, drawn.replacement)
    else:
        values = _moment(metric.weights(np.arange(1, n + 1), n), ranks, n, n_items, drawn)
    return np.asarray(values[where])


def sampled_metric_std(
    true_ranks: ArrayLike,
    metric: str | Metric,
    *,
    n_items: int,
    design: str | Design = "sampled:100",
) -> float:
    """The standard deviation of the sampled metric averaged over the given targets.

    The targets are fixed and each has its own draw, so that variances add:
    sqrt(sum of Var[M(r) | R]) / number of targets.
    """
    metric = parse(metric)
    n_items, n, drawn = _sizes(n_items, design)
    ranks, where = _distinct(true_ranks, n_items)
    gains = metric.weights(np.arange(1, n + 1), n)
    mean = _moment(gains, ranks, n, n_items, drawn)
    variance = np.maximum(0.0, _moment(gains**2, ranks, n, n_items, drawn) - mean**2)
    return float(np.sqrt(variance[where].sum()) / where.size)


def collapse(metric: str | Metric, n_items: int) -> tuple[float, float]:
    """Slope and intercept of the expected metric in R when one item is sampled.

    With one sampled item every metric is a straight line in the true rank, that is AUC
    under another name (Rendle 2019, equation 35). A slope of 0 means that the metric
    cannot tell rank 1 from rank 2 and says nothing.

    Examples
    --------
    >>> slope, intercept = collapse("ndcg", n_items=101)
    >>> round(slope * 1 + intercept, 6), round(slope * 101 + intercept, 6)
    (1.0, 0.63093)
    """
    n_items = checks.integer("n_items", n_items, low=2)
    first, second = parse(metric).weights([1, 2], 2)
    return float((second - first) / (n_items - 1)), float(
        (n_items * first - second) / (n_items - 1)
    )


def _sizes(n_items: int, design: str | Design) -> tuple[int, int, Design]:
    """Sizes that go together, and that are not beyond every machine."""
    n_items = checks.integer("n_items", n_items, low=1)
    drawn = Design.of(design)
    n_items, n = check_sizes(n_items, drawn.size_for(n_items), drawn.replacement)
    memory.ask("sample_size", 64 * n, f"every rank among {n:,} candidates")
    return n_items, n, drawn


def _distinct(true_ranks: ArrayLike, n_items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ranks = checks.integers(
        "true_ranks", true_ranks, low=1, high=n_items, hint="Ranks are 1-based."
    )
    if ranks.size == 0:
        raise InputError("`true_ranks` must hold at least one rank; it is empty.")
    distinct, where = np.unique(ranks, return_inverse=True)
    return distinct, where


def _moment(
    gains: Floats, ranks: NDArray[np.int64], n: int, n_items: int, design: Design
) -> Floats:
    step, every = max(1, _CELLS // n), np.arange(1, n + 1)
    parts = [
        design.likelihood_at(ranks[i : i + step], every, n, n_items=n_items) @ gains
        for i in range(0, ranks.size, step)
    ]
    return np.concatenate(parts)


def _expected_ap(ranks: NDArray[np.int64], n: int, n_items: int, replacement: bool) -> Floats:
    if replacement:
        p = (ranks - 1) / max(n_items - 1, 1)
        with np.errstate(divide="ignore"):
            miss = np.log1p(-p)  # the logarithm keeps the digits where n p is small
        return np.asarray(np.divide(-np.expm1(n * miss), n * p, out=np.ones_like(p), where=p > 0))
    # log of C(N - R, n)/C(N, n) = prod over i < n of (1 - R/(N - i))
    missed = np.zeros(ranks.size)
    with np.errstate(divide="ignore"):
        for start in range(0, n, 4096):
            left = n_items - np.arange(start, min(n, start + 4096))
            missed += np.log1p(np.maximum(-1.0, -(ranks[:, None] / left))).sum(axis=1)
    return np.asarray(-np.expm1(missed) * n_items / (n * ranks))
