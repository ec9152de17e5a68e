"""Samples in files: Parquet, CSV and JSON, ours with the design inside, or anyone's ranks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fullrank._lib import checks, files
from fullrank.designs.design import Design
from fullrank.errors import InputError
from fullrank.samples import exact_files
from fullrank.samples.distribution import RankDistribution
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.read_ranks import read_ranks, samples_of, tally_of
from fullrank.samples.sample import RankSample
from fullrank.tables import pieces as _pieces

FORMAT = 3  # of 1, users were row numbers in run folders; of 2, designs had no name
_KEY = b"fullrank"
_ROW_COLUMNS = ("user", "item", "time", "rank", "sample_size", "n_items", "weight", "n_targets",
                "offset")  # fmt: skip
_SIZES = ("rank", "sample_size", "n_items")
_COUNT_COLUMNS = ("rank", "sample_size", "pool", "count", "weight")


def to_arrow(sample: RankSample | ExactRanks) -> Any:
    """A pyarrow Table of the rows, or of the counts where there are no rows."""
    import pyarrow as pa

    head, columns = _packed(sample)
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return table.replace_schema_metadata({_KEY: json.dumps(head).encode()})


def from_arrow(table: Any) -> RankSample | ExactRanks:
    """The sample, or the exact ranks, that `to_arrow` packed."""
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise InputError("`table` must be one that fullrank wrote; it carries no design.")
    head = _head(metadata)
    names = table.column_names
    if len(set(names)) < len(names):
        raise InputError("`table` must name each column once.")
    return _unpacked(head, {name: _numpy(table, name) for name in names})


def to_json(sample: RankSample | ExactRanks) -> str:
    """The sample as JSON text."""
    return json.dumps(to_plain(sample))


def to_plain(sample: RankSample | ExactRanks) -> dict[str, Any]:
    """The sample as an object of JSON."""
    head, columns = _packed(sample)
    return {**head, "columns": {name: values.tolist() for name, values in columns.items()}}


Held = TypeVar("Held", RankSample, ExactRanks)


def from_plain(kind: type[Held], content: Any) -> Held:
    """The sample, or the exact ranks, that `to_plain` made plain."""
    found = from_json(json.dumps(content))
    if not isinstance(found, kind):
        raise InputError(f"`content` must be a {kind.__name__}, not {type(found).__name__}.")
    return found


def from_json(text: str) -> RankSample | ExactRanks:
    """The sample, or the exact ranks, that `to_json` wrote."""
    try:
        content = json.loads(text)
        head = _checked_head(content)
        columns = {name: np.asarray(values) for name, values in content["columns"].items()}
    except (KeyError, AttributeError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        why = checks.because(error)
        raise InputError(f"`text` must be a RankSample written by to_json: {why}.") from error
    return _unpacked(head, columns)


def write(sample: RankSample | ExactRanks, path: files.PathLike) -> None:
    """Write a sample to a ``.parquet`` or ``.json`` file, whole or not at all."""
    suffix = _suffix(path, (".parquet", ".json"))
    with files.replacing(path) as temporary:
        if suffix == ".json":
            temporary.write_text(to_json(sample) + "\n", encoding="utf-8")
        else:
            import pyarrow.parquet as pq

            pq.write_table(to_arrow(sample), temporary)


def read(path: files.PathLike, *, model: str | None = None, **settings: Any) -> RankSample:
    """Read one sample from a ``.parquet``, ``.csv``, ``.tsv``, ``.inter`` or ``.json`` file.

    A file that fullrank wrote carries its design. Any other needs a column ``rank`` and may
    have ``sample_size``, ``n_items``, ``weight``, ``user``, ``n_targets``, ``offset`` and
    ``model``; what it has no column for is given as an argument, as in
    `RankSample.from_ranks`. `fullrank.samples.read_ranks.read_ranks` asks for less and infers more.

    Parameters
    ----------
    path : the file
    model : which model to take where the file holds several
    settings : ``design`` (inferred by default) and whatever else `read_ranks` takes; and
        ``rows=False`` to keep counts alone, reading the file piece by piece (None: where they
        say as much as the rows)

    Examples
    --------
    >>> RankSample.read("ranks.csv", n_items=3706, design="sampled:100")  # doctest: +SKIP
    """
    samples = read_all(path, **settings)
    if model is not None:
        if model not in samples:
            raise InputError(
                f"`model` must be one of {', '.join(map(repr, samples))} in {path}, not {model!r}."
            )
        return samples[model]
    if len(samples) > 1:
        raise InputError(
            f"`model` must be given: {path} holds {len(samples)} models, "
            f"{', '.join(map(repr, samples))}."
        )
    return next(iter(samples.values()))


def read_all(
    path: files.PathLike, *, rows: bool | None = True, **settings: Any
) -> dict[str, RankSample]:
    """Read every model's sample from a file; see `read`. Without a column ``model``: {""}."""
    own = read_own(path, rows=rows)
    if isinstance(own, ExactRanks):
        if own.ties == "mean" and (own.equal % 2).any():
            raise InputError(
                f"`path` must hold a sample; {path} holds exact ranks, for ExactRanks.read."
            )
        own = own.sample()
    if own is not None:
        own = completed(own, settings.pop("excluded", None), path)
        _no_settings(settings, path)
        return {"": own}
    return dict(read_ranks(path, rows=rows, **settings).samples)


def completed(own: RankSample, excluded: bool | None, path: files.PathLike) -> RankSample:
    """A sample of a file that does not say whether training items were excluded, now told so."""
    if excluded is None:
        return own
    if own.design.excluded is not None:
        _no_settings({"excluded": excluded}, path)
    return replace(own, design=own.design.with_(excluded=excluded))


