"""A hundred samples of each data set, model and design, and every estimator on each of them.

The exact ranks of the models are stored (`bank`), so a repeat only draws candidates. The results of
a cell (data set, model, design) are kept in a file, from which every table of the papers about
estimators is computed; a run that was stopped resumes.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.estimators.uniform.likelihood import STEPS_ADAPTIVE, STEPS_FIXED
from fullrank.inference.bounding.bounds import bounds
from fullrank.metrics import parse
from fullrank.samples import RankDistribution, RankSample, simulate
from reproduction.common.exact import KS, METRICS, Ranks
from reproduction.common.kept import ROOT, keep_arrays
from reproduction.common.repeats_fit import ETA, GAMMA, SCALE, WEIGHT, Samples
from reproduction.common.workers import Steps, workers

Floats = NDArray[np.float64]

FORMAT = 2
CACHE = ROOT / "out" / "repeats"
LIMIT = 3200  # the last level
DESIGNS: dict[str, Design] = {
    "fixed 100": Uniform(100, replacement=True),
    "fixed 500": Uniform(500, replacement=True),
    "fixed 1000": Uniform(1000, replacement=True),
    "adaptive 100": Adaptive(100, replacement=True),
    "adaptive 25": Adaptive(25),
    "fixed 100 without": Uniform(100),
}
PRIORS = ("MES", "MLE")
OWN = tuple(f"{family}_{prior}" for family in ("BV", "MN") for prior in PRIORS)
AVERAGED = tuple(f"{name}, averaged" for name in OWN)  # the prior is the mean over all repeats
DISTRIBUTIONS = ("BV 0.1", "BV 0.01", "MLE", "WMLE", "MES", *OWN, *AVERAGED, "smoothed")
BOUND_KS = (1, 5, 10, 20, 50)
BOUND_SHARE = 10  # bounds of every tenth repeat, the first ones and at least two: they are slow


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    """What the repeats of a cell gave.

    Parameters
    ----------
    values : (repeats, estimators, metrics, cut-offs), in the order of METRICS and KS
    estimators : their names, those that fit the design
    exact : (metrics, cut-offs), from the exact ranks
    sizes : the average sample size of each repeat
    masses : (estimators, bins), the mean P̂(R) over the repeats; NaN for the two that give none
        ("naive" and "CLS")
    truth : (bins,), the exact P(R)
    edges : of the bins, as in `RankGrid`
    bounds : (repeats / 10, metrics, BOUND_KS, 2), the ends at 95 % of the first repeats
    seconds : what the cell took
    """

    values: Floats
    estimators: tuple[str, ...]
    exact: Floats
    sizes: Floats
    masses: Floats
    truth: Floats
    edges: NDArray[np.int64]
    bounds: Floats
    seconds: float

    def of(self, estimator: str, metric: str | None = None, k: int | None = None) -> Floats:
        """The values of an estimator: (repeats, metrics, cut-offs), or of one metric and K."""
        found = self.values[:, self.estimators.index(estimator)]
        if metric is not None:
            found = found[:, METRICS.index(metric)]
        return found if k is None else found[..., k - 1]

    def errors(self, estimator: str) -> Floats:
        """(repeats, metrics): mean over K of |estimate - exact| / exact in percent (`Judge`)."""
        known = self.exact > 0.0
        scale = np.where(known, self.exact, 1.0)
        relative = np.where(known, np.abs(self.of(estimator) - self.exact) / scale, 0.0)
        return np.asarray(100.0 * relative.sum(axis=-1) / known.sum(axis=-1))


@dataclass(frozen=True)
class Cell:
    """A data set, a model and a design."""

    data: str
    model: str
    design: str
    excluded: bool = False

    @property
    def file(self) -> str:
        parts = (self.data, self.model, self.design, "excluded" if self.excluded else "kept")
        return "_".join(parts).replace(" ", "-") + ".npz"


def every_cell(banks: dict[str, dict[str, Ranks]], designs: Iterable[str]) -> list[Cell]:
    """Of every design, model and data set: filled together, the time left is that of all."""
    designs = list(designs)
    return [
        Cell(data, model, design)
        for data, known in banks.items()
        for design in designs
        for model in known
    ]


def computed(
    cells: list[Cell], *, repeats: int, cache: Path = CACHE, jobs: int = 1
) -> dict[Cell, Repeats]:
    """Those of many cells; the missing ones are computed in `jobs` processes."""
    fill(cells, repeats=repeats, cache=cache, jobs=jobs)
    return {cell: _read(cache / cell.file) for cell in cells}


def fill(cells: list[Cell], *, repeats: int, cache: Path, jobs: int) -> None:
    """Compute the cells that are missing."""
    from reproduction.common.bank import bank

    for cell in cells:
        checks.choice("design", cell.design, DESIGNS)
    cache.mkdir(parents=True, exist_ok=True)
    banks = {key: bank(key[0], excluded=key[1]) for key in {(c.data, c.excluded) for c in cells}}
    known = {cell: banks[cell.data, cell.excluded][cell.model] for cell in cells}
    # the longest first, so that no process is left alone with one at the end
    missing = sorted(
        (cell for cell in cells if not _kept(cell, known[cell], repeats, cache)),
        key=lambda cell: -_about(DESIGNS[cell.design]),
    )
    steps = Steps(len(missing))
    if jobs == 1 or len(missing) < 2:
        for cell in missing:
            print(f"{steps.text()}: {_compute(cell, known[cell], repeats, cache)}", flush=True)
        return
    # a process computes a whole cell, so that the number of processes changes no result
    with workers(min(jobs, len(missing))) as pool:
        running = [pool.submit(_compute, cell, known[cell], repeats, cache) for cell in missing]
        for done in as_completed(running):
            print(f"{steps.text()}: {done.result()}", flush=True)


def _about(design: Design) -> int:
    """Items for each user, about."""
    return design.sample_size or 0 if isinstance(design, Uniform) else 400


def _compute(cell: Cell, known: Ranks, repeats: int, cache: Path) -> str:
    """Draw, estimate, keep; a line about it."""
    from fullrank._lib.threads import one_blas_thread

    start = time.perf_counter()
    with one_blas_thread():
        samples = [_draw(cell, known, seed) for seed in range(repeats)]
        grid = RankGrid.default(known.n_items)
        masses, values = _estimates(samples, grid)
        ends = [_ends(sample) for sample in samples[: max(2, repeats // BOUND_SHARE)]]
    exact = [[_exact(known, metric, k) for k in KS] for metric in METRICS]
    truth = RankDistribution.from_ranks(known.ranks, n_items=known.n_items, grid=grid).mass
    seconds = time.perf_counter() - start
    keep_arrays(
        cache / cell.file,
        key=_key(cell, known, repeats),
        # of a distribution every metric follows from P̂(1), …, P̂(50)
        head=np.array([mass[: len(KS)].T for mass in masses.values()], np.float32),
        values=np.array(list(values.values()), np.float32),
        estimators=np.array([*values, *masses]),
        exact=exact,
        sizes=[sample.average_size for sample in samples],
        masses=[mass.mean(axis=1) for mass in masses.values()],
        truth=truth,
        edges=grid.edges,
        bounds=ends,
        seconds=seconds,
    )
    return f"{cell.data}, {cell.model}, {cell.design}: {repeats} repeats in {seconds:.1f} s"


def _estimates(samples: list[RankSample], grid: RankGrid) -> tuple[dict[str, Floats], Any]:
    """P̂(R) of every distribution, a column a repeat; and the values of the other estimators."""
    drawn = Samples(samples, grid)
    priors = {"MES": drawn.mes(), "MLE": drawn.mle()}
    masses = {"BV 0.1": drawn.bv(gamma=0.1), "BV 0.01": drawn.bv(), **priors}
    masses |= {"WMLE": drawn.weighted_mle(), "smoothed": drawn.smoothed()}
    for name, prior in priors.items():
        masses[f"BV_{name}"], masses[f"MN_{name}"] = drawn.bv(prior), drawn.mn(prior)
        mean = prior.mean(axis=1)
        masses[f"BV_{name}, averaged"] = drawn.bv(mean)
        masses[f"MN_{name}, averaged"] = drawn.mn(mean)
    names = [f"{metric}@{k}" for metric in METRICS for k in KS]
    shape = (len(samples), len(METRICS), len(KS))
    values = {"CLS": drawn.cls(names).T.reshape(shape)}
    if not drawn.adaptive:
        naive = np.array([[sample.naive(name) for name in names] for sample in samples])
        values = {"naive": naive.reshape(shape)} | values
    return {name: masses[name] for name in DISTRIBUTIONS}, values


def _draw(cell: Cell, known: Ranks, seed: int) -> RankSample:
    """Seed r of repeat r; data sets, models and designs have draws of their own."""
    own = zlib.crc32(f"{cell.data}, {cell.model}, {cell.design}".encode())
    rng = np.random.default_rng([seed, own])
    design = design_of(cell.design, known)
    return simulate(known.ranks, n_items=known.n_items, design=design, rng=rng)


def design_of(name: str, known: Ranks) -> Design:
    """The design of that name for these ranks: adaptive ones end at LIMIT or at all items."""
    design = DESIGNS[name]
    if isinstance(design, Adaptive):
        return design.with_(limit=min(LIMIT, known.n_items))
    return design


def _ends(sample: RankSample) -> Floats:
    names = [f"{metric}@{k}" for metric in METRICS for k in BOUND_KS]
    found = bounds(sample, names, interval_for="users")
    ends = [(found[name].low, found[name].high) for name in names]
    return np.reshape(ends, (len(METRICS), len(BOUND_KS), 2))


def _exact(known: Ranks, metric: str, k: int) -> float:
    return float(parse(f"{metric}@{k}").weights(known.ranks, known.n_items).mean())


def _key(cell: Cell, known: Ranks, repeats: int) -> NDArray[np.int64]:
    """What a file must have been made of to be read again: ranks, design, estimators."""
    ranks = zlib.crc32(np.ascontiguousarray(known.ranks, np.int64).tobytes())
    settings = (
        (str(DESIGNS[cell.design]), LIMIT),
        (DISTRIBUTIONS, ETA, GAMMA, WEIGHT, SCALE, STEPS_FIXED, STEPS_ADAPTIVE),
        (BOUND_KS, BOUND_SHARE),
    )
    return np.array(
        [FORMAT, repeats, known.n_items, ranks, zlib.crc32(repr(settings).encode())], np.int64
    )


def _kept(cell: Cell, known: Ranks, repeats: int, cache: Path) -> bool:
    path = cache / cell.file
    if not path.is_file():
        return False
    with np.load(path) as content:
        return np.array_equal(content["key"], _key(cell, known, repeats))


def _read(path: Path) -> Repeats:
    with np.load(path) as kept:
        head = kept["head"].astype(np.float64)  # (estimators, repeats, ranks)
        ranks = np.array(KS, np.float64)
        gains = np.stack([parse(metric).shape(ranks, ranks.size) for metric in METRICS])
        given = np.cumsum(head[:, :, None, :] * gains, axis=-1)
        values = np.concatenate([kept["values"].astype(np.float64), given])
        apart = len(kept["values"])
        none = np.full((apart, kept["masses"].shape[1]), np.nan)
        return Repeats(
            values=checks.frozen(np.swapaxes(values, 0, 1)),
            estimators=tuple(kept["estimators"].tolist()),
            exact=checks.frozen(kept["exact"]),
            sizes=checks.frozen(kept["sizes"]),
            masses=checks.frozen(np.concatenate([none, kept["masses"]])),
            truth=checks.frozen(kept["truth"]),
            edges=checks.frozen(kept["edges"]),
            bounds=checks.frozen(kept["bounds"]),
            seconds=float(kept["seconds"]),
        )


def right(values: Floats, exact: Floats) -> Floats:
    """Percent of the repeats in which the largest estimate is that of the best model.

    Among equal estimates each model is named as often, so that an estimator that sees no difference
    (a naive recall of 0, say) is not right by its order.

    Parameters
    ----------
    values : (models, repeats, …)
    exact : (models, …), of all but the repeats

    Returns
    -------
    (…)
    """
    largest = values == values.max(axis=0)
    best = np.expand_dims(exact == exact.max(axis=0), 1)
    return np.asarray(100.0 * ((largest & best).sum(axis=0) / largest.sum(axis=0)).mean(axis=0))
