"""One value and its interval: where the value lies, how often the interval holds the truth.

    python benchmarks/one_value.py [repeats] [--design NAME] [--jobs 2] [--out FILE] [--before FILE]

Samples are simulated from the kept exact ranks of five models on five data sets, training items
among the candidates or not. Users are drawn from those of the data set, then candidates for them. A
cell is a design, a data set, a protocol, a number of users and a question; it pools models and
metrics with ten hits or more. --out keeps the cells; --before compares them with cells that another
version of the library has kept, with the same seeds. The script uses public names only, so that it
runs on either.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from fullrank import estimate
from fullrank.designs import Adaptive, Design, Uniform
from fullrank.metrics import parse_all
from fullrank.samples import RankSample, simulate

RANKS = Path(__file__).resolve().parents[1] / "reproduction" / "results" / "ranks"
DATA = ("ml-1m", "pinterest-20-part", "citeulike-a", "yelp-diffnet", "ml-latest-small")
MODELS = ("EASE", "itemKNN", "iALS", "MultiVAE", "NeuMF")
PROTOCOLS = ("kept", "excluded")
METRICS = ("recall@1", "recall@5", "recall@10", "recall@20", "recall@50", "ndcg@10", "ndcg@50",
           "ap@10")  # fmt: skip
DESIGNS: dict[str, Design | None] = {  # None: it depends on the items
    "fixed 100": Uniform(100, replacement=True),
    "fixed 100 without replacement": Uniform(100),
    "fixed 1000": Uniform(1000, replacement=True),
    "adaptive": None,
    "two targets, fixed 100": None,
}
FEW, MANY = 500, 5000
HITS = 10  # expected in the top K of a metric that counts
LOW, HIGH = 20.0, 80.0  # percentiles between which a value should lie
Z = 1.959964


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "repeats", nargs="?", type=int, default=20, help="repeats per cell and model"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--design", action="append", choices=list(DESIGNS), help="default: all")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--before", type=Path)
    asked = parser.parse_args()
    designs = asked.design or list(DESIGNS)
    tasks = [(d, s, p, m) for d in designs for s in DATA for p in PROTOCOLS for m in MODELS]
    with get_context("spawn").Pool(asked.jobs) as pool:
        runs = pool.map(partial(_runs, repeats=asked.repeats), tasks, chunksize=1)
    cells = _cells([run for some in runs for run in some])
    if asked.out is not None:
        asked.out.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    before = None if asked.before is None else json.loads(asked.before.read_text(encoding="utf-8"))
    print(json.dumps(_summary(cells, before), indent=1))


def _ranks(data: str, protocol: str, model: str) -> tuple[np.ndarray, int]:
    with np.load(RANKS / f"{data}.npz") as kept, np.load(RANKS / f"{data}-excluded.npz") as above:
        ranks = kept[model].astype(np.int64)
        return ranks - (above[model] if protocol == "excluded" else 0), int(kept["n_items"])


def _levels(n_items: int) -> tuple[int, ...]:
    levels = [25]
    while 2 * levels[-1] < n_items // 8:
        levels.append(2 * levels[-1])
    return tuple(levels)


def _runs(task: tuple[str, str, str, str], repeats: int) -> list[dict[str, Any]]:
    """Few users and many in turn, and both questions."""
    design, data, protocol, model = task
    ranks, n_items = _ranks(data, protocol, model)
    found = []
    for number in range(repeats):
        size = min(ranks.size, FEW if number % 4 < 2 else MANY)
        target = "population" if number % 2 == 0 or design.startswith("two") else "users"
        rng = np.random.default_rng([number, MODELS.index(model), size])
        if design.startswith("two"):
            sample, truth = _two_targets(ranks, n_items, size, rng)
        else:
            drawn = rng.choice(ranks, size)
            drawn_by = DESIGNS[design] or Adaptive(levels=_levels(n_items))
            sample = simulate(drawn, n_items=n_items, design=drawn_by, rng=rng)
            truth = _exact(ranks if target == "population" else drawn, n_items)
        keys = {"design": design, "data": data, "protocol": protocol, "interval_for": target}
        keys["users"] = "few" if size == FEW else "many"
        found += _metrics(keys, sample, target, truth, size)
    return found


def _exact(ranks: np.ndarray, n_items: int) -> dict[str, float]:
    return {m.name: float(m.weights(ranks, n_items).mean()) for m in parse_all(METRICS)}


def _two_targets(
    ranks: np.ndarray, n_items: int, size: int, rng: np.random.Generator
) -> tuple[RankSample, dict[str, float]]:
    """Users of two targets each, whose numbers of non-targets above are two kept ranks less 1."""
    pairs = np.sort(ranks.reshape(-1)[: 2 * (ranks.size // 2)].reshape(-1, 2), axis=1)
    above = np.minimum(pairs - 1, n_items - 2)
    drawn = above[rng.integers(len(above), size=size)]

    def as_sample(seen: np.ndarray, sample_size: int) -> RankSample:
        return RankSample.from_ranks(
            seen.ravel() + 1,
            sample_size=sample_size,
            n_items=n_items,
            user=np.repeat(np.arange(len(seen)), 2),
            n_targets=2,
            offset=np.tile([0, 1], len(seen)),
        )

    whole = estimate(as_sample(above, n_items - 1), metrics=METRICS, confidence_level=None)
    seen = rng.hypergeometric(drawn, n_items - 2 - drawn, 99)
    return as_sample(seen, 100), dict(whole.values)


def _metrics(
    keys: dict[str, str], sample: RankSample, target: str, truth: dict[str, float], size: int
) -> list[dict[str, Any]]:
    found = estimate(sample, metrics=METRICS, interval_for=target)
    runs = []
    for metric in METRICS:
        low, high = found.confidence_interval[metric]
        hits = truth[metric if "recall" in metric else f"recall@{metric.split('@')[1]}"] * size
        if hits >= HITS:
            runs.append(
                keys
                | {
                    "held": low <= truth[metric] <= high,
                    "place": _place(found[metric], low, high),
                    "width": high - low,
                    "error": abs(found[metric] - truth[metric]) / truth[metric],
                }
            )
    return runs


def _place(value: float, low: float, high: float) -> float:
    """The percentile of a value in the normal distribution (of logits) behind its interval."""
    from scipy.special import logit, ndtr

    near = 1e-12
    at, first, last = logit(np.clip([value, low, high], near, 1.0 - near))
    return float(100.0 * ndtr(Z * (2.0 * (at - first) / (last - first) - 1.0)))


KEYS = ("design", "data", "protocol", "users", "interval_for")


def _cells(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kinds: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run in runs:
        kinds.setdefault(tuple(run[key] for key in KEYS), []).append(run)
    return [dict(zip(KEYS, kind, strict=True)) | _means(some) for kind, some in kinds.items()]


def _means(runs: list[dict[str, Any]]) -> dict[str, Any]:
    place = np.array([run["place"] for run in runs])
    return {
        "n": len(runs),
        "coverage": round(float(np.mean([run["held"] for run in runs])), 4),
        "inside_20_to_80": round(float(((place >= LOW) & (place <= HIGH)).mean()), 4),
        "width": float(np.mean([run["width"] for run in runs])),
        "error": float(np.mean([run["error"] for run in runs])),
    }


def _summary(cells: list[dict[str, Any]], before: list[dict[str, Any]] | None) -> dict[str, Any]:
    known = {tuple(cell[key] for key in KEYS): cell for cell in before or []}
    rows = [cell | {"before": known.get(tuple(cell[key] for key in KEYS))} for cell in cells]
    rows.sort(key=lambda cell: cell["coverage"])
    groups = {"all": rows}
    for key in ("design", "protocol"):
        for one in dict.fromkeys(cell[key] for cell in rows):
            groups[one] = [cell for cell in rows if cell[key] == one]
    for design in dict.fromkeys(cell["design"] for cell in cells):
        for one in PROTOCOLS:
            groups[f"{design}, {one}"] = [
                cell for cell in rows if cell["design"] == design and cell["protocol"] == one
            ]
    return {
        "pooled": {name: _pooled(some) for name, some in groups.items()},
        "cells, worst first": [_line(cell) for cell in rows],
    }


def _pooled(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Each cell counts once."""
    found = {
        "cells": len(cells),
        "coverage": round(float(np.mean([c["coverage"] for c in cells])), 4),
        "below_0.8": sum(c["coverage"] < 0.8 for c in cells),
        "inside_20_to_80": round(float(np.mean([c["inside_20_to_80"] for c in cells])), 4),
        "error": round(float(np.mean([c["error"] for c in cells])), 4),
    }
    if all(c["before"] for c in cells):
        before = [c["before"] for c in cells]
        ratios = [c["width"] / c["before"]["width"] for c in cells]
        found |= {
            "coverage_before": round(float(np.mean([c["coverage"] for c in before])), 4),
            "below_0.8_before": sum(c["coverage"] < 0.8 for c in before),
            "inside_before": round(float(np.mean([c["inside_20_to_80"] for c in before])), 4),
            "error_before": round(float(np.mean([c["error"] for c in before])), 4),
            "width_ratio": round(float(np.mean(ratios)), 4),
            "largest_width_ratio": round(float(np.max(ratios)), 3),
        }
    return found


def _line(cell: dict[str, Any]) -> str:
    name = ", ".join(cell[key] for key in KEYS)
    text = f"{cell['coverage']:.3f}  error {cell['error']:.3f}"
    if cell["before"] is not None:
        old = cell["before"]
        ratio = cell["width"] / old["width"]
        text += f"  before {old['coverage']:.3f}, error {old['error']:.3f}, width × {ratio:.2f}"
    return f"{text}  {name} ({cell['n']})"


if __name__ == "__main__":
    main()
