"""The files of the rank bank: for each data set the grid cell of each user's rank, and no ids.

`results/bank/NAME.npz` holds `n_items`, `seen` (training items of each user) and for each model two
columns of cells of the default grid of N ranks, `MODEL-kept` and `MODEL-excluded`; the rows are the
same users in the same random order. The first 128 ranks have cells of their own, so that metrics
with a cut-off up to 64 are exact; other ranks are read as the middle of their cell, which is off by
a few percent at most. With training items excluded a rank is still one among all N items: training
items stand below the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullrank.designs import RankGrid
from fullrank.errors import InputError
from reproduction.common.exact import Ranks
from reproduction.common.kept import RESULTS, keep_arrays
from reproduction.own.bank.data_sets import SEALED

FOLDER = RESULTS / "bank"
PROTOCOLS = ("kept", "excluded")


@dataclass(frozen=True)
class Entry:
    """What the bank holds of one data set."""

    n_items: int
    seen: np.ndarray
    ranks: Mapping[tuple[str, str], np.ndarray]  # by model and protocol

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for model, _ in self.ranks))

    def of(self, protocol: str) -> dict[str, Ranks]:
        """Each model's ranks, the users in the same order."""
        return {m: Ranks(r, self.n_items) for (m, p), r in self.ranks.items() if p == protocol}


def keep(name: str, entry: Entry, folder: Path = FOLDER) -> None:
    grid = RankGrid.default(entry.n_items)
    order = np.random.default_rng(0).permutation(entry.seen.size)  # tells nothing of the ids
    cells = {
        f"{model}-{protocol}": grid.bin_of(ranks[order]).astype(np.uint16)
        for (model, protocol), ranks in entry.ranks.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    seen = entry.seen[order].astype(np.uint16)
    keep_arrays(folder / f"{name}.npz", n_items=np.int64(entry.n_items), seen=seen, **cells)


def read(name: str, *, open_seal: bool = False, folder: Path = FOLDER) -> Entry:
    """The ranks of a data set; those of a sealed one only where the caller says so."""
    if name in SEALED and not open_seal:
        raise InputError(
            f"`name` must be a data set for tuning, got {name!r}, which is sealed: only "
            "`python -m reproduction run hundred_sealed` reads it."
        )
    with np.load(folder / f"{name}.npz") as content:
        n_items = int(content["n_items"])
        edges = RankGrid.default(n_items).edges
        middle = (edges[:-1] + 1 + edges[1:]) // 2
        found = {
            (column.rsplit("-", 1)[0], column.rsplit("-", 1)[1]): middle[content[column]]
            for column in content.files
            if column.endswith(PROTOCOLS)
        }
        return Entry(n_items, content["seen"].astype(np.int64), found)
