"""Results as plain JSON and back: a dataclass becomes an object of its fields, read by type.

Content that is read is checked against the annotations of the class, so that a modified file gives
either a result or an error of one sentence. Classes with a format of their own have the methods
`_to_plain` and `_from_plain`.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union

import numpy as np

from fullrank._lib.checks import shown
from fullrank.errors import InputError

_ODD = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_PLAIN = (str, bool, int, NoneType)


def to_plain(value: Any) -> Any:
    """Return a value as JSON can represent it: numbers, text, lists and objects.

    >>> to_plain({"low": float("nan"), "at": np.arange(3)})
    {'low': 'NaN', 'at': [0, 1, 2]}
    """
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _odd(value)
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, _PLAIN):
        return value
    if hasattr(value, "_to_plain"):
        return {"kind": type(value).__name__, "content": value._to_plain()}
    if is_dataclass(value):
        found = {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
        return {"kind": type(value).__name__, "content": found}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: to_plain(one) for key, one in value.items()}
        return [[to_plain(key), to_plain(one)] for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    raise InputError(f"`{type(value).__name__}` must be convertible to JSON; it is not.")


def _odd(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def from_plain(hint: Any, value: Any) -> Any:
    """Return the value that `to_plain` converted, of the type that an annotation names.

    >>> from_plain(tuple[float, ...], [1, "NaN"])
    (1.0, nan)
    """
    hint = getattr(hint, "__value__", hint)
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        return _of_union(inside, value)
    if origin is Literal:
        return _known(value in inside, value, hint)
    if hint in (float, int, str, bool, None, NoneType):
        return _number_or_text(hint, value)
    if origin is np.ndarray or hint is np.ndarray:
        return _array(inside, value)
    if origin is tuple:
        return _tuple(inside, _known(isinstance(value, list), value, hint))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(origin, inside, value)
    return _record(hint, value)


def _number_or_text(hint: Any, value: Any) -> Any:
    if hint is float:
        number = _ODD.get(value, value) if isinstance(value, str) else value
        fits = isinstance(number, int | float) and not isinstance(number, bool)
        return float(_known(fits, number, hint))
    if hint is int:
        return _known(isinstance(value, int) and not isinstance(value, bool), value, hint)
    kind = NoneType if hint is None else hint
    return _known(isinstance(value, kind), value, hint)


def _array(inside: tuple[Any, ...], value: Any) -> Any:
    """An array of the type in the annotation; of any type, whole numbers, numbers or text."""
    held = typing.get_args(inside[1])[0] if len(inside) > 1 else Any
    kind = held if isinstance(held, type) and issubclass(held, np.generic) else None
    try:
        if kind is np.float64:
            value = _numbers(value)
        array = np.asarray(value, dtype=kind)
    except (TypeError, ValueError, OverflowError):
        array = np.asarray(None, dtype=object)
    _known(array.dtype.kind in "biufU", value, "an array")
    array.setflags(write=False)
    return array


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    return _ODD.get(value, value) if isinstance(value, str) else value


def _tuple(inside: tuple[Any, ...], value: list[Any]) -> tuple[Any, ...]:
    if len(inside) == 2 and inside[1] is Ellipsis:
        return tuple(from_plain(inside[0], one) for one in value)
    _known(len(inside) == len(value), value, f"{len(inside)} entries")
    return tuple(from_plain(hint, one) for hint, one in zip(inside, value, strict=True))


def _mapping(kind: type, inside: tuple[Any, ...], value: Any) -> Mapping[Any, Any]:
    key, held = inside if len(inside) == 2 else (str, *inside)
    pairs = (
        value.items() if isinstance(value, dict) else _known(isinstance(value, list), value, kind)
    )
    found = {}
    for pair in pairs:
        name, one = _known(isinstance(pair, list | tuple) and len(pair) == 2, pair, "a pair")
        found[from_plain(key, name)] = from_plain(held, one)
    return found if inspect.isabstract(kind) else kind(found)


def _of_union(hints: tuple[Any, ...], value: Any) -> Any:
    """Of the first type that fits; a record is of the type that it names."""
    if value is None and NoneType in hints:
        return None
    name = value.get("kind") if isinstance(value, dict) else None
    named = [hint for hint in hints if name is not None and getattr(hint, "__name__", "") == name]
    for hint in named or [one for one in hints if one is not NoneType]:
        try:
            return from_plain(hint, value)
        except InputError:
            if named:
                raise
    return _known(False, value, " or ".join(map(_name, hints)))


def _record(hint: Any, value: Any) -> Any:
    if issubclass(hint, tuple) and hasattr(hint, "_fields"):  # a named tuple
        hints = typing.get_type_hints(hint)
        _known(isinstance(value, list) and len(value) == len(hints), value, hint)
        return hint(
            *(from_plain(one, part) for one, part in zip(hints.values(), value, strict=True))
        )
    content = _known(isinstance(value, dict) and "content" in value, value, hint)["content"]
    if hasattr(hint, "_from_plain"):
        return hint._from_plain(content)
    _known(
        hasattr(hint, "__dataclass_fields__") and value.get("kind") == hint.__name__, value, hint
    )
    known = _hints(hint)
    _known(isinstance(content, dict) and content.keys() <= known.keys(), content, hint)
    return hint(**{name: from_plain(known[name], one) for name, one in content.items()})


@lru_cache
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind) if one.init}


def _known(fits: bool, value: Any, hint: Any) -> Any:
    if not fits:
        raise InputError(f"`content` must hold {_name(hint)} instead of {shown(value)}.")
    return value


def _name(hint: Any) -> str:
    return hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
