"""Read ranks of any pipeline from a table, and infer the design if possible.

`RankSample.read`, `fullrank.read_ranks` and the commands all read here, and open a file once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fullrank._lib import checks, files
from fullrank._lib.text import counted, enumerated, listed
from fullrank._lib.types import Array, Ints
from fullrank.designs import Design, Exact, Uniform, infer_design
from fullrank.designs.design import ONE_BASED
from fullrank.designs.inferred import ASSUMED_UNIFORM, INFER
from fullrank.errors import InputError
from fullrank.samples import sample_files
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.sample import RankSample
from fullrank.samples.seeds import Seeds
from fullrank.samples.tally import MODELS, SEVERAL, Tally, too_many
from fullrank.tables.arrow import is_text
from fullrank.tables.names import NAMES
from fullrank.tables.table import AUTO, Table, frame_table, open_table, plain, stem

ROLES = (
    "user", "item", "rank", "sample_size", "n_items", "weight", "n_targets", "offset", "model",
    "seed", "more_than",
)  # fmt: skip
_SIZES = ("sample_size", "n_items")
_INDEX = ("", "index", "level_0", "row", "id")  # what numbers the rows
_INTEGERS = ("rank", "sample_size", "n_items", "n_targets", "offset")


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranks(Mapping[str, Any]):
    """The contents of a file: a mapping from models to their samples.

    Attributes
    ----------
    samples : the RankSample of each model, or its `Seeds`, in the order of their names; exact ranks
        where fullrank wrote them. A file that names no model has one of the file's own name.
    notes : assumptions and inferences
    split : how the targets of a run were held out
    unread : columns that may name the items but have no usual name, to the file that has them;
        filled by the commands
    """

    samples: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    split: str | None = None
    unread: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.samples[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.samples)


def read_ranks(
    path: files.PathLike | Table | Any,
    *,
    columns: Mapping[str, Any] | None = None,
    model: str | None = None,
    n_items: int | None = None,
    sample_size: int | None = None,
    design: str | Design = INFER,
    excluded: bool | None = None,
    leave_out: str | Iterable[str] = (),
    encoding: str | None = None,
    rows: bool | None = True,
    **settings: Any,
) -> Ranks:
    """Read the ranks of one or more models.

    Parameters
    ----------
    path : a file with a column ``rank``, and perhaps ``sample_size``, ``n_items``, ``model``,
        ``user``, ``item``, ``seed``, ``weight``, ``n_targets`` and ``offset``: CSV or other
        delimited text, Parquet, Feather, JSON Lines, JSON records, or ``.npy`` with ranks alone;
        text may be compressed (``.gz``, ``.bz2``, ``.zst``, ``.xz``). A data frame is accepted as
        well
    columns : names of columns in the file, as ``{"rank": "position"}``; usual names are recognised.
        ``{"rank": ["pop", "svd"]}`` reads one column of ranks for each model
    model : the model to read; default: all
    sample_size, n_items : if there is no such column: the number of candidates, and of items that
        they are drawn from, both including the target. The latter is the catalogue or, if training
        items were never drawn, the catalogue without them; a column is more precise than the mean
    design : how candidates were drawn, such as ``"sampled:100"``; or "infer", see
        `fullrank.designs.infer_design`
    excluded : whether training items were excluded (`Design`); default: True if the number of
        items differs between users, otherwise unknown
    leave_out : a column or columns to ignore
    encoding : encoding of a text file; default: UTF-8, or Latin-1 if it is not UTF-8
    rows : True keeps the ranks one by one. None keeps only counts if they contain the same
        information; the file is then read in pieces, with little memory. False requires counts
    settings : further arguments of `RankSample.from_ranks`

    Returns
    -------
    Ranks
        A mapping from the names of the models to their samples, with `notes`.

    Notes
    -----
    If there is no column of ranks, the remaining columns are read as one column of ranks per model,
    provided that there are at least two and all hold whole numbers from 1 to the sample size. A
    note says so. If a column ``seed`` distinguishes several runs of a model, its entry is a
    `Seeds`.

    In a file of exact ranks up to K, the column ``rank`` is empty for a rank beyond K and
    the column ``more_than`` holds K; or give ``design="exact:K"``. Such ranks need no sample size,
    and are returned as `ExactRanks`.

    Examples
    --------
    >>> read_ranks("ranks.csv", sample_size=100, n_items=3706).notes  # doctest: +SKIP
    ('Sampling without replacement is assumed. If an item could be drawn twice, give …',)
    """
    given = {
        name: None if value is None else checks.integer(name, value, low=1)
        for name, value in (("sample_size", sample_size), ("n_items", n_items))
    }
    left_out = (leave_out,) if isinstance(leave_out, str) else tuple(leave_out)
    said = {
        "excluded": excluded, "design": None if _open(design) else design,
        "columns": columns or None, "leave_out": left_out or None, **settings,
    }  # fmt: skip
    with opened(path, encoding) as table:
        own = _own(table, rows)
        if own is not None:
            found = Ranks(samples={stem(table.path): agreed(own, given | said, table)})
        else:
            layout = _layout(table, columns or {}, left_out, given, design)
            found = _explained(layout, rows, settings, design, excluded)
    return found if model is None else _picked(found, model, table)


def read_one(path: files.PathLike, *, model: str | None = None, **settings: Any) -> RankSample:
    """The one sample of a file, for `RankSample.read`."""
    with opened(path, settings.pop("encoding", None)) as table:
        found = read_ranks(table, model=model, **settings)
    if len(found) > 1:
        raise InputError(
            f"`model` must be given: {table.path} holds {len(found)} models, "
            f"{', '.join(map(repr, found))}."
        )
    (sample,) = found.values()
    if isinstance(sample, RankSample):
        return sample
    if isinstance(sample, Seeds):
        raise InputError(
            f"`path` must hold one sample; {table.path} has {len(sample)} seeds: use read_ranks."
        )
    if sample.max_rank is not None or (sample.ties == "mean" and (sample.equal % 2).any()):
        raise InputError(
            f"`path` must hold a sample; {table.path} holds exact ranks: use "
            "ExactRanks.read or read_ranks."
        )
    found_sample: RankSample = sample.sample()
    return found_sample


def opened(source: Any, encoding: str | None = None) -> AbstractContextManager[Table]:
    """A file, a data frame or a table that is open already."""
    if isinstance(source, Table):
        return source
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return frame_table(source)
    return open_table(source, encoding=encoding)


# ---- what fullrank wrote ----


def is_own(table: Table) -> bool:
    """Whether fullrank wrote the file, which then carries its design."""
    return table.content is not None or sample_files.KEY in table.metadata


def read_own(path: files.PathLike, *, rows: bool | None = True) -> RankSample | ExactRanks | None:
    """What is in a file that fullrank wrote; None if someone else wrote the file."""
    with opened(path) as table:
        return _own(table, rows)


def read_exact(path: files.PathLike) -> ExactRanks:
    """Read exact ranks that fullrank wrote."""
    found = read_own(path)
    if not isinstance(found, ExactRanks):
        raise InputError(f"`path` must hold exact ranks that fullrank wrote; {path} does not.")
    return found


def _own(table: Table, rows: bool | None) -> RankSample | ExactRanks | None:
    if not is_own(table):
        return None
    if table.content is not None:
        sample = sample_files.from_content(table.content, table.path)
        return sample.without_rows() if rows is False else sample
    head = sample_files.head_of(table.metadata)
    names = {name: name for name in table.names}
    if rows is not True and sample_files.holds_rows(head) and {"rank", *_SIZES} <= set(names):
        tally = _tallied(table, table.pieces(names), {})
        if rows is False or not tally.needs_rows:
            _counts_will_do(tally)
            (sample,) = _counted(tally, {"design": sample_files.design_of(head)}).values()
            return sample.anchored(sample_files.anchor_of(head))
    whole = table.whole(names)
    if not len(whole):
        raise table.empty("rank")
    sample = sample_files.from_columns(head, whole)
    return sample.without_rows() if rows is False else sample


def agreed(own: Any, given: Mapping[str, Any], table: Table) -> Any:
    """A sample of fullrank: what is said again must agree, and what it leaves open is added."""
    carried: dict[str, Any] = {"n_items": own.n_items, "sample_size": own.n_items}
    excluded = given.get("excluded")
    if isinstance(own, RankSample):
        size = int(own.sample_size.max())
        carried["sample_size"] = None if (own.sample_size != size).any() else size
        carried["design"] = str(own.design)
        carried["excluded"] = excluded if own.design.excluded is None else own.design.excluded
    else:
        carried["excluded"] = own.pool == "unseen"
        carried["design"] = str(Exact(own.max_rank))
    about = own.about() if isinstance(own, ExactRanks) else own
    for name, value in given.items():
        said = str(value) if name == "design" else value
        if value is not None and (name not in carried or said != carried[name]):
            raise InputError(
                f"`{name}` must agree with the file or be omitted: {table.path} was written by "
                f"fullrank and states how its ranks were obtained: {about}."
            )
    if isinstance(own, RankSample) and excluded is not None:
        return replace(own, design=own.design.with_(excluded=excluded))
    return own


# ---- what anyone wrote ----

_LARGEST = {"sample_size": "the sample size", "n_items": "the number of items"}


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Where a file has what: roles to columns, sizes without a column, and columns of ranks."""

    table: Table
    wanted: Mapping[str, str]
    given: Mapping[str, int]
    wide: Sequence[str] = ()
    named: Collection[Any] = ()  # the columns that the caller named
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, str]:
        """What is read: of a wide file, every column of ranks under its own name."""
        return {**self.wanted, **{f"rank {name}": name for name in self.wide}}

    def long(self, pieces: Iterable[Any]) -> Iterator[Any]:
        """The pieces of the file with a column of ranks, whatever they had."""
        import pyarrow as pa

        start = 0
        for piece in pieces:
            if not self.wide:
                yield piece
                continue
            others = piece.select([role for role in self.wanted if role in piece.column_names])
            parts = []
            for name in self.wide:
                rank = self._checked(name, piece, start)
                model = pa.array([name] * len(piece), pa.string())
                parts.append(others.append_column("rank", rank).append_column("model", model))
            yield pa.concat_tables(parts)
            start += len(piece)

    def _checked(self, name: str, piece: Any, start: int) -> Any:
        """A column of ranks of a wide file, in which the rows are still those of the file."""
        import pyarrow as pa

        table = self.table
        try:
            rank = table.integers("rank", piece.column(f"rank {name}"), start)
        except InputError as error:
            raise InputError(f"{error} The column is {name!r}.") from None
        hint = f"The column is {name!r}. {ONE_BASED}"
        table.reject("rank", rank, rank < 1, "be at least 1", hint, start)
        for role, says in _LARGEST.items():  # of exact ranks there is the number of items alone
            sizes = self.given.get(role)
            if sizes is None and role in piece.column_names:
                sizes = table.integers(role, piece.column(role), start)
            if sizes is not None:
                table.reject("rank", rank, rank > sizes, f"be at most {says}", hint, start)
        return pa.array(rank)


