"""The contract of metrics."""

from __future__ import annotations

import numpy as np

from fullrank.designs import RankGrid
from fullrank.metrics import Metric, parse
from fullrank.testing.expect import expect

_ITEMS = 300_000
_CUT = 7


def check_metric(metric: str | Metric) -> None:
    """Check that a metric keeps the contract: gains between 0 and 1, and its own promises.

    Parameters
    ----------
    metric : name of a registered metric, with or without ``@K``

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it.

    Examples
    --------
    >>> check_metric("ndcg@10")
    """
    one = parse(metric)
    ranks = np.arange(1.0, 20_001.0)
    gains = one.weights(ranks, _ITEMS)
    expect(bool(np.isfinite(gains).all()), "every gain must be finite")
    expect(bool(((gains >= 0.0) & (gains <= 1.0)).all()), "every gain must lie in 0..1")
    expect(np.array_equal(gains, one.weights(ranks, _ITEMS)), "equal ranks must have equal gains")
    expect(parse(one.name) == one, "the name must parse to the same metric")
    _check_cut(one, ranks)
    _check_promises(one, ranks)
    if one.promises.multi_target:
        _check_several(one)


def _check_cut(metric: Metric, ranks: np.ndarray) -> None:
    cut = Metric(metric.kind, _CUT).weights(ranks, _ITEMS)
    expect(not cut[_CUT:].any(), "a target beyond the cut-off must have a gain of 0")


def _check_promises(metric: Metric, ranks: np.ndarray) -> None:
    promises, gains = metric.promises, metric.weights(ranks, _ITEMS)
    falls = not (np.diff(gains) > 0.0).any()
    expect(falls or not promises.decreasing, "decreasing: the gain must not rise with the rank")
    same = np.allclose(metric.shape(ranks, _ITEMS), metric.shape(ranks, 2 * _ITEMS), rtol=1e-12)
    expect(
        same or promises.uses_catalogue,
        "uses_catalogue=False: the gain must not depend on the number of items",
    )
    if promises.smooth:
        _check_smooth(metric)


def _check_smooth(metric: Metric) -> None:
    """The mean over a wide bin, by a few ranks and by all of them."""
    whole = metric if metric.promises.needs_cutoff else Metric(metric.kind)
    grid = RankGrid.default(_ITEMS)
    wide = int(np.argmax(grid.widths))
    inside = np.arange(grid.edges[wide] + 1.0, grid.edges[wide + 1] + 1.0)
    mean = float(whole.weights(inside, _ITEMS).mean())
    found = float(grid.averages(whole)[wide])
    expect(
        bool(np.isclose(found, mean, rtol=1e-6, atol=1e-12)),
        "smooth: the mean gain over a wide bin of ranks must equal the mean over a few of them",
    )


def _check_several(metric: Metric) -> None:
    gains = metric.gains([1, 2, 3], 100, n_targets=3, offset=[0, 1, 2])
    expect(
        bool(0.0 <= gains.sum() <= 1.0 + 1e-12),
        "multi_target: the gains of a user's targets must sum to a number in 0..1",
    )
