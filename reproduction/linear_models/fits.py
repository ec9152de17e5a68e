"""Fits on disk: every setting once, evaluated on validation and test users.

The test users are ranked with every setting, which costs little; the choice depends on the
validation users only.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reproduction.common.kept import keep_arrays
from reproduction.linear_models.data import METRICS, TUNED_BY, Problem

_TUNED = list(METRICS).index(TUNED_BY)
Settings = dict[str, Any]


@dataclass(frozen=True)
class Tried:
    """A setting, and the three metrics of each user."""

    settings: Settings
    valid: np.ndarray
    test: np.ndarray
    seconds: float
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return float(self.valid[:, _TUNED].mean())


def tried(
    problem: Problem,
    name: str,
    settings: Settings,
    fit: Callable[..., Any],
    extra: Sequence[str] = (),
) -> Tried:
    """From the folder, or fitted, judged and kept there."""
    said = json.dumps(settings, sort_keys=True)
    key = f"{zlib.crc32(f'{name} {said}'.encode()):08x}"
    path = problem.folder / f"{name.replace(' ', '').replace('λ', 'penalties')}-{key}.npz"
    if not path.is_file():
        start = time.perf_counter()
        model = fit(**settings)
        seconds = time.perf_counter() - start
        found = problem.judged(model) | {one: getattr(model, one) for one in extra}
        path.parent.mkdir(parents=True, exist_ok=True)
        keep_arrays(path, seconds=seconds, settings=said, **found)
        value = found["valid"][:, _TUNED].mean()
        print(f"{problem.name}: {name} {said} {value:.4f} {seconds:.1f} s", flush=True)
    with np.load(path) as content:
        return Tried(
            settings=settings,
            valid=content["valid"],
            test=content["test"],
            seconds=float(content["seconds"]),
            extra={one: content[one] for one in extra},
        )


def best_of(found: Sequence[Tried]) -> Tried:
    """By the validation users; of equals the first."""
    return max(found, key=lambda one: one.score)


def summary(found: Sequence[Tried], fitted_on: str) -> dict[str, Any]:
    """The best settings of a model and their metrics."""
    best = best_of(found)
    return {
        "fitted_on": fitted_on,
        "tried": len(found),
        "chosen": best.settings,
        "valid": round(best.score, 5),
        "test": means(best.test),
        "seconds": round(best.seconds, 2),
    }


def means(values: np.ndarray) -> dict[str, dict[str, float]]:
    """Mean over users and its standard error, of each metric."""
    errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return {
        name: {"mean": round(float(mean), 5), "se": round(float(error), 5)}
        for name, mean, error in zip(METRICS, values.mean(axis=0), errors, strict=True)
    }


def rounded(value: float) -> float:
    """Three digits, a whole number where it is one."""
    short = float(f"{value:.3g}")
    return int(short) if short >= 100 else short
