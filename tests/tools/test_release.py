"""The list of what a release needs."""

from __future__ import annotations

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
