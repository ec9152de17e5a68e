"""The studies of a source tree: what there is, and how one is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from fullrank import _checks
from fullrank.errors import FullrankError, InputError

_ROOT = Path(__file__).parents[3]  # the top of a source tree


def every() -> dict[str, str]:
    """The name of each study, and the first line of what it says of itself."""
    folder = _ROOT / "benchmarks" / "studies"
    if not folder.is_dir():
        raise InputError(
            "The studies come with the repository and the source archive, not with an installed "
            "wheel: run this from a source tree."
        )
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    return {path.stem: _first_line(path) for path in paths}


def run(name: str, *, quick: bool = False) -> list[Path]:
    """Run a study; the files it writes, in docs/studies or for a quick one in out/studies."""
    _checks.choice("study", name, every())
    folder = _ROOT / ("out" if quick else "docs") / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    script = _ROOT / "benchmarks" / "studies" / f"{name}.py"
    options = [*(["--quick"] if quick else []), "--out", str(folder)]
    done = subprocess.run([sys.executable, str(script), *options], check=False)
    written = [folder / f"{name}.{suffix}" for suffix in ("json", "md")]
    if done.returncode:
        raise FullrankError(f"The study {name} failed with exit code {done.returncode}.")
    return [path for path in written if path.is_file()]


def _first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.split("\n", 1)[0]
