"""``python -m reproduction``: lists studies, checks their data, and runs them."""

from __future__ import annotations

import ast
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fullrank.data import DATASETS
from fullrank.errors import InputError
from reproduction import registry, runner
from reproduction.papers import PAPERS
from reproduction.registry import STUDIES, Study

ROOT = Path(__file__).parents[2]
NEEDING = [name for name, one in STUDIES.items() if set(one.needs) - {"ml-latest-small"}]


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``tiny(study, *options)`` runs a function as a study: the exit code."""
    monkeypatch.setitem(STUDIES, "tiny", Study("tiny", "own.tiny", "A tiny study."))
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(study: Any, *options: str, out: Path = tmp_path) -> int:
        module = SimpleNamespace(study=study, REPEATS=1)
        monkeypatch.setitem(sys.modules, "reproduction.own.tiny", module)
        return runner.main(["run", "tiny", "--out", str(out), *options])

    return run


def test_the_registry_matches_the_modules() -> None:
    for name, study in STUDIES.items():
        module = importlib.import_module(f"reproduction.{study.module}")
        assert name == study.name
        assert callable(module.study)
        assert module.REPEATS >= 1
        assert study.about.endswith((".", "?"))
        assert set(study.needs) | set(study.uses) <= set(DATASETS)
        assert study.paper is None or study.paper in PAPERS


def test_every_study_is_run_in_its_quick_form_by_a_test() -> None:
    """By `quick("NAME")`, or by `quick(name)` where `name` is given by parametrize."""
    run = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.FunctionDef):
                run |= _run_quickly(one)
    # sealed data sets are not opened for a trial, which test_bank.py tests
    assert sorted(run | {"hundred_sealed"}) == sorted(STUDIES)


def _run_quickly(test: ast.FunctionDef) -> set[str]:
    given = {
        mark.args[0].value: ast.literal_eval(mark.args[1])
        for mark in test.decorator_list
        if isinstance(mark, ast.Call)
        and ast.unparse(mark.func) == "pytest.mark.parametrize"
        and isinstance(mark.args[0], ast.Constant)
        and isinstance(mark.args[1], ast.List)
        and all(isinstance(value, ast.Constant) for value in mark.args[1].elts)
    }
    names: set[str] = set()
    for call in ast.walk(test):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "quick":
            named = call.args[0]
            if isinstance(named, ast.Constant):
                names.add(str(named.value))
            elif isinstance(named, ast.Name):
                names.update(given[named.id])
    return names


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    papers = [paper.reference for paper in PAPERS.values()]
    assert headings == [*papers, "All of these papers", "Our own"]
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(STUDIES)


def test_missing_data_are_named(no_data: Path) -> None:
    looked = f"FULLRANK_DATA ({no_data}) and the cache ({no_data}) and not found"
    study = Study("one", "one", "One.", needs=("ml-1m", "yelp-diffnet"), uses=("ml-20m", "msd"))
    with pytest.raises(InputError) as found:
        study.require()
    assert str(found.value) == (
        f"The study one needs ml-1m and yelp-diffnet, looked for in {looked}: fetch ml-1m with "
        f"`fullrank datasets ml-1m --download`, or set FULLRANK_DATA to a folder that has "
        f"NAME.parquet of each; --quick needs no data."
    )
    with pytest.raises(InputError, match=r"needs yelp-diffnet, .* not found: set FULLRANK_DATA to"):
        study.require(["yelp-diffnet"])
    assert study.omitted() == (
        f"The study one also uses ml-20m and msd, looked for in {looked}: it runs without."
    )
    for name in ("ml-1m", "yelp-diffnet", "ml-20m", "msd"):
        (no_data / f"{name}.parquet").touch()
    study.require()
    assert study.omitted() == ""


@pytest.mark.parametrize("name", NEEDING)
def test_every_study_names_its_missing_data_in_one_sentence(
    name: str, no_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert runner.main(["run", name, "--out", str(no_data / "out")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"The study {name} needs ")
    assert err.endswith("; --quick needs no data.\n")
    assert err.count("\n") == 1
    assert not (no_data / "out").exists()


def test_where_the_files_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = SimpleNamespace(REPEATS=7)

    def places(name: str, *options: str) -> list[Path]:
        asked = runner._parsed(registry.get(name), module, options)
        return [asked.out, asked.figures, asked.ranks]

    results = ROOT / "reproduction" / "results"
    assert places("kdd2020") == [
        results / "papers", ROOT / "docs" / "reproduction", results / "ranks"
    ]  # fmt: skip
    assert places("plan") == [results / "own", ROOT / "docs" / "studies", results / "ranks"]
    quick = ROOT / "out" / "reproduction"
    assert places("plan", "--", "--quick") == [quick, quick, quick / "ranks"]
    assert places("plan", "--out", str(tmp_path)) == [tmp_path, tmp_path, tmp_path / "ranks"]


def test_what_cannot_be_written_fails_before_the_study_begins(
    tiny: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert tiny(lambda _: pytest.fail("begun"), out=tmp_path / "file" / "out") == 1
    assert tiny(lambda _: pytest.fail("begun"), "--figures-only") == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupt_is_one_line(tiny: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(_: Any) -> Any:
        raise KeyboardInterrupt

    assert tiny(stopped) == 130
    assert capsys.readouterr().err == (
        "Stopped. Finished parts are kept; the same command resumes.\n"
    )


def test_the_same_results_leave_the_file_unchanged(tiny: Any, tmp_path: Path) -> None:
    """Otherwise every run would change a file under version control."""
    stored = tmp_path / "tiny.json"
    kept = []
    for seconds, rows in ((1.0, (1, 2)), (2.0, (1, 2)), (3.0, (1, 3))):
        assert tiny(lambda _, r=rows, s=seconds: {"rows": r, "seconds": s}) == 0
        kept.append(json.loads(stored.read_text(encoding="utf-8")))
    assert kept[0] == kept[1]
    assert (kept[1]["seconds"], kept[2]["seconds"]) == (1.0, 3.0)
    assert kept[2]["rows"] == [1, 3]
    stored.write_text("torn", encoding="utf-8")
    assert tiny(lambda _: {"rows": (1, 3)}) == 0
    assert json.loads(stored.read_text(encoding="utf-8"))["rows"] == [1, 3]


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["run", "no such study"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("`study` must be one of ")
    assert err.endswith(", not 'no such study'.\n")
    for wrong in (["walk"], ["run"], ["list", "x"]):
        assert runner.main(wrong) == 2
        assert capsys.readouterr().err.startswith("usage: ")


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_real_study_can_be_stopped(how: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "reproduction", "run", "rendle2019", "--out", tmp_path / "out"]
    child = subprocess.Popen(
        [*command, "--cache", tmp_path], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    while not (tmp_path / "out").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(how)
    _, err = child.communicate(timeout=600)
    assert child.returncode == 130
    assert err.endswith(b"Stopped. Finished parts are kept; the same command resumes.\n")
