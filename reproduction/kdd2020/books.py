"""Exact ranks of NeuMF on Book-Crossing, for who has its files: Figure 8 of Li et al. 2020.

The paper has 11,325 users and 139,331 books and does not say how they were chosen; here they are
users with ten books and books with two users at least.
"""

from __future__ import annotations

from pathlib import Path

import fullrank
from fullrank.data.sets import datasets
from fullrank.errors import InputError
from fullrank.models.neural.neumf import NeuMF
from reproduction.common.bank import FOLDER, bank
from reproduction.common.exact import Ranks, keep, read

NAME = "book-crossing"
BOOKS_OF_USER, USERS_OF_BOOK = 10, 2
EPOCHS = 10


def books(cache: Path, *, epochs: int = EPOCHS) -> Ranks | None:
    """From the stored ranks if `run ranks -- --data` has made them; None without the data set."""
    if (FOLDER / f"{NAME}.npz").is_file():
        return bank(NAME)["NeuMF"]
    path = cache / "kdd2020" / f"{NAME}-ranks-{epochs}.npz"
    if not path.is_file():
        try:
            data = datasets.load(NAME)
        except InputError:
            return None
        data = data.k_core(items_per_user=BOOKS_OF_USER, users_per_item=USERS_OF_BOOK)
        split = data.split("leave-one-out", by="random", rng=0)
        model = NeuMF(epochs=epochs, batch_size=4096, seed=0).fit(split.train)
        found = fullrank.rank(model, split.test, ties="random", rng=0)
        keep(Ranks(found.ranks, data.n_items), path)
    return read(path)
