"""Samples in files: Parquet, CSV and JSON, ours with the design inside, or anyone's ranks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fullrank import _checks, _files
from fullrank.errors import InputError
from fullrank.sampling.design import Design
from fullrank.sampling.sample import RankSample

FORMAT = 1
_KEY = b"fullrank"
_ROW_COLUMNS = ("user", "rank", "sample_size", "n_items", "weight", "n_targets", "offset")
_COUNT_COLUMNS = ("rank", "sample_size", "pool", "count", "weight")


def to_arrow(sample: RankSample) -> Any:
    """A pyarrow Table of the rows, or of the counts where there are no rows."""
    import pyarrow as pa

    head, columns = _packed(sample)
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return table.replace_schema_metadata({_KEY: json.dumps(head).encode()})


def from_arrow(table: Any) -> RankSample:
    """The sample that `to_arrow` packed."""
    head = _head(table.schema)
    if head is None:
        raise InputError("`table` must be one that fullrank wrote; it carries no design.")
    return _unpacked(head, {name: _numpy(table, name) for name in table.column_names})


def to_json(sample: RankSample) -> str:
    """The sample as JSON text."""
    head, columns = _packed(sample)
    return json.dumps({**head, "columns": {name: v.tolist() for name, v in columns.items()}})


def from_json(text: str) -> RankSample:
    """The sample that `to_json` wrote."""
    try:
        content = json.loads(text)
        head = _checked_head(content)
        columns = {name: np.asarray(values) for name, values in content["columns"].items()}
    except (json.JSONDecodeError, KeyError, AttributeError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`text` must be a RankSample written by to_json: {error}.") from error
    return _unpacked(head, columns)


def write(sample: RankSample, path: _files.PathLike) -> None:
    """Write a sample to a ``.parquet`` or ``.json`` file, whole or not at all."""
    suffix = _suffix(path, (".parquet", ".json"))
    with _files.replacing(path) as temporary:
        if suffix == ".json":
            temporary.write_text(to_json(sample) + "\n", encoding="utf-8")
        else:
            import pyarrow.parquet as pq

            pq.write_table(to_arrow(sample), temporary)


def read(path: _files.PathLike, *, model: str | None = None, **settings: Any) -> RankSample:
    """Read one sample from a ``.parquet``, ``.csv`` or ``.json`` file.

    A file that fullrank wrote carries its design. Any other needs a column ``rank`` and may
    have ``sample_size``, ``n_items``, ``weight``, ``user``, ``n_targets``, ``offset`` and
    ``model``; what it has no column for is given as an argument, as in
    `RankSample.from_ranks`.

    Parameters
    ----------
    path : the file
    model : which model to take where the file holds several
    settings : ``replacement`` and whatever else `RankSample.from_ranks` takes; and
        ``rows=False`` to keep counts alone, reading the file piece by piece

    Examples
    --------
    >>> RankSample.read(
    ...     "ranks.csv", sample_size=100, n_items=3706, replacement=True
    ... )  # doctest: +SKIP
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


def read_all(path: _files.PathLike, *, rows: bool = True, **settings: Any) -> dict[str, RankSample]:
    """Read every model's sample from a file; see `read`. Without a column ``model``: {""}."""
    suffix = _suffix(path, (".parquet", ".csv", ".json"))
    source = _files.existing(path)
    if suffix == ".json":
        _no_settings(settings, source)
        try:
            text = source.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"`path` must be a JSON file; {source} is not text.") from error
        sample = from_json(text)
        return {"": sample if rows else sample.without_rows()}
    schema, pieces = _open_csv(source) if suffix == ".csv" else _open_parquet(source)
    head = _head(schema)
    if head is not None:
        _no_settings(settings, source)
        import pyarrow as pa

        sample = from_arrow(pa.Table.from_batches(list(pieces), schema))
        return {"": sample if rows else sample.without_rows()}
    return _foreign(source, schema, pieces, rows, settings)


