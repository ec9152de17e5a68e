"""Calls of PyTorch modules: plain, wrapped, compiled, scripted, or within a function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from types import CodeType, MemberDescriptorType, ModuleType
from typing import Any

from fullrank._lib import checks, extras
from fullrank.errors import FullrankError, InputError

_WRAPPERS = ("DataParallel", "DistributedDataParallel")
_LIBRARIES = ("fullrank", "numpy", "torch")
_MANY = 100  # values, of which more are data
_STEPS = 6  # from a function to a module: its method, its object, that one's trainer, its model
_NAMES = {
    "n_items": ("n_items", "num_items", "item_num"),
    "n_users": ("n_users", "num_users", "user_num"),
}


def load_torch() -> Any:
    """Return PyTorch, or raise an error that says how to install it."""
    return extras.load("torch", extra="torch", purpose="Scoring with a PyTorch module")


def is_module(obj: Any) -> bool:
    """Return whether obj is a PyTorch module, without importing torch."""
    return any(
        c.__module__.startswith("torch.nn") and c.__name__ == "Module" for c in type(obj).__mro__
    )


def unwrapped(module: Any) -> Any:
    """The module within those that share it out to several devices or processes."""
    while type(module).__name__ in _WRAPPERS and is_module(module):
        module = module.module
    return module


def size_of(module: Any, name: str) -> Any:
    """`n_items` or `n_users` by the attribute that says it, under one of the usual names."""
    for one in _NAMES[name]:
        found = getattr(module, one, None)
        if found is not None and not callable(found):
            return found
    return None


def takes_users_alone(module: Any) -> bool:
    """Whether `forward` has one required argument: users, or what is known of them.

    A second argument that is called after items makes it a module of pairs, required or not.
    """
    arguments = _arguments(getattr(module, "_orig_mod", module))
    if arguments is None:
        return False
    required = [name for name, default in arguments if not default]
    if len(arguments) == 1:
        return True
    return len(required) == 1 and "item" not in arguments[1][0].lower()


def check_forward(module: Any) -> None:
    """Refuse a module that has only been given steps of training, as Lightning's may."""
    own = getattr(module, "_orig_mod", module)
    name = getattr(getattr(own, "forward", None), "__qualname__", "")
    if name in ("_forward_unimplemented", "LightningModule.forward"):
        raise InputError(
            f"`module` must have a `forward` method; {type(own).__name__} has none. Give the "
            "function that returns (batch, n_items) scores: BlockScorer(model.predict, inputs=…)."
        )


def _arguments(module: Any) -> list[tuple[str, bool]] | None:
    """The positional arguments of `forward`, and whether each has a default; None if unknown."""
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        schema = getattr(module.forward, "schema", None)  # of a traced module
        if schema is None:
            return None
        return [(one.name, bool(one.has_default_value())) for one in schema.arguments[1:]]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [(p.name, p.default is not p.empty) for p in parameters if p.kind in positional]


def modules_in(function: Any) -> list[Any]:
    """The module itself, or those that a function is bound to or refers to, the nearest first.

    It may refer to them by attributes, as in ``trainer.model``, through other functions, or in a
    list or dict.
    """
    found: list[Any] = []
    met: dict[int, Any] = {}  # which also keeps them alive, so that no id occurs twice
    names: set[str] = set()
    near = [function]
    for step in range(_STEPS):
        new = {id(one): one for one in near if id(one) not in met}
        met |= new
        found += [one for one in new.values() if is_module(one)]
        others = [one for one in new.values() if not is_module(one)]
        for one in others:
            names |= _names_in(one)
        near = [part for one in others for part in _reached(one, names, whole=step < 2)]
    return found


def _names_in(function: Any) -> set[str]:
    """The names that a function's code uses, attributes among them."""
    if not _is_own(function):
        return set()
    return {name for code in _codes(function.__code__) for name in code.co_names}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of lambdas, generators and comprehensions within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _is_own(function: Any) -> bool:
    """Whether it is a function in Python that is not a library's."""
    library = str(getattr(function, "__module__", None)).partition(".")[0]
    return inspect.isfunction(function) and library not in _LIBRARIES


