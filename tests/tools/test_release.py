"""The list of what a release needs."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools import release


def test_the_recipe_is_that_of_the_project() -> None:
    kept = release.RECIPE.read_text("utf-8")
    assert kept == release.recipe(), "python tools/release.py --recipe"
    assert "    - numpy >=2.0\n" in kept
    assert "    - typer >=" in kept


def _read(recipe: str, **variables: str) -> dict[str, Any]:
    """The recipe as conda-build reads it: a template, then YAML."""
    jinja2 = pytest.importorskip("jinja2")
    yaml = pytest.importorskip("yaml")
    undefined = jinja2.StrictUndefined
    read: dict[str, Any] = yaml.safe_load(
        jinja2.Template(recipe, undefined=undefined).render(PYTHON="python", **variables)
    )
    return read


def test_the_recipe_says_what_the_project_does() -> None:
    table = release.project()
    read = _read(release.recipe(), python_min="3.11")
    assert read["package"] == {"name": table["name"], "version": release.version()}
    assert read["source"]["url"].endswith(f"/f/fullrank/fullrank-{release.version()}.tar.gz")
    assert read["build"]["entry_points"] == ["fullrank = " + table["scripts"]["fullrank"]]
    asked = [*table["dependencies"], *table["optional-dependencies"]["cli"]]
    runs = ["python >=3.11", *(one.replace(">=", " >=") for one in asked)]
    assert read["requirements"]["run"] == runs
    assert read["about"]["summary"] == table["description"]
    assert table["license"].startswith(read["about"]["license"] + " AND ")
    assert read["about"]["license_file"] in table["license-files"]


def test_a_recipe_sets_python_min_only_above_that_of_conda_forge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "set python_min" not in release.recipe()
    monkeypatch.setattr(release, "PYTHON_MIN", (3, 10))
    read = _read(release.recipe())
    assert read["requirements"]["host"][0] == "python 3.11"
    assert read["test"]["requires"][0] == "python 3.11"


def test_a_version_of_two_numbers_stays_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "version", lambda: "1.10")
    assert _read(release.recipe(), python_min="3.11")["package"]["version"] == "1.10"


def _states() -> dict[str, str]:
    """The state of each line on the recipe, by the line's first word."""
    return {what.partition(" ")[0]: state for state, what in release.conda()}


def test_what_a_person_gives_the_recipe_is_asked_for_by_its_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _states()
    assert found["the"] == found["it"] == "ok"
    assert found["R-002"] == found["R-003"] == "to do"

    links = {"Homepage": "https://example.org", "Source": "https://example.org/source"}
    table = release.project() | {"urls": links}
    monkeypatch.setattr(release, "project", lambda: table)
    monkeypatch.setattr(release, "MAINTAINERS", ("one", "another"))
    monkeypatch.setattr(release, "RECIPE", tmp_path / "conda" / "meta.yaml")
    assert release.main(["--recipe"]) == 0
    found = _states()
    assert found["it"] == found["R-002"] == found["R-003"] == "ok"
    read = _read(release.recipe(), python_min="3.11")
    assert read["extra"] == {"recipe-maintainers": ["one", "another"]}
    assert (read["about"]["home"], read["about"]["dev_url"]) == tuple(links.values())


@pytest.mark.parametrize(
    ("good", "bad", "broken"),
    [
        ("summary:", "description:", "R-002"),
        ("  number: 0\n", "", "R-008"),
        ("recipe-maintainers: []\n", "recipe-maintainers: []\n\n", "R-011"),
        ("  license_file: LICENSE\n", "", "R-013"),
        ('"fullrank"', '"Fullrank"', "R-014"),
        ("  sha256: to be filled in at the release\n", "", "R-019"),
        ("numpy >=2.0", "numpy>=2.0", "R-021"),
        ("numpy >=2.0", "numpy >= 2.0", "R-021"),
        ("{{ name }}", "{{name}}", "R-025"),
        ("python >={{ python_min }}", "python", "R-026"),
        ('"{{ version }}"', "{{ version }}", "R-040"),
        ("license: Apache-2.0", "license: Apache License", "R-044"),
        ("hatchling >=1.27", "wheel", "R-046"),
        ("pypi.org/packages/source/", "pypi.io/packages/source/", "R-050"),
    ],
)
def test_a_recipe_against_a_rule_fails_by_its_number(
    good: str, bad: str, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = release.recipe()
    assert good in kept
    monkeypatch.setattr(release, "RECIPE", tmp_path / "meta.yaml")
    release.RECIPE.write_text(kept.replace(good, bad, 1), "utf-8")
    (line,) = (what for _, what in release.conda() if what.startswith("it keeps "))
    assert _states()["it"] == "failed"
    assert line.partition(", but for ")[2].startswith(broken)


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
