"""Input checks: each returns the cleaned value or raises an error of one sentence.

The sentence names the argument, what it must be, what it got and where, and a hint. Whatever it
quotes is printable: text from files and from callers goes through `printable` or `because`.
"""

from __future__ import annotations

import difflib
import inspect
import operator
import uuid
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib.text import because as because
from fullrank._lib.text import printable as printable
from fullrank._lib.types import Floats, Ints
from fullrank.errors import InputError

RandomState = None | int | np.integer[Any] | np.random.SeedSequence | np.random.Generator
LARGEST = 1e150  # of real numbers: their squares and the sums of those are still finite


def integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number, given as any type that can hold one."""
    try:
        number = operator.index(value)
    except TypeError:
        if isinstance(value, bool | np.bool_) or not _is_whole(value):
            raise InputError(f"`{name}` must be a whole number, not {shown(value)}.") from None
        number = int(value)
    if abs(number) >= 2**63:
        raise InputError(f"`{name}` must lie within ±2^63, not {shown(number)}.")
    if (low is not None and number < low) or (high is not None and number > high):
        raise InputError(f"`{name}` must {_range(low, high)}, not {number}.")
    return number


def real(name: str, value: Any, *, low: float | None = None, high: float | None = None) -> float:
    """Return a finite number."""
    try:
        if isinstance(value, np.ndarray | np.generic) and not _is_number(value):
            raise TypeError
        number = float(value)
    except OverflowError:
        raise InputError(f"`{name}` must be finite, not {shown(value)}.") from None
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be a number, not {shown(value)}.") from None
    if not np.isfinite(number):
        raise InputError(f"`{name}` must be finite, not {number}.")
    if (low is not None and number < low) or (high is not None and number > high):
        raise InputError(f"`{name}` must {_range(low, high)}, not {number:g}.")
    return number


def positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = real(name, value)
    if number <= 0:
        raise InputError(f"`{name}` must be above 0, not {number:g}.")
    return number


def choice(name: str, value: Any, options: Collection[str]) -> str:
    """Return one of the names in a registry."""
    if isinstance(value, str) and value in options:
        return value
    raise InputError(
        f"`{name}` must be one of {', '.join(map(repr, options))}, not {shown(value)}."
    )


def role(value: str, roles: Collection[str]) -> None:
    """Raise if a column is named for a role that is not read."""
    if value not in roles:
        raise InputError(
            f"`columns` must name one of the roles {', '.join(map(repr, roles))}, not "
            f"{shown(value)}."
        )


def unknown_settings(
    name: str, kind: str, known: Collection[str], given: Iterable[str]
) -> InputError:
    """Return the error about settings that a kind of thing does not have.

    >>> print(unknown_settings("split", "ratio", ["test", "valid"], ["test", "foo"]))
    `split` must have only settings of ratio (test, valid), not 'foo'.
    """
    unknown = ", ".join(repr(one) for one in given if one not in known)
    offered = ", ".join(known) or "none"
    return InputError(f"`{name}` must have only settings of {kind} ({offered}), not {unknown}.")


def no_slips(settings: Iterable[str], function: Callable[..., Any]) -> None:
    """Raise if a further setting of a function is a misspelt name of one of its arguments."""
    own = tuple(inspect.signature(function).parameters)
    for key in settings:
        near = difflib.get_close_matches(key, own, n=1, cutoff=0.8)
        if near:
            raise InputError(f"`{key}` is not an argument. Did you mean `{near[0]}`?")


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"`{name}` must be True or False, not {shown(value)}.")
    return bool(value)


def vector(name: str, value: ArrayLike, *, size: int | None = None) -> NDArray[Any]:
    """Return a one-dimensional array of numbers; a scalar is repeated `size` times."""
    array = as_array(name, value)
    if array.dtype.kind not in "iuf":
        hint = " Convert text to numbers first." if array.dtype.kind in "OUS" else ""
        raise InputError(f"`{name}` must hold numbers, not {array.dtype}.{hint}")
    if array.ndim == 0 and size is not None:
        array = np.broadcast_to(array, (size,))
    if array.ndim != 1:
        raise InputError(f"`{name}` must be one-dimensional, not of shape {array.shape}.")
    if size is not None and array.size != size:
        entries = "1 entry" if size == 1 else f"{size} entries"
        raise InputError(f"`{name}` must have {entries}, not {array.size}.")
    return array


def as_array(name: str, value: Any) -> NDArray[Any]:
    """Return a value as numpy's array, unless it is ragged or has masked entries."""
    if np.ma.is_masked(value):
        raise InputError(f"`{name}` must have no masked entries.")
    value = untorched(name, value)
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"`{name}` must be a one-dimensional array of numbers; its rows differ in length."
            if isinstance(value, list | tuple)
            else f"`{name}` must be a one-dimensional array of numbers, not {shown(value)}."
        ) from None