def _reached(one: Any, names: set[str], *, whole: bool) -> list[Any]:
    """What a function or an object refers to; of an object all, or what has one of some names."""
    if _is_own(one):
        parts = [*vars(one).values(), *(one.__defaults__ or ())]
        parts += (one.__kwdefaults__ or {}).values()
        parts += [one.__globals__.get(name) for name in _names_in(one)]
        for cell in one.__closure__ or ():
            with suppress(ValueError):  # of a name that has no value yet
                parts.append(cell.cell_contents)
        return [part for part in parts if part is not None]
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, dict | list | tuple):
        values = one.values() if isinstance(one, dict) else one
        return list(values) if len(one) <= _MANY else []
    parts = [getattr(one, "__self__", None), getattr(one, "__func__", None)]
    parts.append(vars(type(one)).get("__call__"))
    if whole and not isinstance(one, type | ModuleType):
        parts += [*getattr(one, "__dict__", {}).values(), *_slots(one)]
    for name in () if hasattr(one, "__len__") else names:  # data have properties that copy them
        with suppress(Exception):  # of a property
            parts.append(getattr(one, name))
    return [part for part in parts if part is not None]


def _slots(one: Any) -> Iterator[Any]:
    """The values of an object whose class keeps them in `__slots__`."""
    for kind in type(one).__mro__:
        for slot in vars(kind).values() if "__slots__" in vars(kind) else ():
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):  # of a slot that has no value yet
                    yield slot.__get__(one)


def place_of(modules: Sequence[Any]) -> Any:
    """The device of the first parameter or buffer; None where there is none."""
    tensors = chain.from_iterable(chain(one.parameters(), one.buffers()) for one in modules)
    return next((tensor.device for tensor in tensors), None)


@contextmanager
def scoring(torch: Any, *modules: Any, watched: bool = False) -> Iterator[None]:
    """The modules in evaluation mode and without gradients; every part gets its mode back.

    Some parts may be in evaluation mode within one that is not. With `watched`, so is any other
    module that is called meanwhile.
    """
    with ExitStack() as stack:
        for module in modules:
            stack.callback(restore, [(part, part.training) for part in module.modules()])
            module.eval()
        if watched:
            from fullrank.scorers.modules.watch import watching

            stack.enter_context(watching(modules, restore))
        with torch.no_grad():
            yield


def restore(modes: Iterable[tuple[Any, bool]]) -> None:
    """Give every part the mode that it had."""
    for part, training in modes:
        part.training = training


def called(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    named: Mapping[str, Any],
    *,
    said: str,
    hint: str,
    beyond: str,
) -> Any:
    """What a module returns; an error of its own becomes the cause of one in a sentence.

    `beyond` is the hint where an index lies outside a table, as embeddings say it.
    """
    try:
        return function(*arguments, **named)
    except FullrankError:
        raise
    except Exception as error:
        if type(error).__name__ in ("OutOfMemoryError", "MemoryError"):
            hint = "Reduce `batch_size` to score fewer users at once."
        elif isinstance(error, IndexError):  # of a table's rows, or of inputs with too few axes
            hint = f"{beyond} {hint}"
        raise InputError(
            f"`module` must score its inputs; {said} raised {type(error).__name__}: "
            f"{checks.because(error)}. {hint}"
        ) from error


def name_of(function: Any) -> str:
    """What errors call a module or a function."""
    own = getattr(function, "_orig_mod", function)
    return str(getattr(own, "original_name", None) or getattr(own, "__name__", type(own).__name__))


def kind_of(torch: Any, modules: Sequence[Any]) -> Any:
    """The type of the first parameter or buffer of floats; float32 where there is none."""
    tensors = chain.from_iterable(chain(one.parameters(), one.buffers()) for one in modules)
    return next((one.dtype for one in tensors if one.is_floating_point()), torch.float32)


def numbers_in(output: Any) -> int:
    """How many numbers the tensors of an output hold."""
    if checks.is_tensor(output):
        return int(output.numel())
    values = output.values() if isinstance(output, Mapping) else output
    if isinstance(values, tuple | list) or isinstance(output, Mapping):
        return sum(numbers_in(one) for one in values if checks.is_tensor(one))
    return int(getattr(output, "size", 0)) if hasattr(output, "dtype") else 0
