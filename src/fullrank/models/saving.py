"""Models in files: arrays as safetensors, the settings as JSON in the file's metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import files
from fullrank._lib.checks import because, printable
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError, WriteError
from fullrank.models.base import Saved, fitted
from fullrank.models.registry import MODELS, name_of
from fullrank.tables.packed_ids import pack_ids, unpack_ids

FORMAT = 1
_KEY = "fullrank"
_MACHINE = ("n_jobs", "device")
Arrays = dict[str, NDArray[Any]]
Checks = Mapping[str, Any]


def save(model: Saved, path: files.PathLike) -> None:
    """Write a fitted model of this library; see :meth:`Saved.save`."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    from fullrank import __version__

    fitted(model)
    arrays = _pack_interactions(model.interactions_)
    for field in _learned(model):
        arrays |= _pack(field.name, getattr(model, field.name), field.metadata)
    records = {field.name: getattr(model, field.name).to_dict() for field in _records(model)}
    head = {
        "format": FORMAT,
        "version": __version__,
        "model": _name(model),
        "settings": settings(model),
        **({"records": records} if records else {}),
    }
    # the writer takes the memory as it lies: rows after rows, least byte first
    whole = {name: np.ascontiguousarray(_little(array)) for name, array in arrays.items()}
    with files.replacing(path) as temporary:
        try:
            save_file(whole, str(temporary), metadata={_KEY: json.dumps(head, allow_nan=False)})
        except SafetensorError as error:  # what the system says reaches us in its words alone
            raise WriteError(
                f"{printable(path)} could not be written: {because(error)}."
            ) from error


def load(path: files.PathLike) -> Any:
    """Load a saved model without executing any of the file's content.

    Sizes, types and indices are checked before they are used, so a damaged or foreign file raises
    an InputError. Loading needs as much memory as the model.

    Parameters
    ----------
    path : path

    Returns
    -------
    model : the fitted model, of the class that was saved

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fullrank import models
    >>> from fullrank.data import simulate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "popular.safetensors")
    ...     models.Popularity().fit(simulate(n_items=200)).save(path)
    ...     models.load(path).scorer()
    ItemScorer(1000 users × 200 items, float32, with ids)
    """
    source = files.existing(path)
    head, arrays = _read(source)
    if head["model"] not in MODELS:
        raise _broken(source, f"it holds a model {head['model']!r}, which is not registered")
    try:
        model: Any = MODELS[head["model"]](**head["settings"])
    except (TypeError, ValueError) as error:
        why = f"its settings are not those of {head['model']}: {because(error)}"
        raise _broken(source, why) from error
    try:
        model.interactions_ = _unpack_interactions(arrays)
        sizes = {"users": model.interactions_.n_users, "items": model.interactions_.n_items}
        for field in _learned(model):
            setattr(model, field.name, _unpack(field.name, arrays, field.metadata, sizes))
        for field in _records(model):
            record = head["records"][field.name]
            setattr(model, field.name, field.metadata["record"].from_dict(record))
    except (KeyError, ValueError, TypeError) as error:
        what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else because(error)
        raise _broken(source, what) from error
    return model


def _read(source: Path) -> tuple[dict[str, Any], Arrays]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(source), framework="np") as content:
            text = (content.metadata() or {}).get(_KEY)
            head = None if text is None else _head(source, text)
            arrays = {} if head is None else {k: content.get_tensor(k) for k in content.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, OSError) as error:
        raise _broken(source, f"it cannot be read ({because(error)})") from error
    if head is None:
        raise _broken(source, "it is a safetensors file with other content")
    return head, arrays


def _head(source: Path, text: str) -> dict[str, Any]:
    try:
        head = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise _broken(source, "its metadata cannot be read") from error
    version = head.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise InputError(
            f"`path` must be of format {FORMAT}; {printable(source)} is of format {version}, "
            f"written by a newer fullrank ({printable(head.get('version'))[:20]}). Upgrade "
            "fullrank to read it."
        )
    if (
        version != FORMAT
        or not isinstance(head.get("model"), str)
        or not isinstance(head.get("settings"), dict)
    ):
        raise _broken(source, "its metadata cannot be read")
    return head


def _broken(source: Path, why: str) -> InputError:
    return InputError(
        f"`path` must be a model that fullrank saved; {printable(source)} is not: {printable(why)}."
    )


# ---- settings and fields ----


def _learned(model: Saved) -> list[Field[Any]]:
    """The fields that `fit` fills with arrays."""
    return [f for f in fields(model) if not f.init and "shape" in f.metadata]  # type: ignore[arg-type]


def _records(model: Saved) -> list[Field[Any]]:
    """The fields that `fit` fills with results, which are kept as JSON."""
    return [f for f in fields(model) if not f.init and "record" in f.metadata]  # type: ignore[arg-type]


