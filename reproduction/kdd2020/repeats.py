"""Repeated samples of one model on one data set, and every mapping function on them.

Repeats are cached in a file for each data set and model, so that an interrupted run resumes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive, Uniform
from fullrank.estimators import Mapping, alignment_errors, fit_beta, mle, smoothed
from fullrank.samples import RankSample, simulate
from reproduction.common.exact import Ranks
from reproduction.common.kept import keep_arrays
from reproduction.common.workers import in_processes
from reproduction.kdd2020.published import ERRORS

Floats = np.ndarray

SIZE = 100  # n, the target counted
START, LIMIT = 25, 3200
FUNCTIONS = ("linear", "bound", "beta@1", "beta@0.5", "beta@0.2", "beta@P")
PLACED = "beta@0.5"  # the function whose places f(k) the estimators are read at
ESTIMATED = ("MLE", "smoothed", "smoothed, without", "smoothed, adaptive 25")
TOP = np.arange(1, 51)
READ = ("naive", "beta@0.5, read between", "beta@P, read between", "beta@P, power law", *ESTIMATED)


@dataclass(frozen=True)
class Drawn:
    """All repeats come first in the arrays.

    Attributes
    ----------
    a : the parameter of beta@P
    sampled, sampled_without : SHR@k, k = 1..n, with and without replacement
    errors : FUNCTIONS, ERRORS
    estimated : ESTIMATED, ERRORS, at the places of PLACED
    top : READ, TOP: HR@1..50 as each way reads it from the sample
    sizes : items a user of the adaptive sample
    seconds : what drawing took, in an earlier run where these were kept
    """

    a: Floats
    sampled: Floats
    sampled_without: Floats
    errors: Floats
    estimated: Floats
    top: Floats
    sizes: Floats
    seconds: float


def drawn(label: str, known: Ranks, repeats: int, *, jobs: int, cache: Path) -> Drawn:
    """`label` names the file, along with what the ranks are."""
    work = partial(_repeat, known=known)
    path = cache / "kdd2020" / f"{label}-{repeats}.npz"
    found = kept_repeats(path, key_of(known), work, repeats, jobs)
    return Drawn(**{name: found[name] for name in Drawn.__annotations__})


def kept_repeats(
    path: Path, key: str, work: Callable[[int], dict[str, Any]], repeats: int, jobs: int
) -> dict[str, Any]:
    """What `work` gives for each seed, from a file if it was drawn before from the same ranks."""
    if path.is_file():
        with np.load(path) as content:
            if str(content["key"]) == key and "seconds" in content:
                return {name: content[name] for name in content.files}
    start = time.perf_counter()
    parts = in_processes(work, range(repeats), jobs, path.stem)
    found: dict[str, Any] = {name: np.array([one[name] for one in parts]) for name in parts[0]}
    found |= {"key": np.array(key), "seconds": time.perf_counter() - start}
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_arrays(path, **found)
    print(f"{path.stem}: {found['seconds']:.0f} s", flush=True)
    return found


def key_of(*known: Ranks) -> str:
    """Ranks that were made anew have another."""
    return "-".join(f"{one.n_items}-{one.ranks.sum()}-{(one.ranks**2).sum()}" for one in known)


def functions(n_items: int, size: int = SIZE) -> dict[str, Mapping]:
    """Those that do not look at the sample."""
    return {
        "linear": Mapping(kind="linear", sample_size=size, n_items=n_items),
        "bound": Mapping(kind="bound", sample_size=size, n_items=n_items),
        **{f"beta@{a:g}": Mapping(sample_size=size, n_items=n_items, a=a) for a in (1.0, 0.5, 0.2)},
    }


def places(mapping: Mapping) -> np.ndarray:
    """f(1), …, f(n) as whole cut-offs."""
    return np.floor(mapping.values() + 1e-9).astype(np.int64)


def hit_rates(ranks: np.ndarray, cut_offs: np.ndarray) -> Floats:
    """HR at whole cut-offs."""
    return np.searchsorted(np.sort(ranks), cut_offs, side="right") / ranks.size


def _repeat(seed: int, known: Ranks) -> dict[str, Any]:
    n, draw = known.n_items, partial(simulate, known.ranks, n_items=known.n_items)
    sample = draw(design=Uniform(SIZE, replacement=True), rng=seed)
    without = draw(design=Uniform(SIZE), rng=seed)
    deeper = draw(design=Adaptive(START, limit=min(LIMIT, n)), rng=seed)
    fitted = fit_beta(sample)
    mapped = functions(n) | {"beta@P": fitted}
    found = dict(
        zip(
            ESTIMATED,
            (mle(sample), smoothed(sample), smoothed(without), smoothed(deeper)),
            strict=True,
        )
    )
    at = places(mapped[PLACED])
    exact = hit_rates(known.ranks, at)
    aligned = [alignment_errors(mapped[name], sample, known.ranks) for name in FUNCTIONS]
    sampled = fitted.curve(sample)[1]
    return {
        "a": fitted.a,
        "sampled": sampled,
        "sampled_without": fitted.curve(without)[1],
        "errors": [[one[column] for column in ERRORS] for one in aligned],
        "estimated": [error_columns(one.cdf(at), exact) for one in found.values()],
        "top": [
            sampled[: TOP.size],
            read_between(mapped["beta@0.5"], sample),
            read_between(fitted, sample),
            (TOP / n) ** fitted.a,
            *(one.cdf(TOP) for one in found.values()),
        ],
        "sizes": deeper.average_size,
    }


def read_between(mapping: Mapping, sample: RankSample) -> Floats:
    """HR@1..50 on straight lines between the places, from 0 at rank 0."""
    at, values = mapping.curve(sample)
    found: Floats = np.interp(TOP, [0.0, *at], [0.0, *values])
    return found


def error_columns(estimate: Floats, exact: Floats) -> list[float]:
    """The columns of Table 7, relative to the estimate as the paper has them."""
    absolute = np.abs(estimate - exact)
    relative = np.divide(absolute, estimate, out=np.zeros_like(absolute), where=estimate > 0)
    return [
        float(values[part].mean())
        for part in (slice(None), slice(0, 1), slice(1, 10))
        for values in (absolute, relative)
    ]
