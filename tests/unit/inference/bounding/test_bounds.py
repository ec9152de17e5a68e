"""Bounds: the result, the refusals, and what must hold whatever the sample."""

import itertools
import json
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from fullrank import metrics
from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.errors import InputError
from fullrank.inference.bounding.bounds import Bounds, bounds
from fullrank.inference.bounding.events import Events
from fullrank.inference.bounding.program import Program
from fullrank.inference.bounding.region import chernoff, clopper_pearson, limits
from fullrank.inference.statistics.normal import Interval
from fullrank.samples import RankSample, simulate

N_ITEMS = 300
RANKS = np.minimum(np.random.default_rng(0).geometric(0.02, 800), N_ITEMS)
DESIGNS = {
    "with replacement": Uniform(30, replacement=True),
    "without": Uniform(30),
    "adaptive": Adaptive(levels=(5, 10, 20, 40, 80)),
    "adaptive, with replacement": Adaptive(levels=(5, 20, 60), replacement=True),
    "adaptive, stop at 3": Adaptive(levels=(6, 20, 60), refine_rank=3),
    "adaptive, to the end": Adaptive(levels=(5, 20, 80, N_ITEMS)),
}
EVERY = tuple(name + cut for name in metrics.names() for cut in ("", "@10", "@1000"))


def draw(name: str = "without", rng: int = 1) -> RankSample:
    return simulate(RANKS, n_items=N_ITEMS, design=DESIGNS[name], rng=rng)


def inside(inner: Interval, outer: Interval, by: float = 0.0) -> bool:
    return outer.low <= inner.low + by and inner.high <= outer.high + by


# The result


def test_a_result_gives_intervals_by_name() -> None:
    found = bounds(draw(), ["recall@10", "mrr"])
    assert isinstance(found, Bounds)
    assert isinstance(found["recall@10"], Interval)
    assert found["Recall@10"] is found.intervals["recall@10"]
    assert found["rr"] == found["mrr"]
    assert (found.contradicted, found.shape, found.until) == (None, None, None)
    assert (found.n_targets, found.n_items, found.average_size) == (800, N_ITEMS, 30.0)
    assert (found.confidence_level, found.interval_for, found.n_bins) == (
        0.95,
        "population",
        N_ITEMS,
    )
    with pytest.raises(InputError, match=r"`metric`.*'recall@10', 'mrr'.*'ap@1'"):
        found["ap@1"]


def test_a_result_prints_ends_rounded_outwards() -> None:
    found = bounds(draw(), "recall@10, recall@100", shape="decreasing", until=200)
    title, empty, head, *rows = str(found).splitlines()
    assert title == (
        "95 % bounds from 800 targets, P(R) decreasing up to rank 200 "
        f"(Clopper–Pearson on {found.n_events} events)"
    )
    assert empty == ""
    assert head.split() == ["metric", "low", "high"]
    assert [row.split()[0] for row in rows] == ["recall@10", "recall@100"]
    for row in rows:
        name, low, high = row.split()
        printed = Interval(float(low), float(high))
        assert inside(found[name], printed)
        assert inside(printed, found[name], by=1e-4)
    assert "these users only" in str(bounds(draw(), interval_for="users"))


def test_a_result_goes_everywhere() -> None:
    found = bounds(draw(), "recall@10, capped_recall@10")
    content = json.loads(json.dumps(found.to_dict()))
    assert (content["format"], content["kind"]) == (1, "Bounds")
    assert content["metrics"][0] == {
        "metric": "recall@10",
        "low": found["recall@10"].low,
        "high": found["recall@10"].high,
    }
    assert content["interval_for"] == "population"
    assert found.to_arrow().column_names == ["metric", "low", "high"]
    assert found.to_markdown().splitlines()[0] == "| metric | low | high |"
    assert r"capped\_recall@10 & " in found.to_latex()
    page = found._repr_html_()
    assert page.startswith("<table><caption>95 % bounds from 800 targets")
    assert page.count("<tr>") == 3


