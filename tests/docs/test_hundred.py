"""What the README says of a hundred candidates is what the sealed data sets gave."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORED = ROOT / "reproduction" / "results" / "own" / "hundred_sealed.json"


def test_the_readme_quotes_the_sealed_results() -> None:
    found = json.loads(STORED.read_text("utf-8"))
    assert found["sealed"]
    error = {one["protocol"]: one["mean"]["auto"][0] for one in found["errors"]}
    sizes = [one["n_items"] for one in found["errors"][0]["worst_first"]]
    held = found["intervals"]["mean"]["all"]["coverage"]
    pairs = {
        method: sum(one["mean"][method]["pairs"] for one in found["best"]) / 2
        for method in ("auto", "naive")
    }
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert len(sizes) == 6
    assert (
        "On six data sets that took no part in its design "
        f"(100 candidates of {min(sizes):,} to {max(sizes):,} items) the estimate is off by "
        f"{error['excluded']:.0f} % in the mean where training items are excluded and by "
        f"{error['kept']:.0f} % where they are kept, its intervals hold the exact value in "
        f"{100 * held:.0f} % of the draws, and it puts {100 * pairs['auto']:.0f} % of all pairs of "
        f"models in the right order, the naive value {100 * pairs['naive']:.0f} %"
    ) in text
