"""Adapters for other libraries, one file for each.

Imports `_lib` to `torch` in the order of the folders; `testing` and the command may import it.
No library is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["recbole"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
