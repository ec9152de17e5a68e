"""External ids: converted to row numbers in input, and back in results."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.tables import arrow

Rows = NDArray[np.int32]
Ids = NDArray[Any]


def encode(name: str, values: Any) -> tuple[Rows, Ids]:
    """Number the distinct ids in ascending order: `ids[rows]` are the values again.

    Ids are whole numbers from 0 on (kept as int64), text, or UUIDs (kept as their text). Text goes
    through Arrow, which hashes, so that only the distinct words are sorted.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        numbers = checks.integers(name, values)
        checks.reject(name, numbers, numbers < 0, "be at least 0", _NEGATIVE)
        return _encode_integers(numbers)
    return _encode_arrow(name, _as_arrow(name, values))


def unique(name: str, values: Any) -> Ids:
    """Return ids in the given order, each at most once, as a fixed id map."""
    rows, ids = encode(name, values)
    if ids.size < rows.size:
        row = int(np.argmax(np.bincount(rows) > 1))
        number = rows.size - ids.size
        repeats = "is a repeat:" if number == 1 else "are repeats, such as"
        raise InputError(
            f"`{name}` must hold each id once; {number} of {rows.size} ids {repeats} {ids[row]!s}."
        )
    return ids[rows]


def are_rows(ids: Ids) -> bool:
    """Return whether the ids are 0 … n - 1 in that order, and so equal their row numbers."""
    if ids.dtype.kind == "U" or (ids.size and (ids[0] != 0 or ids[-1] != ids.size - 1)):
        return False
    return bool((np.diff(ids) == 1).all())


def same(first: Ids | None, second: Ids | None) -> bool:
    """Return whether both hold the same ids in the same order, or neither has any."""
    if first is None or second is None:
        return first is second
    alike = (first.dtype.kind == "U") == (second.dtype.kind == "U")
    return first is second or (alike and np.array_equal(first, second))


def find(name: str, ids: Ids, known: Ids) -> Rows:
    """Return the row of each id in the id map `known`, or -1."""
    if (ids.dtype.kind == "U") != (known.dtype.kind == "U"):
        has, needs = ("text", "whole numbers") if ids.dtype.kind == "U" else ("numbers", "text")
        raise InputError(f"`{name}` must hold {needs}, like the known ids, not {has}.")
    if known.size == 0:
        return np.full(ids.size, -1, np.int32)
    order = np.argsort(known, kind="stable")
    rising = known[order]
    asked = np.argsort(ids, kind="stable")  # in order, neighbours are found in the same cache lines
    place = np.minimum(np.searchsorted(rising, ids[asked]), known.size - 1)
    found = order[place].astype(np.int32)
    found[rising[place] != ids[asked]] = -1
    rows = np.empty(ids.size, np.int32)
    rows[asked] = found
    return rows


def look_up(name: str, values: Any, known: Ids) -> Rows:
    """Return the row of each value, or of a single one, in the id map `known`; all must exist."""
    if isinstance(values, str | int | float | UUID | np.generic) or getattr(values, "ndim", 1) == 0:
        values = [values.item() if isinstance(values, np.ndarray | np.generic) else values]
    codes, ids = encode(name, values)
    rows = find(name, ids, known)[codes]
    checks.reject(name, ids[codes], rows < 0, f"be among the {known.size} known ids")
    return rows


def _encode_integers(values: NDArray[np.int64]) -> tuple[Rows, Ids]:
    largest = int(values.max(initial=-1))
    if largest < 4 * values.size + 1_000_000:
        # a table over 0..largest is small, and far quicker than sorting
        seen = np.zeros(largest + 1, bool)
        seen[values] = True
        number = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        return number[values], np.flatnonzero(seen)
    ids, rows = np.unique(values, return_inverse=True)
    return rows.astype(np.int32), ids


def _as_arrow(name: str, values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray | pa.Array):
        return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    try:
        if not isinstance(values, list | tuple):
            values = np.asarray(values)
            if values.ndim != 1:
                raise InputError(f"`{name}` must be one-dimensional, not of shape {values.shape}.")
        values = _without_uuids(values)
        # Arrow tells a mixture of numbers and text, which numpy would turn into text
        return pa.chunked_array([pa.array(values, from_pandas=True)])
    except UnicodeError as error:
        raise arrow.not_text(name, error) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise InputError(
            f"`{name}` must hold only whole numbers, only text or only UUIDs. Convert other ids, "
            "or a mixture, to text first."
        ) from None


