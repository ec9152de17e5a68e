"""The list of what a release needs."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools import release


def test_the_recipe_is_that_of_the_project() -> None:
    kept = release.RECIPE.read_text("utf-8")
    assert kept == release.recipe(), "python tools/release.py --recipe"
    assert "    - numpy >=2.0\n" in kept
    assert "    - typer >=" in kept


def test_versions_agree_and_metadata_are_true() -> None:
    pytest.importorskip("trove_classifiers")
    found = [*release.versions(), *release.metadata()]
    assert [what for state, what in found if state == "failed"] == []


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "version", lambda: "9.9.9")
    failed = [what for state, what in release.versions() if state == "failed"]
    assert failed == ["CITATION.cff has version 9.9.9", "CHANGELOG.md has no heading for 9.9.9"]


def test_outside_of_a_repository_nothing_counts_as_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(release, "_git", lambda *_: None)
    found = {what: state for state, what in release.versions()}
    assert found["all is committed"] == "to do"
    assert found[f"the commit has the tag v{release.version()}"] == "to do"


def test_dead_links_of_the_readme_stay_on_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trove_classifiers")
    names = ("Homepage", "Documentation", "Source", "Issues", "Changelog")
    table = release.project() | {"urls": dict.fromkeys(names, "https://pypi.org")}
    monkeypatch.setattr(release, "project", lambda: table)
    found = {what: state for state, what in release.metadata()}
    assert found["project.urls"] == "ok"
    (dead,) = (state for what, state in found.items() if what.startswith("README.md has "))
    assert dead == "to do"
    assert "  home: https://pypi.org\n" in release.recipe()


def test_a_recipe_has_no_line_for_what_it_would_bend() -> None:
    with pytest.raises(ValueError, match=r"'numpy~=2\.0'"):
        release._conda("numpy~=2.0")
    assert release._conda("torch>=2.4") == "pytorch >=2.4"


def test_files_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / f"fullrank-{release.version()}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("fullrank/__init__.py", "__version__ = '0.0'")
        made.writestr("tests/x.py", "")
    alone, licensed, imported = release._of_wheel(wheel)
    assert (alone.state, alone.what[-10:]) == ("failed", "tests/x.py")
    assert (licensed.state, "licenses/LICENSE" in licensed.what) == ("failed", True)
    assert imported.state == "failed"

    sdist = tmp_path / "fullrank.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for name in ("README.md", "notes.txt", "PKG-INFO"):
            archive.addfile(tarfile.TarInfo(f"fullrank/{name}"), io.BytesIO())
    monkeypatch.setattr(release, "_git", lambda *_: "README.md\nLICENSE\n")
    lacking, stray = release._of_sdist(sdist)
    assert (lacking.state, "LICENSE" in lacking.what) == ("failed", True)
    assert (stray.state, stray.what.rpartition(" ")[2]) == ("failed", "notes.txt")
