"""Linear models for users outside the training data: chapter 3 of Li (dissertation).

Tables 8–10 and 14–18 and Figures 11 and 12: EASE, low-rank regression (LRR), matrix factorisation
in closed form (MF) and by weighted alternating least squares (WMF), SLIM, EDLAE, models near LRR
and EDLAE that are learned by BPR, CDAE, MultiDAE and MultiVAE. Users are held out; 80 % of the
items of each are the history and the rest are the targets. Settings are chosen by NDCG@100 on
validation users, and the chosen ones are tested on test users.

Without --data, ml-1m and the available data sets of the chapter are used; --data gowalla adds a
dense part of Gowalla. Results of earlier runs on other data remain in the JSON. Every fit is kept
in <cache>/linear_models, so that a stopped run resumes. ml-1m takes a quarter of an hour on two
cores, ml-20m some hours.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from fullrank.errors import InputError
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
from reproduction.linear_models.gaps import checks, differences, gap, pairs_of
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
    words = f"of {', '.join(names)}; default: ml-1m and the available ones of the chapter"
    parser.add_argument("--data", nargs="*", choices=names, metavar="NAME", help=words)


def measured(problem: Problem) -> dict[str, Any]:
    """The results on one data set."""
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
    found = {"pairs": pairs_of(tests), "differences": differences(tests)}
    return content | found | {"claims": checks(content, tests)}


def _kept(asked: argparse.Namespace) -> dict[str, Any]:
    """Results of an earlier run, which may be on other data sets."""
    stored = asked.out / f"{NAME}.json"
    if not stored.is_file():
        return {}
    content = json.loads(stored.read_text(encoding="utf-8"))
    return {name: one for name, one in content["data"].items() if "missing" not in one}
