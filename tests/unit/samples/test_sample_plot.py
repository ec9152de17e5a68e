"""The picture of a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullrank.samples import RankSample


def test_the_plot_is_the_share_at_each_rank_or_better(need: Callable[[str], Any]) -> None:
    need("matplotlib")
    fixed = RankSample.from_ranks([1, 3, 3, 10], sample_size=10, n_items=50)
    (line,) = fixed.plot().lines
    assert line.get_ydata()[[0, 1, 2, 9]].tolist() == [0.25, 0.25, 0.75, 1.0]
    own = RankSample.from_ranks([1, 4], sample_size=[10, 20], n_items=50)
    assert len(own.plot().lines) == 2
