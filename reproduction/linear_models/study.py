"""Linear models for users who were not learned from, beside the dissertation's chapter 3.

Tables 8–10 and 14–18 of 003 and its Figures 11 and 12: EASE, low-rank regression (LRR), matrix
factorisation in closed form (MF) and by weighted alternating least squares (WMF), SLIM, EDLAE, the
models near LRR and EDLAE that BPR finds, CDAE, MultiDAE and MultiVAE. Users are held out; of each,
80 % of the items are shown and the rest is asked about. Settings are chosen by NDCG@100 on
validation users, and the test users are met with what was chosen.

Without --data, ml-1m and those of the paper that are here are taken; --data gowalla adds a dense
part of another kind of data. What was done before on other data stays in the JSON, side by side.
Every fit is kept in <cache>/linear_models, so that a run can be broken off and goes on where it
was. ml-1m takes a quarter of an hour on two cores, ml-20m some hours.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from fullrank.errors import InputError
from reproduction.linear_models.claims import claims_of, gap, pairs_of
from reproduction.linear_models.compared import (
    KNOWN,
    TRAIN,
    closed_forms,
    folded_in,
    nearby,
    neural,
)
from reproduction.linear_models.data import METRICS, QUICK_DATA, SOURCES, Problem, split_of
from reproduction.linear_models.figures import figures as figures
from reproduction.linear_models.fits import best_of, summary
from reproduction.linear_models.search import searched
from reproduction.linear_models.spectrum import spectra
from reproduction.linear_models.tables import tables_of
from reproduction.registry import STUDIES

REPEATS = 1

NAME = "linear_models"
NEEDS, USES = STUDIES["linear_models"].needs, STUDIES["linear_models"].uses


def study(asked: argparse.Namespace) -> dict[str, Any]:
    everything = [*NEEDS, *USES]
    names = [QUICK_DATA] if asked.quick else (asked.data or everything)
    found = {} if asked.quick else _kept(asked)
    for name in names:
        try:
            split = split_of(name)
        except InputError as why:
            if name in NEEDS or asked.data:
                raise
            found.setdefault(name, {"missing": str(why)})
            continue
        folder = asked.cache / NAME / name
        found[name] = measured(Problem(name, split, folder, asked.quick))
    order = [name for name in SOURCES if name in found]
    content = {"metrics": list(METRICS), "data": {name: found[name] for name in order}}
    return {"seeds": "0, of splits and starts"} | content | tables_of(content)


def options(parser: argparse.ArgumentParser) -> None:
    names = list(SOURCES)
    words = f"of {', '.join(names)}; by default ml-1m and those of the paper that are here"
    parser.add_argument("--data", nargs="*", choices=names, metavar="NAME", help=words)


def measured(problem: Problem) -> dict[str, Any]:
    """All that is done on one data set."""
    split = problem.split
    found: dict[str, Any] = {}
    searches: dict[str, Any] = {}
    for model, fitted_on in (("LRR", TRAIN), ("MF", KNOWN)):
        every, tables = searched(problem, model)
        found[model] = (fitted_on, every)
        searches[model] = tables
    found |= closed_forms(problem)
    chosen = {name: best_of(ones).settings for name, (_, ones) in found.items()}
    found["MF, users folded in"] = (TRAIN, [folded_in(problem, chosen["MF"])])
    found |= nearby(problem, chosen["LRR"], chosen["EDLAE full rank"], chosen["EDLAE"])
    found |= neural(problem)
    best = {name: best_of(ones) for name, (_, ones) in found.items()}
    content = {
        "says": SOURCES[problem.name].says,
        "published_as": SOURCES[problem.name].published,
        "n_train_users": int((split.train.user_counts() > 0).sum()),
        "n_valid_users": len(best["LRR"].valid),
        "n_test_users": len(best["LRR"].test),
        "n_items": problem.n_items,
        "n_interactions": split.train.n_interactions,
        "unit": round(problem.unit, 2),
        "fit_seconds": round(sum(one.seconds for _, ones in found.values() for one in ones)),
        "models": {name: summary(ones, on) for name, (on, ones) in found.items()},
        "searches": searches,
        "spectra": spectra(problem, best),
    }
    tests = {name: one.test for name, one in best.items()}
    content["beside_ease"] = {
        name: gap(tests, name, "EASE")[-1] for name in tests if name != "EASE"
    }
    return content | {"pairs": pairs_of(tests), "claims": claims_of(content, tests)}


def _kept(asked: argparse.Namespace) -> dict[str, Any]:
    """What an earlier run found on data sets that this one may not do."""
    stored = asked.out / f"{NAME}.json"
    if not stored.is_file():
        return {}
    content = json.loads(stored.read_text(encoding="utf-8"))
    return {name: one for name, one in content["data"].items() if "missing" not in one}
