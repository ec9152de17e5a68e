"""pyproject.toml and constraints.txt say the same, and the set-up installs what they say."""

from __future__ import annotations

import os
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import fullrank

IN_CI = os.environ.get("FULLRANK_REQUIRE_EXTRAS") == "1"


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def pins(root: Path) -> dict[str, Version]:
    lines = (root / "constraints.txt").read_text("utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    found: dict[str, Version] = {}
    for requirement in requirements:
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        assert canonicalize_name(requirement.name) not in found
        found[canonicalize_name(requirement.name)] = Version(pin.version)
    return found


def needed(project: dict[str, Any]) -> list[Requirement]:
    """Every requirement of another project: core, extras and build."""
    groups = [
        project["project"]["dependencies"],
        project["build-system"]["requires"],
        *project["project"]["optional-dependencies"].values(),
    ]
    listed = [Requirement(line) for group in groups for line in group]
    return [requirement for requirement in listed if requirement.name != "fullrank"]


def test_every_requirement_is_pinned_within_its_bounds(
    project: dict[str, Any], pins: dict[str, Version]
) -> None:
    wrong = {
        str(requirement): str(pins.get(canonicalize_name(requirement.name)))
        for requirement in needed(project)
        if not requirement.specifier.contains(
            pins.get(canonicalize_name(requirement.name), Version("0"))
        )
    }
    assert wrong == {}


def test_every_requirement_has_a_lower_bound(project: dict[str, Any]) -> None:
    bare = [
        str(requirement)
        for requirement in needed(project)
        if not any(bound.operator == ">=" for bound in requirement.specifier)
    ]
    assert bare == []


def test_torch_is_the_version_with_a_small_build(pins: dict[str, Version]) -> None:
    assert pins["torch"] == Version("2.13.0")


def test_peers_are_in_no_other_extra(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    peers = {Requirement(line).name for line in extras["bench"]}
    others = {
        Requirement(line).name
        for extra, lines in extras.items()
        if extra != "bench"
        for line in lines
    }
    assert peers.isdisjoint(others)
    assert all("bench" not in Requirement(line).extras for line in extras["all"])


def test_all_takes_every_extra_that_users_need(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    (everything,) = (Requirement(line) for line in extras["all"])
    assert everything.extras == set(extras) - {"all", "bench", "docs", "test"}


def test_installed_version_is_the_source_version() -> None:
    assert metadata.version("fullrank") == fullrank.__version__ == "0.2.0"


def test_changelog_and_citation_name_the_version(root: Path) -> None:
    assert f"## [{fullrank.__version__}]" in (root / "CHANGELOG.md").read_text("utf-8")
    assert f"version: {fullrank.__version__}\n" in (root / "CITATION.cff").read_text("utf-8")


@pytest.mark.skipif(not IN_CI, reason="a developer's environment may hold anything")
def test_the_setup_installs_pinned_versions_only(pins: dict[str, Version]) -> None:
    if Path(sys.prefix, ".installed-bench").exists():
        pytest.skip("`make bench` has installed what is not pinned")
    own = {"fullrank", "pip", "setuptools"}  # the latter two come with the environment
    # what torch brings along on a machine with a GPU depends on the machine
    installed = {
        name: Version(dist.version)
        for dist in metadata.distributions()
        if (name := canonicalize_name(dist.metadata["Name"])) not in own
        and not name.startswith(("nvidia-", "cuda-", "triton"))
    }
    loose = {
        name: str(version)
        for name, version in installed.items()
        if name not in pins or version.public != pins[name].public
    }
    assert loose == {}
