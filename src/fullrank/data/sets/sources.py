"""Load data to evaluate on, from a data set by name or a file of interactions, and split it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, files
from fullrank._lib.files import PathLike
from fullrank._lib.progress import Progress
from fullrank._lib.specs import Spec, parse_spec
from fullrank.data import DATASETS, SPLITS, Interactions, Split, read_split
from fullrank.data.rows import Table as Rows
from fullrank.data.sets import datasets
from fullrank.data.split import PARTS
from fullrank.data.split_column import part_of
from fullrank.errors import DataWarning, InputError
from fullrank.tables import ids
from fullrank.tables.arrow import is_text
from fullrank.tables.id_files import read_ids
from fullrank.tables.names import NAMES
from fullrank.tables.table import Table, open_table, plain

_AUTO, _GIVEN = "auto", "given"
_MARKS = {"train", "training", "test", "testing", "valid", "validation", "val", "dev"}
_LOOK = 1_000_000  # rows to look for marks in
_ROLES = ("user", "item", "value", "timestamp", "split")


def load_split(
    source: PathLike | Mapping[str, PathLike],
    *,
    split: str = _AUTO,
    columns: Mapping[str, str] | None = None,
    catalogue: ArrayLike | PathLike | None = None,
    encoding: str | None = None,
    download: bool = False,
    progress: bool | Progress | None = None,
    rng: int = 0,
) -> Split:
    """Load a data set or a file of interactions, split into training and test parts.

    Parameters
    ----------
    source : name of a data set, or path of a file of interactions (see `Interactions.read`); or a
        mapping from "train", "test" and perhaps "valid" to such paths
    split : "auto" uses the split that the data come with, or holds out one item of each user, the
        last where there are times; "given" requires a split in the data; or the name of a split
        with settings, such as "leave-one-out:by=random", "ratio:test=0.2", "strong:test=0.1"
    columns : role ("user", "item", "value", "timestamp", "split") to the name of a file's column;
        the usual names are found without it. A column called split, part, set, fold or subset with
        the labels train and test is a split of the data
    catalogue : the ids of all items, or a file of ids (.txt with one per line, .csv, .parquet or
        .npy); default: the items that occur in the files
    encoding : of a text file; default: UTF-8, or Latin-1 where it is not
    download : whether to download a data set that is not available locally
    progress : True for a line on stderr during the download, or a function of (done, total)
    rng : random seed of the split

    Examples
    --------
    >>> load_split("simulated", split="ratio:test=0.1")
    Split(ratio: train 71,992, test 7,498)
    """
    spec = split_spec(split)
    if isinstance(source, Mapping):
        if spec.name in SPLITS:
            raise InputError(
                f"`split` must not be given when each part has its own file; got {split!r}."
            )
        parts = _of_parts(source, columns or {}, encoding)
        return _among(parts, catalogue)
    if not is_name(source):
        found = _of_file(source, spec.name, columns or {}, encoding)
    elif columns:
        raise InputError("`columns` must be omitted for a data set given by name.")
    elif catalogue is not None:
        raise InputError("`catalogue` must be omitted for a data set given by name.")
    else:
        found = _of_name(str(source), spec.name, download, progress)
    if isinstance(found, Split):
        return _among(found, catalogue)
    name = spec.name if spec.name in SPLITS else "leave-one-out"
    settings = dict(spec.settings)
    # By default, `strong` drops the interactions with items that training does not have. Items of
    # the catalogue would come back as items that these users have not seen.
    of_all = name != "strong" or catalogue is None or settings.setdefault("items", "all") == "all"
    if not of_all:
        raise InputError(
            f"`split` must have items=all when `catalogue` is given, not items={settings['items']}."
        )
    return _among(_split(found, name, settings, rng), catalogue)


def split_spec(split: str, *also: str) -> Spec:
    """Read how to split; `also` holds further names, which have no settings.

    Examples
    --------
    >>> split_spec("ratio:test=0.1").settings
    {'test': 0.1}
    """
    spec, bare = parse_spec("split", split), (_AUTO, _GIVEN, *also)
    checks.choice("split", spec.name, (*bare, *SPLITS))
    if spec.name in bare and (spec.settings or spec.main is not None):
        raise InputError(f"`split` must not have settings for {spec.name}; got {split!r}.")
    if spec.main is not None:
        raise InputError(
            f"`split` must have named settings, such as ratio:test=0.2, not {split!r}."
        )
    return spec


def load_interactions(
    source: PathLike,
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    download: bool = False,
    progress: bool | Progress | None = None,
) -> Interactions:
    """Load all interactions of a data set or a file; see `load_split`.

    Examples
    --------
    >>> load_interactions("simulated")
    Interactions(1,000 users × 3,000 items, 79,490 interactions, with values and timestamps)
    """
    asked = _columns(columns or {})
    if is_name(source):
        if asked:
            raise InputError("`columns` must be omitted for a data set given by name.")
        return datasets.load(str(source), download=download, progress=progress)
    asked.pop("split", None)
    with open_table(source, encoding=encoding, argument="source") as table:
        return Interactions.read(table, columns=asked)


def _of_name(
    name: str, split: str, download: bool, progress: bool | Progress | None
) -> Split | Interactions:
    """The split that a data set comes with, or all of its interactions."""
    if split not in SPLITS:
        found = datasets.split_of(name, download=download, progress=progress)
        if found is not None:
            return found
        if split == _GIVEN:
            raise InputError(
                f"`split` must not be 'given' for {name}, which does not come with a split."
            )
    return datasets.load(name, download=download, progress=progress)


def is_name(source: PathLike) -> bool:
    """Return whether it is the name of a data set; refuse an unknown name that looks like one."""
    if str(source) in DATASETS:
        return True
    looks = Path(source).suffix == "" and Path(source).parent == Path() and isinstance(source, str)
    if looks and not os.path.exists(source):
        raise InputError(
            f"`data` must be a file or one of {', '.join(map(repr, DATASETS))}, not {source!r}."
        )
    return False


def _columns(columns: Mapping[str, str]) -> dict[str, str]:
    for role in columns:
        checks.role(role, _ROLES)
    return dict(columns)


def _named(found: Split, how: Mapping[str, Any]) -> Split:
    """The split with what it was read from, and which items are ranked: a file cannot tell."""
    catalogue = f"{found.train.n_items:,} items in the data"
    return replace(found, settings={**how, "catalogue": catalogue, **found.settings})


def _among(split: Split, catalogue: Any) -> Split:
    """The split over all items of the catalogue."""
    if catalogue is None:
        return split
    if isinstance(catalogue, str | os.PathLike):
        catalogue = read_ids(files.existing(catalogue, "catalogue"), "item", argument="catalogue")
    every = ids.unique("catalogue", catalogue)
    known = split.train.item_ids
    rows = ids.find("catalogue", every, known)
    absent = np.delete(np.arange(known.size), rows[rows >= 0])
    if absent.size:
        first = checks.printable(known[absent[0]])
        lacks = f"are not in it (first: {first})" if absent.size > 1 else f"is not in it: {first}"
        raise InputError(
            f"`catalogue` must hold all items of the data; {absent.size:,} of {known.size:,} "
            f"{lacks}."
        )
    parts: dict[str, Any] = {name: _over(part, every) for name, part in split.parts().items()}
    said = f"{every.size:,} items as given"
    return replace(split, **parts, settings={**split.settings, "catalogue": said})


def _over(part: Interactions, every: Any) -> Interactions:
    users, items = part.pairs()
    return Interactions._pack(
        Rows(
            users=users,
            items=ids.find("catalogue", part.item_ids, every)[items],
            values=part.values,
            timestamps=part.timestamps,
            user_ids=part.user_ids,
            item_ids=every,
        )
    )


def _of_parts(
    sources: Mapping[str, PathLike], columns: Mapping[str, str], encoding: str | None
) -> Split:
    """A split whose parts are files."""
    asked: dict[str, Any] = _columns(columns)
    if "split" in asked:
        raise InputError("`columns` must not name a split column when each part has its own file.")
    with ExitStack() as opened:
        tables = {
            part: opened.enter_context(open_table(path, encoding=encoding, argument=part))
            for part, path in sources.items()
        }
        found = read_split(tables, **asked)
    named = ", ".join(f"{part} {Path(one).name}" for part, one in sources.items())
    return _named(found, {"files": named})


def _of_file(path: PathLike, name: str, columns: Mapping[str, str], encoding: str | None) -> Any:
    """The split that a file comes with, or all of its interactions."""
    asked: dict[str, Any] = _columns(columns)
    with open_table(path, encoding=encoding, argument="source") as table:
        marks = None if name in SPLITS else _marking(table, asked)
        if marks is not None:
            found = read_split(table, **{**asked, "split": marks})
            return _named(found, {"column": marks})
        if name == _GIVEN:
            raise InputError(
                f"`split` must not be 'given' for {path}, which has no column that marks rows as "
                "train and test. If it has one under another name, specify it with "
                "`columns={'split': 'NAME'}`."
            )
        _warn_of_marks(table, asked)
        asked.pop("split", None)
        return Interactions.read(table, columns=asked)


def _marking(table: Table, asked: Mapping[str, str]) -> str | None:
    """The column that says which part a row belongs to: as asked, or by its name and values."""
    if "split" in asked:
        return table.find("split", asked["split"])
    used = set(asked.values())
    usual = [name for name in table.names if plain(name) in NAMES["split"] and name not in used]
    if any(plain(name) == "split" for name in usual):  # which is read, whatever it says
        return next(name for name in usual if plain(name) == "split")
    values = _texts(table, usual) if usual else {}
    parts = {name: {part_of(value) for value in values.get(name, set())} for name in usual}
    fit = [name for name, one in parts.items() if {"train", "test"} <= one <= set(PARTS)]
    # where marks are missing, or all are the same, the error for that is better than a guess
    some = [name for name, one in parts.items() if one - {"none"} in ({"train"}, {"test"})]
    some += [name for name, one in parts.items() if {"train", "test", "none"} <= one]
    return next(iter((*fit, *some)), None)


def _warn_of_marks(table: Table, asked: Mapping[str, str]) -> None:
    """Say so where a column that nobody asked for marks rows as train and test."""
    used = {name for role, name in asked.items() if role != "split"}
    for name, values in _texts(table, list(table.names)).items():
        if name not in used and _is_split(values):
            warnings.warn(
                f"The column {name!r} of {table.path} has the labels {', '.join(sorted(values))} "
                f"but was not used; other items are held out. To use it, give "
                f"`columns={{'split': {name!r}}}`.",
                DataWarning,
                stacklevel=5,
            )


def _texts(table: Table, names: Sequence[str]) -> dict[str, set[str]]:
    """The first values of these columns that are text, in small letters."""
    found: dict[str, set[str]] = {}
    rows = 0
    try:
        for piece in table.pieces({name: name for name in names}):
            for name in names:
                kept, column = found.get(name, set()), piece.column(name)
                if is_text(column.type) and len(kept) <= len(_MARKS):
                    values = (str(one).strip().lower() for one in column.unique().to_pylist())
                    found[name] = kept | set(islice(values, len(_MARKS) + 2))
            rows += len(piece)
            if rows >= _LOOK:
                break
    except InputError:  # a column that changes its kind further down, and is not read
        return found
    return found


def _is_split(values: set[str]) -> bool:
    """Whether the values are the parts of a split, in the words people use."""
    parts = {part_of(value) for value in values}
    return parts <= set(PARTS) and "train" in parts and len(parts) > 1


def _split(data: Interactions, name: str, settings: Mapping[str, Any], rng: int) -> Split:
    try:
        return data.split(name, **{"rng": rng, **settings})
    except TypeError as error:  # a setting that the split has not
        import inspect

        known = list(inspect.signature(SPLITS[name]).parameters)[1:]
        if {*settings} <= {*known}:  # of a split from outside, say
            raise
        raise checks.unknown_settings("split", name, known, settings) from error
