"""The file formats that publishers distribute, and how each is read into one Arrow table.

The columns are user, item and, where the files have them, rating, timestamp and split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from fullrank.data.sets import parsers
from fullrank.errors import InputError

NO_SPLIT = ""


class Format(NamedTuple):
    """Which files there must be, what part of a split each is, and how one is read."""

    files: Mapping[str, str]  # a pattern of names, and the part
    read: Callable[[str, IO[bytes]], Any]
    many: bool = False  # any number of files may fit the pattern


FORMATS: Mapping[str, Format] = {
    "u.data": Format({"u.data": NO_SPLIT}, parsers.u_data),
    "ratings.dat": Format({"ratings.dat": NO_SPLIT}, parsers.ratings_dat),
    "ratings.csv": Format({"ratings.csv": NO_SPLIT}, parsers.ratings_csv),
    "ncf": Format({"*.train.rating": "train", "*.test.rating": "test"}, parsers.ncf),
    "lightgcn": Format({"train.txt": "train", "test.txt": "test"}, parsers.user_lines),
    "users.dat": Format({"users.dat": NO_SPLIT}, parsers.counted_lines),
    "book-crossing": Format({"BX-Book-Ratings.csv": NO_SPLIT}, parsers.book_crossing),
    "netflix": Format({"combined_data_*.txt": NO_SPLIT}, parsers.netflix, many=True),
    "netflix-films": Format({"mv_*.txt": NO_SPLIT}, parsers.netflix, many=True),
    "triplets": Format({"train_triplets.txt": NO_SPLIT}, parsers.triplets),
    # what the code published with MultiVAE writes, and many read: a split by users
    "vae": Format(
        {
            "train.csv": "train",
            "validation_tr.csv": "valid_fold_in",
            "validation_te.csv": "valid",
            "test_tr.csv": "fold_in",
            "test_te.csv": "test",
        },
        parsers.uid_sid,
    ),
}


def find(source: Path, formats: Sequence[str]) -> Format | None:
    """The first of the formats whose files are all in a folder or archive."""
    from fullrank.tables import archives  # with it come the packers

    every = [pattern for name in formats for pattern in FORMATS[name].files]
    present = archives.names(source, every)
    for name in formats:
        files = FORMATS[name].files
        if all(any(archives.fits(one, [pattern]) for one in present) for pattern in files):
            return FORMATS[name]
    return None


def read(source: Path, form: Format) -> Any:
    """All files of a format in a folder or archive, as one table."""
    import pyarrow as pa

    from fullrank.tables import archives

    tables = []
    for pattern, part in form.files.items():
        found = archives.read_members(source, [pattern], form.read)
        if len(found) != 1 and not form.many:
            raise InputError(
                f"{source.name} must hold one file that matches {pattern}, not {len(found)}."
            )
        if part != NO_SPLIT:
            labels = pa.array([part]).dictionary_encode()
            found = [
                one.append_column("split", labels.take(pa.nulls(len(one), pa.int32()).fill_null(0)))
                for one in found
            ]
        tables += found
    return pa.concat_tables(tables).unify_dictionaries()
