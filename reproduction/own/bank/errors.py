"""How far estimates from a hundred candidates are off, on one data set of the rank bank.

Candidates are drawn again for the same users, and the truth is their exact metric. The error of a
model and metric is the papers' one, the mean over K = 1..50 of |estimate - exact| / exact, at the
cut-offs with ten hits or more; a data set has the geometric mean over models and metrics.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import fullrank
from fullrank.designs import RankGrid
from fullrank.estimators import mle
from fullrank.estimators.anchors import shape
from fullrank.estimators.system import Prior, observed_system
from fullrank.estimators.uniform.smoothed import best_fit
from fullrank.metrics import parse
from fullrank.samples import ExactRanks, RankSample, simulate
from reproduction.own.bank import files
from reproduction.own.bank.intervals_of import design_of

KS = np.arange(1, 51)
KINDS = ("recall", "ndcg", "ap")
WATCHED = tuple(f"{kind}@{k}" for kind in KINDS for k in (10, 20, 50))
ORDERED = ("ndcg@10", "recall@10")
HITS = 10
OFF = 0.25
ANCHORS = ("PureSVD", "ItemKNN")
DESIGNS = ("fixed 10", "fixed 20", "fixed 100", "fixed 500", "fixed 1000", "adaptive")


class Judge:
    """Errors of P(R) against the exact ranks of a model."""

    def __init__(self, ranks: np.ndarray, n_items: int) -> None:
        self.grid = RankGrid.default(n_items)
        self.counted = np.array([(ranks <= k).sum() >= HITS for k in KS])
        self.mass = np.bincount(self.grid.bin_of(ranks), minlength=self.grid.n_bins) / ranks.size
        self.gains = np.array(
            [[self.grid.averages(parse(f"{kind}@{k}")) for k in KS] for kind in KINDS]
        )
        self.exact = self.gains @ self.mass

    def __call__(self, mass: np.ndarray) -> np.ndarray:
        """Relative errors, (kinds, cut-offs), NaN where there are too few hits."""
        found = np.abs(self.gains @ mass - self.exact) / np.where(self.exact > 0, self.exact, 1.0)
        return np.where(self.counted, found, np.nan)


def drawn(ranks: np.ndarray, n_items: int, design: str, excluded: bool, rng: Any) -> RankSample:
    how = design_of(design, n_items).with_(excluded=excluded)
    return simulate(ranks, n_items=n_items, design=how, user=np.arange(ranks.size), rng=rng)


def measure(
    name: str, protocol: str, design: str, repeats: int, *, sealed: bool, full: bool = True
) -> dict[str, Any]:
    """The errors of every method, the order of the models, and what was warned of.

    Without `full` only "auto" and a power of the rank (`smoothed` before this study) are compared.
    """
    entry = files.read(name, open_seal=sealed)
    ranks = {model: one.ranks for model, one in entry.of(protocol).items()}
    judges = {model: Judge(one, entry.n_items) for model, one in ranks.items()}
    judges = {model: judge for model, judge in judges.items() if judge.counted.any()}
    shapes = _shapes(ranks, entry.n_items) if full else {}
    errors: dict[str, dict[str, list[np.ndarray]]] = {}
    orders: dict[str, list[dict[str, Any]]] = {}
    watched = []
    for number in range(repeats):
        rng = np.random.default_rng([number, 20])
        samples = {
            model: drawn(one, entry.n_items, design, protocol == "excluded", rng)
            for model, one in ranks.items()
        }
        masses = _masses(samples, shapes, full)
        for method, found in masses.items():
            for model, judge in judges.items():
                errors.setdefault(method, {}).setdefault(model, []).append(judge(found[model]))
            orders.setdefault(method, []).append(_values(found, judges))
        if full:
            naive = {m: {metric: s.naive(metric) for metric in ORDERED} for m, s in samples.items()}
            orders.setdefault("naive", []).append(naive)
            watched.append(_watched(samples, judges))
    truth = _values({model: judge.mass for model, judge in judges.items()}, judges)
    return {
        "data": name, "protocol": protocol, "design": design, "n_items": entry.n_items,
        "users": int(entry.seen.size), "repeats": repeats,
        "error": {method: _geometric(found) for method, found in errors.items()},
        "by_model": {
            method: {model: round(100 * float(np.nanmean(runs)), 2) for model, runs in one.items()}
            for method, one in errors.items()
        },
        "order": {method: _order(runs, truth) for method, runs in orders.items()},
        "watched": _summed(watched),
    }  # fmt: skip


def _shapes(ranks: dict[str, np.ndarray], n_items: int) -> dict[str, Any]:
    """For each model the shape of the anchors that it is not one of."""
    exact = {model: ExactRanks.from_ranks(ranks[model], n_items=n_items) for model in ANCHORS}
    return {
        model: shape([exact[anchor] for anchor in ANCHORS if anchor != model], n_items)
        for model in ranks
    }


def _masses(
    samples: dict[str, RankSample], shapes: dict[str, Any], full: bool
) -> dict[str, dict[str, np.ndarray]]:
    found = {"auto": {m: _fitted(s) for m, s in samples.items()}}
    found["power"] = {m: _power(s) for m, s in samples.items()}
    if not full:
        return found
    found["EM"] = {m: mle(s).mass for m, s in samples.items()}
    found["anchored"] = {m: _fitted(s.anchored(shapes[m])) for m, s in samples.items()}
    together = sum(list(samples.values())[1:], next(iter(samples.values())).without_rows())
    common = fullrank.estimators.smoothed(together)
    found["jointly"] = {m: _fitted(s.anchored(common)) for m, s in samples.items()}
    return found


def _fitted(sample: RankSample) -> np.ndarray:
    return fullrank.estimators.smoothed(sample).mass


def _power(sample: RankSample) -> np.ndarray:
    """Smoothed towards a power of R, whatever the protocol."""
    system = observed_system(sample)
    return best_fit(replace(system, prior=Prior())).mass


def _values(found: dict[str, np.ndarray], judges: dict[str, Judge]) -> dict[str, Any]:
    return {
        model: {m: float(judge.grid.averages(parse(m)) @ found[model]) for m in ORDERED}
        for model, judge in judges.items()
    }


def _watched(samples: dict[str, RankSample], judges: dict[str, Judge]) -> dict[str, int]:
    """At K ≥ 10: metrics looked at, warned of, off by a quarter, and off without a warning."""
    counts = {"metrics": 0, "warned": 0, "off": 0, "off_unwarned": 0}
    for model, judge in judges.items():
        exact = {m: float(judge.grid.averages(parse(m)) @ judge.mass) for m in WATCHED}
        some = [m for m in WATCHED if judge.counted[int(m.split("@")[1]) - 1]]
        found = (
            fullrank.estimate(samples[model], metrics=some, interval_for="users") if some else None
        )
        for m in some:
            warned = bool(found.diagnosis.warnings[m])
            off = abs(found[m] / exact[m] - 1.0) > OFF
            counts["metrics"] += 1
            counts["warned"] += warned
            counts["off"] += off
            counts["off_unwarned"] += off and not warned
    return counts


def _summed(watched: list[dict[str, int]]) -> dict[str, int]:
    return {key: sum(one[key] for one in watched) for key in watched[0]} if watched else {}


def _geometric(found: dict[str, list[np.ndarray]]) -> float:
    """In percent, over models and kinds."""
    each = [np.nanmean(np.nanmean(np.array(runs), axis=2), axis=0) for runs in found.values()]
    return round(100.0 * float(np.exp(np.mean(np.log(np.maximum(each, 1e-9))))), 2)


def _order(runs: list[dict[str, Any]], truth: dict[str, Any]) -> dict[str, float]:
    """The share of redraws that name the best model, and of pairs in the right order."""
    best, pairs = [], []
    for metric in ORDERED:
        exact = {model: truth[model][metric] for model in truth}
        first = max(exact, key=exact.__getitem__)
        for run in runs:
            found = {model: run[model][metric] for model in exact}
            best.append(max(found, key=found.__getitem__) == first)
            pairs += [
                (found[a] > found[b]) == (exact[a] > exact[b])
                for a, b in combinations(exact, 2)
                if exact[a] != exact[b]
            ]
    return {"best": round(float(np.mean(best)), 4), "pairs": round(float(np.mean(pairs)), 4)}
