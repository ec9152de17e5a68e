"""The inputs of a module for some users: their rows, or data such as their histories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.errors import InputError


def checked(inputs: Any, n_users: int | None) -> tuple[Any, int | None]:
    """The inputs as arrays, and the number of their rows; those of a function are not known."""
    if inputs is None or (callable(inputs) and not checks.is_tensor(inputs)):
        return inputs, n_users
    if isinstance(inputs, Mapping):
        found: Any = {name: _rows(value) for name, value in inputs.items()}
        parts = list(found.values())
    elif isinstance(inputs, tuple):
        found = tuple(_rows(value) for value in inputs)
        parts = list(found)
    else:
        found = _rows(inputs)
        parts = [found]
    sizes = sorted({int(one.shape[0]) for one in parts})
    wanted = sizes[-1:] if n_users is None else [n_users]
    if not sizes or sizes != wanted:
        has = " and ".join(f"{size:,}" for size in sizes) or "none"
        raise InputError(
            "`inputs` must have a row for each user"
            + (
                f" in every part; its parts have {has}."
                if n_users is None
                else f", {n_users:,} in all, not {has}."
            )
        )
    return found, sizes[0]


def taken(torch: Any, inputs: Any, rows: Ints, device: Any, kind: Any) -> Any:
    """The arguments for some users: (positional, by name), on the device."""
    if inputs is None:
        given: Any = rows
    elif callable(inputs) and not checks.is_tensor(inputs):
        given = inputs(rows)
    elif isinstance(inputs, Mapping):
        given = {name: _some(value, rows) for name, value in inputs.items()}
    elif isinstance(inputs, tuple):
        given = tuple(_some(value, rows) for value in inputs)
    else:
        given = _some(inputs, rows)
    if isinstance(given, Mapping):
        return (), {name: _moved(torch, one, device, kind) for name, one in given.items()}
    if isinstance(given, tuple):
        return tuple(_moved(torch, one, device, kind) for one in given), {}
    if isinstance(given, list):
        given = checks.as_array("inputs", given)
    return (_moved(torch, given, device, kind),), {}


def _rows(value: Any) -> Any:
    """A tensor, an array, a memory map or a sparse matrix: whatever can be asked for rows."""
    if hasattr(value, "tocsr"):
        return value.tocsr()
    if callable(getattr(value, "matrix", None)):  # interactions
        return value.matrix()
    try:
        array = value if hasattr(value, "shape") else np.asarray(value)
    except ValueError:
        array = np.empty((), object)
    if len(array.shape) == 0 or getattr(array, "dtype", None) == np.dtype(object):
        raise InputError(
            "`inputs` must be an array or tensor with a row for each user, all of the same "
            "length. Pad shorter histories, or give a function of the user rows."
        )
    return array


def _some(value: Any, rows: Ints) -> Any:
    if checks.is_tensor(value):
        return value[_index(value, rows)]
    found = value[rows]
    return found.toarray().astype(np.float64) if hasattr(found, "toarray") else found


def _index(tensor: Any, rows: Ints) -> Any:
    import torch

    return torch.from_numpy(rows).to(tensor.device)


def _moved(torch: Any, value: Any, device: Any, kind: Any) -> Any:
    """An array or tensor on the device; anything else as it is.

    Arrays become what modules take: whole numbers int64, others of the module's own type.
    """
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind in "iu":
            value = torch.from_numpy(array.astype(np.int64))
        elif array.dtype.kind == "f":
            value = torch.from_numpy(array.astype(np.float64)).to(kind)
        elif array.dtype.kind == "b":
            value = torch.from_numpy(array.copy())
    return value.to(device) if checks.is_tensor(value) and device is not None else value
