"""How deep an adaptive sample should go: cost and error by its largest size.

After Li et al. 2023, Figure 2 (Li, dissertation, Figure 9): users at rank 1 get a sample twice as
large, until all items are drawn. The first levels of one such sample are the shallower samples.
"""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive
from fullrank.estimators import mle, smoothed
from fullrank.samples import simulate
from reproduction.common.bank import QUICK_DATA
from reproduction.common.exact import METRICS, Judge, Ranks, adaptive_levels
from reproduction.common.workers import in_processes
from reproduction.study import spread

EM_STEPS = 50
DIGITS = 5  # enough that a page rounds once
CHUNK = 50  # repeats between two writings
MODEL = "EASE"
DEEP = ("pinterest-20", "pinterest-20-part", "yelp", "yelp-diffnet", QUICK_DATA)
ESTIMATORS = ("MLE", "smoothed")
STARTS = {"adaptive 100": (100, True), "adaptive 25": (25, False)}  # start, replacement


def depth(
    data: str, model: str, known: Ranks, *, repeats: int, jobs: int, cache: Path
) -> list[dict[str, Any]]:
    """For each design the levels: users who stop there, cost, average size, errors."""
    found = []
    for design, (start, replacement) in STARTS.items():
        levels = adaptive_levels(known.n_items, start, known.n_items)
        work = partial(_repeat, known=known, levels=levels, replacement=replacement)
        path = cache / f"depth-{data}-{model}-{design.replace(' ', '-')}.npz"
        values = _kept(path, work, levels, repeats, jobs)
        found.append(
            {
                "data": data,
                "model": model,
                "design": design,
                "replacement": replacement,
                "n_items": known.n_items,
                "levels": _levels(values, levels, known),
            }
        )
    return found


def _kept(path: Path, work: partial[Any], levels: list[int], repeats: int, jobs: int) -> np.ndarray:
    """(repeats, levels, figures): those that were kept of the same ranks, the others computed."""
    values = np.empty((0, len(levels), 2 + len(ESTIMATORS) * len(METRICS)))
    key = _key(work, levels)
    if path.is_file():
        with np.load(path) as content:
            if np.array_equal(content["key"], key):
                values = content["values"]
    while len(values) < repeats:
        seeds = range(len(values), min(repeats, len(values) + CHUNK))
        values = np.concatenate([values, np.array(in_processes(work, seeds, jobs))])
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, key=key, values=values)
        print(f"{path.stem}: {len(values)} of {repeats}", flush=True)
    return values[:repeats]


def _key(work: partial[Any], levels: list[int]) -> np.ndarray:
    """What values must have been made of to be read again: ranks, levels, estimators."""
    known = work.keywords["known"]
    drawn = sorted((name, one) for name, one in work.keywords.items() if name != "known")
    settings = repr((known.n_items, drawn, ESTIMATORS, EM_STEPS, METRICS))
    ranks = zlib.crc32(known.ranks.astype(np.int64).tobytes())
    return np.array([ranks, zlib.crc32(settings.encode()), *levels], np.int64)


def _repeat(seed: int, known: Ranks, levels: list[int], replacement: bool) -> list[list[float]]:
    """For each level: users who stop there, average size if it is the last, errors."""
    judge = Judge(known)
    rows = []
    for j in range(len(levels)):
        sample = simulate(
            known.ranks,
            n_items=known.n_items,
            design=Adaptive(levels=levels[: j + 1], replacement=replacement),
            rng=seed,
        )
        # users at rank 1 get a larger sample, except at the last level
        there = (sample.sample_size == levels[j]) & (sample.rank > 1)
        stopped = float(sample.count[there].sum())
        em = mle(sample, iterations=EM_STEPS, grid=judge.grid).mass
        smooth = smoothed(sample, grid=judge.grid).mass
        rows.append([stopped, sample.average_size, *judge.errors(em), *judge.errors(smooth)])
    return rows


def costs(stopped: np.ndarray, levels: list[int], n_users: int) -> np.ndarray:
    """C_j (Li et al. 2023, equation 13): items drawn at a level for each user who stops there.

    The equation does not apply to the last level.
    """
    reached = n_users - np.concatenate([[0.0], np.cumsum(stopped)[:-1]])
    drawn = np.diff([0, *levels])
    with np.errstate(divide="ignore"):
        return np.asarray(reached * drawn / stopped)[:-1]


def _cost(values: np.ndarray) -> dict[str, float] | None:
    """Nothing for the last level, nor where in some repeat nobody stopped."""
    return spread(values.ravel()) if values.size and np.isfinite(values).all() else None


def _levels(values: np.ndarray, levels: list[int], known: Ranks) -> list[dict[str, Any]]:
    each = np.array([costs(one, levels, known.ranks.size) for one in values[:, :, 0]])
    rows = []
    for j, size in enumerate(levels):
        errors = values[:, j, 2:].mean(axis=0).reshape(len(ESTIMATORS), len(METRICS))
        rows.append(
            {
                "size": size,
                "percent_of_items": round(100.0 * size / known.n_items, DIGITS),
                "stopping": round(float(values[:, j, 0].mean()), DIGITS),
                "cost": _cost(each[:, j : j + 1]),
                "average_size": round(float(values[:, j, 1].mean()), DIGITS),
                "errors": dict(zip(ESTIMATORS, np.round(errors, DIGITS).tolist(), strict=True)),
            }
        )
    return rows
