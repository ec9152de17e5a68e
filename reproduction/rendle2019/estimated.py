"""The ranks of Rendle's example for thousands of users: what estimators make of their samples."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.cli.demonstration import RENDLE, RENDLE_ITEMS, SAMPLE_SIZE
from fullrank.designs import Adaptive, Design, Uniform
from fullrank.estimators import mle, smoothed
from fullrank.inference import bounds
from fullrank.samples import RankSample, simulate
from reproduction.common.kept import keep_arrays
from reproduction.common.workers import in_processes
from reproduction.rendle2019.figures import TOP_METRICS, best, exact_of
from reproduction.study import spread

COPIES = 2_000  # five users tell an estimator nothing
DESIGNS: dict[str, Design] = {
    "fixed 100": Uniform(SAMPLE_SIZE, replacement=True),
    "fixed 100 without": Uniform(SAMPLE_SIZE),
    "adaptive 25": Adaptive(25, limit=3_200),
}
ESTIMATORS = ("naive", "MLE", "smoothed")


def estimated(repeats: int, asked: argparse.Namespace) -> dict[str, Any]:
    """The paper's ranks, COPIES users for each: what is estimated, and who is named the best."""
    path = asked.cache / f"rendle2019-{repeats}-{COPIES}.npz"
    if path.is_file():
        with np.load(path) as kept:
            values, sizes, ends = kept["values"], kept["sizes"], kept["ends"]
            seconds = float(kept["seconds"])
    else:
        start = time.perf_counter()
        values = np.array(in_processes(_repeat, range(repeats), asked.jobs))
        sizes, ends = _sizes(), _ends()
        seconds = time.perf_counter() - start
        _keep(path, values=values, sizes=sizes, ends=ends, seconds=np.array(seconds))
    rows = []
    for d, design in enumerate(DESIGNS):
        for e, estimator in enumerate(ESTIMATORS):
            if estimator == "naive" and "adaptive" in design:
                continue  # ranks among samples of different sizes have no naive mean
            rows.append(_row(design, estimator, values[:, d, e], sizes[d]))
    return {
        "users": COPIES * len(RENDLE["A"]),
        "repeats": repeats,
        "seconds": round(seconds, 1),  # of the run that drew them
        "rows": rows,
        "bounds": [
            {"design": design, "metric": name, "model": model, "interval": _digits(ends[d, i, j])}
            for d, design in enumerate(DESIGNS)
            for i, model in enumerate(RENDLE)
            for j, name in enumerate(TOP_METRICS)
        ],
    }


def _row(design: str, estimator: str, values: np.ndarray, sizes: np.ndarray) -> dict[str, Any]:
    """`values` has repeats, models and metrics."""
    row: dict[str, Any] = {
        "design": design,
        "estimator": estimator,
        "average_size": round(float(sizes.mean()), 1),
        "metrics": {},
    }
    models = list(RENDLE)
    for j, name in enumerate(TOP_METRICS):
        first = models.index(best(exact_of(name)))
        row["metrics"][name] = {
            "models": {model: spread(values[:, i, j]) for i, model in enumerate(models)},
            "best_named_percent": round(100 * float((values[..., j].argmax(1) == first).mean()), 1),
        }
    return row


def _sample(model: str, design: str, seed: int) -> RankSample:
    ranks = np.tile(RENDLE[model], COPIES)
    return simulate(ranks, n_items=RENDLE_ITEMS, design=DESIGNS[design], rng=seed)


def _repeat(seed: int) -> list[Any]:
    """Designs, estimators, models, metrics."""
    return [
        [
            [_values(_sample(model, design, seed), estimator) for model in RENDLE]
            for estimator in ESTIMATORS
        ]
        for design in DESIGNS
    ]


def _values(sample: RankSample, estimator: str) -> list[float]:
    if estimator == "naive":
        if sample.design.adaptive:
            return [math.nan] * len(TOP_METRICS)
        return [sample.naive(name) for name in TOP_METRICS]
    found = smoothed(sample) if estimator == "smoothed" else mle(sample)
    return [found.metric(name) for name in TOP_METRICS]


def _sizes() -> np.ndarray:
    return np.array([[_sample(m, design, 0).average_size for m in RENDLE] for design in DESIGNS])


def _ends() -> np.ndarray:
    """Bounds (95 %) of the first repeat: designs, models, metrics, ends."""
    return np.array([[_both(_sample(m, design, 0)) for m in RENDLE] for design in DESIGNS])


def _both(sample: RankSample) -> list[list[float]]:
    found = bounds(sample, TOP_METRICS)
    return [list(found[name]) for name in TOP_METRICS]


def _digits(interval: np.ndarray) -> list[float]:
    return [round(float(end), 4) for end in interval]


def _keep(path: Path, **arrays: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_arrays(path, **arrays)