def _layout(
    table: Table,
    columns: Mapping[str, Any],
    leave_out: tuple[str, ...],
    sizes: Mapping[str, int | None],
    design: str | Design,
) -> _Layout:
    for role in columns:
        checks.role(role, ROLES)
    for name in leave_out:
        table.find("leave_out", name)
    asked = {role: columns.get(role, AUTO) for role in ROLES}
    wide = asked["rank"] if not isinstance(asked["rank"], str) else ()
    if not isinstance(asked["rank"], str):
        asked["rank"] = None
        wide = [table.find("rank", name) for name in wide]
        if len(set(wide)) < len(wide):
            raise InputError(
                f"`columns` must name each column of ranks once, not {', '.join(wide)}."
            )
    wanted = table.resolve(asked, without=(*leave_out, *wide))
    for name in columns.values():
        if name in leave_out:
            raise InputError(f"`leave_out` must not name {name!r}, which is also in `columns`.")
    if sizes["sample_size"] is None and "sample_size" not in wanted and not _open(design):
        sizes = {**sizes, "sample_size": getattr(Design.of(design), "sample_size", None)}
    _check_sizes(sizes["sample_size"], design)
    notes: tuple[str, ...] = ()
    if "rank" not in wanted and not wide:
        wide = _wide(table, wanted, leave_out, sizes)
        notes = (f"The file has one column of ranks per model: {', '.join(wide)}.",)
    if wide and "more_than" in wanted:
        raise InputError(
            f"`more_than` must not be in {checks.printable(table.path)} if each model has its own "
            "column of ranks, because the limit may differ between models."
        )
    if wide and "model" in wanted:
        raise InputError(
            f"`model` must not be in {table.path} if each model has its own column of ranks: "
            f"{_leaving_out(wanted['model'], columns.values())}."
        )
    if _is_complete(wanted, design, sizes) and "sample_size" not in wanted:
        sizes = {"n_items": sizes["n_items"]} | _named(sample_size=sizes["sample_size"])
    given = _given(table, wanted, sizes)
    named = tuple(columns.values())
    return _Layout(
        table=table, wanted=wanted, given=given, wide=tuple(wide), named=named, notes=notes
    )


