"""Designs from outside whose rounds, sizes or likelihoods are unlike those of fullrank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike

from fullrank.designs import (
    Design,
    RankGrid,
    Rounds,
    expected_metric,
    register,
    sampled_metric_std,
    unregister,
)
from fullrank.errors import InputError
from fullrank.inference import bounds, estimate, explain
from fullrank.inference.bounding.events import Events
from fullrank.metrics import parse
from fullrank.ranking import sample_ranks
from fullrank.samples import simulate
from fullrank.testing import check_design

N = 300
LOST = 0.2
TRUE = np.minimum(np.random.default_rng(0).geometric(0.02, 800), N)


@dataclass(frozen=True)
class Stops(Design):
    """Three rounds, with a stop of its own after each."""

    name: ClassVar[str] = "stops"
    main: ClassVar[str | None] = "sizes"
    sizes: tuple[int, ...] = (8, 20, 60)
    stops: tuple[int, ...] = (5, 2)

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Rounds(self.sizes, self.stops, self.replacement)


@dataclass(frozen=True)
class Share(Design):
    """Sizes that are shares of the catalogue, and not fixed anywhere."""

    name: ClassVar[str] = "share"
    main: ClassVar[str | None] = "share"
    share: float = 0.1

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        first = int(self.share * n_items)
        return Rounds((first, 4 * first), (2,), self.replacement)


@dataclass(frozen=True)
class FixedShare(Share):
    """The same with the sizes fixed."""

    name: ClassVar[str] = "fixed_share"
    first: int | None = None

    def resolved(self, n_items: int) -> FixedShare:
        return self.with_(first=self.first or int(self.share * n_items))

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        first = self.first or int(self.share * n_items)
        return Rounds((first, 4 * first), (2,), self.replacement)


class Losing(Rounds):
    """Every draw is lost with a chance, and does not count as above the target."""

    def draw(self, pools: Any, key: int, groups: Any, first: Any, count: Any) -> Any:
        drawn = super().draw(pools, key, groups, first, count)
        lost = np.random.default_rng([key, *groups.tolist()]).random(drawn.shape) < LOST
        last = np.argsort(lost, axis=1, kind="stable")  # short rows are filled up at their end
        drawn = np.where(lost, -1, drawn)
        return np.take_along_axis(drawn, last, axis=1).astype(np.int32)

    def simulated(self, ranks: Any, n_items: int, random: np.random.Generator) -> Any:
        drawn = np.full(ranks.size, self.sizes[0] - 1)
        return random.binomial(drawn, (1 - LOST) * (ranks - 1) / (n_items - 1)), drawn


@dataclass(frozen=True)
class Lossy(Design):
    """A likelihood of its own: binomial, with a smaller chance."""

    name: ClassVar[str] = "lossy"
    main: ClassVar[str | None] = "size"
    size: int = 40
    replacement: bool = True

    @property
    def adaptive(self) -> bool:
        return False

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Losing((self.size,), (), True)

    def likelihood_at(
        self, true_ranks: ArrayLike, rank: ArrayLike, sample_size: int, *, n_items: int
    ) -> Any:
        from scipy.stats import binom

        share = (1 - LOST) * (np.asarray(true_ranks)[:, None] - 1) / (n_items - 1)
        return binom.pmf(np.asarray(rank)[None, :] - 1, sample_size - 1, share)

    def likelihood(
        self, rank: ArrayLike, sample_size: ArrayLike, *, n_items: ArrayLike, grid: RankGrid
    ) -> Any:
        at, items = np.arange(1, grid.n_items + 1), int(np.max(n_items))
        table = self.likelihood_at(at, rank, self.size, n_items=items)
        return np.add.reduceat(table, grid.edges[:-1], axis=0) / grid.widths[:, None]


OURS = (Stops, Share, FixedShare, Lossy)
ODD = [
    "stops",
    "stops:replacement=true",
    "stops:4/6/9,stops=1/3",
    "stops:4/6/9,stops=3/1,replacement=true",
    "fixed_share:0.05",
    "fixed_share:0.05,replacement=true",
    "lossy",
]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for one in OURS:
        register(one)
    yield
    for one in OURS:
        unregister(one.name)


@pytest.mark.parametrize("text", ODD)
def test_they_keep_the_contract(text: str) -> None:
    check_design(Design.of(text.replace("0.05", "0.1")))


@pytest.mark.parametrize("text", ODD)
def test_targets_are_drawn_with_the_probabilities_that_are_stated(text: str) -> None:
    """20,000 users with the same scores: shares of outcomes against P(outcome | R)."""
    n_items, users = 80, 20_000
    design = Design.of(text if "share" not in text else text.replace("0.05", "0.1"))
    scores = np.tile(np.arange(n_items, 0, -1.0), (users, 1))
    for true in (2, 17):
        targets = (np.arange(users), np.full(users, true - 1))
        sample = sample_ranks(scores, targets, design=design, rng=3)
        chance = sample.design.probabilities_at(
            [true], sample.rank, sample.sample_size, n_items=n_items
        )[0]
        assert chance.sum() > 0.998  # what was not seen is rare
        share = sample.count / users
        assert (np.abs(share - chance) <= 5 * np.sqrt(chance / users) + 1 / users).all()


@pytest.mark.parametrize("text", [one for one in ODD if "4/6/9" not in one])
def test_estimates_are_unbiased_and_covered(text: str) -> None:
    exact = float((TRUE <= 20).mean())
    samples = [simulate(TRUE, n_items=N, design=text, rng=seed) for seed in range(30)]
    found = [estimate(one, "recall@20", interval_for="users", rng=0) for one in samples]
    values = np.array([one["recall@20"] for one in found])
    # smoothing costs up to 2 % here, as it does for adaptive:25
    assert abs(values.mean() - exact) <= 3 * values.std() / np.sqrt(values.size) + 0.02 * exact
    covered = [
        low <= exact <= high
        for low, high in (one.confidence_interval["recall@20"] for one in found)
    ]
    assert np.mean(covered) >= 0.86
    for one in samples[:5]:
        edges = bounds(one, "recall@20")["recall@20"]
        assert edges.low <= exact <= edges.high


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("pool", [40, 18])
def test_events_of_bounds_have_their_probabilities(text: str, pool: int) -> None:
    """P(event | R), also of a smaller pool, against the sum over the outcomes that it holds for."""
    design = Design.of(text if "share" not in text else text.replace("0.05", "0.1")).settled(40)
    events = Events.chosen(design, design.rounds(40).sizes[-1], 40, 8)
    true = np.arange(1, pool + 1)
    rank, size = design.possible(pool)
    chance = design.probabilities_at(true, rank, size, n_items=pool)
    held = np.zeros((events.level.size, rank.size))
    for at in range(rank.size):
        outcome = _Outcome(rank[[at]], size[[at]], np.array([pool]), np.ones(1, int))
        held[:, at] = events.counts(outcome)  # type: ignore[arg-type]
    np.testing.assert_allclose(events.probabilities(true, pool), chance @ held.T, atol=1e-12)


@dataclass(frozen=True)
class _Outcome:
    """One outcome, as `Events.counts` reads a sample."""

    rank: Any
    sample_size: Any
    pool: Any
    count: Any


def test_sizes_that_depend_on_the_pool_are_refused_before_anything_is_drawn() -> None:
    says = r"^`design`.*same rounds.*share:0\.1.*150 and 300 items.*resolved"
    scores = np.random.default_rng(0).normal(size=(5, N))
    with pytest.raises(InputError, match=says):
        sample_ranks(scores, (np.arange(5), np.arange(5)), design="share:0.1", rng=0)
    with pytest.raises(InputError, match=says):
        simulate(TRUE, n_items=N, design="share:0.1")
    with pytest.raises(InputError, match=r"same rounds"):
        check_design(Design.of("share:0.1"))


@pytest.mark.parametrize("several", [False, True])
def test_fixed_sizes_serve_smaller_pools(several: bool) -> None:
    """Users with catalogues of their own, and with several targets."""
    random = np.random.default_rng(1)
    scores, seen = random.normal(size=(50, N)), random.random((50, N)) < 0.4
    users = np.repeat(np.arange(50), 2 if several else 1)
    items = np.concatenate([np.flatnonzero(~row)[: 2 if several else 1] for row in seen])
    from scipy.sparse import csr_array

    design = "fixed_share:0.1,pool=unseen"
    sample = sample_ranks(scores, (users, items), design=design, exclude=csr_array(seen), rng=0)
    assert set(sample.sample_size.tolist()) <= {30, 120}
    assert str(sample.design) == "fixed_share:0.1,first=30,pool=unseen,ties=random,excluded=true"
    assert 0.0 <= estimate(sample, "recall@20", rng=0)["recall@20"] <= 1.0


def test_expected_metrics_are_those_of_its_own_likelihood() -> None:
    true, metrics = np.array([1, 5, 60, 200, 300]), ("recall@10", "ndcg@10", "rr", "auc")
    drawn = [simulate(np.full(20_000, one), n_items=N, design="lossy:40", rng=1) for one in true]
    for metric in metrics:
        found = expected_metric(true, metric, n_items=N, design="lossy:40")
        gains = [np.average(parse(metric).weights(s.rank, 40), weights=s.count) for s in drawn]
        np.testing.assert_allclose(found, gains, atol=0.01)
    spread = sampled_metric_std([60] * 4, "recall@10", n_items=N, design="lossy:40")
    chance = expected_metric([60], "recall@10", n_items=N, design="lossy:40")[0]
    assert spread == pytest.approx(np.sqrt(chance * (1 - chance) / 4))


def test_mapping_functions_of_uniform_draws_are_not_told_of_others() -> None:
    sample = simulate(TRUE, n_items=N, design="lossy:40", rng=0)
    assert not sample.design.uniform
    told = explain(sample, "recall@10")
    assert told.stands_for == {}
    np.testing.assert_array_equal(
        told.expected["recall@10"],
        expected_metric(told.true_rank, "recall@10", n_items=N, design="lossy:40"),
    )
    assert "corresponds" not in str(estimate(sample, "recall@10", rng=0))
    uniform = simulate(TRUE, n_items=N, design="sampled:40", rng=0)
    assert uniform.design.uniform
    assert "corresponds" in str(estimate(uniform, "recall@10", rng=0))


def test_a_gpu_does_not_draw_in_a_way_that_it_does_not_know() -> None:
    assert Design.of("stops").rounds(N).drawing in (1, 2)
    with pytest.raises(InputError, match=r"`device` must be \"cpu\""):
        _ = Design.of("lossy").rounds(N).drawing


def test_explain_tells_why_it_needs_one_size() -> None:
    sample = simulate(TRUE, n_items=N, design="stops", rng=0)
    with pytest.raises(InputError, match=r"^`ranks`.*same number.*these have 8 to 60"):
        explain(sample, "recall@10")


def test_what_is_no_rounds_is_told() -> None:
    wrong = type(
        "Wrong", (Design,), {"name": "wrong", "rounds": lambda self, n, size=None: (9, 20)}
    )
    with pytest.raises(InputError, match=r"^`design` must return Rounds.*wrong.*\(9, 20\)"):
        simulate(TRUE, n_items=N, design=wrong())
