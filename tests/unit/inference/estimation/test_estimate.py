"""Estimates with standard errors, intervals and a diagnosis."""

import json
from typing import Any

import numpy as np
import pytest

from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators import METHODS
from fullrank.inference import Estimate, Interval, estimate, pseudo_values
from fullrank.inference.estimation.uncertainty import interval
from fullrank.inference.statistics.proportions import wilson
from fullrank.metrics import parse_all
from fullrank.ranking import rank
from fullrank.samples import RankSample, simulate

TRUE = np.minimum(np.random.default_rng(3).geometric(0.02, 400), 300)
FIXED = simulate(TRUE, n_items=300, design="sampled:30", rng=0)
ADAPTIVE = simulate(TRUE, n_items=300, design="adaptive:levels=10/20/40/80", rng=0)
FULL = simulate(TRUE, n_items=300, design="sampled:300")


def two_targets(n_users: int = 200, seed: int = 0) -> RankSample:
    """Users with two targets each, ranked among 30 of 100 non-targets."""
    rng = np.random.default_rng(seed)
    above = np.sort(rng.integers(0, 80, (n_users, 2)), axis=1)
    drawn = rng.hypergeometric(above, 98 - above, 29)
    return RankSample.from_ranks(
        drawn.ravel() + 1,
        sample_size=30,
        n_items=100,
        user=np.repeat(np.arange(n_users), 2),
        n_targets=2,
        offset=np.tile([0, 1], n_users),
    )


@pytest.mark.parametrize("target", ["population", "users"])
def test_an_interval_holds_its_estimate(target: str) -> None:
    for sample in (FIXED, ADAPTIVE):
        found = estimate(sample, metrics="recall@10, ndcg@50, auc", interval_for=target)
        for name, value in found.values.items():
            ends = found.confidence_interval[name]
            assert isinstance(ends, Interval)
            assert 0.0 <= ends.low < value < ends.high <= 1.0
            assert found.standard_error[name] > 0.0


