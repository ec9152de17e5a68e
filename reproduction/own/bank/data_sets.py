"""The data sets of the rank bank, which of them are sealed, and how each is split.

A method that is tuned on a data set proves nothing there. Six of the nineteen are therefore sealed:
of those that no study here had used before the bank was made, the first six by the SHA-256 of their
names (ml-100k, the fifth, was taken for one that had been used). No setting, threshold or default
may be chosen after looking at their ranks. Only `python -m reproduction run hundred_sealed` reads
them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fullrank.data import Interactions, leave_one_out
from fullrank.data.sets import cache
from fullrank.data.split_items import Split
from fullrank.errors import InputError

TUNING = (
    "amazon-sports", "amazon-toys", "amazon-video-games", "ciao", "citeulike-a", "gowalla",
    "lastfm-kgat-part", "lastfm-s3rec", "ml-100k", "ml-1m", "ml-latest-small",
    "pinterest-20-part", "yelp-diffnet",
)  # fmt: skip
SEALED = (
    "amazon-hin", "citeulike-t", "foursquare", "lastfm-2k", "yelp-s3rec", "yelp2018-part",
)  # fmt: skip
MIN_INTERACTIONS = 3  # of a user whose item is held out
MAX_USERS = 10_000  # whose targets are ranked, drawn with seed 0
_ORDERS = ("timestamp", "position")


def split(name: str) -> Split:
    """The last item of each user held out, or where no order is known one drawn with seed 0."""
    folder = cache.data_folder()
    path = None if folder is None else Path(folder) / f"{name}.parquet"
    if path is None or not path.is_file():
        raise InputError(f"FULLRANK_DATA must name a folder with {name}.parquet, got {folder}.")
    held = leave_one_out(_read(path), min_interactions=MIN_INTERACTIONS, rng=0)
    users = np.flatnonzero(held.test.user_counts() > 0)
    if users.size > MAX_USERS:
        chosen = np.random.default_rng(0).choice(users, MAX_USERS, replace=False)
        rows, _ = held.test.pairs()
        held = Split(train=held.train, test=held.test.select(np.isin(rows, chosen)))
    return held


def _read(path: Path) -> Interactions:
    import pyarrow.parquet as pq

    names = pq.read_schema(path).names
    order = next((name for name in _ORDERS if name in names), None)
    table = pq.read_table(path, columns=["user", "item", *([order] if order else [])])
    columns = {name: table[name].to_numpy() for name in table.column_names}
    time = columns[order] if order else None
    return Interactions.from_arrays(columns["user"], columns["item"], timestamp=time)
