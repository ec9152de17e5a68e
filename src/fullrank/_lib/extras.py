"""Optional dependencies: imported when first needed, named when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from fullrank.errors import MissingExtraError


def load(module: str, *, extra: str, purpose: str) -> Any:
    """Import `module`, or raise an error with the pip command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtraError(
            f'{purpose} needs {module.split(".")[0]}: pip install "fullrank[{extra}]"'
        ) from error


def frame(table: Any) -> Any:
    """A pyarrow Table as a pandas DataFrame; pandas is no dependency, nor an extra of its own."""
    try:
        importlib.import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise MissingExtraError(
            "`to_frame` needs pandas: pip install pandas, or use `to_arrow`"
        ) from error
    return table.to_pandas()
