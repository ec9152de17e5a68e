"""Every public function of fullrank with its arguments, one line each.

A function is public if a folder of the package lists it in `__all__`. `tests/packaging/
test_signatures.py` checks the rules: data first, metrics after the data, the rest by keyword, the
seed last, and one word per idea.

    python tools/signatures.py            # all of them
    python tools/signatures.py compare    # those whose names hold the text
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Sequence
from typing import Any

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def public_functions() -> dict[str, Any]:
    """Name with its folder to function, each once: under its shortest name."""
    import fullrank

    found: dict[int, tuple[str, Any]] = {}
    for folder in ("fullrank", *_folders()):
        module = importlib.import_module(folder)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isfunction(value):
                short = f"{folder}.{name}".removeprefix("fullrank.")
                found.setdefault(id(value), (short, value))
    assert fullrank.__all__
    return dict(sorted(found.values()))


def _folders() -> list[str]:
    import fullrank

    names = [one.name for one in pkgutil.iter_modules(fullrank.__path__) if one.ispkg]
    return [f"fullrank.{name}" for name in names if not name.startswith("_") and name != "cli"]


def parameters(function: Any) -> list[inspect.Parameter]:
    """The arguments in order; of a decorated function those of what it wraps."""
    return list(inspect.signature(function).parameters.values())


def line(name: str, function: Any) -> str:
    """A signature without its annotations."""
    shown = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in inspect.signature(function).parameters.values()
    ]
    return f"{name}{inspect.Signature(shown)}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", nargs="?", default="", help="of the names to print")
    told = parser.parse_args(argv)
    for name, function in public_functions().items():
        if told.text in name:
            print(line(name, function))
    return 0


if __name__ == "__main__":
    sys.exit(main())
