"""The lowest versions that pyproject.toml declares, as pins for pip.

Prints one `name==version` for each requirement of the library itself and of the extras named, and
for single packages of other extras given with --also.

    python tools/floors.py                          # what `pip install fullrank` may bring at least
    python tools/floors.py cli plot --also pytest hypothesis
    python tools/floors.py --only bench             # the names of an extra's packages, no versions
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def floor(requirement: str) -> tuple[str, str]:
    """("numpy", "2.0") of "numpy>=2.0"."""
    found = re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r} must have a lower bound, as in 'numpy>=2.0'")
    return found[1], found[2]


def pins(
    project: dict[str, Any], extras: Iterable[str] = (), also: Iterable[str] = ()
) -> list[str]:
    """The pins of the library, of whole extras, and of single packages from any extra."""
    declared: dict[str, list[str]] = project["optional-dependencies"]
    wanted = [floor(line) for line in project["dependencies"]]
    for extra in extras:
        wanted += [floor(line) for line in declared[extra] if not line.startswith(project["name"])]
    anywhere = dict(
        floor(line)
        for lines in declared.values()
        for line in lines
        if not line.startswith(project["name"])
    )
    wanted += [(name, anywhere[name]) for name in also]
    return [f"{name}=={version}" for name, version in dict(wanted).items()]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the pins, one per line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help="extras to take whole")
    parser.add_argument("--also", nargs="*", default=[], help="packages of other extras")
    parser.add_argument("--only", metavar="EXTRA", help="print the names of this extra's packages")
    told = parser.parse_args(argv)
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    lines = pins(project, told.extras, told.also)
    if told.only is not None:
        lines = [floor(line)[0] for line in project["optional-dependencies"][told.only]]
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
