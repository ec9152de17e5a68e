"""Data to evaluate on: a data set by name or a file of interactions, split."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from fullrank._lib import checks, files
from fullrank._lib.files import PathLike
from fullrank._lib.progress import Progress
from fullrank._lib.specs import parse_spec
from fullrank.data import DATASETS, SPLITS, Interactions, Split, read_split
from fullrank.data.sets import datasets
from fullrank.errors import DataWarning, InputError

_AUTO, _GIVEN = "auto", "given"
_SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.bz2")
_MARKS = {"train", "training", "test", "testing", "valid", "validation", "val", "dev"}
_LEARNED = {"train", "training"}
_LOOK = 1_000_000  # rows to look for marks in
_ROLES = ("user", "item", "value", "timestamp", "split")


def load_split(
    source: PathLike,
    *,
    split: str = _AUTO,
    columns: Mapping[str, str] | None = None,
    download: bool = False,
    progress: bool | Progress | None = None,
    rng: int = 0,
) -> Split:
    """A data set or a file of interactions, split into what is learned and what is asked.

    Parameters
    ----------
    source : name of a data set, or path of a Parquet or CSV file of interactions
    split : "auto" takes the split that the data come with and else holds out one item of each
        user, the last where there are times; "given" insists on the former; or the name of a
        split with settings, as "leave-one-out:by=random", "ratio:test=0.2", "strong:test=0.1"
    columns : role ("user", "item", "value", "timestamp", "split") to the name of a file's column;
        the usual names are found without
    download : whether to fetch a data set that is not here
    rng : seed of the split

    Examples
    --------
    >>> load_split("simulated", split="ratio:test=0.1")
    Split(ratio: train 71,992, test 7,498)
    """
    spec = parse_spec("split", split)
    checks.choice("split", spec.name, (_AUTO, _GIVEN, *SPLITS))
    if spec.name in (_AUTO, _GIVEN) and (spec.settings or spec.main is not None):
        raise InputError(f"`split` must have no settings for {spec.name}, not {split!r}.")
    if spec.main is not None:
        raise InputError(f"`split` must have named settings, as ratio:test=0.2, not {split!r}.")
    if spec.name in SPLITS:
        data = load_interactions(source, columns=columns, download=download, progress=progress)
        return _split(data, spec.name, spec.settings, rng)
    found = _given(source, columns or {}, download, progress)
    if found is not None:
        return found
    if spec.name == _GIVEN:
        raise InputError(f"`split` must not be 'given' for {source}, which comes with no split.")
    data = load_interactions(source, columns=columns, download=download, progress=progress)
    if not is_name(source):
        _warn_of_marks(_file(source), columns or {})
    return data.split("leave-one-out", rng=rng)


def load_interactions(
    source: PathLike,
    *,
    columns: Mapping[str, str] | None = None,
    download: bool = False,
    progress: bool | Progress | None = None,
) -> Interactions:
    """All interactions of a data set or a file; see `load_split`.

    Examples
    --------
    >>> load_interactions("simulated")
    Interactions(1,000 users × 3,000 items, 79,490 interactions, with values and timestamps)
    """
    asked = _columns(columns or {})
    if is_name(source):
        if asked:
            raise InputError("`columns` must be left out for a data set by name.")
        return datasets.load(str(source), download=download, progress=progress)
    asked.pop("split", None)
    path = _file(source)
    if ".csv" in path.suffixes[-2:]:
        return Interactions.from_csv(path, **asked)
    return Interactions.from_parquet(path, **asked)


def is_name(source: PathLike) -> bool:
    """Whether it is the name of a data set; an unknown name that looks like one is refused."""
    if str(source) in DATASETS:
        return True
    looks = Path(source).suffix == "" and Path(source).parent == Path() and isinstance(source, str)
    if looks and not Path(source).exists():
        raise InputError(
            f"`data` must be a file or one of {', '.join(map(repr, DATASETS))}, not {source!r}."
        )
    return False


def _file(source: PathLike) -> Path:
    path = files.existing(source)
    if not path.name.lower().endswith(_SUFFIXES):
        raise InputError(
            f"`data` must be a file that ends in {', '.join(_SUFFIXES)}; {path} does not."
        )
    return path


def _columns(columns: Mapping[str, str]) -> dict[str, str]:
    for role in columns:
        checks.choice("columns", role, _ROLES)
    return dict(columns)


def _given(
    source: PathLike,
    columns: Mapping[str, str],
    download: bool,
    progress: bool | Progress | None,
) -> Split | None:
    """The split that the data come with, or None."""
    if is_name(source):
        if columns:
            raise InputError("`columns` must be left out for a data set by name.")
        return datasets.split_of(str(source), download=download, progress=progress)
    from fullrank.tables import columns as _tables

    path = _file(source)
    asked: dict[str, Any] = _columns(columns)
    if "split" not in asked and _tables.GUESSES["split"][0] not in _names(path):
        return None
    return read_split(path, **asked)


def _warn_of_marks(path: Path, columns: Mapping[str, str]) -> None:
    """Say so where a column that nobody asked for marks rows as train and test."""
    used = {name for role, name in columns.items() if role != "split"}
    for name, values in _texts(path).items():
        marks = sorted(values)
        if name not in used and _is_split(values):
            warnings.warn(
                f"The column {name!r} of {path} holds {', '.join(marks)} and was not used: one "
                f"item of each user is held out instead. Read it by --column split={name}, or "
                f"columns={{'split': {name!r}}}.",
                DataWarning,
                stacklevel=4,
            )


def _texts(path: Path) -> dict[str, set[str]]:
    """The first values of every column of text, in small letters."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if ".csv" in path.suffixes[-2:]:
        with pa.csv.open_csv(path) as stream:
            batches: Any = stream
            return _first_texts(batches)
    file = pq.ParquetFile(path)
    names = [field.name for field in file.schema_arrow if _is_text(field.type)]
    return _first_texts(file.iter_batches(columns=names)) if names else {}