def test_a_result_is_a_frame(need: Callable[[str], ModuleType]) -> None:
    need("pandas")
    found = bounds(draw(), "recall@10, capped_recall@10")
    frame = found.to_frame()
    assert frame.metric.tolist() == ["recall@10", "capped_recall@10"]
    assert tuple(frame.loc[0, ["low", "high"]]) == found["recall@10"]


def test_a_result_draws_whiskers(need: Callable[[str], ModuleType]) -> None:
    need("matplotlib")
    found = bounds(draw(), "recall@10, ap@10")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["recall@10", "ap@10"]
    (whiskers,) = ax.collections
    ends = [segment[:, 0] for segment in whiskers.get_segments()]
    np.testing.assert_allclose(ends, list(found.intervals.values()))
    assert found.plot(ax) is ax


def test_default_metrics() -> None:
    assert list(bounds(draw()).intervals) == ["recall@10", "ndcg@10"]


# What the data contradict


def test_a_contradicted_shape_is_a_result() -> None:
    rising = simulate(np.full(2000, 250), n_items=N_ITEMS, design="sampled:30", rng=0)
    found = bounds(rising, shape="decreasing")
    assert found.contradicted == "shape"
    assert np.isnan(list(found.intervals.values())).all()
    says, advice = str(found).splitlines()[-2:]
    assert says.startswith("The data contradict the shape: no distribution")
    assert advice == "Use `until` to assume the shape for the first ranks only."
    assert found.notes == (advice,)
    less = bounds(rising, shape="decreasing", until=N_ITEMS - 1)
    assert less.contradicted == "shape"
    assert less.notes[0].startswith("Use a smaller `until` to")
    assert "–" in found.to_markdown()
    assert "nan" not in str(found)
    assert json.loads(json.dumps(found.to_dict()))["metrics"][0]["low"] is None
    # what is said of the first ranks alone may still be so
    assert bounds(rising, shape="decreasing", until=100).contradicted is None
    assert bounds(rising).contradicted is None
    assert bounds(draw(), shape="decreasing").contradicted is None


def test_a_contradicted_design_is_a_result() -> None:
    # nobody at 15 of 30, where every rank that gives 14 and 16 often would put many
    wrong = RankSample.from_counts(
        [14, 16], [5000, 5000], sample_size=30, n_items=N_ITEMS, design="sampled:replacement=true"
    )
    for shape in (None, "decreasing"):
        found = bounds(wrong, shape=shape)
        assert found.contradicted == "design"
        assert str(found).splitlines()[-1].startswith("The data contradict the design")


# What must hold


@pytest.mark.parametrize("design", DESIGNS)
def test_bounds_hold_the_truth(design: str) -> None:
    exact = metrics.evaluate(RANKS, EVERY, n_items=N_ITEMS)
    for target in ("population", "users"):
        found = bounds(draw(design), EVERY, interval_for=target)
        for metric in EVERY:
            assert inside(Interval(exact[metric], exact[metric]), found[metric], by=1e-12), metric
        assert found["recall"] == (1.0, 1.0)
        assert found["recall@10"].high < 0.6 < found["auc"].low


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("shape", [None, "decreasing"])
def test_never_narrower_on_a_coarser_grid(design: str, shape: str | None) -> None:
    names = ("recall@10", "ndcg", "ap@40", "auc")
    # every grid joins bins of the one before
    grids = [np.arange(N_ITEMS + 1)]
    for step in (2, 3, 5):
        grids.append(np.unique(np.append(grids[-1][::step], N_ITEMS)))
    found = [
        bounds(draw(design), names, shape=shape, grid=RankGrid(edges), n_events=8)
        for edges in grids
    ]
    assert [one.n_bins for one in found] == sorted((one.n_bins for one in found), reverse=True)
    for fine, coarse in itertools.pairwise(found):
        for name in names:
            assert inside(fine[name], coarse[name], by=2e-7), name
    assert found[-1]["auc"].high > found[0]["auc"].high + 1e-3
    assert found[0]["auc"] == bounds(draw(design), names, shape=shape, n_events=8)["auc"]


