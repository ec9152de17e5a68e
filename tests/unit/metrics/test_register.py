"""Metrics of one's own: what they promise, and who asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import fullrank as fr
from fullrank import metrics
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.samples import ExactRanks, RankSample, simulate

SAMPLE = simulate(np.arange(1, 201), n_items=200, design="sampled:50", rng=0)
OWN = RankSample.from_ranks([1, 3, 4], n_items=[40, 50, 60], sample_size=[10, 10, 10])


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    metrics.register("rbp", lambda rank: 0.9 ** (rank - 1.0), says="rank-biased precision")
    metrics.register("steps", lambda rank: 1.0 * (rank <= 10) + 0.5 * (rank > 10), smooth=False)
    metrics.register("middle", lambda rank: (rank > 5) / rank, decreasing=False)
    metrics.register(
        "percentile", lambda rank, n_items: 1.0 - (rank - 1.0) / n_items, uses_catalogue=True
    )
    metrics.register("single", lambda rank: 1.0 / rank, multi_target=None, aliases=("alone",))
    metrics.register("first", lambda rank: 1.0 / rank, multi_target="first", needs_cutoff=True)
    yield
    for name in ("rbp", "steps", "middle", "percentile", "single", "first"):
        metrics.unregister(name)


def test_it_has_a_name_like_others() -> None:
    assert metrics.names()["rbp"] == "rank-biased precision"
    assert metrics.parse("RBP@10") == metrics.parse("rbp@10")
    assert metrics.parse("RBP@10").name == "RBP@10"
    assert metrics.parse("alone") == metrics.parse("single")
    found = metrics.evaluate([1, 2, 11], "rbp@10", n_items=50)
    assert found == {"rbp@10": pytest.approx(1.9 / 3)}
    assert "rbp" in str(fr.estimate(SAMPLE, metrics="rbp"))


def test_exact_ranks_and_estimates_agree_where_all_is_known() -> None:
    exact = ExactRanks.from_ranks(np.arange(1, 201), n_items=200)
    whole = simulate(np.arange(1, 201), n_items=200, design="sampled:200", rng=0)
    for name in ("rbp", "steps", "middle@50", "percentile", "single", "first@20"):
        value = exact.metrics(name)[name]
        assert fr.estimate(whole, metrics=name)[name] == pytest.approx(value)


def test_steps_are_summed_rank_by_rank() -> None:
    grid = RankGrid(np.array([0, 8, 20_000, 60_000]))
    means = grid.averages(metrics.parse("steps"))
    np.testing.assert_allclose(means, [1.0, (2.0 + 0.5 * 19_990) / 19_992, 0.5])
    np.testing.assert_allclose(grid.averages(metrics.parse("steps@9"))[1], 1.0 / 19_992)


def test_several_targets_count_as_it_was_said() -> None:
    users = [7, 7, 8]
    found = metrics.evaluate([1, 3, 2], "rbp, first@10", n_items=50, user=users)
    assert found["rbp"] == pytest.approx(((1.0 + 0.81) / 2 + 0.9) / 2)
    assert found["first@10"] == pytest.approx((1.0 + 0.5) / 2)
    with pytest.raises(InputError, match=r"`metrics`.*single"):
        metrics.evaluate([1, 3, 2], "single", n_items=50, user=users)


def test_bounds_need_a_metric_that_falls() -> None:
    with pytest.raises(InputError, match=r"`metrics`.*middle.*decreasing=False"):
        fr.bounds(SAMPLE, "middle@20")
    assert fr.bounds(SAMPLE, "rbp")["rbp"].low <= fr.estimate(SAMPLE, metrics="rbp")["rbp"]


def test_catalogues_of_their_own_need_a_metric_that_does_not_look_at_them() -> None:
    for function in (fr.estimate, fr.bounds):
        with pytest.raises(InputError, match=r"`metrics`.*percentile.*uses_catalogue"):
            function(OWN, metrics="percentile")
    assert fr.estimate(OWN, metrics="rbp")["rbp"] > 0.0


def test_a_report_says_why_there_are_no_bounds(need, tmp_path) -> None:
    need("jinja2")
    from fullrank.reporting import report

    report({"a": SAMPLE}, tmp_path / "report.html", metrics="middle@20")
    assert "middle@20" in (tmp_path / "report.html").read_text("utf-8")


def test_a_cut_off_that_is_needed() -> None:
    with pytest.raises(InputError, match=r"`metric`.*first@10"):
        metrics.parse("first")


@pytest.mark.parametrize(
    ("gain", "settings", "message"),
    [
        (lambda rank: rank, {}, r"`gain` of new.*0\.\.1.*rank 2 is 2"),
        (lambda rank: rank / 1e6, {}, r"`gain` of new.*rise.*rank 2"),
        (lambda rank: 1.0, {}, r"`gain` of new.*shape \(1000,\)"),
        (lambda rank: rank * np.nan, {}, r"`gain` of new.*rank 1 is nan"),
        (lambda rank: 1 / rank, {"multi_target": "all"}, r"`multi_target`.*'all'"),
        (lambda rank: 1 / rank, {"smooth": "yes"}, r"`smooth`.*'yes'"),
    ],
)
def test_what_is_no_gain_is_refused(gain, settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.register("new", gain, **settings)
    assert "new" not in metrics.names()


def test_a_function_of_one_rank_is_told_to_take_an_array() -> None:
    with pytest.raises(InputError, match=r"`gain` of one.*an array of ranks.*raises ValueError"):
        metrics.register("one", lambda rank: 1.0 if rank < 3 else 0.0)
    with pytest.raises(InputError, match=r"`gain` of two.*numbers of items.*raises TypeError"):
        metrics.register("two", lambda rank: 1.0 / rank, uses_catalogue=True)
    assert not {"one", "two"} & set(metrics.names())


def test_a_metric_needs_a_name() -> None:
    with pytest.raises(InputError, match=r"`name`.*letter.*''"):
        metrics.register("", lambda rank: 1.0 / rank)