def test_a_higher_level_gives_a_wider_interval() -> None:
    narrow, wide = (
        estimate(FIXED, confidence_level=level).confidence_interval["recall@10"]
        for level in (0.8, 0.99)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_exact_ranks_have_the_error_of_a_mean_over_users_and_none_for_these_users() -> None:
    found = estimate(FULL, metrics="recall@10")
    share = (TRUE <= 10).mean()
    assert found["recall@10"] == pytest.approx(share)
    assert found.standard_error["recall@10"] == pytest.approx(
        np.sqrt(share * (1 - share) / TRUE.size)
    )
    here = estimate(FULL, metrics="recall@10", interval_for="users")
    assert here.standard_error["recall@10"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exact"])
def test_every_estimator_has_the_standard_error_of_its_refits(method: str) -> None:
    few = simulate(TRUE, n_items=300, design="sampled:12", rng=0)
    metrics = "recall@20, ndcg@50"
    by_influence = estimate(few, method=method, metrics=metrics, **_settings(method))
    again = estimate(
        few,
        method=method,
        metrics=metrics,
        uncertainty="bootstrap",
        n_resamples={"MLE": 400, "smoothed": 30}.get(method, 150),
        rng=1,
        **_settings(method),
    )
    for name, error in by_influence.standard_error.items():
        # the standard deviation of 150 refits is known to 6 %, that of 400 to 3.5 %
        tolerance = 0.15 if method == "MLE" else 0.25
        if method != "smoothed":  # whose error holds a bias that refits repeat
            assert again.standard_error[name] == pytest.approx(error, rel=tolerance)
        else:
            assert 0.0 < again.standard_error[name] < 1.4 * error


def _settings(method: str) -> dict[str, float]:
    return {"gamma": 0.1} if method.startswith("BV") else {}


def test_both_questions_have_the_errors_of_their_refits() -> None:
    for target in ("population", "users"):
        one = estimate(ADAPTIVE, method="MLE", interval_for=target, metrics="recall@20")
        again = estimate(
            ADAPTIVE,
            method="MLE",
            interval_for=target,
            metrics="recall@20",
            uncertainty="bootstrap",
            n_resamples=600,
            rng=0,
        )
        assert again.standard_error["recall@20"] == pytest.approx(
            one.standard_error["recall@20"], rel=0.12
        )


def test_refits_repeat_by_seed_and_show_progress() -> None:
    seen: list[tuple[int, int]] = []
    settings = {"method": "MLE", "uncertainty": "bootstrap", "n_resamples": 150}
    first = estimate(FIXED, rng=5, progress=lambda *at: seen.append(at), **settings)
    again = estimate(FIXED, rng=5, **settings)
    assert dict(first.standard_error) == dict(again.standard_error)
    assert seen == [(100, 150), (150, 150)]


def test_influence_needs_no_rows_and_weights_of_one_size_change_nothing() -> None:
    whole = estimate(FIXED)
    counts = estimate(FIXED.without_rows())
    heavy = RankSample.from_ranks(
        FIXED.rows.rank, sample_size=30, n_items=300, weight=np.full(400, 7.0)
    )
    for other in (counts, estimate(heavy)):
        assert dict(other.standard_error) == pytest.approx(dict(whole.standard_error), rel=1e-9)


def test_unequal_weights_leave_fewer_users() -> None:
    weight = np.where(np.arange(400) % 2 == 0, 1.0, 0.0)
    half = RankSample.from_ranks(FULL.rows.rank, sample_size=300, n_items=300, weight=weight)
    found = estimate(half, metrics="recall@10")
    share = (TRUE[::2] <= 10).mean()
    assert found.standard_error["recall@10"] == pytest.approx(np.sqrt(share * (1 - share) / 200))


def test_users_with_several_targets_are_resampled_whole() -> None:
    sample = two_targets()
    found = estimate(sample, method="MLE", metrics="recall@10, auc")
    again = estimate(
        sample,
        method="MLE",
        metrics="recall@10, auc",
        uncertainty="bootstrap",
        n_resamples=100,
        rng=0,
    )
    for name, error in found.standard_error.items():
        assert again.standard_error[name] == pytest.approx(error, rel=0.3)
    here = estimate(sample, method="MLE", metrics="recall@10", interval_for="users")
    assert np.isnan(here.standard_error["recall@10"])
    assert here.diagnosis.notes[-1].startswith('There are no intervals with interval_for="users"')
    assert here.to_dict()["metrics"][0]["low"] is None
    assert "–" in str(here)


def test_several_targets_that_are_known_exactly_have_the_error_of_a_mean_over_users() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 40))
    exact = rank(scores, (np.repeat(np.arange(50), 2), np.tile([3, 8], 50)), ties="best")
    found = estimate(exact.sample(), metrics="recall@10, ndcg@10")
    for name in found.values:
        values = np.bincount(exact.user, exact.gains(name))
        assert found[name] == pytest.approx(values.mean())
        assert found.standard_error[name] == pytest.approx(values.std() / np.sqrt(50), rel=1e-6)


def test_catalogues_of_the_users_own_have_an_interval_of_auc_for_the_population() -> None:
    rng = np.random.default_rng(0)
    pools = rng.integers(200, 300, 300)
    ranks = np.minimum(rng.geometric(0.03, 300), pools)
    drawn = rng.hypergeometric(ranks - 1, pools - ranks, 29)
    sample = RankSample.from_ranks(
        drawn + 1, sample_size=30, n_items=pools, design="sampled:pool=unseen"
    )
    found = estimate(sample, metrics="recall@10, auc, ndcg@10")
    assert list(found.values) == ["recall@10", "auc", "ndcg@10"]
    assert all(found.standard_error[name] > 0 for name in found.values)
    assert found.standard_error["auc"] < found.standard_error["recall@10"]
    here = estimate(sample, metrics="recall@10, auc", interval_for="users")
    assert np.isnan(here.standard_error["auc"])
    assert here.standard_error["recall@10"] > 0
    assert here.diagnosis.notes[-1].startswith(
        'There is no interval for auc with interval_for="users"'
    )


