"""The short form of the study intervals: intervals hold the truth as often as they say.

Shapes of real rank distributions from the study shapes, users drawn anew in every run.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from fullrank.inference import estimate
from fullrank.metrics import parse_all
from fullrank.samples import simulate

SHAPES = Path(__file__).parents[2] / "reproduction" / "results" / "own" / "shapes.json"
RUNS, N_USERS = 40, 2_000
METRICS = ("recall@10", "recall@50", "ndcg@10")


def density(name: str) -> np.ndarray:
    shapes = json.loads(SHAPES.read_text(encoding="utf-8"))["shapes"]
    (shape,) = (one for one in shapes if one["name"] == name)
    log_rank = np.log(np.arange(1.0, shape["n_items"] + 1.0))
    found = np.exp(np.interp(log_rank, np.log(shape["rank"]), shape["log_density"]))
    return found / found.sum()


@pytest.mark.slow
@pytest.mark.verify
@pytest.mark.parametrize("target", ["population", "users"])
@pytest.mark.parametrize("name", ["ml-1m", "citeulike-a"])
def test_intervals_of_adaptive_samples_hold_the_truth(name: str, target: str) -> None:
    shape = density(name)
    metrics = parse_all(METRICS)
    ranks = np.arange(1, shape.size + 1)
    truth = [float(shape @ metric.weights(ranks, shape.size)) for metric in metrics]
    held = np.zeros(len(metrics))
    for run in range(RUNS):
        rng = np.random.default_rng([run, 77])
        drawn = rng.choice(ranks, N_USERS, p=shape)
        sample = simulate(
            drawn, n_items=shape.size, design="adaptive:levels=25/50/100/200/400/800/1600", rng=rng
        )
        found = estimate(sample, metrics=METRICS, interval_for=target)
        here = [float(metric.weights(drawn, shape.size).mean()) for metric in metrics]
        for place, metric in enumerate(metrics):
            low, high = found.confidence_interval[metric.name]
            held[place] += low <= (truth if target == "population" else here)[place] <= high
    # 31 or fewer of 40 at 95 % have a chance of 1.3e-4
    assert (held >= 32).all(), dict(zip(METRICS, held / RUNS, strict=True))
