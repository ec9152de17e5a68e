"""Every design keeps the contract, and a design from outside is one class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, Exact, Rounds, Uniform, register, unregister
from fullrank.errors import InputError
from fullrank.inference import bounds, compare, estimate, plan
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import RankSample, simulate
from fullrank.testing.designs import check_design


@dataclass(frozen=True)
class TwoStage(Design):
    """Fifty candidates, and five hundred for a target among the first three."""

    name: ClassVar[str] = "two_stage"
    main: ClassVar[str | None] = "first"
    first: int = 50
    second: int = 500
    refine: int = 3

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Rounds((self.first, self.second), (self.refine,), self.replacement)


@pytest.fixture
def two_stage() -> Iterator[type[TwoStage]]:
    register(TwoStage)
    yield TwoStage
    unregister("two_stage")


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize(
    "design",
    [
        Uniform(12),
        Uniform(2),
        Adaptive(5, limit=40),
        Adaptive(5, limit=60, growth=1.5, refine_rank=3),
        Adaptive(levels=(4, 10, 15, 55), refine_rank=2),
    ],
    ids=str,
)
def test_designs_keep_the_contract(design: Design, replacement: bool) -> None:
    check_design(design.with_(replacement=replacement))


def test_a_design_from_outside_keeps_the_contract(two_stage: type[TwoStage]) -> None:
    for replacement in (False, True):
        check_design(two_stage(10, 35, replacement=replacement))


def test_a_contract_that_is_broken_is_told(two_stage: type[TwoStage]) -> None:
    @dataclass(frozen=True)
    class Wrong(two_stage):  # type: ignore[valid-type,misc]
        name: ClassVar[str] = "two_stage"

        def probabilities_at(self, *args, **settings):  # type: ignore[no-untyped-def]
            return 2.0 * super().probabilities_at(*args, **settings)

    with pytest.raises(AssertionError):
        check_design(Wrong(10, 35))


def test_its_sample_equals_a_count_by_hand(two_stage: type[TwoStage]) -> None:
    """The kernel draws what the plain reference draws, in rounds."""
    from fullrank.designs.draws import reference_indices

    scores = np.random.default_rng(0).normal(size=(40, 90))
    targets = np.random.default_rng(1).integers(0, 90, 40)
    sample = sample_ranks(scores, (np.arange(40), targets), design="two_stage:10,second=60", rng=5)
    for user, target in enumerate(targets):
        order = reference_indices(5, user, 89, 59, replacement=False)
        items = [item + (item >= target) for item in order]
        above = [bool(scores[user, item] > scores[user, target]) for item in items]
        first = 1 + sum(above[:9])
        expected = (first, 10) if first > 3 else (1 + sum(above), 60)
        assert sample.rows is not None
        assert (sample.rows.rank[user], sample.rows.sample_size[user]) == expected


def test_it_runs_through_every_function(two_stage: type[TwoStage], tmp_path: object) -> None:
    true = np.random.default_rng(2).integers(1, 3_000, 800)
    samples = {
        name: simulate(np.maximum(1, true // cut), n_items=3_000, design=two_stage(), rng=0)
        for name, cut in (("a", 8), ("b", 11))
    }
    found = estimate(samples["a"], metrics="recall@50")
    exact = float(np.mean(np.maximum(1, true // 8) <= 50))
    low, high = found.confidence_interval["recall@50"]
    assert low <= exact <= high
    assert high - low < 0.2
    assert "recall@50" in str(compare(samples, "recall@50"))
    edges = bounds(samples["a"], "recall@50")["recall@50"]
    assert edges.low <= exact <= edges.high
    options = plan(
        "recall@50",
        pilot=samples["a"],
        n_users=2_000,
        budget=1e6,
        designs=["two_stage:50", "exact"],
    ).options
    assert {str(one.design.bare) for one in options} == {"two_stage:50", "exact"}
    for suffix in ("parquet", "json"):
        samples["a"].write(f"{tmp_path}/a.{suffix}")
        again = RankSample.read(f"{tmp_path}/a.{suffix}")
        assert again.design == samples["a"].design
        assert np.array_equal(again.rank, samples["a"].rank)


@pytest.mark.parametrize(
    ("text", "design"),
    [
        ("sampled:100", Uniform(100)),
        ("sampled:100,replacement=true,pool=unseen", Uniform(100, replacement=True, pool="unseen")),
        ("adaptive:25", Adaptive(25)),
        ("adaptive:25,limit=400,refine_rank=2", Adaptive(25, limit=400, refine_rank=2)),
        ("adaptive:levels=10/20/70", Adaptive(levels=(10, 20, 70))),
        ("exact", Exact()),
        ("exact:10", Exact(10)),
    ],
)
def test_text_forms(text: str, design: Design) -> None:
    assert Design.of(text) == design
    assert Design.of(str(design)) == design
    assert Design.of(design) is design


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sample:100", r"`design`.*'sampled', 'adaptive', 'exact'.*'sample'"),
        ("popularity:100", r"`design`.*popularity.*uniform"),
        ("sampled:0", r"^`design`.*'sampled:0': sample_size must.*\b0\b"),
        ("sampled:100,size=3", r"`design`.*sampled.*'size'"),
        ("sampled:100,sample_size=3", r"`design`.*sampled"),
        ("adaptive:25,growth=1", r"^`design`.*growth=1': growth must.*\b1\b"),
        ("adaptive:25,limit=5", r"^`design`.*limit=5': limit must.*start.*\b25\b.*\b5\b"),
        ("adaptive:levels=20/10", r"^`design`.*: levels must.*20, 10"),
        (100, r"`design`.*\b100\b"),
    ],
)
def test_wrong_text(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Design.of(text)


def test_registering_asks_for_a_name_of_its_own() -> None:
    @dataclass(frozen=True)
    class Sampled(Design):
        name: ClassVar[str] = "sampled"

    @dataclass(frozen=True)
    class Unnamed(Design):
        pass

    for wrong in (Sampled, Unnamed, int):
        with pytest.raises(InputError, match=r"`(design|name)`"):
            register(wrong)  # type: ignore[arg-type]


def test_samples_of_different_sizes_add_and_of_different_designs_do_not() -> None:
    small = simulate([1, 5, 9], n_items=30, design="sampled:5", rng=0)
    large = simulate([1, 5, 9], n_items=30, design="sampled:10", rng=0)
    assert (small + large).design == Uniform()
    assert (small + small).design == Uniform(5)
    with pytest.raises(InputError, match=r"sampled:5.*adaptive:5"):
        small + simulate([1, 5, 9], n_items=30, design="adaptive:5,limit=10", rng=0)


def test_exact_ranks_are_not_sampled() -> None:
    scores = np.arange(12.0).reshape(2, 6)
    with pytest.raises(InputError, match=r"`design`.*exact.*`rank`"):
        sample_ranks(scores, ([0, 1], [5, 3]), design="exact")
    assert rank(scores, ([0, 1], [5, 3])).ranks.tolist() == [1.0, 3.0]