def _first_texts(batches: Iterable[Any]) -> dict[str, set[str]]:
    import pyarrow as pa

    found: dict[str, set[str]] = {}
    rows = 0
    try:
        for batch in batches:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                kept = found.get(name, set())
                if _is_text(column.type) and len(kept) <= len(_MARKS):
                    values = (str(one).strip().lower() for one in column.unique().to_pylist())
                    found[name] = kept | set(islice(values, len(_MARKS) + 2))
            rows += batch.num_rows
            if rows >= _LOOK:
                break
    except pa.ArrowException:  # a column that changes its kind further down, and is not read
        return found
    return found


def _is_split(values: set[str]) -> bool:
    """Whether the values are the parts of a split, in the words people use."""
    return values <= _MARKS and bool(values & _LEARNED) and bool(values - _LEARNED)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(plain) or pa.types.is_large_string(plain))


def _names(path: Path) -> set[str]:
    """The names of a file's columns, in small letters."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    try:
        if ".csv" in path.suffixes[-2:]:
            with pa.csv.open_csv(path) as stream:
                names = stream.schema.names
        else:
            names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        kind = "CSV" if ".csv" in path.suffixes[-2:] else "Parquet"
        raise InputError(f"`data` must be a {kind} file; {path} cannot be read as one.") from error
    return {name.lower() for name in names}


def _split(data: Interactions, name: str, settings: Mapping[str, Any], rng: int) -> Split:
    try:
        return data.split(name, **{"rng": rng, **settings})
    except TypeError as error:  # a setting that the split has not
        import inspect

        known = list(inspect.signature(SPLITS[name]).parameters)[1:]
        raise InputError(
            f"`split` must have settings of {name}, {', '.join(known)}, not "
            f"{', '.join(map(repr, settings))}."
        ) from error
