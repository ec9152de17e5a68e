"""The pins of the lowest versions come from pyproject.toml and from nowhere else."""

from __future__ import annotations

import pytest

from tools import floors

PROJECT = {
    "name": "fullrank",
    "dependencies": ["numpy>=2.0", "scipy>=1.15"],
    "optional-dependencies": {
        "cli": ["typer>=0.15"],
        "docs": ["fullrank[cli]", "mkdocstrings[python]>=0.27"],
        "test": ["pytest>=8.3", "hypothesis>=6.100"],
        "cuda": ["triton>=3.2; sys_platform == 'linux'"],
    },
}


def test_the_library_alone() -> None:
    assert floors.pins(PROJECT) == ["numpy==2.0", "scipy==1.15"]


def test_extras_whole_and_packages_of_others() -> None:
    assert floors.pins(PROJECT, ["cli", "docs", "cuda"], ["pytest"])[2:] == [
        "typer==0.15",
        "mkdocstrings==0.27",
        "triton==3.2",
        "pytest==8.3",
    ]


def test_a_requirement_without_a_floor_is_refused() -> None:
    with pytest.raises(ValueError, match="'numpy' must have a lower bound"):
        floors.floor("numpy")


def test_the_command_reads_this_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert floors.main(["--also", "pytest"]) == 0
    lines = capsys.readouterr().out.split()
    assert "scipy==1.15" in lines
    assert lines[-1].startswith("pytest==")
