"""Bounds against programs over every rank, vertices one by one, and the design's figures."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import fullrank
from fullrank.data.sets import datasets
from fullrank.designs import Adaptive, Design, Uniform
from fullrank.inference.bounding import polytope
from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.events import Events
from fullrank.metrics import parse, parse_all
from fullrank.models import EASE
from fullrank.samples import RankSample, simulate

N_ITEMS, USERS = 60, 400
RANKS = np.arange(1, N_ITEMS + 1)
TRUE = np.minimum(np.random.default_rng(1).geometric(0.08, USERS), N_ITEMS)
METRICS = ("recall@1", "recall@7", "ndcg@10", "ap@20", "rr", "ndcg", "auc", "precision@3")
DESIGNS: dict[str, tuple[Design, list[int], int]] = {  # with the sizes and the refined rank
    "with replacement": (Uniform(12, replacement=True), [12], 1),
    "without": (Uniform(12), [12], 1),
    "adaptive": (Adaptive(levels=(4, 8, 16, 32)), [4, 8, 16, 32], 1),
    "adaptive, with replacement": (Adaptive(levels=(4, 8, 16), replacement=True), [4, 8, 16], 1),
    "adaptive, up to 2": (Adaptive(levels=(5, 15, 40), refine_rank=2), [5, 15, 40], 2),
}


def law(rank: int, levels: list[int], refine_rank: int, replacement: bool) -> dict:
    """P(outcome | R) by following every path through the levels: {(level, r): chance}."""
    going, done, drawn = {0: 1.0}, {}, 0
    for j, size in enumerate(levels):
        arrived: dict[int, float] = {}
        for above, chance in going.items():
            step = size - 1 - drawn
            x = np.arange(step + 1)
            if replacement:
                more = stats.binom.pmf(x, step, (rank - 1) / (N_ITEMS - 1))
            else:
                more = stats.hypergeom.pmf(x, N_ITEMS - 1 - drawn, rank - 1 - above, step)
            for extra, p in zip(x[more > 0].tolist(), more[more > 0].tolist(), strict=True):
                arrived[above + extra] = arrived.get(above + extra, 0.0) + chance * p
        drawn = size - 1
        last = j == len(levels) - 1
        stops = {a: p for a, p in arrived.items() if last or a >= refine_rank}
        done |= {(j, a + 1): p for a, p in stops.items()}
        going = {a: p for a, p in arrived.items() if a not in stops}
    return done


def region(
    sample: RankSample, levels: list[int], refine_rank: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(event | R), N × events, and limits: the events of `bounds`, all else from scipy."""
    cuts = [metric.k for metric in parse_all(METRICS) if metric.k is not None]
    events = Events.chosen(sample.design, levels[-1], N_ITEMS, 12, cuts)
    pairs = list(zip(events.level.tolist(), events.rank.tolist(), strict=True))

    def better(outcome: tuple[int, int], event: tuple[int, int]) -> bool:
        return outcome[0] > event[0] or (outcome[0] == event[0] and outcome[1] <= event[1])

    table = np.zeros((N_ITEMS, len(pairs)))
    for rank in RANKS.tolist():
        chances = law(rank, levels, refine_rank, sample.design.replacement)
        assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
        for at, event in enumerate(pairs):
            table[rank - 1, at] = sum(p for one, p in chances.items() if better(one, event))
    level = [levels.index(n) for n in sample.sample_size.tolist()]
    outcomes = list(zip(level, sample.rank.tolist(), strict=True))
    ends = []
    for event in pairs:
        held = sum(c for one, c in zip(outcomes, sample.count, strict=True) if better(one, event))
        ends.append(stats.binomtest(int(held), USERS).proportion_ci(1 - 0.05 / len(pairs), "exact"))
    return table, np.array([one.low for one in ends]), np.array([one.high for one in ends])


def by_all_ranks(table, low, high, metric: str, shape: str | None) -> tuple[float, float]:
    """The program as it is written: unknowns P(1), .., P(N), a shape as N - 1 inequalities."""
    rows, limits = [table.T, -table.T], [high, -low]
    if shape == "decreasing":
        rows.append(np.eye(N_ITEMS, k=1)[:-1] - np.eye(N_ITEMS)[:-1])
        limits.append(np.zeros(N_ITEMS - 1))
    gain = parse(metric).weights(RANKS, N_ITEMS)
    ends = []
    for sign in (1.0, -1.0):
        found = optimize.linprog(
            sign * gain, A_ub=np.vstack(rows), b_ub=np.concatenate(limits),
            A_eq=np.ones((1, N_ITEMS)), b_eq=[1.0],
        )  # fmt: skip
        assert found.status == 0, found.message
        ends.append(sign * found.fun)
    return ends[0], ends[1]


