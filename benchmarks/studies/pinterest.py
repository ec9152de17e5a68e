"""Fixed and adaptive samples on the pinterest part: size and error of MLE.

Rows of Table 2 of Li et al. (AAAI 2023): EASE (λ = 1500), training items kept; the average over
K = 1..50 of the relative error. FULLRANK_DATA names the folder of pinterest-20-part.parquet.

    python benchmarks/studies/pinterest.py [--quick]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from _study import (
    METRICS,
    QUICK,
    Judge,
    Ranks,
    adaptive_levels,
    exact_ranks,
    in_processes,
    run,
    spread,
    table,
)

from fullrank.estimators import mle
from fullrank.metrics import parse
from fullrank.sampling import simulate

# design: the settings, EM steps, and what was published: size, then mean and sd of each error
DESIGNS: dict[str, tuple[dict[str, Any], int, dict[str, Any]]] = {
    "fixed 100, with replacement": (
        {"sample_size": 100, "replacement": True},
        100,
        {"average_size": 100, "recall": (5.54, 1.85), "ap": (17.85, 4.50)},
    ),
    "adaptive 100 to 3200, with replacement": (
        {"start": 100, "replacement": True},
        50,
        {"average_size": 307.7, "recall": (1.69, 0.60), "ndcg": (1.46, 0.63)},
    ),
    "adaptive 25 to 3200, without": ({"start": 25, "replacement": False}, 50, {}),
}
LIMIT = 3200


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "pinterest-20-part"
    known = exact_ranks(name, "EASE", False, asked.cache)
    judge = Judge(known)
    rows = []
    for label, (settings, steps, published) in DESIGNS.items():
        design = dict(settings)
        if "start" in design:
            limit = min(LIMIT, known.n_items)
            design["levels"] = adaptive_levels(known.n_items, design.pop("start"), limit)
        work = partial(_repeat, known=known, judge=judge, design=design, steps=steps)
        found = in_processes(work, range(asked.repeats), asked.jobs)
        sizes, *errors = zip(*found, strict=True)
        rows.append(
            {
                "design": label,
                "em_steps": steps,
                "average_size": round(sum(sizes) / len(sizes), 1),
                "measured": {m: spread(e) for m, e in zip(METRICS, errors, strict=True)},
                "published": published,
            }
        )
    exact = {
        f"{m}@10": round(1000 * parse(f"{m}@10").weights(known.ranks, known.n_items).mean(), 2)
        for m in METRICS
    }
    return {
        "data": name,
        "n_users": int(known.ranks.size),
        "n_items": known.n_items,
        "exact": exact,
        "rows": rows,
    }


def _repeat(
    seed: int, known: Ranks, judge: Judge, design: dict[str, Any], steps: int
) -> tuple[float, ...]:
    """The average size, and the error of each metric."""
    sample = simulate(known.ranks, n_items=known.n_items, rng=seed, **design)
    print(f"seed {seed}: {sample.design}", flush=True)
    return sample.average_size, *judge.errors(mle(sample, iterations=steps, grid=judge.grid).mass)


def page(content: dict[str, Any]) -> str:
    rows = []
    for row in content["rows"]:
        published = row["published"]
        if published:
            cells = (_pair(*published[m]) if m in published else "" for m in METRICS)
            rows.append((f"{row['design']}, published", published["average_size"], *cells))
        cells = (_pair(**row["measured"][m]) for m in METRICS)
        rows.append((f"measured, {row['em_steps']} EM steps", row["average_size"], *cells))
        if not published:
            rows[-1] = (f"{row['design']}, {rows[-1][0]}", *rows[-1][1:])
    exact = ", ".join(f"{name} {value:.2f}" for name, value in content["exact"].items())
    return f"""# Fixed and adaptive samples

Rows of Table 2 of Li et al. (AAAI 2023) on {content["data"]} ({content["n_users"]:,} users,
{content["n_items"]:,} items): EASE, training items kept, {content["repeats"]} repeats. The average
over K = 1..50 of |estimate - exact| / exact in percent, mean ± standard deviation over the
repeats. Exact, in thousandths: {exact}.

{table(["design", "average size", "Recall %", "NDCG %", "AP %"], rows)}

What differs: the part holds 37,501 of the 55,187 users, so that errors of sampling should come
out √(55187 / 37501) = {(55187 / 37501) ** 0.5:.2f} times the published ones.
"""


def _pair(mean: float, sd: float) -> str:
    return f"{mean:.2f} ± {sd:.2f}"


if __name__ == "__main__":
    run("pinterest", study, page, repeats=100)