def _leaving_out(column: str, named: Collection[Any]) -> str:
    """The advice to leave out a column, which is refused while `columns` names it."""
    advice = f"`leave_out={column!r}`"
    if column in named:
        return f"give {advice} and do not name it in `columns`"
    return f"add {advice}"


def _check_sizes(sample_size: int | None, design: str | Design) -> None:
    """A size that is given must be that of the design, if this has one."""
    own = None if _open(design) else getattr(Design.of(design), "sample_size", None)
    if sample_size is not None and own is not None and sample_size != own:
        raise InputError(f"`sample_size` must be {own:,}, as in `design`, not {sample_size:,}.")


def _named(**values: Any) -> dict[str, Any]:
    """The values that were given."""
    return {name: value for name, value in values.items() if value is not None}


def _is_complete(
    wanted: Mapping[str, str], design: str | Design, sizes: Mapping[str, int | None]
) -> bool:
    """Whether a file has ranks among all items: up to K, or by a design that needs no size."""
    if "more_than" in wanted:
        return True
    drawn = None if _open(design) else Design.of(design)
    if not isinstance(drawn, Exact):
        return False
    return drawn.max_rank is not None or not ("sample_size" in wanted or sizes.get("sample_size"))


def _wide(
    table: Table,
    wanted: Mapping[str, str],
    leave_out: tuple[str, ...],
    sizes: Mapping[str, int | None],
) -> list[str]:
    """The columns of ranks in a file without a column ``rank``; an error where it has none."""
    if "rank" in leave_out:
        raise InputError("`leave_out` must not name 'rank', the column of ranks.")
    rest = [name for name in table.names if name not in wanted.values() and name not in leave_out]
    rest = [name for name in rest if name.lower() not in _INDEX and "unnamed" not in name.lower()]
    limit = sizes.get("sample_size")
    whole = table.whole({name: name for name in rest}) if rest and not table.headless() else None
    numeric = [name for name in rest if whole is not None and _is_numeric(whole.column(name))]
    fit = [name for name in numeric if whole is not None and _are_ranks(whole.column(name), limit)]
    if "model" not in wanted and 1 < len(fit) == len(rest):
        return fit
    if not fit:
        raise table.missing("rank")
    hint = f"if it has another name, give `columns={{'rank': {fit[0]!r}}}`"
    several = fit if len(fit) > 1 else numeric
    if len(several) > 1 and "model" not in wanted:
        hint += f"; for one column per model, give `columns={{'rank': {several!r}}}`"
    raise table.without("rank", hint)