def read_exact(path: files.PathLike) -> ExactRanks:
    """Read exact ranks that fullrank wrote."""
    found = read_own(path)
    if not isinstance(found, ExactRanks):
        raise InputError(f"`path` must hold exact ranks that fullrank wrote; {path} does not.")
    return found


def read_own(path: files.PathLike, *, rows: bool | None = True) -> RankSample | ExactRanks | None:
    """What is in a file that fullrank wrote; None if someone else wrote the file.

    `rows` as in `read_ranks`: None keeps counts alone where they say as much.
    """
    suffix = _suffix(path, (*_pieces.TABLES, ".json"))
    source = files.existing(path)
    if suffix == ".json":
        try:
            sample = from_json(source.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"`path` must be a JSON file; {source} is not text.") from error
        return sample.without_rows() if rows is False else sample
    table = _pieces.open_table(source)
    if _KEY not in table.metadata:
        return None
    head = _head(table.metadata)
    names = {name: name for name in table.names}
    sampled = head["kind"] != exact_files.KIND
    if rows is not True and sampled and head["content"] == "rows" and set(_SIZES) <= set(names):
        tally = tally_of(table, names, {})
        if rows is False or not tally.needs_rows:
            found = samples_of(table, names, {}, tally, {"design": _design(head)}, rows)
            return next(iter(found.values())).anchored(_anchor(head))
    import pyarrow as pa

    pieces = list(table.pieces(names))
    if not pieces:
        raise InputError(f"`path` must hold at least one rank; {source} is empty.")
    whole = pa.concat_tables(pieces)
    sample = _unpacked(head, {name: _numpy(whole, name) for name in names})
    return sample.without_rows() if rows is False else sample


def _packed(sample: RankSample | ExactRanks) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both file formats hold: a head of settings, and columns."""
    if isinstance(sample, ExactRanks):
        return exact_files.packed(sample)
    part, names = (sample, _COUNT_COLUMNS) if sample.rows is None else (sample.rows, _ROW_COLUMNS)
    columns = {name: getattr(part, name) for name in names if getattr(part, name) is not None}
    head = {
        "format": FORMAT,
        "kind": "RankSample",
        "content": "counts" if sample.rows is None else "rows",
        "n_items": sample.n_items,
        "design": sample.design.to_dict(),
    }
    if sample.anchor is not None:
        head["anchor"] = sample.anchor.to_dict()
    return head, columns


def _unpacked(head: dict[str, Any], columns: dict[str, Any]) -> RankSample | ExactRanks:
    """Check again what was read: a file can be changed by anyone."""
    if head["kind"] == exact_files.KIND:
        return exact_files.unpacked(head, columns)
    design, anchor = _design(head), _anchor(head)
    try:
        if head["content"] == "rows":
            return RankSample.from_ranks(**columns, design=design).anchored(anchor)
        pool = columns.pop("pool")
        if head["n_items"] is None:
            return RankSample.from_counts(**columns, n_items=pool, design=design).anchored(anchor)
        sample = RankSample.from_counts(**columns, n_items=pool, design=design)
    except (KeyError, TypeError) as error:
        raise InputError(f"`path` must hold a whole RankSample: {error}.") from error
    n_items = checks.integer("n_items", head["n_items"], low=int(sample.pool.max()))
    return replace(sample, design=design, n_items=n_items, anchor=anchor)


def _anchor(head: dict[str, Any]) -> RankDistribution | None:
    return None if head.get("anchor") is None else RankDistribution.from_dict(head["anchor"])


def _head(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    try:
        return _checked_head(json.loads(metadata[_KEY]))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        why = checks.because(error)
        raise InputError(f"`path` must hold a whole RankSample: {why}.") from error


def _design(head: dict[str, Any]) -> Design:
    """How the sample was drawn."""
    try:
        return Design.from_dict(head["design"])
    except TypeError as error:
        raise InputError(f"`path` must hold a whole RankSample: {error}.") from error


def _checked_head(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("kind") not in ("RankSample", "ExactRanks"):
        raise InputError("`path` must hold a RankSample or ExactRanks; it holds something else.")
    ours = exact_files.FORMAT if content["kind"] == exact_files.KIND else FORMAT
    if content.get("format") != ours:
        older = content.get("format") in range(1, ours)
        raise InputError(
            f"`path` must be of format {ours}, not {content.get('format')!r}: "
            f"{'an older' if older else 'a newer'} fullrank wrote it."
        )
    if content["kind"] == exact_files.KIND:
        return content
    if content.get("content") not in ("rows", "counts") or not isinstance(
        content.get("design"), dict
    ):
        raise InputError("`path` must hold a whole RankSample; its head is incomplete.")
    return content


def _suffix(path: files.PathLike, known: tuple[str, ...]) -> str:
    suffix = _pieces.kind(Path(path))
    if suffix not in known:
        raise InputError(f"`path` must end in {' or '.join(known)}, not {suffix!r}.")
    return suffix


def _no_settings(settings: dict[str, Any], source: files.PathLike) -> None:
    if settings:
        raise InputError(
            f"`{next(iter(settings))}` must not be given: {source} carries its own design."
        )


def _numpy(table: Any, name: str) -> Any:
    column = table.column(name)
    if column.null_count:
        raise InputError(f"`{name}` must have no missing values; {column.null_count:,} are.")
    import pyarrow as pa

    try:
        values = column.to_numpy()
    except (pa.ArrowException, UnicodeError) as error:  # text that is none
        why = checks.because(error)
        raise InputError(f"`{name}` must hold numbers or text; it does not: {why}.") from error
    if values.dtype.kind == "O":
        values = np.asarray([str(value) for value in values])
    return values
