"""Files of the studies, written completely or not at all, or a line at a time."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib.files import replacing

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reproduction" / "results"


@cache
def stored(name: str) -> Any:
    """The stored result of a study, or of a benchmark that keeps one."""
    places = [*RESULTS.glob(f"*/{name}.json"), ROOT / "benchmarks" / "results" / f"{name}.json"]
    return json.loads(places[0].read_text(encoding="utf-8"))


def keep_json(content: dict[str, Any], path: Path) -> None:
    with replacing(path) as new:
        new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def keep_arrays(path: Path, **arrays: Any) -> None:
    """A compressed .npz, complete or not at all."""
    with replacing(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **arrays)


def append_json(record: Any, path: Path) -> None:
    """One more line, on a line of its own even where a killed run has left half of one."""
    torn = path.is_file() and path.read_bytes()[-1:] not in (b"\n", b"")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(record) + "\n")


def read_lines(path: Path) -> list[Any]:
    """The records of `append_json`; a line that was cut short is left out."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def sections(path: Path) -> dict[str, list[list[str]]]:
    """The published tables in a text file: lines of words under headings ``# Table 2: content``."""
    found: dict[str, list[list[str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            rows = found[line[2:].partition(":")[0]] = []
        elif line.strip():
            rows.append(line.split())
    return found