def unread_names(table: Table, columns: Mapping[str, Any], leave_out: Iterable[str]) -> list[str]:
    """The columns that could name items, of a file of ranks whose users alone have a column.

    These are whole numbers or text, more than one, in a column that no role takes: text first.
    """
    import pyarrow as pa

    asked = {role: columns.get(role, AUTO) for role in ROLES}
    wide = [] if isinstance(asked["rank"], str) else [*asked["rank"]]
    if wide:
        asked["rank"] = None
    wanted = table.resolve(asked, without=(*leave_out, *wide))
    if "user" not in wanted or "item" in wanted or not (wide or "rank" in wanted):
        return []
    taken = {*wanted.values(), *wide, *leave_out}
    usual = {one for names in NAMES.values() for one in names}
    rest = [
        name
        for name in table.names
        if name not in taken and plain(name) not in usual and name.lower() not in _INDEX
    ]
    found: dict[bool, list[str]] = {True: [], False: []}
    if not rest:
        return []
    for first in table.pieces({name: name for name in rest}):
        for name in rest:
            column = first[name]
            number = pa.types.is_integer(column.type)
            if (number or is_text(column.type)) and len(column.unique()) > 1:
                found[number].append(name)
        break  # enough to see what the columns hold
    return found[False] + found[True]


