"""The statements of the chapter, each tested, and the order of the models."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from reproduction.linear_models.data import METRICS
from reproduction.linear_models.grids import FLAT, at_twice, falling, lost
from reproduction.linear_models.published import BASIC, COMPARED, SEARCHES
from reproduction.outcome import ALIKE, holds_for

COMPARABLE = 0.05
# statements that a table or figure is there for
REGRESSION = "EASE and LRR are significantly better than MF and WMF in every metric"
CLOSED = "the closed forms LRR and MF come within 5 % of EASE and WMF"
LEARNED = "the λᵢ learned are above λ for the first singular vectors, below for later ones"
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
    """For each published table, the pairs of models that are apart: which keep their order."""
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


def claims_of(content: dict[str, Any], tests: Tests) -> list[dict[str, Any]]:
    """Each statement on one data set: whether it holds, and the figures."""
    lrr, mf = content["models"]["LRR"]["chosen"], content["models"]["MF"]["chosen"]
    spectra = content["spectra"]
    mf_grid, mf_published = _grid(content, "MF", "Table 14", "Table 15")
    lrr_grid, lrr_published = _grid(content, "LRR", "Table 16", "Table 17")
    steps, twice = falling(mf_grid), at_twice(mf_grid, mf_published)
    unregularised = [row[0] for row in mf_grid["values"]]
    gone = lost(lrr_grid, lrr_published)
    closed = {one: gap(tests, *one)[2] for one in (("LRR", "EASE"), ("MF", "WMF"))}
    learned = spectra["learned"]["LRR + λ"]
    deep = max(("CDAE", "MultiDAE", "MultiVAE"), key=lambda name: tests[name][:, 2].mean())
    variants = ("LRR", "LRR + λ", "LRR + λ + HT", "LRR + λ + HT + RMD")
    best = max(variants, key=lambda name: tests[name][:, 2].mean())
    beside_deep = gap(tests, best, deep)[2]
    wins = [
        (one, other, metric, cell)
        for one in ("EASE", "LRR")
        for other in ("MF", "WMF")
        for metric, cell in zip(METRICS, gap(tests, one, other), strict=True)
    ]
    return [
        _check(
            REGRESSION,
            holds_for(_clear(wins, 1), len(wins)),
            f"{_clear(wins, 1)} of {len(wins)} comparisons by more than two standard errors, "
            f"{_clear(wins, -1)} the other way by as much; NDCG@100 "
            + ", ".join(f"{a} over {b} {_said(c)}" for a, b, m, c in wins if m == "NDCG@100"),
        ),
        _check(
            CLOSED,
            all(abs(cell["percent"]) <= 100 * COMPARABLE for cell in closed.values()),
            ", ".join(f"{a} beside {b} {_said(cell)}" for (a, b), cell in closed.items()),
        ),
        _check(
            "LRR's best λ is at least ten times MF's (Tables 8 and 9)",
            lrr["regularization"] >= 10 * mf["regularization"],
            f"{lrr['regularization']:g} and {mf['regularization']:g}",
        ),
        _check(
            "LRR's best λ is that of the first few squared singular values, a tenth of its rank",
            spectra["above_penalty"] <= spectra["lrr_left"] / 10,
            f"{spectra['above_penalty']} of {spectra['lrr_left']} lie above",
        ),
        _check(
            "LRR makes use of more dimensions than MF",
            spectra["lrr_left"] > spectra["mf_left"],
            f"{spectra['lrr_left']} beside {spectra['mf_left']} that MF leaves above 0",
        ),
        _check(
            "without regularisation MF falls with every step of the rank (Tables 14 and 15)",
            holds_for(*steps),
            f"{steps[0]} of {steps[1]} steps; NDCG@100 "
            + ", ".join(f"{value:.3f}" for value in unregularised),
        ),
        _check(
            "with twice the best λ the rank makes no difference to MF (Tables 14 and 15)",
            max(twice) - min(twice) < 1e-9,
            f"NDCG@100 {min(twice):.4f} to {max(twice):.4f}",
        ),
        _check(
            f"LRR's search is flat: from three quarters of the best λ on at most {FLAT:g} % are "
            "lost (Tables 16 and 17)",
            gone <= FLAT,
            f"at most {gone:.1f} %; published {lost(lrr_published, lrr_published):.1f} % on "
            f"{lrr_published['data']}",
        ),
        _gains("a λ for each singular vector improves LRR", tests, "LRR + λ", "LRR"),
        _gains(
            "head and tail improve LRR with a λ for each vector", tests, "LRR + λ + HT", "LRR + λ"
        ),
        _small("leaving the diagonal out of LRR changes little", tests, *variants[:1:-1]),
        _gains(
            "EDLAE of full rank is better than of low rank (Table 10)",
            tests,
            "EDLAE full rank",
            "EDLAE",
        ),
        _gains(
            "EDLAE of full rank is better than EASE (Table 10)", tests, "EDLAE full rank", "EASE"
        ),
        _gains(
            "head and tail improve EDLAE of low rank in Recall@50 (ML-20M; hardly Netflix)",
            tests,
            "EDLAE + HT",
            "EDLAE",
            at=1,
        ),
        _gains(
            "head and tail improve EDLAE of full rank in Recall@50 (ML-20M; hardly Netflix)",
            tests,
            "EDLAE full rank + HT",
            "EDLAE full rank",
            at=1,
        ),
        _gains(
            "keeping large weights alone improves EDLAE in Recall@50 (ML-20M; hardly Netflix)",
            tests,
            "EDLAE full rank + sparsified",
            "EDLAE full rank",
            at=1,
        ),
        _check(
            "the best variant of LRR is above the best deep model, or less than 5 % below",
            beside_deep["percent"] >= -100 * COMPARABLE,
            f"{best} beside {deep}: NDCG@100 {_said(beside_deep)}",
        ),
        _check(
            LEARNED,
            learned["first_hundredth"] > lrr["regularization"] > learned["last_half"],
            f"λ {lrr['regularization']:g}: {learned['first_hundredth']:.0f} in the first hundredth "
            f"of them, {learned['first_tenth']:.0f} in the first tenth, "
            f"{learned['last_half']:.0f} in the last half",
        ),
    ]


def _clear(wins: list[tuple[str, str, str, dict[str, float]]], sign: int) -> int:
    return sum(sign * cell["percent"] > 2 * cell["se"] for *_, cell in wins)


def _grid(content: dict[str, Any], model: str, *names: str) -> tuple[Any, Any]:
    """The first of these searches that was made, and the published one."""
    made = content["searches"][model]
    name = next(name for name in names if name in made)
    return made[name], SEARCHES[name]


def _check(says: str, holds: bool | None, found: str) -> dict[str, Any]:
    return {"says": says, "holds": holds if holds is None else bool(holds), "found": found}


def _above(cells: list[dict[str, float]]) -> bool | None:
    """Whether all are above 0, one clearly; False if one is clearly below, or most are below."""
    above = sum(cell["percent"] > 0 for cell in cells)
    if any(cell["percent"] < -2 * cell["se"] for cell in cells) or 2 * above < len(cells):
        return False
    clear = any(cell["percent"] > 2 * cell["se"] for cell in cells)
    return True if above == len(cells) and clear else None


def _said(cell: dict[str, float]) -> str:
    return f"{cell['percent']:+.1f} ± {cell['se']:.1f} %"


def _gains(says: str, tests: Tests, one: str, other: str, at: int | None = None) -> dict[str, Any]:
    found = dict(zip(METRICS, gap(tests, one, other), strict=True))
    asked = found if at is None else {list(METRICS)[at]: list(found.values())[at]}
    return _check(
        says,
        _above(list(asked.values())),
        ", ".join(f"{metric} {_said(cell)}" for metric, cell in asked.items()),
    )


def _small(says: str, tests: Tests, one: str, other: str) -> dict[str, Any]:
    found = dict(zip(METRICS, gap(tests, one, other), strict=True))
    return _check(
        f"{says}: at most 1 %",
        all(abs(cell["percent"]) <= 1 for cell in found.values()),
        ", ".join(f"{metric} {_said(cell)}" for metric, cell in found.items()),
    )
