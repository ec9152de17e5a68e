"""Arrow columns as numpy arrays, without pandas, which pyarrow's own `to_numpy` imports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.errors import InputError


def to_numpy(column: Any) -> NDArray[Any]:
    """A column of numbers or times, times as whole numbers of their own unit.

    Of other types, and where entries are missing, what pyarrow makes of it: the checks that follow
    say what is wrong with it.
    """
    import pyarrow as pa

    kind = column.type
    if column.null_count == 0:
        if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
            return to_numpy(column.cast(pa.int64()))
        if pa.types.is_date32(kind):
            return to_numpy(column.cast(pa.int32()))
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            parts = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
            if len(parts) == 1:
                return parts[0]
            return np.concatenate(parts) if parts else np.empty(0, _dtype(kind))
    if pa.types.is_dictionary(kind):  # pyarrow cannot convert one without any value
        return np.array(column.to_pylist(), None if column.null_count == 0 else object)
    return np.asarray(column.to_numpy())


def is_text(kind: Any) -> bool:
    """Whether a type is text, as it is or in a dictionary."""
    import pyarrow as pa

    inside = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inside) or pa.types.is_large_string(inside))


def _dtype(kind: Any) -> np.dtype[Any]:
    """The dtype of a type of numbers; in pyarrow 16 `to_pandas_dtype` needs pandas."""
    import pyarrow as pa

    sign = "u" if pa.types.is_unsigned_integer(kind) else "i"
    return np.dtype(f"{'f' if pa.types.is_floating(kind) else sign}{kind.bit_width // 8}")


def not_text(name: str, error: UnicodeError) -> InputError:
    """What to raise for text that is none, such as half of a surrogate pair."""
    return InputError(
        f"`{name}` must hold valid Unicode text; {getattr(error, 'object', '')!r} is not."
    )