def _are_ranks(column: Any, limit: int | None) -> bool:
    """Whether numbers are whole, from 1 to the sample size, and nothing is missing."""
    if column.null_count:
        return False
    values = column.to_numpy()
    whole = (values == np.floor(values)) & (values >= 1)
    return bool(values.size and (whole & (values <= (limit or np.inf))).all())


def _is_numeric(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _given(
    table: Table, wanted: Mapping[str, str], sizes: Mapping[str, int | None]
) -> dict[str, int]:
    missing = [name for name, value in sizes.items() if value is None and name not in wanted]
    if missing:
        one = len(missing) == 1
        exact = ' If these are ranks among all items, give `design="exact"`.'
        raise InputError(
            f"{' and '.join(f'`{name}`' for name in missing)} must be given: "
            f"{checks.printable(table.path)} has no column for {'it' if one else 'them'}, only "
            f"{listed(table.names)}.{exact if 'sample_size' in missing else ''}"
        )
    for name, value in sizes.items():
        if value is not None and name in wanted:
            raise InputError(
                f"`{name}` must be omitted: {checks.printable(table.path)} has a column for it, "
                f"{wanted[name]!r}."
            )
    return {name: value for name, value in sizes.items() if value is not None}


def _explained(
    layout: _Layout,
    rows: bool | None,
    settings: dict[str, Any],
    design: str | Design,
    excluded: bool | None,
) -> Ranks:
    """What a file holds; where ranks are missing or written as >50, the error says how to."""
    try:
        return _read(layout, rows, settings, design, excluded)
    except InputError as error:
        if "more_than" in layout.wanted or "rank" not in layout.wanted:
            raise
        column = layout.table.whole(layout.columns()).column("rank")
        text = next((str(one) for one in column.to_pylist() if str(one).startswith(">")), None)
        if text is None and not column.null_count:
            raise
        number = "K" if text is None else text.lstrip(">= ")
        raise InputError(
            f"{error} If a rank is only known to be beyond {number}, leave it empty and write "
            f"{number} in a `more_than` column."
        ) from error


def _read(
    layout: _Layout,
    rows: bool | None,
    settings: dict[str, Any],
    design: str | Design,
    excluded: bool | None,
) -> Ranks:
    """The samples, from the rows or from counts of the pieces."""
    if rows is not None:
        checks.flag("rows", rows)
    if _is_complete(layout.wanted, design, layout.given):
        return _up_to(layout, rows, settings, design, excluded)
    table, tally, columns = layout.table, None, None
    if rows is not True and "seed" not in layout.wanted:
        pieces = table.pieces(_counted_roles(layout))
        tally = _tallied(table, layout.long(pieces), layout.given)
        own = np.unique(tally.outcomes["n_items"].to_numpy()).size > 1
        if rows is None and (tally.needs_rows or own):
            tally = None
    if tally is not None:
        _counts_will_do(tally)
        outcome = [tally.outcomes[name].to_numpy() for name in ("rank", *_SIZES)]
    else:
        columns = _loaded(layout)
        outcome = [columns[name] for name in ("rank", *_SIZES)]
    rank, size, items = outcome
    drawn, notes = _drawn(rank, size, items, design)
    settings = {**settings, "design": drawn if excluded is None else drawn.with_(excluded=excluded)}
    samples: dict[str, Any]
    if tally is not None:
        samples = dict(_counted(tally, settings))
    else:
        assert columns is not None
        samples = _with_rows(columns, settings)
    return _ranks(layout, samples, notes)


def _ranks(layout: _Layout, samples: Mapping[str, Any], notes: tuple[str, ...]) -> Ranks:
    """The samples under names, with everything that was noted."""
    table = layout.table
    seeds = [note for one in samples.values() if isinstance(one, Seeds) for note in one.notes]
    names = {name or stem(table.path): one for name, one in samples.items()}
    return Ranks(samples=names, notes=(*table.notes, *layout.notes, *dict.fromkeys(seeds), *notes))


def _up_to(
    layout: _Layout,
    rows: bool | None,
    settings: dict[str, Any],
    design: str | Design,
    excluded: bool | None,
) -> Ranks:
    """Exact ranks up to K, all in memory."""
    limit = None
    if not _open(design):
        drawn = Design.of(design)
        if not isinstance(drawn, Exact):
            raise InputError(
                f"`design` must be exact if there is a `more_than` column, not {drawn}: only ranks "
                "among all items can be known up to a limit."
            )
        limit = drawn.max_rank
    columns = _loaded(layout, censored=True)
    more, rank, table = columns.pop("more_than", None), columns["rank"], layout.table
    size = columns.pop("sample_size", columns["n_items"])
    table.reject("sample_size", size, size != columns["n_items"], "equal the number of items")
    if more is not None:
        missing = np.isnan(rank) == np.isnan(more)
        table.reject(
            "more_than", more, missing, "be a number where the rank is missing, and empty elsewhere"
        )
    own = np.unique(columns["n_items"]).size > 1
    pool = "unseen" if excluded or (excluded is None and own) else "all"

    def make(**one: Any) -> ExactRanks:
        found = one.pop("more_than", np.empty(0))
        known = {limit, *found[~np.isnan(found)].astype(int).tolist()} - {None}
        if len(known) > 1:
            several = " and ".join(map(str, sorted(known)))
            if limit is not None:
                said = Exact(min(known - {limit}))
                raise InputError(
                    f"`design` must be {said}, as in the `more_than` column, or be omitted; it is "
                    f"{Exact(limit)}."
                )
            raise InputError(f"`more_than` must hold one number for each model, not {several}.")
        ranks = ExactRanks.from_ranks(**one, pool=pool, max_rank=next(iter(known), None))
        return ranks.without_rows() if rows is False else ranks

    if more is not None:
        columns["more_than"] = more
    return _ranks(layout, _with_rows(columns, settings, make), ())


def _open(design: Any) -> bool:
    """Whether the design is to be inferred."""
    return isinstance(design, str) and design == INFER


def _drawn(
    rank: Ints, size: Ints, n_items: Ints, design: str | Design
) -> tuple[Design, tuple[str, ...]]:
    """The design, as given or inferred; of one sample size there is nothing to infer."""
    if _open(design) and size.max() == size.min() and size.max() <= n_items.min():
        return Uniform(), (ASSUMED_UNIFORM,)
    return infer_design(rank, size, n_items, design=design)


def _counted_roles(layout: _Layout) -> dict[str, str]:
    return {role: name for role, name in layout.columns().items() if role != "item"}


def _tallied(table: Table, pieces: Iterable[Any], given: Mapping[str, int]) -> Tally:
    """The outcomes of a file, counted."""
    tally = Tally(table=table)
    for piece in pieces:
        kept = [name for name in piece.column_names if name not in ("item", "time")]
        tally.add(piece.select(kept), given)
    return tally.finish()


def _counts_will_do(tally: Tally) -> None:
    if tally.needs_rows == SEVERAL:
        raise InputError("`rows` must not be False for multi-target users.")


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


def _loaded(layout: _Layout, *, censored: bool = False) -> dict[str, Array]:
    """Every column that has a role, checked where only the file can say what is wrong."""
    table = layout.table
    (whole,) = layout.long([table.whole(layout.columns())])
    if not len(whole):
        raise table.empty("rank")
    found: dict[str, Array] = {}
    for role in whole.column_names:
        column = whole.column(role)
        if censored and role in ("rank", "more_than"):
            found[role] = _with_nan(table, role, column)
        elif role in _INTEGERS:
            found[role] = table.integers(role, column)
        elif role == "weight":
            found[role] = table.numbers(role, column)
        else:
            found[role] = table.ids(role, column)
    if "weight" in found:
        table.reject("weight", found["weight"], ~(found["weight"] >= 0), "be at least 0")
    for role, low in (("n_targets", 1), ("offset", 0)):
        if role in found:
            table.reject(role, found[role], found[role] < low, f"be at least {low}")
    for role, value in layout.given.items():
        found[role] = np.broadcast_to(np.int64(value), len(whole))
    rank, size = found["rank"], found.get("sample_size", found["n_items"])
    table.reject("rank", rank, rank < 1, "be at least 1", ONE_BASED)
    table.reject("rank", rank, rank > size, "be at most the sample size", ONE_BASED)
    for role in ("model", "seed"):
        if role in found and found[role].dtype.kind != "U":
            found[role] = found[role].astype(np.str_)
    if "model" in found and np.unique(found["model"]).size > MODELS:
        raise too_many()
    _reject_repeats(layout, found)
    return found


def _with_nan(table: Table, role: str, column: Any) -> Array:
    """Whole or half numbers, NaN where there is none."""
    import pyarrow as pa

    missing = column.is_null().to_numpy()
    if missing.all():
        return np.full(missing.size, np.nan)
    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        # which says what is there instead; Arrow cannot drop the nulls of every type
        there = [one for one in column.to_pylist() if one is not None]
        table.numbers(role, pa.chunked_array([pa.array(there)]))
    found: Array = column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()
    table.reject(role, found, np.isinf(found), "be finite")
    table.reject(role, found, found % 0.5 > 0, "be whole numbers or halves")
    return found


def _reject_repeats(layout: _Layout, columns: Mapping[str, Array]) -> None:
    """A user may have more than one row with more than one target or seed, which must be stated."""
    if "user" not in columns:
        return
    keys = [columns[name] for name in ("model", "seed", "user") if name in columns]
    codes = np.zeros(keys[0].size, np.int64)
    for key in keys:
        values, code = np.unique(key, return_inverse=True)
        codes = codes * values.size + code
    _, first, place, number = np.unique(
        codes, return_index=True, return_inverse=True, return_counts=True
    )
    if "n_targets" in columns:
        _reject_counts(layout, columns, number[place])
        return
    again = number > 1
    if not again.any():
        return
    at = int(first[again].min())
    user = checks.printable(columns["user"][at])
    n = int(number[again][np.argmin(first[again])])
    seeds = " For several seeds of a model, name their column with `columns={'seed': 'NAME'}`."
    table = layout.table
    raise InputError(
        f"`user` must name each user only once, or the file must have the columns n_targets and "
        f"offset; user {user} has {n} rows, the first {table.where(at)} of {table.path}."
        f"{'' if 'seed' in columns else seeds} To count every row as a separate user, "
        f"{_leaving_out(layout.wanted['user'], layout.named)}."
    )


def _reject_counts(layout: _Layout, columns: Mapping[str, Array], number: Ints) -> None:
    """The targets of a user must all be there."""
    wrong = number != columns["n_targets"]
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    table, named = layout.table, layout.named
    # without ids, users have one target each: the columns that say otherwise must go as well
    roles = (role for role in ("user", "n_targets", "offset") if role in layout.wanted)
    away = [layout.wanted[role] for role in roles]
    where = "`leave_out`" + (" and not in `columns`" if any(one in named for one in away) else "")
    raise InputError(
        f"`n_targets` must be the number of rows of the user; user "
        f"{checks.printable(columns['user'][at])}, who first appears {table.where(at)} of "
        f"{table.path}, has {counted(int(number[at]), 'row')}, but n_targets is "
        f"{columns['n_targets'][at]:,}. To count every row as a separate user, name "
        f"{enumerated(list(map(repr, away)))} in {where}."
    )


def _with_rows(
    columns: dict[str, Array],
    settings: Mapping[str, Any],
    make: Callable[..., Any] = RankSample.from_ranks,
) -> dict[str, Any]:
    """The sample of each model, or its samples by seed."""
    size = columns["rank"].size
    models = columns.pop("model", np.zeros(size, "U1"))
    seeds = columns.pop("seed", None)
    found: dict[str, Any] = {}
    for model in np.unique(models).tolist():
        here = models == model
        names = [] if seeds is None else np.unique(seeds[here]).tolist()
        if len(names) < 2:
            found[model] = _sample(columns, here, settings, make)
            continue
        if all(name.isdigit() for name in names):
            names.sort(key=int)
        parts = {name: _sample(columns, here & (seeds == name), settings, make) for name in names}
        found[model] = Seeds(parts)
    return found


def _sample(
    columns: Mapping[str, Array], keep: Any, settings: Mapping[str, Any], make: Callable[..., Any]
) -> Any:
    return make(**{name: values[keep] for name, values in columns.items()}, **settings)


def _picked(found: Ranks, model: str, table: Table) -> Ranks:
    if model not in found:
        raise InputError(
            f"`model` must be one of the models in {table.path} ({', '.join(map(repr, found))}), "
            f"not {model!r}."
        )
    return replace(found, samples={model: found[model]})
