"""Differences of models on the same test users, and the order of the models."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from reproduction.linear_models.data import METRICS
from reproduction.linear_models.published import BASIC, COMPARED
from reproduction.outcome import ALIKE, holds_for

COMPARABLE = 0.05
# the statements of Tables 8 and 9 and of Figure 12
REGRESSION = "EASE and LRR are significantly better than MF and WMF in every metric"
CLOSED = "the closed forms LRR and MF come within 5 % of EASE and WMF"
LEARNED = "the λᵢ learned are above λ for the first singular vectors, below for later ones"
COMPARISONS = (
    ("EASE", "MF"), ("EASE", "WMF"), ("LRR", "MF"), ("LRR", "WMF"), ("LRR", "EASE"), ("MF", "WMF"),
    ("LRR + λ", "LRR"), ("LRR + λ + HT", "LRR + λ"), ("LRR + λ + HT + RMD", "LRR + λ + HT"),
    ("EDLAE full rank", "EDLAE"), ("EDLAE full rank", "EASE"), ("EDLAE + HT", "EDLAE"),
    ("EDLAE full rank + HT", "EDLAE full rank"),
    ("EDLAE full rank + sparsified", "EDLAE full rank"),
    *((one, other) for one in ("LRR", "LRR + λ", "LRR + λ + HT", "LRR + λ + HT + RMD")
      for other in ("CDAE", "MultiDAE", "MultiVAE")),
)  # fmt: skip
Tests = dict[str, np.ndarray]


def gap(tests: Tests, one: str, other: str) -> list[dict[str, float]]:
    """How much `one` is above `other`, in percent of it, with the standard error over users."""
    difference = tests[one] - tests[other]
    base = tests[other].mean(axis=0)
    errors = difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
    return [
        {"percent": round(100 * float(mean / b), 2), "se": round(100 * float(error / b), 2)}
        for mean, error, b in zip(difference.mean(axis=0), errors, base, strict=True)
    ]


def pairs_of(tests: Tests) -> dict[str, Any]:
    """For each published table, how many pairs of models keep their order."""
    published = {
        "Table 8": {name: values for name, (_, values) in BASIC["ML-20M"].items()},
        "Table 9": {name: values for name, (_, values) in BASIC["Netflix"].items()},
        "Table 10, ML-20M": COMPARED["ML-20M"],
        "Table 10, Netflix": COMPARED["Netflix"],
        "Table 18": COMPARED["MSD"],
    }
    return {table: _pairs(values, tests) for table, values in published.items()}


def _pairs(published: dict[str, tuple[float, ...]], tests: Tests) -> dict[str, Any]:
    same = against = clearly = 0
    lost = []
    for one, other in combinations(published, 2):
        found = gap(tests, one, other)
        for at, metric in enumerate(METRICS):
            a, b = published[one][at], published[other][at]
            if abs(a - b) <= ALIKE * max(a, b):
                continue
            kept = (a - b) * found[at]["percent"] > 0
            clear = abs(found[at]["percent"]) > 2 * found[at]["se"]
            same += kept
            against += not kept
            if not kept and clear:
                clearly += 1
                lost.append([metric, *((one, other) if a > b else (other, one))])
    return {"pairs": same + against, "same": same, "clearly_against": clearly, "lost": lost}


def differences(tests: Tests) -> list[dict[str, Any]]:
    """The gaps between the models that the chapter compares."""
    return [
        {"model": one, "over": other, **dict(zip(METRICS, gap(tests, one, other), strict=True))}
        for one, other in COMPARISONS
    ]


def checks(content: dict[str, Any], tests: Tests) -> list[dict[str, Any]]:
    """The statements of Tables 8 and 9 and of Figure 12, with the values that decide them."""
    wins = [
        (one, other, metric, cell)
        for one in ("EASE", "LRR")
        for other in ("MF", "WMF")
        for metric, cell in zip(METRICS, gap(tests, one, other), strict=True)
    ]
    closed = {one: gap(tests, *one)[2] for one in (("LRR", "EASE"), ("MF", "WMF"))}
    penalty = content["models"]["LRR"]["chosen"]["regularization"]
    learned = content["spectra"]["learned"]["LRR + λ"]
    return [
        _check(
            REGRESSION,
            holds_for(_clear(wins, 1), len(wins)),
            f"{_clear(wins, 1)} of {len(wins)} comparisons by more than two standard errors, "
            f"{_clear(wins, -1)} the other way by as much; NDCG@100 "
            + ", ".join(f"{a} over {b} {_text(c)}" for a, b, m, c in wins if m == "NDCG@100"),
        ),
        _check(
            CLOSED,
            all(abs(cell["percent"]) <= 100 * COMPARABLE for cell in closed.values()),
            ", ".join(f"{a} beside {b} {_text(cell)}" for (a, b), cell in closed.items()),
        ),
        _check(
            LEARNED,
            learned["first_hundredth"] > penalty > learned["last_half"],
            f"λ {penalty:g}: {learned['first_hundredth']:.0f} in the first hundredth "
            f"of them, {learned['first_tenth']:.0f} in the first tenth, "
            f"{learned['last_half']:.0f} in the last half",
        ),
    ]


def _clear(wins: list[tuple[str, str, str, dict[str, float]]], sign: int) -> int:
    return sum(sign * cell["percent"] > 2 * cell["se"] for *_, cell in wins)


def _check(says: str, holds: bool | None, found: str) -> dict[str, Any]:
    return {"says": says, "holds": holds if holds is None else bool(holds), "found": found}


def _text(cell: dict[str, float]) -> str:
    return f"{cell['percent']:+.1f} ± {cell['se']:.1f} %"