def test_pseudo_values_average_to_the_centre_and_spread_like_the_estimate() -> None:
    found = pseudo_values(ADAPTIVE, "recall@10, ndcg@20", method="MLE")
    result = estimate(ADAPTIVE, metrics="recall@10, ndcg@20", method="MLE")
    assert found.values.mean(axis=0) == pytest.approx(list(result.values.values()), rel=1e-9)
    errors = found.values.std(axis=0) / np.sqrt(400)
    assert errors == pytest.approx(list(result.standard_error.values()), rel=1e-9)
    assert found.method == "MLE"
    assert not found.exact


def test_pseudo_values_of_exact_ranks_are_the_users_metrics() -> None:
    scores = np.random.default_rng(1).normal(size=(20, 40))
    exact = rank(scores, (np.repeat(np.arange(20), 2), np.tile([3, 8], 20)))
    found = pseudo_values(exact, "ndcg@10")
    assert found.exact
    assert found.user.tolist() == list(range(20))
    assert found.values[:, 0] == pytest.approx(np.bincount(exact.user, exact.gains("ndcg@10")))
    assert found.estimate[0] == pytest.approx(exact.metrics("ndcg@10")["ndcg@10"])


def test_pseudo_values_name_what_they_need() -> None:
    with pytest.raises(InputError, match=r"`ranks`.*rows"):
        pseudo_values(FIXED.without_rows(), "recall@10")
    with pytest.raises(InputError, match=r"`ranks`.*RankSample.*ExactRanks.*\blist\b"):
        pseudo_values([1, 2], "recall@10")


def test_no_interval_on_request() -> None:
    found = estimate(FIXED, confidence_level=None)
    assert found.confidence_level is None
    assert all(np.isnan(error) for error in found.standard_error.values())
    assert "%" not in found.to_markdown()
    assert found.to_dict()["metrics"][0]["standard_error"] is None


@pytest.mark.parametrize("design", ["sampled:30", "sampled:300"])
def test_no_interval_is_called_unreliable_where_there_is_none(design: str) -> None:
    few = simulate(np.full(50, 200), n_items=300, design=design, rng=0)
    for level in (None, 0.95):
        found = estimate(few, "recall@5", confidence_level=level)
        assert "fewer than 10 targets are in the top K" in str(found)
        assert ("the interval is unreliable" in str(found)) == (level is not None)


@pytest.mark.parametrize(
    ("penalty", "shown"), [(180.0, "180"), (1.8, "1.8"), (0.012, "0.012"), (2e-5, "2e-05")]
)
def test_a_penalty_is_printed_as_a_number(penalty: float, shown: str) -> None:
    assert estimate(FIXED, method="smoothed", penalty=penalty).method == f"smoothed, λ = {shown}"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interval_for": "me"}, r"`interval_for`.*'population', 'users'.*'me'"),
        ({"uncertainty": "magic"}, r"`uncertainty`.*'influence', 'bootstrap'.*'magic'"),
        ({"confidence_level": 95}, r"`confidence_level`.*not 95\b"),
        ({"uncertainty": "bootstrap", "n_resamples": 3}, r"`n_resamples`.*\b3\b"),
        ({"uncertainty": "bootstrap", "n_resamples": 2**53}, r"`n_resamples`.*smaller: 9,007.*PiB"),
        ({"method": "MLE", "tol": 1e-4}, r"`tol`.*converged"),
        (
            {"method": "MES", "weighting": "weighted"},
            r'`weighting`.*"unweighted"',
        ),
    ],
)
def test_what_cannot_be_had_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(FIXED, **settings)


@pytest.mark.parametrize(
    "settings", [{"method": "MLE", "tol": 1e-3}, {"method": "MES", "weighting": "weighted"}]
)
def test_what_has_no_derivative_can_be_resampled(settings: dict[str, object]) -> None:
    settings = {"n_resamples": 20, "rng": 0, **settings}
    found = estimate(FIXED, metrics="recall@50", uncertainty="bootstrap", **settings)
    assert found.standard_error["recall@50"] > 0


