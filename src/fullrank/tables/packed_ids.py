"""Ids as arrays of numbers for safetensors files, which have no type for text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def pack_ids(name: str, ids: NDArray[Any]) -> Arrays:
    """Pack ids: numbers unchanged; text as UTF-8, with the end of each word."""
    if ids.dtype.kind != "U":
        return {name: ids.astype(np.int64)}
    words = [word.encode() for word in ids.tolist()]
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    text = np.frombuffer(b"".join(words), np.uint8)
    return {f"{name}.text": text, f"{name}.ends": ends}


def unpack_ids(name: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Unpack ids; raise a KeyError if there are none and a ValueError for invalid ones."""
    if f"{name}.text" not in arrays:
        ids = _typed(name, arrays, np.int64)
    else:
        text = _typed(f"{name}.text", arrays, np.uint8).tobytes()
        ends = _typed(f"{name}.ends", arrays, np.int64)
        starts = np.concatenate([[0], ends[:-1]])[: ends.size]
        if np.any(ends < starts) or (int(ends[-1]) if ends.size else 0) != len(text):
            raise ValueError(f"{name}.ends do not match {name}.text")
        ids = np.array(
            [text[a:b].decode() for a, b in zip(starts, ends, strict=True)],
            np.str_,
        )
    if np.unique(ids).size < ids.size:
        raise ValueError(f"{name} are not all different")
    return ids


def _typed(name: str, arrays: Mapping[str, NDArray[Any]], dtype: Any) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional {np.dtype(dtype)}, not {array.dtype} of shape "
            f"{array.shape}"
        )
    return array