def settings(model: Saved) -> dict[str, Any]:
    """What `__init__` was given, as JSON has it; threads and devices are the machine's affair."""
    named = [f.name for f in fields(model) if f.init and f.name not in _MACHINE]  # type: ignore[arg-type]
    found = {name: getattr(model, name) for name in named}
    for name, value in found.items():
        if isinstance(value, np.ndarray):
            found[name] = value.tolist()  # short ones, which a model reads from a list again
        elif not (value is None or isinstance(value, bool | int | float | str | list | tuple)):
            raise InputError(
                f"`{name}` must be a number, text or a list of these for a model to be saved, "
                f"not {type(value).__name__}."
            )
    return found


def _name(model: Saved) -> str:
    name = name_of(type(model))
    if name is None:
        kinds = ", ".join(getattr(kind, "__name__", name) for name, kind in MODELS.items())
        raise InputError(f"`model` must be one of {kinds} to be saved, not {type(model).__name__}.")
    return name


# ---- arrays ----


def _pack(name: str, value: Any, checks: Checks) -> Arrays:
    if checks["sparse"]:
        parts = {"indptr": np.int64, "indices": np.int32, "data": checks["dtype"]}
        return {f"{name}.{part}": getattr(value, part).astype(t) for part, t in parts.items()}
    return {name: np.asarray(value, checks["dtype"])}


def _unpack(name: str, arrays: Arrays, checks: Checks, sizes: dict[str, int]) -> Any:
    if checks["sparse"]:
        return _unpack_sparse(name, arrays, checks, sizes)
    array = _typed(name, arrays, checks["dtype"], len(checks["shape"]))
    for size, word in zip(array.shape, checks["shape"], strict=True):
        if sizes.setdefault(word, size) != size:
            raise ValueError(f"{name} is for {size} {word}, not {sizes[word]}")
    _finite(name, array)
    return array if array.ndim else array[()]


def _unpack_sparse(name: str, arrays: Arrays, checks: Checks, sizes: dict[str, int]) -> Any:
    from scipy.sparse import csr_array

    n_rows, n_columns = (sizes[word] for word in checks["shape"])
    indptr, indices = _rows(f"{name}.", arrays, n_rows, n_columns)
    data = _typed(f"{name}.data", arrays, checks["dtype"], 1)
    if data.size != indices.size:
        raise ValueError(f"{name}.data and {name}.indices differ in size")
    _finite(name, data)
    return csr_array((data, indices, indptr), shape=(n_rows, n_columns))


def _pack_interactions(data: Interactions) -> Arrays:
    arrays: Arrays = {"interactions.indptr": data.indptr, "interactions.indices": data.indices}
    if data.values is not None:
        arrays["interactions.values"] = data.values
    return arrays | pack_ids("user_ids", data.user_ids) | pack_ids("item_ids", data.item_ids)


def _unpack_interactions(arrays: Arrays) -> Interactions:
    user_ids, item_ids = unpack_ids("user_ids", arrays), unpack_ids("item_ids", arrays)
    indptr, indices = _rows("interactions.", arrays, user_ids.size, item_ids.size)
    values = None
    if "interactions.values" in arrays:
        values = _typed("interactions.values", arrays, np.float32, 1)
        if values.size != indices.size:
            raise ValueError("interactions.values and interactions.indices differ in size")
        _finite("interactions.values", values)
    return Interactions(
        user_ids=user_ids, item_ids=item_ids, indptr=indptr, indices=indices, values=values
    )


def _rows(
    prefix: str, arrays: Arrays, n_rows: int, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Compressed rows, in which compiled code will not look beyond an array."""
    indptr = _typed(f"{prefix}indptr", arrays, np.int64, 1)
    indices = _typed(f"{prefix}indices", arrays, np.int32, 1)
    fits = indptr.size == n_rows + 1 and indptr[0] == 0 and indptr[-1] == indices.size
    if not fits or np.any(np.diff(indptr) < 0):
        raise ValueError(f"{prefix}indptr does not fit {indices.size} entries in {n_rows} rows")
    if indices.size and not (indices.min() >= 0 and indices.max() < n_columns):
        raise ValueError(f"{prefix}indices do not lie in 0..{n_columns - 1}")
    ascending = np.diff(indices) > 0
    ascending[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)] - 1] = True
    if not ascending.all():
        raise ValueError(f"{prefix}indices do not ascend in every row")
    return indptr, indices


def _typed(name: str, arrays: Arrays, dtype: Any, n_dimensions: int) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or array.ndim != n_dimensions:
        raise ValueError(
            f"{name} is {array.dtype} of shape {array.shape}, not {n_dimensions}-dimensional "
            f"{np.dtype(dtype)}"
        )
    return array


def _finite(name: str, array: NDArray[Any]) -> None:
    """No model learns NaN or infinite numbers; their least and greatest show both."""
    if array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise ValueError(f"{name} holds NaN or infinite numbers")


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
