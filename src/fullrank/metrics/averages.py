"""Exact metrics of given ranks: one target per user, or several."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.metrics.metric import DEFAULT, Metric, parse, parse_all

ONE_BASED = "Ranks are 1-based."


def weighted_mean(gains: Floats, weight: Floats, n_targets: Any = 1) -> float:
    """The mean over users of what their targets add, each target with its user's weight.

    Products and sums are exact and rounded once, at the end. So neither the order of the targets
    nor how they are grouped (one row each, or one row and a count) changes a bit of the mean.

    Examples
    --------
    >>> weighted_mean(np.array([1.0, 0.0, 0.25]), np.ones(3))
    0.4166666666666667
    """
    total = math.fsum((weight / n_targets).tolist())
    if not total > 0.0:
        raise InputError("`weight` must have a positive sum; all are 0.")
    felt = gains != 0.0
    gain, times = gains[felt], weight[felt]
    high = gain * times
    parts = high.tolist()
    if (times != 1.0).any():
        parts += _lost(gain, times, high).tolist()
    return math.fsum(parts) / total


def _lost(first: Floats, second: Floats, product: Floats) -> Floats:
    """What rounding took off each product, exactly (Dekker 1971): halves multiply exactly."""
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (x * 134217729.0 for x in (first, second))
        (h1, h2) = (a - (a - first), b - (b - second))
        l1, l2 = first - h1, second - h2
        lost = ((h1 * h2 - product) + h1 * l2 + l1 * h2) + l1 * l2
    return np.where(np.isfinite(lost), lost, 0.0)


def evaluate(
    ranks: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    n_items: int,
    user: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Average metrics of targets whose ranks are known.

    Parameters
    ----------
    ranks : array of ranks in 1..n_items, one for each target
    metrics : names such as ``"ndcg@10"``
    n_items : catalogue size
    user : array, the user of each target; default: each target has its own user
    weight : array, one weight for each user, in the order of ``np.unique(user)``

    Returns
    -------
    dict from metric name to its (weighted) mean over users

    Notes
    -----
    A user's targets are a set: the number of other targets above each is read off their
    ranks. `metrics.names()` describes each metric (Rendle 2019, equations 2-15).

    Examples
    --------
    >>> from fullrank import metrics
    >>> metrics.evaluate([3, 5, 40], "recall@10, ap@10", n_items=50, user=[7, 7, 8])
    {'recall@10': 0.5, 'ap@10': 0.18333333333333335}
    """
    parsed = parse_all(metrics)
    values = [user_values(ranks, metric, n_items=n_items, user=user) for metric in parsed]
    if weight is None:
        weights = np.ones(values[0].size)
    else:
        weights = checks.weights("weight", weight, values[0].size)
    return {
        metric.name: float(np.average(value, weights=weights))
        for metric, value in zip(parsed, values, strict=True)
    }


def user_values(
    ranks: ArrayLike, metric: str | Metric, *, n_items: int, user: ArrayLike | None = None
) -> Floats:
    """The metric of every user, in the order of ``np.unique(user)`` (or of `ranks`)."""
    n_items = checks.integer("n_items", n_items, low=1)
    rank = check_ranks("ranks", ranks, n_items)
    metric = parse(metric)
    if user is None:
        return metric.weights(rank, n_items)
    users, group = _groups(user, rank.size)
    n_targets = np.bincount(group)
    offset = _offsets(rank, group)
    _check_places(rank, group, offset, n_items - n_targets[group])
    gains = metric.gains(rank, n_items, n_targets=n_targets[group], offset=offset)
    return np.asarray(np.bincount(group, gains, users.size), dtype=np.float64)


def offsets(ranks: ArrayLike, user: ArrayLike) -> NDArray[np.int64]:
    """For each target the number of other targets of its user that rank above it.

    Targets of equal rank keep the order in which they are given.
    """
    rank = checks.reals("ranks", ranks)
    return _offsets(rank, _groups(user, rank.size)[1])


def check_ranks(name: str, ranks: ArrayLike, n_items: int) -> Floats:
    """Ranks in 1..n_items as float64; halves are allowed (mean ties)."""
    rank = checks.reals(name, ranks)
    if rank.size == 0:
        raise InputError(f"`{name}` must hold at least one rank; it is empty.")
    checks.reject(name, rank, (rank < 1) | (rank > n_items), f"lie in 1..{n_items}", ONE_BASED)
    return rank


def _groups(user: ArrayLike, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    unique, group = np.unique(checks.labels("user", user, size, "rank"), return_inverse=True)
    return unique, group.astype(np.int64)


def _check_places(
    rank: Floats, group: NDArray[np.int64], offset: NDArray[np.int64], n_others: NDArray[np.int64]
) -> None:
    """The non-targets above a target are none at least and all at most.

    Targets that share a rank share the mean of their places.
    """
    order = np.lexsort((rank, group))
    new = (np.diff(group[order]) != 0) | (np.diff(rank[order]) != 0)
    tied = np.empty(rank.size, np.int64)
    tied[order] = np.concatenate([[0], np.cumsum(new)])
    place = np.bincount(tied, offset) / np.bincount(tied)
    above = rank - 1.0 - place[tied]
    checks.reject(
        "ranks",
        rank,
        (above < 0.0) | (above > n_others),
        "be consistent across the targets of each user",
        "Tied targets of a user share the mean of their ranks, such as 1.5 and 1.5.",
    )


def _offsets(rank: Floats, group: NDArray[np.int64]) -> NDArray[np.int64]:
    order = np.lexsort((rank, group))
    position = np.arange(rank.size)
    sorted_group = group[order]
    starts = np.searchsorted(sorted_group, sorted_group, side="left")
    result = np.empty(rank.size, np.int64)
    result[order] = position - starts
    return result
