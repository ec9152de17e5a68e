"""The reading of imports that the floor plan is held to, on a small package made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import import_graph as graph

FILES = {
    "__init__.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from fullrank.samples import RankSample as RankSample
        _MODULES = {"data": "fullrank.data"}
    """,
    "errors.py": "",
    "_lib/__init__.py": "",
    "_lib/text.py": "from fullrank.errors import InputError",
    "data/__init__.py": "from fullrank.data.interactions import Interactions",
    "data/interactions.py": """
        def split(self):
            from fullrank.data._split import halves
    """,
    "data/_split.py": "from fullrank.data import Interactions",
    "samples/__init__.py": """
        from fullrank.samples.sample import RankSample
        LIMIT = 3
    """,
    "samples/sample.py": """
        from fullrank._lib import text
        from ..data import Interactions
        from fullrank.data._split import halves
        from . import LIMIT
    """,
    "samples/files/__init__.py": "",
    "samples/files/sample.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from fullrank.samples.sample import RankSample
    """,
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "src" / "fullrank" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").splitlines()
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        path.write_text("\n".join(line[indent:] for line in lines))
    return tmp_path / "src" / "fullrank"


def found(source: Path, statement: str, module: str) -> list[graph.Import]:
    """The breaches of a statement in a module of the package."""
    package = graph.Package.at(source)
    return graph.breaches(package.imports(statement, module), graph.FLOOR_PLAN)


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("import fullrank.samples", "fullrank.data.x"),
        ("import fullrank.samples.sample as s", "fullrank.data.x"),
        ("from fullrank import RankSample", "fullrank.data.x"),
        ("from ..samples.sample import RankSample", "fullrank.data.x"),
        ("from ...samples import RankSample", "fullrank.data.sets.x"),
        ("def f():\n    from fullrank.samples import RankSample", "fullrank._lib.x"),
        ("importlib.import_module('fullrank.cli')", "fullrank.reporting.x"),
        ("from fullrank.engines import serial", "fullrank.ranking.x"),
        ("from fullrank.data import Interactions", "fullrank.engines.x"),
        ("from fullrank.models import EASE", "fullrank.ranking.x"),
        ("from fullrank.estimators import fit", "fullrank.models.x"),
        ("import fullrank", "fullrank.data.x"),
        ("from fullrank.data import Interactions", "fullrank.errors"),
        ("import fullrank.data", "fullrank.plots.x"),  # a room without a place
    ],
)
def test_a_breach_is_seen(source: Path, statement: str, module: str) -> None:
    assert len(found(source, statement, module)) == 1


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from fullrank.data import Interactions", "fullrank.models.x"),
        ("from fullrank import Interactions, data", "fullrank.cli.commands.x"),
        ("from fullrank import __version__", "fullrank._lib.x"),
        ("from fullrank import errors", "fullrank.engines.x"),
        ("from fullrank.losses import bpr", "fullrank.models.x"),
        ("from . import grid", "fullrank.designs.x"),
        ("from fullrank._lib.text import sentence", "fullrank.errors"),
        ("import numpy as np", "fullrank.data.x"),
    ],
)
def test_what_is_allowed_is_no_breach(source: Path, statement: str, module: str) -> None:
    assert found(source, statement, module) == []


def test_names_are_traced_to_their_modules(source: Path) -> None:
    told = {(one.importer, one.written): (one.target, one.kind) for one in graph.imports_of(source)}
    assert told["fullrank", "fullrank.samples.RankSample"] == ("fullrank.samples.sample", "typing")
    assert told["fullrank.data._split", "fullrank.data.Interactions"] == (
        "fullrank.data.interactions",
        "eager",
    )
    assert told["fullrank.data.interactions", "fullrank.data._split.halves"][1] == "lazy"


def test_cycles_count_lazy_imports_and_not_those_for_types(source: Path) -> None:
    known, imports = graph.modules(source), graph.imports_of(source)
    pair = ("fullrank.data._split", "fullrank.data.interactions")
    lazily = graph.edges(imports, known)
    assert graph.cycles_by_folder(lazily, known) == {"fullrank.data": [pair]}
    assert graph.cycles(graph.edges(imports, known, kinds=[graph.EAGER])) == []
    assert graph.cycles(graph.edges(imports, known, without=[pair])) == []
    assert graph.cycles_of_folders(lazily, known) == []


def test_a_ring_of_three_is_one_cycle() -> None:
    ring = {name: frozenset(to) for name, to in {"a": "b", "b": "c", "c": "a", "d": "a"}.items()}
    assert graph.cycles(ring) == [("a", "b", "c")]


def test_private_modules_and_names_belong_to_their_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(
        "from fullrank.data import Interactions, _split\n"
        "from fullrank.data import interactions\n"
        "from fullrank._lib import text\n"
        "interactions._hidden()\n"
        "interactions.split()\n"
    )
    known = graph.modules(source)
    inside = graph.private_uses(graph.imports_of(source), known)
    assert [one.importer for one in inside] == ["fullrank.samples.sample"]
    outside = graph.imports_from_outside(source, [tmp_path / "tests"])
    assert [one.written for one in graph.private_uses(outside, known)] == [
        "fullrank.data._split",
        "fullrank.data.interactions._hidden",
    ]


def test_files_and_repeated_names(source: Path) -> None:
    known = graph.modules(source)
    assert graph.files_per_folder(known) == {
        "fullrank": 1,
        "fullrank._lib": 1,
        "fullrank.data": 2,
        "fullrank.samples": 1,
        "fullrank.samples.files": 1,
    }
    assert graph.repeated_basenames(known) == {
        "sample": ["fullrank.samples.files.sample", "fullrank.samples.sample"]
    }


def test_the_command_tells_and_fails_only_when_asked(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graph.main([str(source)]) == 0
    assert "data._split <-> data.interactions" in capsys.readouterr().out
    assert graph.main([str(source), "--strict"]) == 1
