"""Ranks from anyone's pipeline: read from a table, the design inferred where it can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import checks, files
from fullrank.designs import Design, Uniform, infer_design
from fullrank.designs.inferred import INFER, said
from fullrank.errors import InputError
from fullrank.samples.sample import RankSample
from fullrank.samples.tally import SEVERAL, Tally, present
from fullrank.tables import columns as tables
from fullrank.tables import pieces

ROLES = ("user", "item", "rank", "sample_size", "n_items", "weight", "n_targets", "offset", "model")


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """What a file held.

    Attributes
    ----------
    samples : the sample of each model, in the order of their names; "" where the file names none
    notes : what was assumed or inferred about the design
    split : how the targets of a run were held out
    """

    samples: Mapping[str, Any]
    notes: tuple[str, ...]
    split: str | None = None


def read_ranks(
    path: files.PathLike,
    *,
    sample_size: int | None = None,
    n_items: int | None = None,
    design: str | Design = INFER,
    excluded: bool | None = None,
    columns: Mapping[str, str] | None = None,
    leave_out: Iterable[str] = (),
    rows: bool | None = None,
    **settings: Any,
) -> Ranks:
    """Read the ranks of one model or several from a CSV, TSV, RecBole or Parquet file.

    Parameters
    ----------
    path : a table with a column ``rank``, and perhaps ``sample_size``, ``n_items``, ``model``,
        ``user``, ``item``, ``weight``, ``n_targets`` and ``offset``
    sample_size, n_items : where there is no such column: candidates, and items they are drawn
        from, both including the target
    design : how candidates were drawn, such as ``"sampled:100"``; or "infer", as
        `fullrank.designs.infer_design` does
    excluded : whether training items were excluded (`Design`); default: True where catalogues are
        the users' own, else not known
    columns : what the file calls a column, as ``{"rank": "position"}``
    leave_out : columns that are to be read as if they were not there
    rows : True to keep the ranks one by one; None to keep counts alone where they say as much:
        the file is then read piece by piece, in little memory
    settings : whatever else `RankSample.from_ranks` takes

    Examples
    --------
    >>> read_ranks("ranks.csv", sample_size=100, n_items=3706).notes  # doctest: +SKIP
    ('Assuming sampling without replacement.',)
    """
    table = pieces.open_table(files.existing(path))
    wanted = _wanted(table, columns or {}, tuple(leave_out))
    if sample_size is None and "sample_size" not in wanted:
        sample_size = _size_of(design)
    given = _given(table, wanted, sample_size=sample_size, n_items=n_items)
    tally = tally_of(table, wanted, given)
    rank, size, items = (
        tally.outcomes[name].to_numpy() for name in ("rank", "sample_size", "n_items")
    )
    found, notes = infer_design(rank, size, items, design=design)
    if excluded is not None:
        found = found.with_(excluded=excluded)
    samples = samples_of(table, wanted, given, tally, {**settings, "design": found}, rows)
    return Ranks(samples=samples, notes=notes)


def tally_of(table: pieces.Table, wanted: Mapping[str, str], given: Mapping[str, int]) -> Tally:
    """The outcomes of a file, counted."""
    tally = Tally()
    counted = {role: name for role, name in wanted.items() if role not in ("item", "time")}
    for piece in table.pieces(counted):
        tally.add(piece, given)
    return tally.finish(table.path)


def samples_of(
    table: pieces.Table,
    wanted: Mapping[str, str],
    given: Mapping[str, int],
    tally: Tally,
    settings: Mapping[str, Any],
    rows: bool | None,
) -> dict[str, RankSample]:
    """The sample of each model: of the counts, or read again with the rows."""
    if rows is not None:
        checks.flag("rows", rows)
    own = np.unique(tally.outcomes["n_items"].to_numpy()).size > 1
    if rows or (rows is None and (tally.needs_rows or own)):
        return _with_rows(table, wanted, given, settings)
    if tally.needs_rows == SEVERAL:
        raise InputError("`rows` must be kept where users have several targets.")
    return _counted(tally, settings)


def _size_of(design: str | Design) -> int | None:
    """The sample size that the design names for every target, if it does."""
    drawn = said(design)
    return drawn.sample_size if isinstance(drawn, Uniform) else None


def _wanted(
    table: pieces.Table, columns: Mapping[str, str], leave_out: tuple[str, ...]
) -> dict[str, str]:
    """What each role is called in the file; "rank" must be there, and what was named."""
    for role in columns:
        checks.choice("columns", role, ROLES)
    for name in leave_out:
        table.find("leave_out", name)
    wanted = {role: role for role in ROLES if role in table.names and role not in columns}
    wanted |= {role: table.find(role, name) for role, name in columns.items()}
    wanted = {role: name for role, name in wanted.items() if name not in leave_out}
    if "rank" not in wanted:
        table.find("rank", "rank")
        raise InputError("`leave_out` must not name the column of the ranks.")
    return wanted


def _given(table: pieces.Table, wanted: Mapping[str, str], **sizes: int | None) -> dict[str, int]:
    given = {}
    for name, value in sizes.items():
        if value is None and name not in wanted:
            raise InputError(f"`{name}` must be given: {table.path} has no such column.")
        if value is not None and name in wanted:
            raise InputError(f"`{name}` must not be given twice: {table.path} has such a column.")
        if value is not None:
            given[name] = checks.integer(name, value, low=1)
    return given


def _counted(tally: Tally, settings: Mapping[str, Any]) -> dict[str, RankSample]:
    columns = {
        name: tally.outcomes[name].to_numpy()
        for name in ("rank", "sample_size", "n_items", "count", "weight")
    }
    place = tally.outcomes["model"].to_numpy()
    return {
        model: RankSample.from_counts(
            **{name: values[place == at] for name, values in columns.items()}, **settings
        )
        for model, at in sorted(tally.models.items())
    }


def _with_rows(
    table: pieces.Table,
    wanted: Mapping[str, str],
    given: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, RankSample]:
    import pyarrow as pa

    whole = pa.concat_tables(list(table.pieces(wanted))).unify_dictionaries()
    typed = pieces.kind(table.path) == ".parquet"
    columns = {role: _values(role, whole.column(role), typed) for role in wanted}
    models = columns.pop("model", np.zeros(len(whole), "U1"))
    return {
        str(model): RankSample.from_ranks(
            **{name: values[models == model] for name, values in columns.items()},
            **given,
            **settings,
        )
        for model in np.unique(models)
    }


def _values(role: str, column: Any, typed: bool) -> Any:
    if role not in ("user", "item", "model"):
        return pieces.numbers(role, column)
    column = present(role, column)
    if role != "model" and not typed:  # 7 is a number and "007" text, as in files of interactions
        column = tables.numbers(column)
    values = np.asarray(column)
    if role == "model" or values.dtype.kind not in "iu":  # NumPy's own text takes less memory
        values = np.asarray([str(one) for one in values.tolist()])
    return values


def is_table(path: files.PathLike) -> bool:
    """Whether a file's name says that it is a table."""
    return pieces.kind(Path(path)) in pieces.TABLES