def test_bootstrap_for_these_users_needs_one_catalogue_and_no_weights() -> None:
    message = r'`interval_for`.*"population".*multi-target'
    with pytest.raises(InputError, match=message):
        estimate(two_targets(20), interval_for="users", uncertainty="bootstrap", n_resamples=20)
    weighted = RankSample.from_ranks(
        FIXED.rows.rank, sample_size=30, n_items=300, weight=np.arange(400.0)
    )
    with pytest.raises(InputError, match=r'`interval_for`.*"population".*weights'):
        estimate(weighted, interval_for="users", uncertainty="bootstrap", n_resamples=20)


def test_what_a_result_gives_out(need) -> None:
    found = estimate(FIXED, metrics="recall@10")
    text = json.loads(json.dumps(found.to_dict()))
    assert list(text)[:3] == ["format", "kind", "metrics"]
    row = text["metrics"][0]
    assert list(row) == ["metric", "naive", "estimate", "low", "high", "standard_error"]
    ends = found.confidence_interval["recall@10"]
    assert (row["low"], row["high"]) == (ends.low, ends.high)
    assert found.to_markdown().splitlines()[0] == "| metric | naive | full catalogue | 95 % CI |"
    assert r"\begin{tabular}{lrrr}" in found.to_latex()
    assert found._repr_html_().startswith("<table><caption>smoothed")
    assert isinstance(found, Estimate)


def test_few_hits_are_warned_of() -> None:
    few = simulate(TRUE[:60], n_items=300, design="adaptive:levels=10/20/40/80", rng=0)
    found = estimate(few, metrics="recall@1, recall@200")
    assert found.diagnosis.hits["recall@1"] < 10 < found.diagnosis.hits["recall@200"]
    assert any("fewer than 10 targets are" in why for why in found.diagnosis.warnings["recall@1"])
    # and few misses: a handful of the sixty lie beyond rank 200
    assert any("outside the top K" in why for why in found.diagnosis.warnings["recall@200"])
    assert not estimate(few, metrics="recall@40").diagnosis.warnings["recall@40"]
    assert "▲" in str(found)


def test_a_sample_without_spread_leaves_open_what_it_has_not_seen() -> None:
    full = simulate([1] * 100, n_items=50, design="sampled:50")
    found = estimate(full, metrics="recall@10")
    ends = found.confidence_interval["recall@10"]
    # Wilson's interval of 100 hits in 100
    assert ends.low == pytest.approx(0.963, abs=5e-4)
    assert ends.high == 1.0
    assert found.diagnosis.warnings["recall@10"]
    here = estimate(full, metrics="recall@10", interval_for="users")
    assert here.confidence_interval["recall@10"] == (1.0, 1.0)
    assert not here.diagnosis.warnings["recall@10"]


def test_a_tiny_centre_has_no_wide_interval() -> None:
    ends = interval(1e-6, 0.005, 0.95)
    assert ends.low >= 0.0
    assert ends.high < 0.03


def test_metrics_without_a_cut_off_are_warned_of_in_the_blind_spot() -> None:
    coarse = simulate(np.tile(TRUE, 5), n_items=4000, design="sampled:40", rng=0)
    found = estimate(coarse, method="MLE", metrics="ndcg, rr, auc")
    warned = [name for name, why in found.diagnosis.warnings.items() if why]
    assert warned == ["ndcg", "rr"]
    assert "(ndcg, rr)" in found.diagnosis.notes[0]
    rough = estimate(coarse, method="MN", metrics="auc")
    assert rough.diagnosis.warnings["auc"]


def test_refits_of_a_smoother_are_not_called_honest() -> None:
    coarse = simulate(TRUE, n_items=4000, design="sampled:100", rng=0)
    refitted = estimate(
        coarse, metrics="recall@10", uncertainty="bootstrap", n_resamples=20, method="smoothed"
    )
    assert "blind spot" in refitted.diagnosis.warnings["recall@10"][0]


def test_one_fine_sample_among_coarse_ones_does_not_make_them_fine() -> None:
    rank = np.append(FIXED.rows.rank, 1)
    size = np.append(np.full(400, 30), 3000)
    mixed = RankSample.from_ranks(rank, sample_size=size, n_items=30_000)
    assert estimate(mixed, metrics="recall@10").resolution == 1000.0


