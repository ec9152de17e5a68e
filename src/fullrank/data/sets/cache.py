"""Where data sets are stored: prepared files, raw files, and the cache of prepared ones."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from fullrank._lib import files as _files
from fullrank.data.sets import formats
from fullrank.data.sets.origins import Dataset
from fullrank.errors import InputError

_VERSION = 1  # of what the readers make of the files; a prepared file of another is made anew
_KEY = b"fullrank"
_ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")


def folder() -> Path:
    """Return the cache folder: FULLRANK_CACHE, or the platform's cache folder."""
    named = os.environ.get("FULLRANK_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
        return base / "fullrank" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fullrank"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fullrank"


def data_folder() -> Path | None:
    """Return the folder that FULLRANK_DATA names, or None."""
    named = os.environ.get("FULLRANK_DATA")
    return Path(named) if named else None


def prepared(dataset: Dataset) -> Path | Any | None:
    """The prepared file in the cache, made now if it is missing; a table where it cannot be kept.

    It is made again when there are raw files and they are not those it was made from.
    """
    path = folder() / f"{dataset.name}.parquet"
    mark = _mark_in(path)
    for source in _candidates(dataset):
        if not source.is_dir() and not (source.is_file() and source.name.endswith(_ARCHIVES)):
            continue
        now = {"version": _VERSION, "files": _fingerprint(source)}
        if mark == now:
            return path
        form = formats.find(source, dataset.formats)
        if form is not None:
            table = _compact(formats.read(source, form))
            table = table.replace_schema_metadata({_KEY: json.dumps(now).encode()})
            return path if _keep(table, path) else table
    return path if mark is not None else None


def _candidates(dataset: Dataset) -> list[Path]:
    archives = [f"{dataset.name}{suffix}" for suffix in _ARCHIVES]
    archives += [name for name in dataset.archives if name not in archives]
    own = folder() / dataset.name
    places = [own, *(own / name for name in archives)]
    given = data_folder()
    if given is not None:
        inside = given / dataset.name
        places = [
            inside,
            *(inside / name for name in archives),
            *(given / name for name in archives),
            *places,
        ]
    return places


def _keep(table: Any, path: Path) -> bool:
    import pyarrow.parquet as pq

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _files.replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")
    except (InputError, OSError):  # a cache that cannot be written to only costs time
        return False
    return True


def _mark_in(path: Path) -> Any:
    """What a prepared file says it was made from, or None."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        metadata = pq.read_schema(path).metadata or {}
        mark = json.loads(metadata.get(_KEY, b"null"))
    except (pa.ArrowInvalid, OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) and mark.get("version") == _VERSION else None


def _fingerprint(source: Path) -> list[list[Any]]:
    files = [source] if source.is_file() else sorted(p for p in source.rglob("*") if p.is_file())
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]


def _compact(table: Any) -> Any:
    """Whole numbers in 32 bits where they fit: half the size, the same ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_int64(field.type) and len(table):
            low, high = (one.as_py() for one in pc.min_max(table[field.name]).values())
            if low is not None and low >= -(2**31) and high < 2**31:
                column = table[field.name].cast(pa.int32())
                table = table.set_column(place, field.name, column)
    return table
