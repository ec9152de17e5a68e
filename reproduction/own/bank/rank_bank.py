"""Make the rank bank: five models on nineteen data sets, training items kept and excluded.

Each model's ranks are kept in the cache as they are made; an interrupted run resumes, and ranks
that another machine made (`--only EASE` on one with a GPU) are found there. The cache holds plain
ranks; what is published are grid cells without ids. The results tell nothing about the ranks but
the sizes, so that sealed data sets stay sealed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.common.kept import keep_arrays
from reproduction.own.bank import files
from reproduction.own.bank.data_sets import SEALED, TUNING, split
from reproduction.own.bank.models import MODELS, ranks

REPEATS = 1
QUICK = ("ml-latest-small", "Popularity")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", choices=[*TUNING, *SEALED])
    parser.add_argument("--only", action="append", choices=MODELS, help="models; default: all")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    if asked.quick:
        return {"data": [_made(QUICK[0], (QUICK[1],), asked.cache, None)]}
    names = asked.set or sorted([*TUNING, *SEALED])
    models = tuple(asked.only or MODELS)
    keep = files.FOLDER if models == MODELS else None
    return {"data": [_made(name, models, asked.cache, keep) for name in names]}


def _made(name: str, models: tuple[str, ...], cache: Path, keep: Path | None) -> dict[str, Any]:
    """Rank what is missing; write the entry of the bank when all models are there."""
    held = split(name)
    cache.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str], np.ndarray] = {}
    for model in models:
        path = cache / f"{name}-{model}.npz"
        if not path.is_file():
            kept, excluded = ranks(model, held)
            keep_arrays(path, kept=kept, excluded=excluded)
        with np.load(path) as content:
            found |= {(model, p): content[p] for p in files.PROTOCOLS}
        print(f"{name}, {model}: ranked", flush=True)
    users, _ = held.test.pairs()
    entry = files.Entry(held.train.n_items, held.train.user_counts()[users], found)
    if keep is not None:
        files.keep(name, entry, keep)
    return {
        "data": name,
        "sealed": name in SEALED,
        "users": int(users.size),
        "n_items": entry.n_items,
        "training_items_per_user": round(float(entry.seen.mean()), 1),
        "ordered": held.train.timestamps is not None,
    }