def test_the_blind_spot_is_told() -> None:
    found = estimate(FIXED, metrics="recall@5, recall@50")
    (note,) = found.diagnosis.notes
    assert "hardly distinguishes true ranks 1–10" in note
    assert "(recall@5)" in note
    assert estimate(FULL).diagnosis.notes == ()


def test_a_grid_of_ones_own_gives_the_same_errors() -> None:
    metrics = parse_all("recall@10")
    grid = RankGrid.for_metrics(300, metrics)
    one, other = estimate(FIXED, metrics=metrics), estimate(FIXED, metrics=metrics, grid=grid)
    assert dict(one.standard_error) == dict(other.standard_error)


def test_coarse_samples_are_smoothed_and_their_interval_counts_the_smoothing() -> None:
    coarse = simulate(np.tile(TRUE, 5), n_items=4000, design="sampled:40", rng=0)
    auto = estimate(coarse, metrics="recall@40")
    own = estimate(coarse, metrics="recall@40", method="MLE")
    assert auto.method.startswith("smoothed")
    assert auto.standard_error["recall@40"] > own.standard_error["recall@40"]
    assert auto.diagnosis.leans["recall@40"] > 0.0
    assert not auto.diagnosis.warnings["recall@40"]
    assert "blind spot" in own.diagnosis.warnings["recall@40"][0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", ["population", "users"])
def test_the_value_is_the_middle_of_its_interval(method: str, target: str) -> None:
    if method == "exact":
        return
    for sample in (FIXED, ADAPTIVE):
        found = estimate(sample, method=method, interval_for=target, metrics="recall@20")
        low, high = (np.log(x / (1.0 - x)) for x in found.confidence_interval["recall@20"])
        value = found["recall@20"]
        assert np.log(value / (1.0 - value)) == pytest.approx((low + high) / 2.0, rel=1e-6)


def test_an_interval_allows_for_its_bias() -> None:
    plain = interval(0.2, 0.01, 0.95)
    assert interval(0.2, 0.01, 0.95, bias=0.0) == plain
    wide = interval(0.2, 0.01, 0.95, bias=0.01)
    # the 95 % quantile of |N(1, 1)| is 2.646
    assert (wide.high - wide.low) / (plain.high - plain.low) == pytest.approx(
        2.646 / 1.96, rel=0.01
    )
    known = interval(0.2, 0.0, 0.95, bias=0.01)  # nothing but a bias
    assert known.high - known.low == pytest.approx(0.02, rel=0.01)


def test_an_interval_stretches_to_a_value() -> None:
    assert Interval(0.2, 0.4).with_(0.1) == (0.1, 0.4)
    assert Interval(0.2, 0.4).with_(0.5) == (0.2, 0.5)
    assert Interval(0.2, 0.4).with_(0.3) == (0.2, 0.4)


@pytest.mark.parametrize("penalty", [-3, 0, np.int8(-3)])
def test_a_penalty_is_checked_before_anything_is_fitted(penalty: Any) -> None:
    sample = simulate([5, 900], n_items=10**6, design="sampled:3", rng=0)
    with pytest.raises(InputError, match=r"`penalty` must be above 0, not"):  # without a warning
        estimate(sample, "ap@5", method="smoothed", penalty=penalty)


def test_exact_ranks_are_not_estimated() -> None:
    ranks = rank(np.eye(4), (np.arange(4), np.arange(4)))
    assert estimate(ranks, metrics="ndcg@10, auc").values == ranks.metrics("ndcg@10, auc")
    with pytest.raises(InputError, match=r"`method`.*auto"):
        estimate(ranks, method="MLE")
    with pytest.raises(InputError, match=r"`penalty`"):
        estimate(ranks, penalty=3.0)


def test_targets_that_are_all_alike_leave_the_others_open() -> None:
    alike = RankSample.from_ranks(
        np.ones(40, int), sample_size=20, n_items=500, design="sampled:replacement=true"
    )
    found = estimate(alike, metrics="recall@10, ndcg@10, rr")
    for name, (low, high) in found.confidence_interval.items():
        open_end = wilson(40 * found[name], 40)
        assert low <= open_end.low
        assert high >= open_end.high
        assert any("outside the top K" in why for why in found.diagnosis.warnings[name])