def test_shrink_as_the_sample_grows() -> None:
    true = np.repeat([1, 3, 8, 20, 60, 150], 500)
    widths = []
    for size in (10, 30, 100, 200, 300):
        sample = simulate(true, n_items=N_ITEMS, design=Uniform(size), rng=0)
        low, high = bounds(sample, "recall@10")["recall@10"]
        assert low <= 0.5 <= high
        widths.append(high - low)
    assert (np.diff(widths) < 0).all(), widths


def test_a_shape_and_these_users_narrow() -> None:
    plain = bounds(draw(), "recall@10, recall@50")
    for narrower in (
        bounds(draw(), "recall@10, recall@50", shape="decreasing"),
        bounds(draw(), "recall@10, recall@50", shape="decreasing", until=100),
        bounds(draw(), "recall@10, recall@50", interval_for="users"),
        bounds(draw(), "recall@10, recall@50", confidence_level=0.8),
    ):
        for name in plain.intervals:
            assert inside(narrower[name], plain[name], by=2e-7)
        gap = plain["recall@50"].high - plain["recall@50"].low
        assert narrower["recall@50"].high - narrower["recall@50"].low < 0.97 * gap


def test_one_shape_contains_the_other() -> None:
    every = bounds(draw(), "recall@20", shape="decreasing")["recall@20"]
    first = bounds(draw(), "recall@20", shape="decreasing", until=60)["recall@20"]
    assert inside(every, first, by=2e-7)
    assert bounds(draw(), "recall@20", shape="decreasing", until=N_ITEMS)["recall@20"] == every


def test_order_and_company_change_nothing() -> None:
    """One region for all metrics: what else is asked for moves no end."""
    alone = bounds(draw(), "ndcg@10")["ndcg@10"]
    among = bounds(draw(), [*EVERY, "ndcg@10"])["ndcg@10"]
    np.testing.assert_allclose(alone, among, atol=2e-7)
    rows = draw().rows
    turned = RankSample.from_ranks(rows.rank[::-1], sample_size=30, n_items=N_ITEMS)
    assert bounds(turned, "ndcg@10")["ndcg@10"] == alone
    assert bounds(draw().without_rows(), "ndcg@10")["ndcg@10"] == alone


@pytest.mark.parametrize("k", [7, 13, 60])
def test_exact_ranks_leave_the_users_alone(k: int) -> None:
    """Of n = N candidates the region is around exact ranks, and only users are left to chance."""
    sample = simulate(RANKS, n_items=N_ITEMS, design=Uniform(N_ITEMS))
    found = bounds(sample, f"recall@{k}")
    exact = np.count_nonzero(k >= RANKS)
    ends = stats.binomtest(exact, 800).proportion_ci(1 - 0.05 / found.n_events, "exact")
    np.testing.assert_allclose(found[f"recall@{k}"], (ends.low, ends.high), atol=1e-6)


@pytest.mark.parametrize("shape", [None, "decreasing"])
def test_samples_that_say_nothing(shape: str | None) -> None:
    only = RankSample.from_ranks([1, 1, 1], sample_size=1, n_items=20)
    found = bounds(only, "recall@5, auc", shape=shape)
    low = 0.25 if shape else 0.0
    np.testing.assert_allclose(found["recall@5"], (low, 1.0), atol=1e-9)
    assert found.n_events == 0
    one = RankSample.from_ranks([1], sample_size=10, n_items=20, design="sampled:replacement=true")
    assert bounds(one, "recall@5", shape=shape)["recall@5"].high == 1.0
    tiny = RankSample.from_ranks([1, 2], sample_size=2, n_items=2)
    assert bounds(tiny, "recall@1", shape=shape)["recall@1"].high == pytest.approx(1.0, abs=0.02)


# Catalogues of the users' own


