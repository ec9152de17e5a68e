"""How often intervals from a hundred candidates hold the truth, on one data set of the rank bank.

Users are drawn again from those of the bank, then candidates for them. Half of the redraws ask for
these users, half for all users like them; half have 500 users, half up to 5,000.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import fullrank
from fullrank.designs import Adaptive, Design, Uniform
from fullrank.inference import compare
from fullrank.metrics import parse_all
from fullrank.samples import simulate
from reproduction.own.bank import files

METRICS = ("recall@1", "recall@5", "recall@10", "recall@20", "recall@50", "ndcg@10", "ndcg@50",
           "ap@10")  # fmt: skip
ORDERED = ("ndcg@10", "recall@10")
HITS = 10
FEW, MANY = 500, 5000


def measure(name: str, protocol: str, design: str, repeats: int, *, sealed: bool) -> dict[str, Any]:
    """Coverage, width relative to the truth, warnings; and P(best) with whether it was right."""
    entry = files.read(name, open_seal=sealed)
    ranks = {model: one.ranks for model, one in entry.of(protocol).items()}
    exact = {model: _exact(one, entry.n_items) for model, one in ranks.items()}
    how = design_of(design, entry.n_items).with_(excluded=protocol == "excluded")
    runs: list[dict[str, Any]] = []
    said: list[tuple[float, bool]] = []
    for number in range(repeats):
        rng = np.random.default_rng([number, 21])
        target = ("users", "population")[number % 2]
        size = min(entry.seen.size, (MANY, FEW)[(number // 2) % 2])
        users = rng.integers(entry.seen.size, size=size)
        samples = {
            m: simulate(r[users], n_items=entry.n_items, design=how, user=np.arange(size), rng=rng)
            for m, r in ranks.items()
        }
        for model, sample in samples.items():
            these = _exact(ranks[model][users], entry.n_items)
            truth = exact[model] if target == "population" else these
            runs += _intervals(sample, truth, target, size)
        found = compare(samples, ORDERED, rng=number)
        for metric, chances in zip(ORDERED, found.p_best.T, strict=True):
            first = found.models[int(chances.argmax())]
            right = exact[first][metric] == max(one[metric] for one in exact.values())
            said.append((round(float(chances.max()), 4), bool(right)))
    return {
        "data": name, "protocol": protocol, "design": design, "repeats": repeats * len(ranks),
        "coverage": _mean(runs, "held"), "width": _mean(runs, "width"),
        "warned": _mean(runs, "warned"),
        "unwarned_coverage": _mean([run for run in runs if not run["warned"]], "held"),
        "inside_20_to_80": _mean(runs, "inside"),
        "by_metric": {m: _mean([r for r in runs if r["metric"] == m], "held") for m in METRICS},
        "said": said,
    }  # fmt: skip


def design_of(name: str, n_items: int) -> Design:
    """The design that a study calls "fixed 100", "adaptive" or "exact"."""
    if name == "adaptive":
        return Adaptive(levels=tuple(levels(n_items)))
    return Uniform(n_items if name == "exact" else int(name.split()[1]))


def levels(n_items: int) -> list[int]:
    """25, 50, … up to an eighth of the items."""
    sizes = [25]
    while 2 * sizes[-1] < n_items // 8:
        sizes.append(2 * sizes[-1])
    return sizes


def _exact(ranks: np.ndarray, n_items: int) -> dict[str, float]:
    return {m.name: float(m.weights(ranks, n_items).mean()) for m in parse_all(METRICS)}


def _intervals(
    sample: Any, truth: dict[str, float], target: str, size: int
) -> list[dict[str, Any]]:
    found, runs = fullrank.estimate(sample, metrics=METRICS, interval_for=target), []
    for metric in METRICS:
        if truth[f"recall@{metric.split('@')[1]}"] * size < HITS:
            continue
        low, high = found.confidence_interval[metric]
        runs.append(
            {
                "metric": metric,
                "held": low <= truth[metric] <= high,
                "width": (high - low) / truth[metric],
                "warned": bool(found.diagnosis.warnings[metric]),
                "inside": _inside(found[metric], low, high),
            }
        )
    return runs


def _inside(value: float, low: float, high: float) -> bool:
    """Whether the value is within the 20th and 80th percentile of what gives its interval."""
    from scipy.special import logit, ndtr

    at, first, last = logit(np.clip([value, low, high], 1e-12, 1.0 - 1e-12))
    return bool(0.2 <= ndtr(1.959964 * (2.0 * (at - first) / (last - first) - 1.0)) <= 0.8)


def _mean(runs: list[dict[str, Any]], key: str) -> float | None:
    return round(float(np.mean([run[key] for run in runs])), 4) if runs else None