def _foreign(
    source: Path, schema: Any, pieces: Iterator[Any], rows: bool, settings: dict[str, Any]
) -> dict[str, RankSample]:
    names = [name for name in (*_ROW_COLUMNS, "model") if name in schema.names]
    if "rank" not in names:
        raise InputError(
            f"`path` must have a column rank; {source} has {', '.join(schema.names) or 'none'}."
        )
    if "replacement" not in settings:
        raise InputError(
            "`replacement` must be given, True or False: the file does not say whether the "
            "candidates were drawn with replacement."
        )
    for name in ("sample_size", "n_items"):
        if name not in names and name not in settings:
            raise InputError(f"`{name}` must be given: {source} has no such column.")
        if name in names and name in settings:
            raise InputError(f"`{name}` must not be given twice: {source} has such a column.")
    if not rows:  # users cannot be told apart from counts alone
        names = [name for name in names if name != "user"]
    parts: dict[str, Any] = {}
    import pyarrow as pa

    whole = [pa.Table.from_batches(list(pieces), schema)] if rows else pieces
    for piece in whole:
        columns = {name: _numpy(piece, name, source) for name in names}
        for model, part in _by_model(columns):
            if part["rank"].size == 0:
                continue
            sample = RankSample.from_ranks(**{**settings, **part})
            if not rows:
                sample = sample.without_rows()
            parts[model] = parts[model] + sample if model in parts else sample
    if not parts:
        raise InputError(f"`path` must hold at least one rank; {source} is empty.")
    return parts


def _by_model(columns: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    models = columns.pop("model", None)
    if models is None:
        yield "", columns
        return
    for model in np.unique(models):
        here = models == model
        yield str(model), {name: values[here] for name, values in columns.items()}


def _open_parquet(source: Path) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source)
        return file.schema_arrow, file.iter_batches(batch_size=1 << 20)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"`path` must be a Parquet file; {source} is not: {error}.") from error


def _open_csv(source: Path) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa
    import pyarrow.csv as csv

    try:
        # users and models are names, even where they look like numbers
        types = {"user": pa.string(), "model": pa.string()}
        reader = csv.open_csv(
            source,
            read_options=csv.ReadOptions(block_size=1 << 24),
            convert_options=csv.ConvertOptions(column_types=types),
        )
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"`path` must be a CSV file; {source} is not: {error}.") from error
    return reader.schema, iter(reader)


def _numpy(table: Any, name: str, source: Path | None = None) -> Any:
    column = table[name] if source is None else table.column(name)
    if column.null_count:
        first = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(
            f"`{name}` must have no missing values; {column.null_count} of {len(column)} are "
            f"missing, the first in row {first + 1}."
        )
    values = column.to_numpy(zero_copy_only=False) if source else column.to_numpy()
    if values.dtype.kind == "O":
        values = np.asarray([str(value) for value in values])
    return values


def _packed(sample: RankSample) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both file formats hold: a head of settings, and columns."""
    part, names = (sample, _COUNT_COLUMNS) if sample.rows is None else (sample.rows, _ROW_COLUMNS)
    columns = {name: getattr(part, name) for name in names if getattr(part, name) is not None}
    head = {
        "format": FORMAT,
        "kind": "RankSample",
        "content": "counts" if sample.rows is None else "rows",
        "n_items": sample.n_items,
        "design": sample.design.to_dict(),
    }
    return head, columns


def _unpacked(head: dict[str, Any], columns: dict[str, Any]) -> RankSample:
    """Check again what was read: a file can be changed by anyone."""
    settings = {**head["design"]}
    try:
        if head["content"] == "rows":
            return RankSample.from_ranks(**columns, **settings)
        pool = columns.pop("pool")
        if head["n_items"] is None:
            return RankSample.from_counts(**columns, n_items=pool, **settings)
        sample = RankSample.from_counts(**columns, n_items=pool, **{**settings, "pool": "unseen"})
    except (KeyError, TypeError) as error:
        raise InputError(f"`path` must hold a whole RankSample: {error}.") from error
    n_items = _checks.integer("n_items", head["n_items"], low=int(sample.pool.max()))
    return replace(sample, design=Design(**settings), n_items=n_items)


def _head(schema: Any) -> dict[str, Any] | None:
    text = (schema.metadata or {}).get(_KEY)
    if text is None:
        return None
    try:
        return _checked_head(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"`path` must hold a whole RankSample: {error}.") from error


def _checked_head(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("kind") != "RankSample":
        raise InputError("`path` must hold a RankSample; it holds something else.")
    if content.get("format") != FORMAT:
        raise InputError(
            f"`path` must be of format {FORMAT}, not {content.get('format')!r}: "
            "a newer fullrank wrote it."
        )
    if content.get("content") not in ("rows", "counts") or not isinstance(
        content.get("design"), dict
    ):
        raise InputError("`path` must hold a whole RankSample; its head is incomplete.")
    return content


def _suffix(path: _files.PathLike, known: tuple[str, ...]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise InputError(f"`path` must end in {' or '.join(known)}, not {suffix!r}.")
    return suffix


def _no_settings(settings: dict[str, Any], source: Path) -> None:
    if settings:
        raise InputError(
            f"`{next(iter(settings))}` must not be given: {source} carries its own design."
        )
