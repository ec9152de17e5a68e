"""From the repeats of every design to errors, costs, bounds, winners and errors by cut-off."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import RankGrid
from fullrank.estimators import METHODS
from fullrank.samples import simulate
from reproduction.common.exact import KS, METRICS, Ranks
from reproduction.common.repeats import BOUND_KS, Repeats, design_of, right

CUTS = (5, 10, 20)
ASKED = [f"{metric}@{k}" for k in CUTS for metric in METRICS]
DIGITS = 5  # enough that a page rounds once
BLIND = "fixed 100"  # the design of Figure 1
CURVES = {BLIND: ("MLE", "smoothed"), "adaptive 100": ("MLE",), "adaptive 25": ("smoothed",)}


def row(data: str, model: str, design: str, found: Repeats) -> dict[str, Any]:
    """Cost and error of every estimator: the papers' average over K, its mean and spread."""
    each = {name: found.errors(name) for name in found.estimators}
    errors = {name: _rounded(one.mean(axis=0)) for name, one in each.items()}
    spread = {name: _rounded(one.std(axis=0, ddof=1)) for name, one in each.items()}
    middle = _middle(found)
    return {
        "data": data,
        "model": model,
        "design": design,
        "size": round(float(found.sizes.mean()), DIGITS),
        "size_spread": round(float(found.sizes.std(ddof=1)), DIGITS),
        "errors": errors | {"bounds": _rounded(middle.mean(axis=0))},
        "spread": spread | {"bounds": _rounded(middle.std(axis=0, ddof=1))},
    }


def _middle(found: Repeats) -> np.ndarray:
    """(repeats, metrics): percent error of the middle of the bounds, at BOUND_KS alone."""
    exact = _at_bounds(found)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = 100.0 * np.abs(found.bounds.mean(axis=-1) - exact) / exact
    return np.asarray(relative[..., (exact > 0).all(axis=0)].mean(axis=-1))


def bounded(data: str, model: str, design: str, found: Repeats) -> dict[str, Any]:
    """How often the bounds hold all that they are asked for, and how wide they are at 10."""
    exact, (low, high) = _at_bounds(found), np.moveaxis(found.bounds, -1, 0)
    held = ((low <= exact) & (exact <= high)).all(axis=(1, 2))
    at = BOUND_KS.index(10)
    width = (high - low)[:, :, at].mean(axis=0) / exact[:, at]
    return {
        "data": data,
        "model": model,
        "design": design,
        "repeats": len(held),
        "held_percent": round(100.0 * float(held.mean()), DIGITS),
        "width_at_10": _rounded(width),  # in units of the exact value, one for each metric
    }


def _at_bounds(found: Repeats) -> np.ndarray:
    return np.asarray(found.exact[:, [k - 1 for k in BOUND_KS]])


def seconds(
    data: str, known: Ranks, design: str, names: tuple[str, ...], cache: Path
) -> dict[str, float]:
    """Of one estimate from one sample (`_timed`), kept where the repeats are."""
    path = cache / f"seconds_{data}_EASE_{design}.json".replace(" ", "-")
    if path.is_file():
        kept: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
        if list(kept) == [name for name in names if name.partition(" ")[0] in METHODS]:
            return kept
    found = _timed(known, design, names)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def _timed(known: Ranks, design: str, names: tuple[str, ...]) -> dict[str, float]:
    """The least of up to three; a prior is fitted along."""
    grid = RankGrid.default(known.n_items)
    sample = simulate(known.ranks, n_items=known.n_items, design=design_of(design, known), rng=0)
    spent = {}
    for name in names:
        method, _, gamma = name.partition(" ")
        if method not in METHODS:
            continue  # the sampled metric as it is, and priors that a user does not have
        settings = {"gamma": float(gamma)} if gamma else {}
        each: list[float] = []
        while len(each) < 3 and sum(each) < 1.0:
            start = time.perf_counter()
            METHODS[method].fit(sample, grid=grid, **settings)
            each.append(time.perf_counter() - start)
        spent[name] = float(f"{min(each):.2g}")
    return spent


def winners(data: str, design: str, found: dict[str, Repeats]) -> dict[str, Any]:
    """How many repeats in a hundred name the best model; every model has draws of its own."""
    models = list(found)
    estimators = found[models[0]].estimators
    named, best = {}, {}
    for asked in ASKED:
        metric, k = asked.split("@")
        at = METRICS.index(metric), KS.index(int(k))
        exact = np.array([found[model].exact[at] for model in models])
        values = np.stack([found[model].values[:, :, at[0], at[1]] for model in models])
        shares = right(values, np.repeat(exact[:, None], len(estimators), axis=1))
        named[asked] = dict(zip(estimators, _rounded(shares), strict=True))
        best[asked] = models[int(exact.argmax())]
    return {
        "data": data,
        "design": design,
        "metrics": len(ASKED),
        "right": {
            name: round(float(np.mean([one[name] for one in named.values()])), DIGITS)
            for name in estimators
        },
        "by_metric": named,
        "best": best,
    }


def blind_spot(data: str, model: str, known: Ranks, found: dict[str, Repeats]) -> dict[str, Any]:
    """How often each sampled rank comes out, and the error of Recall@K for each K."""
    sample = simulate(known.ranks, n_items=known.n_items, design=design_of(BLIND, known), rng=0)
    shares = np.zeros(int(sample.sample_size.max()))
    shares[sample.rank - 1] = 100.0 * sample.count / sample.count.sum()
    curves = {}
    for design, names in CURVES.items():
        exact = found[design].exact[0]
        for name in names:
            away = np.abs(found[design].of(name, "recall") - exact).mean(axis=0)
            relative = 100.0 * away / np.where(exact > 0, exact, np.nan)
            curves[f"{design}, {name}"] = [None if np.isnan(x) else x for x in _rounded(relative)]
    return {"data": data, "model": model, "shares": _rounded(shares), "recall_errors": curves}


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(one), DIGITS) for one in values]
