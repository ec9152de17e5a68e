"""Tables 2, 3 and 7 of Li et al. 2020, from repeated samples."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from fullrank.designs import Uniform
from fullrank.estimators import Mapping
from fullrank.samples import RankSample, simulate
from reproduction.common.bank import QUICK_DATA
from reproduction.common.exact import Ranks
from reproduction.kdd2020.curves import Known, expected_curve
from reproduction.kdd2020.published import BETA, BETA_DATA, ERRORS
from reproduction.kdd2020.repeats import (
    ESTIMATED,
    FUNCTIONS,
    PLACED,
    READ,
    SIZE,
    TOP,
    Drawn,
    functions,
    hit_rates,
    places,
)
from reproduction.study import spread

Draws = dict[str, Drawn]  # by model

KS = (1, 2, 5, 10, 20, 50)
COMPETING = 3
ASKED = (1, 5, 10, 20, 50)


def printed_as(data: str) -> str:
    """The data set of the paper that one of ours is compared with."""
    return "ml-1m" if data == QUICK_DATA else data


def beta_cells(data: str, known: Known, draws: Draws) -> list[dict[str, Any]]:
    """Table 2: the parameter a from samples and, by the same likelihood, from exact ranks."""
    cells = []
    for model, one in known.items():
        printed = None
        if printed_as(data) in BETA_DATA and model in BETA:
            printed = BETA[model][BETA_DATA.index(printed_as(data))]
        found = spread(draws[model].a)
        # the middle of a rank's place, for ln 0 at rank 1 has no answer
        share = (one.ranks - 0.5) / one.n_items
        sample = simulate(
            one.ranks, n_items=one.n_items, design=Uniform(SIZE, replacement=True), rng=0
        )
        cells.append(
            {
                "row": data,
                "column": model,
                "published": printed,
                "measured": found["mean"],
                "measured_sd": found["sd"],
                "from_exact_ranks": round(float(-1.0 / np.log(share).mean()), 4),
                "steps": _steps(sample, one.n_items),
            }
        )
    return cells


def _steps(sample: RankSample, n_items: int, start: float = 1.0) -> int:
    """Steps of equation 19 until a moves by less than 0.001."""
    a = start
    for step in range(1, 101):
        values = Mapping(sample_size=SIZE, n_items=n_items, a=a).values()
        share = (values[sample.rank - 1] - 1.0) / (n_items - 1.0)
        new = -sample.n_targets / float(sample.weight @ np.log(share))
        if abs(new - a) < 0.001:
            return step
        a = new
    return 100


def mapping_errors(data: str, known: Known, draws: Draws) -> list[dict[str, Any]]:
    """Table 7: errors of the mapping functions, and of estimators at the places of beta@0.5."""
    rows = []
    for model in known:
        every = np.concatenate([draws[model].errors, draws[model].estimated], axis=1)
        names = (*FUNCTIONS, *ESTIMATED)
        rows.append(
            {
                "data": data,
                "model": model,
                "mean": _named(names, every.mean(axis=0)),
                "sd": _named(names, every.std(axis=0, ddof=1)),
            }
        )
    return rows


def _named(names: tuple[str, ...], values: np.ndarray) -> dict[str, dict[str, float]]:
    return {
        name: {error: round(float(values[i, e]), 5) for e, error in enumerate(ERRORS)}
        for i, name in enumerate(names)
    }


def top_errors(data: str, known: Known, draws: Draws) -> list[dict[str, Any]]:
    """The later papers' measure, HR@1..50, and HR at some cut-offs, however it is read."""
    rows = []
    for model, one in known.items():
        exact = hit_rates(one.ranks, TOP)
        told = exact > 0
        top = draws[model].top
        relative = 100 * (np.abs(top - exact)[..., told] / exact[told]).mean(axis=-1)
        for w, way in enumerate(READ):
            rows.append(
                {
                    "data": data,
                    "model": model,
                    "way": way,
                    "error_percent": spread(relative[:, w]),
                    "at": {str(k): spread(top[:, w, k - 1]) for k in ASKED},
                    "exact": {str(k): round(float(exact[k - 1]), 5) for k in ASKED},
                }
            )
    return rows


def winners(data: str, known: Known, draws: Draws) -> dict[str, Any]:
    """After Table 3: who is best by SHR@k and by HR@f(k), k = 1..50, and by HR@K as it is read."""
    models = list(known)
    any_known: Ranks = known[models[0]]
    at = places(functions(any_known.n_items)[PLACED])[: TOP.size]
    whole = np.array([hit_rates(known[m].ranks, at) for m in models])
    expected = np.array([expected_curve(known[m])[: TOP.size] for m in models])
    sampled = np.array([draws[m].sampled[:, : TOP.size] for m in models])  # models, repeats, k
    best = whole.argmax(axis=0)
    shown = np.argsort(-whole[:, [k - 1 for k in KS]].mean(axis=1), kind="stable")[:COMPETING]
    pairs = list(combinations(range(len(models)), 2))
    alike = [np.sign(sampled[a] - sampled[b]) == np.sign(whole[a] - whole[b]) for a, b in pairs]
    exact = np.array([hit_rates(known[m].ranks, TOP) for m in models])
    top = np.array([draws[m].top for m in models])  # models, repeats, ways, K
    return {
        "data": data,
        "models": models,
        "competing": [models[int(i)] for i in shown],
        "rows": [
            {
                "k": k,
                "place": int(at[k - 1]),
                "sampled": {m: spread(sampled[i, :, k - 1]) for i, m in enumerate(models)},
                "exact": {m: round(float(whole[i, k - 1]), 4) for i, m in enumerate(models)},
            }
            for k in KS
        ],
        "winner_kept_in_expectation": int((expected.argmax(axis=0) == best).sum()),
        "of": int(TOP.size),
        "winner_kept_percent": round(100 * float((sampled.argmax(axis=0) == best).mean()), 2),
        "order_kept_percent": round(100 * float(np.mean(alike)), 2),
        "named": [
            {
                "K": k,
                "best": models[int(exact[:, k - 1].argmax())],
                "exact": {m: round(float(exact[i, k - 1]), 4) for i, m in enumerate(models)},
                "right_percent": {
                    way: round(
                        100
                        * float(
                            (top[:, :, w, k - 1].argmax(axis=0) == exact[:, k - 1].argmax()).mean()
                        ),
                        1,
                    )
                    for w, way in enumerate(READ)
                },
            }
            for k in ASKED
        ],
    }