@pytest.mark.parametrize("shape", [None, "decreasing"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_program_over_every_rank(design: str, shape: str | None) -> None:
    drawn_by, levels, refine_rank = DESIGNS[design]
    sample = simulate(TRUE, n_items=N_ITEMS, design=drawn_by, rng=2)
    found = bounds(sample, METRICS, shape=shape)
    table, low, high = region(sample, levels, refine_rank)
    for metric in METRICS:
        ends = by_all_ranks(table, low, high, metric, shape)
        np.testing.assert_allclose(found[metric], ends, atol=1e-6, err_msg=metric)
        # never narrower, the solver's own tolerance apart
        assert found[metric].low <= ends[0] + 1e-9
        assert found[metric].high >= ends[1] - 1e-9


@pytest.mark.parametrize("n_events", [1, 2])
@pytest.mark.parametrize("metric", ["recall@1", "recall@3", "ndcg@5", "auc"])
def test_vertices_one_by_one(n_events: int, metric: str) -> None:
    """Every vertex: as many ranks with mass as rows that bind, solved and tried."""
    items, size = 9, 4
    sample = simulate([1, 1, 2, 3, 3, 5, 8] * 30, n_items=items, design=Uniform(size), rng=3)
    events = Events.chosen(sample.design, size, items, n_events)  # coarse: no cut-off counts
    held = [int(sample.count[sample.rank <= t].sum()) for t in events.rank]
    ends = [stats.binomtest(x, 210).proportion_ci(1 - 0.05 / n_events, "exact") for x in held]
    ranks = np.arange(1, items + 1)
    table = stats.hypergeom.cdf(events.rank - 1, items - 1, ranks[:, None] - 1, size - 1)
    gain = parse(metric).weights(ranks, items)
    values = []
    for binds in itertools.product((None, "low", "high"), repeat=n_events):
        which = [at for at, end in enumerate(binds) if end is not None]
        right = np.array([1.0, *(getattr(ends[at], str(binds[at])) for at in which)])
        for support in itertools.combinations(range(items), right.size):
            rows = np.vstack([np.ones(right.size), *(table[list(support), at] for at in which)])
            if abs(np.linalg.det(rows)) < 1e-12:
                continue
            mass = np.linalg.solve(rows, right)
            shares = mass @ table[list(support)]
            fits = all(
                end.low - 1e-9 <= p <= end.high + 1e-9 for p, end in zip(shares, ends, strict=True)
            )
            if (mass >= -1e-12).all() and fits:
                values.append(float(mass @ gain[list(support)]))
    found = bounds(sample, metric, n_events=n_events)[metric]
    np.testing.assert_allclose(found, (min(values), max(values)), atol=1e-6)


@pytest.mark.parametrize("design", ["sampled:200", "adaptive:levels=25/100/400/1600"])
def test_bins_of_a_large_catalogue(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They change the ends by little, and only outwards; here 2,000 bins for 5,000 ranks."""
    true = np.exp(np.log(5_000) * np.random.default_rng(2).beta(2.5, 1.2, 3000)).astype(int)
    sample = simulate(true, n_items=5_000, design=design, rng=0)
    names = ("recall@50", "ndcg", "auc")
    for shape in (None, "decreasing"):
        every = bounds(sample, names, shape=shape)
        with monkeypatch.context() as patch:
            patch.setattr(polytope, "_DENSE", 2**11)
            found = bounds(sample, names, shape=shape)
        assert found.n_bins < 2_000 < every.n_bins == 5_000
        for metric in names:
            assert found[metric].low <= every[metric].low + 1e-7
            assert found[metric].high >= every[metric].high - 1e-7
            np.testing.assert_allclose(found[metric], every[metric], atol=2e-3)


@pytest.mark.verify
@pytest.mark.slow
def test_ml1m_as_designed(data_file: Callable[[str], Path]) -> None:
    """EASE λ = 1500, training items excluded, n = 100: [0, 0.30], decreasing [0.06, 0.20]."""
    data_file("ml-1m.parquet")
    split = datasets.load_split("ml-1m")
    model = EASE(regularization=1500.0).fit(split.train)
    ranks = fullrank.rank(model, split.test, exclude=split.train, ties="random", rng=0).ranks
    sample = simulate(ranks, n_items=split.train.n_items, design="sampled:100", rng=0)
    exact = (ranks <= 10).mean()
    assert exact == pytest.approx(0.1063, abs=5e-4)
    for shape, ends in ((None, (0.0, 0.30)), ("decreasing", (0.06, 0.20))):
        found = bounds(sample, "recall@10", shape=shape)["recall@10"]
        np.testing.assert_allclose(found, ends, atol=0.03)
        assert found.low <= exact <= found.high


def test_the_study_is_as_designed() -> None:
    """The stored study: the design's ends for ml-1m and citeulike-a, and coverage."""
    path = Path(__file__).parents[2] / "reproduction" / "results" / "own" / "bounds.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    assert [row["foreseen"] for row in content["foreseen"]] == [
        [0.0, 0.54], [0.09, 0.46], [0.24, 0.40], [0.0, 0.30], [0.06, 0.20],
    ]  # fmt: skip
    for row in content["foreseen"]:
        ends = np.mean(row["low"]), np.mean(row["high"])
        np.testing.assert_allclose(ends, row["foreseen"], atol=0.03)
        assert max(row["low"]) <= row["exact"] <= min(row["high"])
    assert {cell["shape"] for cell in content["cells"]} == {
        "ml-1m", "pinterest-20-part", "citeulike-a", "gowalla",
    }  # fmt: skip
    for cell in content["cells"]:
        assert cell["runs"] >= 1_000
        for region in ("population", "users", "users, Chernoff"):
            assert cell[region] >= 0.95 * cell["runs"]
        assert cell["bounds_held"] == cell["bounds"]
    widths = [row["population"][1] - row["population"][0] for row in content["growing"]["rows"]]
    assert (np.diff(widths) < 0).all()
