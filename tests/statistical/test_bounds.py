"""Bounds hold at least as often as they say, for the population and for the users drawn."""

import numpy as np
import pytest
from scipy import stats

from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.events import Events
from fullrank.inference.bounding.region import chernoff, limits
from fullrank.metrics import parse_all
from fullrank.samples import simulate

pytestmark = [pytest.mark.slow, pytest.mark.verify]

# quantiles 0, 0.1, .., 1 of the ranks of a model, training items excluded, and the items:
# rounded from EASE on ml-1m, pinterest-20 and citeulike-a and a truncated SVD on gowalla
SHAPES = {
    "ml-1m": ([1, 10, 25, 46, 76, 117, 184, 292, 500, 1000, 3700], 3_706),
    "pinterest": ([1, 17, 50, 105, 190, 300, 460, 700, 1050, 1800, 9916], 9_916),
    "citeulike": ([1, 1, 4, 10, 25, 53, 115, 280, 800, 2700, 16980], 16_980),
    "gowalla": ([1, 25, 110, 310, 720, 1500, 3000, 5800, 11000, 21000, 40981], 40_981),
}
DESIGNS = {"fixed": "sampled:100,replacement=true", "adaptive": "adaptive:levels=25/100/400/1600"}
RUNS, USERS = 400, 1_000
NAMES = ("recall@1", "recall@10", "ndcg@10", "ap@50", "auc")


def draw(shape: str, rng: np.random.Generator, users: int) -> np.ndarray:
    """Log-ranks linear between the quantiles."""
    quantiles, n_items = SHAPES[shape]
    log_rank = np.interp(rng.random(users), np.linspace(0, 1, 11), np.log(quantiles))
    return np.clip(np.rint(np.exp(log_rank)), 1, n_items).astype(np.int64)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_regions_hold(shape: str, design: str) -> None:
    """Bounds hold whenever their region does; too few holds would be a chance of 1e-3."""
    n_items = SHAPES[shape][1]
    world = draw(shape, np.random.default_rng(0), 200_000)
    known, weight = np.unique(world, return_counts=True)
    first = simulate(world[:5], n_items=n_items, design=DESIGNS[design], rng=0)
    events = Events.chosen(first.design, 100, n_items, 12)
    chance = events.probabilities(known, n_items)
    whole = weight @ chance / world.size
    held = np.zeros(3, int)
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        users = rng.choice(world, USERS)
        count = events.counts(simulate(users, n_items=n_items, design=DESIGNS[design], rng=rng))
        low, high = limits(count, USERS, 0.05)
        each = chance[np.searchsorted(known, users)]
        rows, ends = chernoff(count, USERS, 0.05, each, each)
        held += (
            ((low <= whole) & (whole <= high)).all(),
            ((low <= each.mean(axis=0)) & (each.mean(axis=0) <= high)).all(),
            (rows.mean(axis=0) <= ends).all(),
        )
    assert (held >= stats.binom.ppf(1e-3, RUNS, 0.95)).all(), held


def test_bounds_hold() -> None:
    """The programs too, of which all ends hold at once."""
    n_items = SHAPES["ml-1m"][1]
    missed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        users = draw("ml-1m", rng, USERS)
        design = DESIGNS["fixed" if seed % 2 else "adaptive"]
        sample = simulate(users, n_items=n_items, design=design, rng=rng)
        exact = [metric.weights(users, n_items).mean() for metric in parse_all(NAMES)]
        for target in ("population", "users"):
            low, high = np.array(
                list(bounds(sample, NAMES, interval_for=target).intervals.values())
            ).T
            missed += not ((low <= exact) & (exact <= high)).all()
    assert missed <= 2  # of 20, at one in twenty more have a chance of 0.08
