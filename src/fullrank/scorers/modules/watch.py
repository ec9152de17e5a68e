"""Evaluation mode for whatever modules a function calls, however it comes to them.

A hook of PyTorch's, common to all modules, looks at each as it is called. It acts in the thread
that scores alone, so that a module in training elsewhere keeps its mode.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.nn.modules import module as torch_modules


class _Here(threading.local):
    """The modes that modules had before they were called in this thread; None outside of it."""

    modes: dict[int, tuple[Any, bool]] | None = None


_HERE = _Here()


@contextmanager
def watching(modules: Sequence[Any], restore: Callable[[Any], None]) -> Iterator[None]:
    """Put modules that this thread calls into evaluation mode; every part gets its mode back.

    What is compiled cannot be watched; `modules` are those that are known to be called,
    and `restore` takes pairs of a part and its mode.
    """
    if _HERE.modes is not None:  # within another one, which restores the modes
        yield
        return
    # The key and the hook are the same each time: with those of `register_module_forward_pre_hook`,
    # compiled modules would be compiled anew for every batch.
    hooks, key = torch_modules._global_forward_pre_hooks, f"fullrank {threading.get_ident()}"
    with ExitStack() as stack:
        if any(hasattr(part, "_orig_mod") for one in modules for part in one.modules()):
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", r".*`torch\.compile\(module\)`.* global hooks")
        _HERE.modes = {}
        hooks[key] = _evaluate  # type: ignore[index]
        try:
            yield
        finally:
            del hooks[key]  # type: ignore[arg-type]
            modes, _HERE.modes = _HERE.modes, None
            restore(modes.values())


def _evaluate(module: Any, given: Any) -> None:
    """The hook: called with every module and its arguments."""
    if torch.compiler.is_dynamo_compiling() or _HERE.modes is None or not module.training:
        return
    for part in module.modules():
        _HERE.modes.setdefault(id(part), (part, part.training))
    module.eval()
