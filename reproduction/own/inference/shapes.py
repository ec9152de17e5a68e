"""The shapes of four real rank distributions, for simulations whose truth is known.

The exact ranks of a model are counted in bins that hold enough users; the logarithm of the
density, linear in the logarithm of the rank between the middles of the bins, is the shape. It
keeps what is particular of each data set and none of its interactions. EASE on ml-1m, pinterest
and citeulike; a truncated SVD on Gowalla, one test item of each user drawn at random. Training
items excluded. FULLRANK_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import fullrank
from fullrank.data.sets import datasets
from reproduction.common.exact import Ranks, exact_ranks, keep, read, truncated_svd
from reproduction.study import QUICK

REPEATS = 1

NAMES = ("ml-1m", "pinterest-20-part", "citeulike-a", "gowalla")
LEAST, RATIO = 200, 1.6  # users in a bin, and how bins grow


def study(asked: argparse.Namespace) -> dict[str, Any]:
    names = (QUICK,) if asked.quick else NAMES
    return {"shapes": [_shape(name, _ranks(name, asked)) for name in names]}


def _ranks(name: str, asked: argparse.Namespace) -> Ranks:
    if name != "gowalla":
        return exact_ranks(name, "EASE", True, asked.cache)
    path = asked.cache / "gowalla-one-svd-64-excluded.npz"
    if not path.is_file():
        split = datasets.load_split("gowalla")
        one = split.test.split("leave-one-out", by="random", rng=0).test
        found = fullrank.rank(
            truncated_svd(split.train), one, exclude=split.train, ties="random", rng=0
        )
        keep(Ranks(found.ranks, split.train.n_items), path)
    return read(path)


def _shape(name: str, known: Ranks) -> dict[str, Any]:
    ranks, n_items = known.ranks.astype(np.int64), known.n_items
    edges = _edges(ranks, n_items)
    share = np.histogram(ranks, edges + 0.5)[0] / ranks.size
    middle = np.sqrt((edges[:-1] + 1.0) * edges[1:])
    return {
        "name": name,
        "n_items": n_items,
        "n_users": int(ranks.size),
        "rank": [round(float(x), 3) for x in middle],
        "log_density": [round(float(x), 5) for x in np.log(share / np.diff(edges))],
        "recall@10": round(float((ranks <= 10).mean()), 5),
    }


def _edges(ranks: np.ndarray, n_items: int) -> np.ndarray:
    counts = np.concatenate([[0], np.cumsum(np.bincount(ranks, minlength=n_items + 1)[1:])])
    edges = [0]
    while edges[-1] < n_items:
        end = max(edges[-1] + 1, int(np.ceil(edges[-1] * RATIO)))
        while end < n_items and counts[end] - counts[edges[-1]] < LEAST:
            end = max(end + 1, int(end * 1.1))
        full = end < n_items and counts[-1] - counts[end] >= LEAST
        edges.append(end if full else n_items)
    return np.array(edges)
