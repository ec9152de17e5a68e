"""Exact ranks of five models on five data sets, trained once and stored for all other studies.

Settings are chosen by recall@10 on validation items, with training items among the candidates as in
the papers. The chosen model is fitted on the training part and ranks the test items, one for each
user. `data` has the splits, `settings` the grids, and `fit` the search: fits that are in its folder
(<cache>/bank) are not repeated, wherever they were made, and --budget 0 makes none. Without a GPU
all of it takes hours.

--data makes the ranks of the given data sets only and keeps those of the others. No ranks of
`common.bank.FURTHER` are stored, since their files are not available here; once they are made,
aaai2023 and user_sampling use pinterest-20, yelp and ml-20m, and kdd2020 uses book-crossing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.errors import InputError
from fullrank.metrics import parse
from reproduction.common.bank import DATA, FURTHER, QUICK_DATA, keep_bank, models_of
from reproduction.outcome import compare
from reproduction.ranks.data import QUICK_CORE, SPLITS, World, world
from reproduction.ranks.figures import figures as figures
from reproduction.ranks.fit import Asked, Fit, best, ranks_file, search
from reproduction.ranks.models import thousandths
from reproduction.ranks.published import PUBLISHED
from reproduction.ranks.settings import FIXED, GRIDS, METRICS, TUNED_BY, combinations, found_before

REPEATS = 1

KS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000, 2000, 5000, 10000]


def study(asked: argparse.Namespace) -> dict[str, Any]:
    names = tuple(asked.data or ((QUICK_DATA,) if asked.quick else DATA))
    cache: Path = asked.cache / ("bank-quick" if asked.quick else "bank")
    # all data are read before anything is trained, so that a missing file is an error at once
    worlds = {name: world(name, quick=asked.quick) for name in names}
    found = search(
        Asked(
            cache=cache,
            data=names,
            device=asked.device,
            jobs=asked.jobs,
            quick=asked.quick,
            budget=asked.budget,
        )
    )
    every = [_of_data(name, where, found, cache, asked) for name, where in worlds.items()]
    every, before = _beside(every, asked)
    seconds = before + sum(one["seconds"] for one in found if one["data"] in names)
    return {
        "seeds": "0 for models, test items and the order of equal scores, 1 for validation items",
        "tuned_by": TUNED_BY,
        "grids": GRIDS,
        "fixed": FIXED,
        "cut_offs": KS,
        "data": every,
        "exact": [_compared(one) for one in every if one["published"]],
        # of the fits, wherever and whenever they were made
        "seconds": round(seconds, 1),
    }


def _beside(every: list[Any], asked: argparse.Namespace) -> tuple[list[Any], float]:
    """These data sets and the stored others, in their order, and the seconds of the others.

    A run of all data sets does not make those of `FURTHER` again: they are kept.
    """
    path = asked.out / "ranks.json"
    if not path.is_file():
        return every, 0.0
    there = json.loads(path.read_text(encoding="utf-8"))
    names = [one["name"] for one in every]
    stay = (*DATA, *FURTHER) if asked.data else FURTHER
    others = [one for one in there["data"] if one["name"] in stay and one["name"] not in names]
    # seconds of the same data set that an earlier run has counted
    again = sum(_seconds(one) for one in there["data"] if one not in others)
    order = (*DATA, *FURTHER).index
    both = sorted([*others, *every], key=lambda one: order(one["name"]))
    return both, max(0.0, there["seconds"] - again) if others else 0.0


def _seconds(one: dict[str, Any]) -> float:
    return sum(m["seconds"] + sum(t["seconds"] for t in m["tried"]) for m in one["models"])


def _of_data(
    name: str, where: World, found: list[Fit], cache: Path, asked: argparse.Namespace
) -> dict[str, Any]:
    kept, excluded = {}, {}
    for model in models_of(name):
        file = ranks_file(cache, name, model)
        if not file.is_file():
            raise InputError(
                f"The ranks of {model} on {name} were not made: its fits failed, or `--budget` "
                f"({asked.budget:g} s) was over before; the same command resumes."
            )
        with np.load(file) as content:
            kept[model], excluded[model] = content["kept"], content["excluded"]
    keep_bank(name, kept, excluded, where.whole.n_items, folder=asked.ranks)
    published, users = PUBLISHED.get(name), where.test.n_interactions
    return {
        "name": name,
        "split": SPLITS[name][0]
        + (f"; the {QUICK_CORE}-core alone" if asked.quick and name == QUICK_DATA else ""),
        "n_users": users,
        "n_learned_from": where.whole.n_users,
        "n_items": where.whole.n_items,
        "n_train": where.whole.n_interactions,
        "published": None
        if published is None
        else {
            "item": published.item,
            "differs": published.differs.format(users=users),
            "same": published.same,
        },
        "models": [
            _of_model(name, model, found, asked.quick)
            | {
                "kept": _metrics(kept[model], where.whole.n_items),
                "excluded": _metrics(excluded[model], where.whole.n_items),
                "within": _shares(kept[model]),
            }
            for model in models_of(name)
        ],
    }


def _of_model(data: str, model: str, found: list[Fit], quick: bool) -> dict[str, Any]:
    mine = [one for one in found if (one["data"], one["model"]) == (data, model)]
    chosen = best(found, data, model, quick=quick)
    if chosen is None:
        raise ValueError(f"nothing is fitted of {model} on {data}")
    tests = [one for one in mine if one["kind"] == "test"]
    test = next(one for one in tests if one["settings"] == chosen["settings"])
    grid = combinations(data, model, quick=quick)
    known = found_before(data, model)
    published = PUBLISHED[data].exact.get(model) if data in PUBLISHED else None
    return {
        "model": model,
        "settings": test["settings"],
        "source": None if known is None else known["source"],
        "epochs": len(test["rates"]) if "rates" in test else None,
        "of": len(grid),
        "tried": [
            {"settings": one["settings"], "metrics": one["metrics"], "seconds": one["seconds"]}
            for one in mine
            if one["kind"] == "validation" and one["settings"] in grid
        ],
        "published": None if published is None else dict(zip(METRICS, published, strict=True)),
        "device": test["device"],
        "seconds": test["seconds"],
    }


def _metrics(ranks: np.ndarray, n_items: int) -> dict[str, float]:
    """Metrics of the stored ranks themselves, whatever a fit has written about them."""
    return thousandths(
        {name: float(parse(name).weights(ranks, n_items).mean()) for name in METRICS}
    )


def _shares(ranks: np.ndarray) -> list[float]:
    """The share of the users whose test item is among the first K, for each of KS."""
    return [round(float(np.mean(ranks <= k)), 5) for k in KS]


def _compared(one: dict[str, Any]) -> dict[str, Any]:
    """Published beside measured; a row is a metric, so that the order is that of the models."""
    cells = [
        {
            "row": metric,
            "column": model["model"],
            "published": model["published"][metric],
            "measured": model["kept"][metric],
        }
        for model in one["models"]
        for metric in METRICS
    ]
    found = compare(one["published"]["item"], cells, differs=one["published"]["differs"])
    return {"data": one["name"]} | found


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget", type=float, default=1e6, help="seconds; then test the best so far and stop"
    )
    parser.add_argument("--device", help="cpu or cuda, for EASE and the neural models")
    parser.add_argument(
        "--data",
        nargs="+",
        choices=(*DATA, *FURTHER),
        metavar="NAME",
        help="make the ranks of these only and keep the others: " + ", ".join((*DATA, *FURTHER)),
    )
