"""Shapes that samples borrow: of models ranked exactly on the same data, and of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullrank import anchored, estimate, jointly
from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.estimators.anchors import spread_ties
from fullrank.estimators.methods import values_of
from fullrank.inference.estimation import refits
from fullrank.ranking import rank
from fullrank.samples import ExactRanks, RankDistribution, RankSample, simulate

N, SIZE = 20_000, 100
METRICS = ("recall@10", "ndcg@10", "recall@50")


def population(seed: int, users: int = 20_000) -> np.ndarray[Any, Any]:
    """True ranks whose density falls steeply up to rank 40, which 100 of 20,000 do not resolve."""
    rng = np.random.default_rng(seed)
    top = np.ceil(40.0 * rng.random(users) ** 3)
    rest = np.ceil(N * rng.random(users) ** 1.5)
    return np.where(rng.random(users) < 0.35, top, rest).clip(1, N).astype(np.int64)


def drawn(seed: int, *, excluded: bool | None = True) -> RankSample:
    design = Uniform(SIZE, excluded=excluded)
    return simulate(population(seed), n_items=N, design=design, rng=seed)


TRUTH = RankDistribution.from_ranks(population(0), n_items=N)


@pytest.fixture(scope="module")
def sample() -> RankSample:
    return drawn(0)


@pytest.fixture(scope="module")
def cheap() -> ExactRanks:
    """Another draw of the same population: the right shape, of other users."""
    return ExactRanks.from_ranks(population(99), n_items=N)


def errors(sample: RankSample) -> np.ndarray[Any, Any]:
    found = estimate(sample, metrics=METRICS, confidence_level=None)
    return np.array([abs(found[name] / TRUTH.metric(name) - 1.0) for name in METRICS])


def test_the_right_shape_brings_the_estimate_nearer_to_the_truth(
    sample: RankSample, cheap: ExactRanks
) -> None:
    without, exact = errors(sample), errors(anchored(sample, cheap))
    assert without[0] > 0.15
    assert (exact < without / 4.0).all()
    assert (errors(sample.anchored(TRUTH)) < without / 4.0).all()


def test_the_fit_is_a_distribution(sample: RankSample, cheap: ExactRanks) -> None:
    for one in (anchored(sample, cheap), *jointly({"a": sample, "b": drawn(1)}).values()):
        assert one.anchor is not None
        for found in (one.anchor, estimate(one).distribution):
            assert found is not None
            assert found.mass.sum() == pytest.approx(1.0, abs=1e-9)
            assert (found.mass >= 0.0).all()


def test_without_an_anchor_every_bit_is_that_of_the_plain_estimate(
    sample: RankSample, cheap: ExactRanks
) -> None:
    plain = estimate(sample)
    for one in (sample.anchored(None), anchored(sample, cheap).anchored(None)):
        found = estimate(one)
        assert dict(found.values) == dict(plain.values)
        assert dict(found.confidence_interval) == dict(plain.confidence_interval)
        assert found.reason == plain.reason


def test_an_anchor_is_an_argument_of_estimate_too(sample: RankSample, cheap: ExactRanks) -> None:
    found = estimate(sample, anchor=cheap)
    assert dict(found.values) == dict(estimate(anchored(sample, cheap)).values)
    assert dict(found.values) != dict(estimate(sample).values)
    assert "informed by the ranks of other models on the same data" in found.reason
    one, same = (estimate(anchored(sample, many)) for many in (cheap, [cheap, cheap]))
    assert dict(one.values) == pytest.approx(dict(same.values), rel=1e-6)


def test_models_share_one_shape() -> None:
    samples = {"a": drawn(0), "b": drawn(1), "c": drawn(2)}
    found = jointly(samples)
    assert list(found) == list(samples)
    first, *others = (one.anchor for one in found.values())
    assert first is not None
    assert all(one is first for one in others)
    for name, one in found.items():
        assert one.rows is samples[name].rows
    again = jointly(found)  # a shape they have already is not counted
    assert again["a"].anchor is not None
    assert np.array_equal(again["a"].anchor.mass, first.mass)


@pytest.mark.parametrize("target", ["population", "users"])
@pytest.mark.parametrize("design", [Uniform(SIZE), Adaptive(levels=(25, 100))])
def test_refits_keep_the_shape_and_the_protocol(
    target: str, design: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[RankSample] = []

    def noted(sample: RankSample, *rest: Any) -> list[float]:
        seen.append(sample)
        return values_of(sample, *rest)

    monkeypatch.setattr(refits, "values_of", noted)
    design = design.with_(excluded=True)
    few = simulate(population(3, 300), n_items=N, design=design, rng=0).anchored(TRUTH)
    settings = {"uncertainty": "bootstrap", "n_resamples": 20, "rng": 0}
    estimate(few, metrics="recall@10", interval_for=target, **settings)
    assert len(seen) >= 20
    for one in seen:
        assert one.anchor is TRUTH
        assert one.design.excluded is True


@pytest.mark.parametrize("borrow", ["anchored", "jointly", "estimate"])
def test_samples_with_training_items_kept_are_refused(borrow: str, cheap: ExactRanks) -> None:
    kept = drawn(0, excluded=False)
    calls = {
        "anchored": lambda: anchored({"a": kept}, cheap),
        "jointly": lambda: jointly({"a": kept, "b": kept}),
        "estimate": lambda: estimate(kept, anchor=cheap),
    }
    with pytest.raises(InputError, match="helps only if they are excluded"):
        calls[borrow]()
    assert kept.anchored(TRUTH).anchor is TRUTH  # a study may


@pytest.mark.parametrize("excluded", [True, None])
def test_others_are_not(excluded: bool | None, cheap: ExactRanks) -> None:
    one = drawn(0, excluded=excluded)
    assert anchored(one, cheap).anchor is not None
    assert jointly({"a": one, "b": one})["b"].anchor is not None


def test_what_cannot_be_shared_is_refused(sample: RankSample, cheap: ExactRanks) -> None:
    several = RankSample.from_ranks(
        [1, 2],
        sample_size=SIZE,
        n_items=N,
        design="sampled:excluded=true",
        user=[1, 1],
        n_targets=2,
        offset=[0, 1],
    )
    wrong: list[tuple[Any, str]] = [
        ({"a": sample}, "at least two models"),
        ([sample, sample], "at least two models"),
        ({"a": sample, "b": cheap}, "b is of type ExactRanks"),
        ({"a": sample, "b": several}, "one target for each user; b has multi-target users"),
        (
            {"a": sample, "b": drawn(0, excluded=None)},
            r"designs agree.*excluded=true, the other sampled:100\.",
        ),
    ]
    for samples, says in wrong:
        with pytest.raises(InputError, match=says):
            jointly(samples)
    for anchor in (sample, [], [1, 2, 3], ExactRanks.from_ranks(
        [1, 2], n_items=N, user=[1, 1], n_targets=2, offset=[0, 1])):  # fmt: skip
        with pytest.raises(InputError, match="`anchor` must"):
            anchored(sample, anchor)
    with pytest.raises(InputError, match="`anchor` must not be given to MLE"):
        estimate(sample, anchor=cheap, method="MLE")


def test_ties_of_an_anchor_are_spread_as_random_orders_spread_them() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (60, 30)).astype(np.float32)
    targets = np.arange(60), np.arange(60) % 30
    grid = RankGrid.default(30, tail=2)
    found = spread_ties(rank(scores, targets), grid)
    orders = [rank(scores, targets, ties="random", rng=seed).ranks for seed in range(400)]
    seen = np.bincount(grid.bin_of(np.concatenate(orders)), minlength=grid.n_bins) / 24_000
    np.testing.assert_allclose(found, seen, atol=0.004)
    assert found.sum() == pytest.approx(1.0)
    known = ExactRanks.from_ranks([1, 2.5, 30], n_items=30)
    np.testing.assert_allclose(3 * spread_ties(known, RankGrid(range(31)))[[0, 1, 2, 29]],
                               [1.0, 0.5, 0.5, 1.0])  # fmt: skip