@pytest.mark.parametrize("name", ["fixed", "exact", "adaptive"])
def test_catalogues_of_the_users_own(name: str) -> None:
    """Ranks that go with the size of the catalogue: no independence is assumed."""
    rng = np.random.default_rng(3)
    pool = rng.integers(60, 200, 3000)
    true = 1 + rng.binomial(pool - 1, np.where(pool > 130, 0.02, 0.3))
    designs = {
        "fixed": Uniform(20),
        "exact": Uniform(200),
        "adaptive": Adaptive(levels=(5, 20, 100)),
    }
    drawn = [
        simulate(
            true[pool == n], n_items=int(n), design=_clipped(designs[name], int(n)), rng=int(n)
        ).rows
        for n in np.unique(pool)
    ]
    sample = RankSample.from_ranks(
        np.concatenate([rows.rank for rows in drawn]),
        sample_size=np.concatenate([rows.sample_size for rows in drawn]),
        n_items=np.concatenate([rows.n_items for rows in drawn]),
        design=designs[name],
    )
    names = ("recall@5", "recall@20", "ndcg", "auc", "precision")
    found = bounds(sample, names)
    assert found.n_items is None
    for metric in names:
        parsed = metrics.parse(metric)
        exact = float(parsed.weights(true, pool).mean())
        assert found[metric].low <= exact <= found[metric].high, metric
        assert inside(
            found[metric], bounds(sample, names, shape="decreasing", until=1)[metric], by=1e-9
        )


def _clipped(design: Design, n_items: int) -> Design:
    sizes = design.rounds(n_items).within(n_items).sizes
    return Uniform(sizes[0]) if isinstance(design, Uniform) else Adaptive(levels=sizes)


def test_equal_catalogues_of_their_own_are_one() -> None:
    rows = draw().rows
    own = RankSample.from_ranks(
        rows.rank, sample_size=30, n_items=N_ITEMS, design="sampled:pool=unseen"
    )
    assert bounds(own)["recall@10"] == bounds(draw())["recall@10"]


# Refusals


def _several() -> RankSample:
    return RankSample.from_ranks(
        [1, 2],
        sample_size=5,
        n_items=50,
        design="sampled:replacement=true",
        user=[7, 7],
        n_targets=2,
        offset=[0, 1],
    )


REFUSED = {
    "one target": _several,
    "equal weight": lambda: RankSample.from_ranks(
        [1, 1], sample_size=5, n_items=50, design="sampled:replacement=true", weight=[1.0, 2.0]
    ),
    "sample size.*differ": lambda: RankSample.from_ranks(
        [1, 1], sample_size=[5, 6], n_items=50, design="sampled:replacement=true"
    ),
    r"RankSample.*\bNone\b": lambda: None,
}


@pytest.mark.parametrize("text", REFUSED)
def test_samples_without_an_argument_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=rf"`ranks`.*{text}"):
        bounds(REFUSED[text]())


