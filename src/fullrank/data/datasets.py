"""Data sets by name: prepared files, the one that comes with the repository, a simulated one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullrank import _checks
from fullrank.data.interactions import Interactions
from fullrank.data.simulated import simulate
from fullrank.data.splits import Split, read_split
from fullrank.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What is known of a data set before it is read."""

    about: str
    n_items: int | None = None  # the catalogue is 0..n_items−1, though the file lacks some
    split: bool = False  # the file says what is for training and what for the test
    bundled: bool = False  # comes with the repository and the source archive
    simulated: bool = False


DATASETS: Mapping[str, Dataset] = {
    "ml-latest-small": Dataset(
        about="MovieLens, the small edition of October 2016: 671 users, 9,066 films", bundled=True
    ),
    "simulated": Dataset(
        about="simulated after MovieLens: 1,000 users, 3,000 items", simulated=True
    ),
    "ml-100k": Dataset(about="MovieLens 100K: 943 users, 1,682 films"),
    "ml-1m": Dataset(
        about="MovieLens 1M: 6,040 users, 3,706 films, last item held out", split=True
    ),
    "pinterest-20-part": Dataset(
        about="Pinterest: 37,501 users, 9,916 pins, one item held out", n_items=9_916, split=True
    ),
    "citeulike-a": Dataset(about="CiteULike: 5,551 users, 16,980 articles"),
    "gowalla": Dataset(
        about="Gowalla: 29,858 users, 40,981 places, several test items", split=True
    ),
    "yelp-diffnet": Dataset(about="Yelp: 17,235 users, 37,378 businesses", split=True),
    "lastfm-2k": Dataset(about="Last.fm: 1,892 users, 17,632 artists, play counts"),
    "amazon-video-games": Dataset(about="Amazon: 31,013 users, 23,715 video games, ordered"),
}


def load(name: str) -> Interactions:
    """Load a data set by name.

    Nothing is downloaded. A file `<name>.parquet` in the folder that the environment variable
    FULLRANK_DATA names comes first; `ml-latest-small` comes with the source tree, and
    `simulated` is made on the spot. ``DATASETS`` tells the names and what they are.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> load("simulated").n_users
    1000
    """
    dataset = DATASETS[_checks.choice("name", name, DATASETS)]
    if dataset.simulated:
        return simulate()
    return Interactions.from_parquet(_file(name, dataset), item_ids=_catalogue(dataset))


def load_split(name: str) -> Split:
    """Load a data set together with the split it comes with.

    Parameters
    ----------
    name : str
        A data set that has one; split the others with :meth:`Interactions.split`.

    Examples
    --------
    >>> load_split("simulated")
    Traceback (most recent call last):
    fullrank.errors.InputError: `name` must be one of 'ml-1m', 'pinterest-20-part', 'gowalla', \
'yelp-diffnet', not 'simulated'.
    """
    with_split = [key for key, dataset in DATASETS.items() if dataset.split]
    dataset = DATASETS[_checks.choice("name", name, with_split)]
    return read_split(_file(name, dataset), item_ids=_catalogue(dataset))


def _catalogue(dataset: Dataset) -> np.ndarray | None:
    return None if dataset.n_items is None else np.arange(dataset.n_items)


def _file(name: str, dataset: Dataset) -> Path:
    """Where the prepared file lies."""
    folders = []
    if os.environ.get("FULLRANK_DATA"):
        folders.append(Path(os.environ["FULLRANK_DATA"]))
    if dataset.bundled:
        folders.append(Path(__file__).parents[3] / "data")  # the top of a source tree
    for folder in folders:
        if (folder / f"{name}.parquet").is_file():
            return folder / f"{name}.parquet"
    why = (
        "it comes with the repository and the source archive but not with an installed wheel"
        if dataset.bundled
        else "it is not part of fullrank"
    )
    raise InputError(
        f"`name` must be a data set that is here; {name}.parquet is not: {why}. Set FULLRANK_DATA "
        f"to a folder that has the file, or use 'simulated', which works everywhere."
    )