def is_tensor(value: Any) -> bool:
    """Return whether a value is a PyTorch tensor or parameter, without importing torch."""
    return any(c.__module__ == "torch" and c.__name__ == "Tensor" for c in type(value).__mro__)


def weight_of(value: Any) -> Any:
    """Return the weight of an embedding or another layer; anything else unchanged."""
    weight = getattr(value, "weight", None)
    return weight if is_tensor(weight) and not is_tensor(value) else value


def untorched(name: str, value: Any) -> Any:
    """Return the numbers of a tensor on any device as an array; anything else unchanged.

    NumPy has no bfloat16; float32 represents its numbers exactly.
    """
    if not is_tensor(value):
        return value
    try:
        plain = value.detach().cpu()
        if str(plain.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            plain = plain.float()
        return plain.numpy()
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise InputError(
            f"`{name}` must be a dense tensor of plain numbers, not {value.layout} of "
            f"{value.dtype} on {value.device}."
        ) from error


def sparse_array(value: Any) -> Any:
    """Return a PyTorch tensor with a sparse layout as a SciPy array; anything else unchanged."""
    if not is_tensor(value) or str(value.layout) == "torch.strided":
        return value
    from scipy.sparse import csr_array

    plain = value.detach().cpu().to_sparse_coo().coalesce()
    entries = untorched("value", plain.values())
    return csr_array((entries, tuple(plain.indices().numpy())), shape=tuple(plain.shape))


def numpy_of(name: str, value: Any) -> NDArray[Any]:
    """Return an array of a value of numpy or PyTorch."""
    return np.asarray(untorched(name, value))


def mask(name: str, value: Any, size: int) -> NDArray[np.bool_]:
    """Return a vector of True and False, one for each of `size` entries."""
    array = as_array(name, value)
    if array.dtype != np.bool_ or array.shape != (size,):
        what = "text" if array.dtype.kind in "US" else str(array.dtype)
        raise InputError(
            f"`{name}` must hold True or False for each entry, {size:,} in all, not {what} of "
            f"shape {array.shape}."
        )
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
    """Return a vector of whole numbers within [low, high], as int64."""
    array = vector(name, value, size=size)
    if array.dtype.kind == "f":
        array = _doubles(array)
        reject(name, array, ~np.isfinite(array), "be finite")
        reject(name, array, array != np.floor(array), "be whole numbers", hint)
        reject(name, array, np.abs(array) >= 2.0**63, "lie within ±2^63")
    elif array.dtype.kind == "u":
        reject(name, array, array > np.uint64(2**63 - 1), "be below 2^63")
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
    """Return a vector of finite numbers, none below `low`, as float64."""
    array = _doubles(vector(name, value, size=size))
    reject(name, array, ~np.isfinite(array), "be finite")
    reject(name, array, np.abs(array) > LARGEST, f"lie within ±{LARGEST:g}")
    if low is not None:
        reject(name, array, array < low, _range(low, None), hint)
    return array


def weights(name: str, value: ArrayLike, size: int) -> Floats:
    """Return weights, which are not negative and not all 0."""
    array = reals(name, value, size=size, low=0.0)
    if not array.sum() > 0.0:
        raise InputError(f"`{name}` must have a positive sum; all values are 0.")
    return array


def labels(name: str, value: ArrayLike, size: int, each: str) -> NDArray[Any]:
    """Return a vector of `size` labels, all numbers or all text: one for `each`."""
    must = f"`{name}` must have one label for each {each}, {size} in all"
    if np.ma.is_masked(value):
        raise InputError(f"`{name}` must have no masked entries.")
    value = untorched(name, value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{must}, in one dimension.") from None
    if array.shape != (size,):
        raise InputError(f"{must}, not shape {array.shape}.")
    if array.dtype.kind == "f":
        reject(name, array, np.isnan(array), "be labels", "NaN is not a label.")
    text = array.dtype.kind == "O" and all(isinstance(one, str) for one in array)
    if array.dtype.kind not in "biufUS" and not text:
        raise InputError(f"`{name}` must hold only numbers or only text.")
    return array


def ids(name: str, value: ArrayLike, size: int) -> NDArray[Any]:
    """Return ids of `size` rows: all whole numbers (as int64), or all text; UUIDs are text.

    7 and "7" are different ids, so ids are not converted between text and numbers.
    """
    must = f"`{name}` must hold an id (a whole number or text) for each of the {size} ranks"
    if np.ma.is_masked(value):
        raise InputError(f"`{name}` must have no masked entries.")
    value = untorched(name, value)
    if isinstance(value, list | tuple) and len({isinstance(one, str) for one in value}) > 1:
        value = np.asarray(value, dtype=object)  # numpy would make text of the numbers
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{must}; some of its entries are lists.") from None
    if array.dtype.kind == "O" and array.ndim == 1:
        kinds = {type(one) for one in array}
        if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
            array = _long(array)
        elif all(issubclass(kind, str | uuid.UUID) for kind in kinds):
            array = np.asarray([str(one) for one in array], np.str_)
    if array.shape != (size,) or array.dtype.kind not in "iuUS":
        raise InputError(f"{must}, not {array.dtype} of shape {array.shape}.")
    if array.dtype.kind in "US":
        return text(name, array)
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise InputError(
            f"`{name}` must hold whole numbers below 2^63, or text, not {int(array.max())}."
        )
    return array.astype(np.int64, copy=False)


def _long(array: NDArray[Any]) -> NDArray[Any]:
    try:
        return array.astype(np.int64)
    except OverflowError:
        return array


def text(name: str, array: NDArray[Any]) -> NDArray[np.str_]:
    """Return a vector of valid Unicode text; bytes are read as UTF-8."""
    try:
        if array.dtype.kind == "S":
            return np.char.decode(array, "utf-8")
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        if array.dtype.itemsize:
            halves = array.view(np.uint32)
            if ((halves >= 0xD800) & (halves <= 0xDFFF)).any():
                raise UnicodeError
    except UnicodeError:
        raise InputError(f"`{name}` must hold valid Unicode text; some of it is invalid.") from None
    return array


def reject(
    name: str, array: NDArray[Any], bad: NDArray[np.bool_], must: str, hint: str = ""
) -> None:
    """Raise if any entry is invalid; the error says how many are, and which is the first."""
    n_bad = int(np.count_nonzero(bad))
    if n_bad == 0:
        return
    first = int(np.argmax(bad))
    at = f"{name}[{first}] = {_cut(printable(array.flat[first]))}"
    tail = f" {hint}" if hint else ""
    raise InputError(f"`{name}` must {must}; {failing(must, n_bad, array.size, at)}.{tail}")


def holding(name: str, what: str, bad: NDArray[Any], size: int) -> InputError:
    """Return the error that a file or a table holds other values than `what`; `bad` are these.

    >>> raise holding("path", "user ids of the data", np.array(["u9"]), 5)
    Traceback (most recent call last):
    fullrank.errors.InputError: `path` must hold only user ids of the data; 1 of 5 is not \
(first: u9).
    """
    are = "is" if bad.size == 1 else "are"
    first = _cut(printable(bad.flat[0]))
    return InputError(
        f"`{name}` must hold only {what}; {bad.size:,} of {size:,} {are} not (first: {first})."
    )


def failing(must: str, number: int, size: int, first: str) -> str:
    """Return how many values break a rule, and the first of them, as the end of a sentence.

    >>> failing("be at least 1", 1, 9, "rank[4] = 0")
    '1 of 9 values is not: rank[4] = 0'
    >>> failing("lie in 1..5", 2, 6_040, "rank[4] = 0")
    '2 of 6,040 values do not (first: rank[4] = 0)'
    """
    one = number == 1
    verb = ("is" if one else "are") if must.startswith("be ") else ("does" if one else "do")
    said = f"{number:,} of {size:,} value{'' if size == 1 else 's'} {verb} not"
    return f"{said}: {first}" if one else f"{said} (first: {first})"


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy, so that a result cannot be changed from outside."""
    array = np.array(array)
    array.setflags(write=False)
    return array


def _doubles(array: NDArray[Any]) -> Floats:
    with np.errstate(over="ignore"):  # of longer floats; infinite ones are rejected next
        return array.astype(np.float64)


def _is_number(value: Any) -> bool:
    """Whether what numpy holds is one number."""
    return value.ndim == 0 and value.dtype.kind in "biuf" and not np.ma.is_masked(value)


def _is_whole(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic) and not _is_number(value):
        return False
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


def shown(value: Any) -> str:
    """Return a value as Python writes it, on one line of at most 60 characters."""
    try:
        text = repr(value)
    except Exception:  # of an object of the caller's, or a number too long to be written out
        text = f"this {type(value).__name__}"
    return _cut(" ".join(printable(line.strip()) for line in text.splitlines()))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def generator(rng: RandomState = None) -> np.random.Generator:
    """Return a numpy Generator from None, an int, a SeedSequence or a Generator."""
    if isinstance(rng, bool | np.timedelta64) or not (
        rng is None
        or isinstance(rng, int | np.integer | np.random.SeedSequence | np.random.Generator)
    ):
        raise InputError(
            f"`rng` must be None, a whole number, a SeedSequence or a Generator, not {shown(rng)}."
        )
    if isinstance(rng, int | np.integer) and rng < 0:
        raise InputError(f"`rng` must be at least 0, not {shown(rng)}.")
    return np.random.default_rng(rng)