def _encode_arrow(name: str, values: Any) -> tuple[Rows, Ids]:
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if values.null_count:
        first, one = int(np.argmax(values.is_null().to_numpy())), values.null_count == 1
        raise InputError(
            f"`{name}` must not hold missing ids; {values.null_count} of {len(values)} "
            f"{'is' if one else 'are'} missing, {'' if one else 'the first '}at {name}[{first}]."
        )
    if pa.types.is_null(kind):  # an empty list has no type of its own
        return np.empty(0, np.int32), np.empty(0, np.int64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return encode(name, arrow.to_numpy(values.cast(kind)))
    if _is_uuid(values.type):
        return encode(name, _uuid_text(values))
    if pa.types.is_string_view(kind):  # what polars gives; Arrow can do little with it
        values, kind = without_views(values), pa.large_string()
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise InputError(f"`{name}` must hold whole numbers, text or UUIDs, not {kind}.")
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    whole = values.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # how no chunks at all come back
        return np.empty(0, np.int32), np.empty(0, np.str_)
    try:
        words = np.array(whole.dictionary.to_pylist(), object)
    except UnicodeError as error:  # Arrow takes the word of whoever made the column
        raise arrow.not_text(name, error) from None
    return _sort_text(arrow.to_numpy(whole.indices), words)


def _without_uuids(values: Any) -> Any:
    """UUID objects as text, which older versions of Arrow do not know."""
    is_object = isinstance(values, list | tuple) or values.dtype == object
    if not is_object or not any(isinstance(one, UUID) for one in values[:1]):
        return values
    return [str(one) if isinstance(one, UUID) else one for one in values]


def _is_uuid(kind: Any) -> bool:
    return getattr(kind, "extension_name", None) == "arrow.uuid"


def _uuid_text(values: Any) -> Any:
    """Sixteen bytes each, written as 8-4-4-4-12 hexadecimal digits."""
    import pyarrow as pa

    raw = b"".join(one for chunk in values.chunks for one in chunk.storage.to_pylist())
    digits = np.frombuffer(raw.hex().encode(), "S1").reshape(-1, 32)
    text = np.full((digits.shape[0], 36), b"-", "S1")
    text[:, np.delete(np.arange(36), [8, 13, 18, 23])] = digits
    return pa.chunked_array([pa.array(text.view("S36").reshape(-1).astype(np.str_))])


def plain_text(values: Any) -> Any:
    """A column of text that Arrow can convert: not of views, nor of dictionaries."""
    import pyarrow as pa

    if pa.types.is_string_view(values.type):
        return without_views(values)
    if pa.types.is_dictionary(values.type):
        return plain_text(values.cast(values.type.value_type))
    return values


def without_views(values: Any) -> Any:
    """Text as large strings, within dictionaries too."""
    import pyarrow as pa

    if not pa.types.is_dictionary(values.type):
        return pa.chunked_array([_large(chunk) for chunk in values.chunks], pa.large_string())
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(one.indices, _large(one.dictionary))
            for one in values.chunks
        ],
        pa.dictionary(values.type.index_type, pa.large_string()),
    )


def _large(words: Any) -> Any:
    import pyarrow as pa

    try:
        return words.cast(pa.large_string())
    except pa.ArrowNotImplementedError:  # pyarrow 16 cannot
        return pa.array(words.to_pylist(), pa.large_string())


def _sort_text(codes: Ids, words: Ids) -> tuple[Rows, Ids]:
    """Renumber dictionary codes so that used words ascend and unused ones vanish."""
    seen = np.zeros(words.size, bool)
    seen[codes] = True
    number = np.zeros(words.size, np.int32)
    ids, number[seen] = np.unique(words[seen].astype(np.str_), return_inverse=True)
    return number[codes], ids


_NEGATIVE = "Negative ids often mark missing values: drop these rows, or use text ids."
