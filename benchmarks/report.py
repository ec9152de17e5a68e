"""Measure the time of a report of five models with 10,000 targets each, by step.

python benchmarks/report.py [--users 10000] [--items 20000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from pathlib import Path
from typing import Any

import numpy as np
from _measure import in_turn, peak_megabytes, report

import fullrank as fr
from fullrank.samples import RankSample, simulate

POWERS = (2.0, 2.5, 3.0, 3.5, 4.0)
DESIGNS = {"fixed 100": "sampled:100", "adaptive 25 to 3,200": "adaptive:25,limit=3200"}
PARTS = {"estimates": "estimate", "bounds": "bounds", "comparison": "compare"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    every = {
        label: samples(options.users, options.items, design) for label, design in DESIGNS.items()
    }
    built = {label: fr.report(given, rng=0) for label, given in every.items()}
    work: dict[str, Any] = {
        f"build, {label}": lambda given=given: fr.report(given, rng=0)
        for label, given in every.items()
    }
    work["page"] = built["fixed 100"].to_html
    seconds = in_turn(work, options.rounds)
    setup = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import report\n"
        f"given = report.samples({options.users}, {options.items}, 'sampled:100')"
    )
    report(
        "report",
        {
            "users": options.users,
            "items": options.items,
            "models": len(POWERS),
            "seconds": {name: round(value, 2) for name, value in seconds.items()},
            "share of the time": {label: shares(given) for label, given in every.items()},
            "MB of a page": round(len(built["fixed 100"].to_html().encode()) / 1e6, 2),
            "MB of memory": peak_megabytes(setup, "report.fr.report(given, rng=0).to_html()"),
        },
    )


def samples(users: int, items: int, design: str) -> dict[str, RankSample]:
    """Five models whose recall is (K/N)^(1/power)."""
    random = np.random.default_rng(0)
    return {
        f"model {power:g}": simulate(
            np.ceil(items * random.random(users) ** power).astype(np.int64).clip(1),
            n_items=items,
            design=design,
            rng=1,
        )
        for power in POWERS
    }


def shares(given: dict[str, RankSample]) -> dict[str, float]:
    """What takes the time of a report, from a profile."""
    profile = cProfile.Profile()
    profile.runcall(fr.report, given, rng=0)
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    times: dict[str, float] = {}
    for (file, _, name), (_, _, _, cumulative, _) in stats.items():
        if "fullrank" in file:
            times[name] = max(times.get(name, 0.0), cumulative)
    return {label: round(times[name] / times["report"], 2) for label, name in PARTS.items()}


if __name__ == "__main__":
    main()
