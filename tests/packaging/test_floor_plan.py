"""The floor plan: which folder may import which, what is private, and how large a folder may be.

CONTRIBUTING.md describes the folders; `tools/import_graph.py` reads the imports.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import import_graph as graph

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fullrank"
OUTSIDE = [ROOT / name for name in ("tests", "benchmarks", "reproduction", "examples", "docs")]
# A method may load, when it is called, the sibling that reads, writes or splits its class.
METHODS = [
    ("fullrank.data.interactions", "fullrank.data.split_items"),
    ("fullrank.evaluation.result", "fullrank.evaluation.run_folder"),
    ("fullrank.models.base", "fullrank.models.saving"),
    ("fullrank.samples.exact_ranks", "fullrank.samples.read_ranks"),
    ("fullrank.samples.exact_ranks", "fullrank.samples.sample_files"),
    ("fullrank.samples.sample", "fullrank.samples.read_ranks"),
    ("fullrank.samples.sample", "fullrank.samples.sample_files"),
]


@pytest.fixture(scope="module")
def imports() -> list[graph.Import]:
    return graph.imports_of(SOURCE)


@pytest.fixture(scope="module")
def modules() -> dict[str, Path]:
    return graph.modules(SOURCE)


def test_a_folder_imports_only_folders_before_it(imports: list[graph.Import]) -> None:
    assert [str(one) for one in graph.breaches(imports, graph.FLOOR_PLAN)] == []


def test_nothing_private_is_used_from_another_folder(
    imports: list[graph.Import], modules: dict[str, Path]
) -> None:
    outside = graph.imports_from_outside(SOURCE, OUTSIDE)
    assert [str(one) for one in graph.private_uses([*imports, *outside], modules)] == []


def test_modules_have_no_cycles(imports: list[graph.Import], modules: dict[str, Path]) -> None:
    """Imports inside of functions count; across folders as well as within one."""
    assert graph.cycles(graph.edges(imports, modules, without=METHODS)) == []


def test_every_exception_is_still_needed(
    imports: list[graph.Import], modules: dict[str, Path]
) -> None:
    """A pair that closes no cycle, or that is imported when the module is loaded, has to go."""
    lazy = {(one.importer, one.target) for one in imports if one.kind == graph.LAZY}
    eager = {(one.importer, one.target) for one in imports if one.kind == graph.EAGER}
    for pair in METHODS:
        others = [other for other in METHODS if other != pair]
        assert pair in lazy - eager
        assert graph.cycles(graph.edges(imports, modules, without=others)) != []


def test_no_folder_has_more_than_fifteen_files(modules: dict[str, Path]) -> None:
    sizes = graph.files_per_folder(modules)
    assert {name: n for name, n in sizes.items() if n > graph.MAX_FILES} == {}


def _folders() -> list[str]:
    inits = sorted(SOURCE.rglob("__init__.py"))
    return [path.parent.relative_to(SOURCE).as_posix() for path in inits if path.parent != SOURCE]


def test_every_folder_says_what_lives_there_and_who_imports_it() -> None:
    for name in _folders():
        text = (SOURCE / name / "__init__.py").read_text("utf-8")
        head = text.split('"""')[1]
        assert re.search(r"\b[Ii]mport|\bPart of `", head), name
        assert len(head.split("\n\n")[0].strip().splitlines()) <= 3, name


def test_contributing_names_every_room() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [name for name in _folders() if f"| `{name}/` |" not in page] == []
    named = re.findall(r"^\| `(?!src/)([\w/]+)/` \|", page.split("Outside the")[0], re.M)
    assert sorted(named) == sorted(_folders())  # a planned room is marked with a star


def test_the_names_of_the_package_come_from_their_rooms() -> None:
    package = graph.Package.at(SOURCE)
    homes = {name: home for name, (home, _) in package.passed_on["fullrank"].items()}
    rooms = {graph.room(home) for home in homes.values() if home.startswith("fullrank.")}
    assert rooms <= set(graph.FLOOR_PLAN) | {"errors", ""}
