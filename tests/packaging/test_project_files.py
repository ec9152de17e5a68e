"""No file names the machine it was written on, and the data set travels with its terms."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

# This file names them all, and is not searched.
TRACES = {
    "a path of one machine": r"/(work|tmp/v|root|home/\w+|opt/(wheels|pypi)|Users/\w+)/",
    "a package index": r"(--|PIP_)(extra[-_])?(index[-_]url|find[-_]links)\b|pythonhosted\.org",
    "a private host": r"https?://[\w.-]+\.(internal|local|corp|lan)\b|https?://(\d+\.){3}\d+",
}
SKIPPED = {".git", "build", "dist", "out", "__pycache__", ".hypothesis", ".benchmarks"}


def project_files(root: Path) -> list[Path]:
    """What git would commit; without git, all but the generated folders."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout.decode()
        files = [root / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = [
            path
            for path in root.rglob("*")
            if not SKIPPED.intersection(path.relative_to(root).parts)
            and not any(
                part.startswith(".venv") or part.endswith("_cache")
                for part in path.relative_to(root).parts
            )
        ]
    return [path for path in files if path.is_file()]


def traces(text: str) -> list[str]:
    return [what for what, pattern in TRACES.items() if re.search(pattern, text, re.I)]


def test_no_file_names_a_machine_or_an_index(root: Path) -> None:
    files = [path for path in project_files(root) if path.suffix not in {".parquet", ".png"}]
    assert root / "pyproject.toml" in files
    found = {
        path.relative_to(root).as_posix(): traces(path.read_text("utf-8", errors="replace"))
        for path in files
        if path != Path(__file__).resolve()
    }
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see /work/x/y",
        "cd /tmp/v/x",
        "pip install --index-url x",
        "PIP_FIND_LINKS=wheels",
        "https://files.pythonhosted.org/packages",
        "http://10.0.0.7/simple",
        "https://mirror.corp/simple",
    ],
)
def test_a_trace_is_seen(text: str) -> None:
    assert traces(text) != []


@pytest.mark.parametrize("text", ["network/work", "../shared/data", "https://pypi.org/project/x"])
def test_harmless_text_is_not_a_trace(text: str) -> None:
    assert traces(text) == []


def test_the_only_data_set_is_the_one_that_may_be_passed_on(root: Path) -> None:
    """Beside it there are the ranks of simulated data, which tests/docs/test_readme.py makes."""
    data = [p for p in project_files(root) if p.suffix in {".parquet", ".csv", ".dat", ".negative"}]
    assert data == [
        root / "data" / "ml-latest-small.parquet",
        root / "examples" / "ranks.csv",
    ]


def test_the_terms_are_verbatim(root: Path) -> None:
    terms = (root / "data" / "ml-latest-small.README.txt").read_bytes().replace(b"\r\n", b"\n")
    assert (
        hashlib.sha256(terms).hexdigest()
        == "59be481ddf3fab0f9f7cf2f73e0db4d0920a413a313c911b62bd01ee8816ea2f"
    )


def test_the_licence_is_apache_2(root: Path) -> None:
    text = (root / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