def test_equal_weights_are_no_weights() -> None:
    rows = draw().rows
    doubled = RankSample.from_ranks(
        rows.rank, sample_size=30, n_items=N_ITEMS, weight=np.full(800, 2.0)
    )
    assert bounds(doubled)["recall@10"] == bounds(draw())["recall@10"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"shape": "rising"}, r"`shape`.*'decreasing'.*'rising'"),
        ({"until": 5}, r"`until`.*`shape`"),
        ({"shape": "decreasing", "until": 301}, r"`until`.*\b301\b"),
        (
            {"shape": "decreasing", "interval_for": "users"},
            r'`shape`.*interval_for="users"',
        ),
        ({"interval_for": "all"}, r"`interval_for`.*'population', 'users'.*'all'"),
        ({"confidence_level": 0.4}, r"`confidence_level`.*\b0\.4\b"),
        ({"confidence_level": 1}, r"`confidence_level`.*not 1\b"),
        ({"n_events": 0}, r"`n_events`.*\b0\b"),
        ({"grid": 7}, r"`grid`.*RankGrid.*\bint\b"),
        (
            {"grid": RankGrid.dense(299)},
            r"`grid`.*\b300\b.*\b299\b",
        ),
        ({"metrics": []}, r"`metrics`.*empty"),
    ],
)
def test_settings_are_checked(settings: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        bounds(draw(), **settings)


# The region


def test_limits_are_clopper_and_pearson() -> None:
    count = np.array([0, 5, 40, 100])
    low, high = limits(count, 100, 0.04)
    for at, one in enumerate(count):
        ends = stats.binomtest(int(one), 100).proportion_ci(1 - 0.04 / 4, "exact")
        np.testing.assert_allclose((low[at], high[at]), (ends.low, ends.high), atol=1e-12)
    # a count of 1 is left to Markov, and its mirror
    (low,), _ = limits(np.array([1]), 100, 0.04)
    assert low == 0.02 / 100
    _, (high,) = limits(np.array([99]), 100, 0.04)
    assert high == 1.0 - 0.02 / 100


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_regions_hold_for_users_of_unequal_chances(alpha: float) -> None:
    """Exactly, by convolution: the chance to miss is at most alpha, half of it on each side."""
    rng = np.random.default_rng(4)
    cases = [rng.beta(a, b, size) for a in (0.05, 0.5, 3) for b in (0.5, 5) for size in (2, 9, 40)]
    # all chance on one user: just below alpha / 2 a miss is due, just above it is one too many
    cases += [np.r_[alpha / 2 * by, np.zeros(8)] for by in (0.99, 1.005, 3.0)]
    cases += [1.0 - chances for chances in cases]
    tightest = 1.0
    for chances in cases:
        law = np.ones(1)
        for p in chances:
            law = np.convolve(law, [1.0 - p, p])
        count, size = np.arange(law.size), chances.size
        lows, highs = np.array([limits(np.array([x]), size, alpha) for x in count])[:, :, 0].T
        assert law[lows > chances.mean()].sum() <= alpha / 2 + 1e-12
        assert law[highs < chances.mean()].sum() <= alpha / 2 + 1e-12
        missed = np.zeros((size + 1, 2), bool)
        for x in count:
            rows, ends = chernoff(np.array([x]), size, alpha, chances[:, None], chances[:, None])
            missed[x] = rows.mean(axis=0) > ends
        assert (law @ missed <= alpha / 2 + 1e-12).all()
        tightest = min(tightest, 1.0 - law[lows > chances.mean()].sum() / (alpha / 2))
    assert tightest < 0.02  # the region is no wider than it must be


def test_rows_of_the_region() -> None:
    top, bottom = np.array([[0.9, 1.0], [0.4, 0.6]]), np.array([[0.8, 1.0], [0.3, 0.5]])
    rows, ends = clopper_pearson(np.array([4, 10]), 10, 0.1, top, bottom)
    low, high = limits(np.array([4, 10]), 10, 0.1)
    # no upper limit where the count is full; the lower chance may not exceed, the upper not miss
    np.testing.assert_array_equal(rows, [[0.8, -0.9, -1.0], [0.3, -0.4, -0.6]])
    np.testing.assert_array_equal(ends, [high[0], -low[0], -low[1]])


# Events


@pytest.mark.parametrize("name", DESIGNS)
def test_events_are_chosen_before_the_data(name: str) -> None:
    sample = draw(name)
    events = Events.chosen(sample.design, 30, N_ITEMS, 12)
    assert 5 <= events.rank.size <= 12
    assert len({*zip(events.level.tolist(), events.rank.tolist(), strict=True)}) == events.rank.size
    chance = events.probabilities(np.arange(1, N_ITEMS + 1), N_ITEMS)
    assert (np.diff(chance, axis=0) <= 1e-12).all()  # falls with the rank
    assert (np.diff(chance, axis=1) >= -1e-12).all()  # and each event contains the one before
    small = events.probabilities(np.arange(1, 201), 200)
    assert (small <= chance[:200] + 1e-12).all()  # and rises with the catalogue
    counts = events.counts(sample)
    assert (np.diff(counts) >= 0).all()
    # 800 users: within five standard errors
    mean = chance[RANKS - 1].mean(axis=0)
    error = np.sqrt((chance * (1 - chance))[RANKS - 1].mean(axis=0) / 800)
    assert (np.abs(counts / 800 - mean) <= 5 * error + 1e-9).all()


@pytest.mark.parametrize("name", DESIGNS)
def test_chances_are_sums_over_outcomes(name: str) -> None:
    design = draw(name).design
    events = Events.chosen(design, 30, N_ITEMS, 12)
    rank, size = design.possible(N_ITEMS, 30)
    table = design.probabilities_at(np.arange(1, N_ITEMS + 1), rank, size, n_items=N_ITEMS)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
    level = np.searchsorted(events.rounds.sizes, size)
    for at, (j, t) in enumerate(zip(events.level, events.rank, strict=True)):
        held = (level > j) | ((level == j) & (rank <= t))
        np.testing.assert_allclose(
            events.probabilities(np.arange(1, N_ITEMS + 1), N_ITEMS)[:, at],
            table[:, held].sum(axis=1),
            atol=1e-11,
        )


def test_events_stand_at_the_cut_offs_of_fine_samples() -> None:
    fine, coarse = Uniform(), Uniform(replacement=True)
    with_cuts = Events.chosen(fine, 200, 400, 12, [10, 20, 50, 100, 199, 400, 900])
    assert {5, 10, 25, 100} <= set(with_cuts.rank.tolist())  # four of them, ends included
    assert with_cuts.rank.size <= 12
    assert (np.diff(with_cuts.rank) > 0).all()
    plain = Events.chosen(coarse, 20, 400, 12)
    np.testing.assert_array_equal(Events.chosen(coarse, 20, 400, 12, [1, 10, 49]).rank, plain.rank)
    assert Events.chosen(fine, 200, 400, 1, [50]).rank.tolist() == [1]


# The program


def test_program_by_hand() -> None:
    # columns 0, 1, 2 with the mean of 0, 1, 2 at most 0.5: all the gain that 2 can carry
    program = Program(
        np.array([[0.0], [1.0], [2.0]]), np.array([0.5]), np.zeros(3, int), np.ones(1)
    )
    assert program.feasible()
    assert program.maximum(np.array([0.0, 1.0, 4.0])) == pytest.approx(1.0, abs=1e-7)
    assert program.maximum(np.array([0.0, 1.0, 1.0])) == pytest.approx(0.5, abs=1e-7)
    assert program.maximum(np.array([3.0, 3.0, 3.0])) == pytest.approx(3.0, abs=1e-7)


def test_program_with_groups() -> None:
    # a quarter of the mass on columns 0 and 1, the rest on 2 and 3
    table = np.array([[0.0], [1.0], [0.0], [1.0]])
    group, mass = np.array([0, 0, 1, 1]), np.array([0.25, 0.75])
    program = Program(table, np.array([0.5]), group, mass)
    assert program.feasible()
    gain = np.array([0.0, 8.0, 0.0, 4.0])
    assert program.maximum(gain) == pytest.approx(0.25 * 8 + 0.25 * 4, abs=1e-6)
    assert not Program(table, np.array([-0.1]), group, mass).feasible()


def test_program_takes_in_the_columns_it_lacks() -> None:
    """A gain at one column of many that the first programs do not hold."""
    values = np.linspace(0.0, 1.0, 5001)
    at = 4321
    program = Program(values[:, None], np.array([0.4]), np.zeros(5001, int), np.ones(1))
    assert not program.active[at]
    assert program.feasible()
    gain = np.zeros(5001)
    gain[at] = 1.0
    assert program.maximum(gain) == pytest.approx(0.4 / values[at], abs=1e-6)
    assert program.active[at]


def test_program_is_a_bound_even_where_the_solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(np.array([[0.0], [1.0]]), np.array([0.5]), np.zeros(2, int), np.ones(1))
    monkeypatch.setattr(Program, "_solve", lambda *_: None)
    assert program.maximum(np.array([0.0, 1.0])) == 1.0
