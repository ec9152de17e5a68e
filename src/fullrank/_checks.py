"""Input checks: each returns the cleaned value or raises one sentence.

The sentence names the argument, what it must be, what it got and where, and a hint.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """A whole number, given as any type that stands for one."""
    try:
        number = operator.index(value)
    except TypeError:
        if isinstance(value, bool | np.bool_) or not _is_whole(value):
            raise InputError(f"`{name}` must be a whole number, not {_shown(value)}.") from None
        number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        raise InputError(f"`{name}` must {_range(low, high)}, not {number}.")
    return number


def real(name: str, value: Any, *, low: float | None = None, high: float | None = None) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be a number, not {_shown(value)}.") from None
    if not np.isfinite(number):
        raise InputError(f"`{name}` must be finite, not {number}.")
    if (low is not None and number < low) or (high is not None and number > high):
        raise InputError(f"`{name}` must {_range(low, high)}, not {number:g}.")
    return number


def choice(name: str, value: Any, options: Collection[str]) -> str:
    """One of the names in a registry."""
    if isinstance(value, str) and value in options:
        return value
    raise InputError(
        f"`{name}` must be one of {', '.join(map(repr, options))}, not {_shown(value)}."
    )


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"`{name}` must be True or False, not {_shown(value)}.")
    return bool(value)


def vector(name: str, value: ArrayLike, *, size: int | None = None) -> NDArray[Any]:
    """A one-dimensional array of numbers; a scalar stands for `size` equal ones."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"`{name}` must be a one-dimensional array of numbers.") from None
    if array.dtype.kind not in "iuf":
        hint = " Text must be parsed first." if array.dtype.kind in "OUS" else ""
        raise InputError(f"`{name}` must hold numbers, not {array.dtype}.{hint}")
    if array.ndim == 0 and size is not None:
        array = np.broadcast_to(array, (size,))
    if array.ndim != 1:
        raise InputError(f"`{name}` must be one-dimensional, not of shape {array.shape}.")
    if size is not None and array.size != size:
        raise InputError(f"`{name}` must have {size} entries, not {array.size}.")
    return array


def integers(
    name: str,
    value: ArrayLike,
    *,
    size: int | None = None,
    low: int | None = None,
    high: int | None = None,
    hint: str = "",
) -> Ints:
    """A vector of whole numbers within [low, high], as int64."""
    array = vector(name, value, size=size)
    if array.dtype.kind == "f":
        reject(name, array, ~np.isfinite(array), "be finite")
        reject(name, array, array != np.floor(array), "be whole numbers", hint)
        reject(name, array, np.abs(array) >= 2.0**63, "lie below 2^63")
    elif array.dtype.kind == "u":
        reject(name, array, array > np.uint64(2**63 - 1), "lie below 2^63")
    array = array.astype(np.int64)
    bad = np.zeros(array.shape, bool)
    if low is not None:
        bad |= array < low
    if high is not None:
        bad |= array > high
    reject(name, array, bad, _range(low, high), hint)
    return array


def reals(
    name: str,
    value: ArrayLike,
    *,
    size: int | None = None,
    low: float | None = None,
    hint: str = "",
) -> Floats:
    """A vector of finite numbers, none below `low`, as float64."""
    array = vector(name, value, size=size).astype(np.float64)
    reject(name, array, ~np.isfinite(array), "be finite")
    if low is not None:
        reject(name, array, array < low, _range(low, None), hint)
    return array


def labels(name: str, value: ArrayLike, size: int, each: str) -> NDArray[Any]:
    """A vector of names of one kind, numbers or text, `size` of them: one for `each`."""
    must = f"`{name}` must have one label for each {each}, {size} in all"
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{must}, in one dimension.") from None
    if array.shape != (size,):
        raise InputError(f"{must}, not shape {array.shape}.")
    if array.dtype.kind == "f":
        reject(name, array, np.isnan(array), "be labels", "NaN is not one.")
    if array.dtype.kind == "O" and not all(isinstance(one, str) for one in array):
        raise InputError(f"`{name}` must hold whole numbers throughout, or text throughout.")
    return array


def reject(
    name: str, array: NDArray[Any], bad: NDArray[np.bool_], must: str, hint: str = ""
) -> None:
    """Raise if any entry is bad: how many, and which is the first."""
    n_bad = int(np.count_nonzero(bad))
    if n_bad == 0:
        return
    first = int(np.argmax(bad))
    one = n_bad == 1
    verb = ("is" if one else "are") if must.startswith("be ") else ("does" if one else "do")
    tail = f" {hint}" if hint else ""
    raise InputError(
        f"`{name}` must {must}; {n_bad} of {array.size} {verb} not, "
        f"the first being {name}[{first}] = {array[first]}.{tail}"
    )


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy: what a result holds nobody else can change."""
    array = np.array(array)
    array.setflags(write=False)
    return array


def _is_whole(value: Any) -> bool:
    try:
        return bool(float(value) == int(value)) and not isinstance(value, str)
    except (TypeError, ValueError, OverflowError):
        return False


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"lie in {low}..{high}"
    if low is not None:
        return f"be at least {low}"
    return f"be at most {high}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
