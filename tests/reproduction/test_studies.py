"""The studies run in their quick form, and their pages hold what their JSON says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from reproduction import runner as studies

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "studies"
PAGES = ROOT / "docs" / "studies"
KNOWN = {name: study.folder for name, study in studies.every().items()}
PAPERS = sorted(name for name, folder in KNOWN.items() if folder == "reproduction")
OTHERS = sorted(name for name, folder in KNOWN.items() if folder == "studies")
PAGE_NAMES = {"reproduction_index": "index"}  # where it is not the study's
METRICS = ["recall", "ndcg", "ap"]
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _run(study: str, folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, SCRIPTS / f"{study}.py", "--out", folder, "--cache", folder]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [*command, *options], capture_output=True, text=True, encoding="utf-8", env=environment
    )
    assert run.returncode == 0, run.stderr
    content = json.loads((folder / f"{study}.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def _quick(study: str, folder: Path) -> dict[str, Any]:
    content = _run(study, folder, "--quick")
    assert content["study"] == study
    assert content["quick"] is True
    assert content["seconds"] > 0
    assert content["peak_megabytes"] > 0
    page = (folder / f"{PAGE_NAMES.get(study, study)}.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert page.endswith(f"Written by `benchmarks/studies/{study}.py`.\n")
    return content


def test_there_are_studies() -> None:
    assert PAPERS == [
        "aaai2021",
        "aaai2023",
        "gowalla_losses",
        "kdd2020",
        "linear_models",
        "ranks",
        "rendle2019",
        "reproduction_index",
        "user_sampling",
    ]
    assert OTHERS == [
        "bounds",
        "demo_models",
        "gowalla_ease",
        "gowalla_models",
        "intervals",
        "ml1m_ials",
        "ml1m_models",
        "ml1m_neural",
        "plan",
        "scale",
        "several_targets",
        "shapes",
        "sizing",
        "smoothing",
        "winner_probability",
    ]
    # those of the papers have tests of their own, which also run their quick form
    own = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_study_*"))
    for name in PAPERS:
        assert f'"{name}' in own, name


@pytest.mark.slow
def test_winner_probability(tmp_path: Path) -> None:
    content = _quick("winner_probability", tmp_path)
    cells = content["stated"]
    assert sum(one["runs"] for one in cells) == content["repeats"] * len(content["metrics"])
    for one in cells:
        assert one["from"] <= one["stated_percent"] / 100 < one["below"]
        assert 0.0 <= one["right_percent"] <= 100.0


@pytest.mark.slow
def test_smoothing(tmp_path: Path) -> None:
    content = _quick("smoothing", tmp_path)
    assert [one["design"] for one in content["summary"]] == ["adaptive", "fixed 100"]
    for one in content["summary"]:
        cells = [cell for cell in content["cells"] if cell["design"] == one["design"]]
        ratios = [cell["errors"][m]["ratio"] for cell in cells for m in METRICS]
        assert one["cells"] == len(ratios)
        assert one["worst_ratio"] == max(ratios)
        assert one["share_won"] == pytest.approx(sum(r < 1 for r in ratios) / len(ratios), abs=1e-4)
    by_fall = {cell["fall"]: cell for cell in content["fall"]}
    assert list(by_fall) == [0.3, 0.5, 0.7]
    # c = 0.5 is the estimator as it is, so that its cell comes again, and the others differ
    assert by_fall[0.5]["errors"] == content["cells"][0]["errors"]
    assert by_fall[0.3]["errors"] != by_fall[0.5]["errors"] != by_fall[0.7]["errors"]


@pytest.mark.slow
def test_several_targets(tmp_path: Path) -> None:
    content = _quick("several_targets", tmp_path)
    assert content["exhausted"]["largest_relative_difference"] < 1e-12
    assert [one["method"] for one in content["adaptive"]] == ["MLE", "smoothed"]
    for one in content["adaptive"]:
        assert list(one["metrics"]) == list(content["exact"])
        for metric, cell in one["metrics"].items():
            assert cell["standard_error"] > 0
            distance = abs(cell["estimate"] - content["exact"][metric])
            assert cell["within_two"] == (distance <= 2 * cell["standard_error"])


@pytest.mark.slow
def test_intervals(tmp_path: Path) -> None:
    content = _quick("intervals", tmp_path)
    assert len(content["cells"]) == 16  # eight metrics, two questions
    for cell in content["cells"]:
        assert 0.0 <= cell["coverage"] <= 1.0
        assert cell["method"] == "smoothed"
    again = _run("intervals", tmp_path, "--quick")  # from what was kept
    assert again["cells"] == content["cells"]


@pytest.mark.slow
def test_plan(tmp_path: Path) -> None:
    content = _quick("plan", tmp_path)
    assert content["of"] == len(content["rows"]) >= 12
    for row in content["rows"]:
        ratio = row["predicted"] / row["measured"]
        assert row["ratio"] == pytest.approx(ratio, abs=0.02)
        assert row["within_quarter"] == (abs(row["ratio"] - 1.0) <= 0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [
        "bounds",
        "demo_models",
        "gowalla_ease",
        "gowalla_models",
        "ml1m_ials",
        "ml1m_models",
        "scale",
        "shapes",
        "sizing",
    ],
)
def test_the_quick_form_runs(study: str, tmp_path: Path) -> None:
    _quick(study, tmp_path)


def test_a_line_after_a_torn_one_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reproduction.common.kept import append_json

    path = tmp_path / "runs.jsonl"
    append_json({"one": 1}, path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"two":')
    append_json({"three": 3}, path)
    append_json({"four": 4}, path)
    assert path.read_text().splitlines() == ['{"one": 1}', '{"two":', '{"three": 3}', '{"four": 4}']


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a study in this process, which finds what it is given; the exit code."""
    from reproduction import study as _study

    about = studies.Study("tiny", "A tiny study.", "", "studies", (), ())
    monkeypatch.setattr(studies, "get", lambda _: about)
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(study: Any, *options: str, out: Path = tmp_path) -> int:
        monkeypatch.setattr(sys, "argv", ["tiny.py", "--out", str(out), *options])
        try:
            _study.run("tiny", study, lambda _: "# Tiny\n", repeats=1)
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return run


def test_what_cannot_be_written_is_said_before_anything_is_done(
    tiny: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert tiny(lambda _: pytest.fail("begun"), out=tmp_path / "file" / "out") == 1
    assert tiny(lambda _: pytest.fail("begun"), "--render") == 2
    assert [len(line.split(": ")) > 1 for line in capsys.readouterr().err.splitlines()] == [
        True
    ] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_stop_is_one_line(tiny: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(_: Any) -> Any:
        raise KeyboardInterrupt

    assert tiny(stopped) == 130
    assert capsys.readouterr().err.startswith("Stopped; what is done is kept")


def test_a_run_that_finds_the_same_leaves_the_file_as_it_was(tiny: Any, tmp_path: Path) -> None:
    """Else every run would change what is under version control."""
    stored, found = tmp_path / "tiny.json", iter([[1, 2], [1, 2], [1, 3]])
    kept = []
    for seconds in (1.0, 2.0, 3.0):
        result = {"rows": tuple(next(found)), "seconds": seconds}
        assert tiny(lambda _, result=result: result) == 0
        kept.append(json.loads(stored.read_text(encoding="utf-8")))
    assert kept[0] == kept[1]
    assert (kept[1]["seconds"], kept[2]["seconds"]) == (1.0, 3.0)
    assert kept[2]["rows"] == [1, 3]
    stored.write_text("torn", encoding="utf-8")
    assert tiny(lambda _: result) == 0
    assert json.loads(stored.read_text(encoding="utf-8"))["rows"] == [1, 3]


def test_the_page_of_the_gpu_is_written_from_its_results() -> None:
    """It is a benchmark, for it needs a GPU, but its page stands among the studies."""
    page = runpy.run_path(str(ROOT / "benchmarks" / "_gpu_page.py"))["page"]
    content = json.loads((PAGES / "gpu.json").read_text(encoding="utf-8"))
    assert page(content) == (PAGES / "gpu.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", KNOWN)
def test_the_page_is_written_from_the_results(study: str, tmp_path: Path) -> None:
    folder = ROOT / "docs" / KNOWN[study]
    stored = folder / f"{study}.json"
    assert stored.is_file(), f"run benchmarks/studies/{study}.py"
    shutil.copy(stored, tmp_path)
    content = _run(study, tmp_path, "--render")
    assert content["quick"] is False
    name = f"{PAGE_NAMES.get(study, study)}.md"
    page = (folder / name).read_text(encoding="utf-8")
    assert (tmp_path / name).read_text(encoding="utf-8") == page
    if importlib.util.find_spec("matplotlib") is None:
        return
    figures = [path.name for path in sorted(folder.glob(f"{study}-*.svg"))]
    assert figures == [path.name for path in sorted(tmp_path.glob("*.svg"))]
    for figure in figures:
        said, marks = _drawn(tmp_path / figure)
        stored_said, stored_marks = _drawn(folder / figure)
        assert said == stored_said, figure
        assert marks == pytest.approx(stored_marks, abs=1.0), figure


def _drawn(path: Path) -> tuple[list[str], list[float]]:
    """What a figure says, and where its marks are in points of 1/72 inch.

    What else a drawing program writes is its own affair.
    """
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    said = ["".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")]
    assert said, f"{path.name} has no text"
    marks = [one.get("d", "") for one in root.iter(f"{SVG}path")]
    return said, [float(number) for mark in marks for number in NUMBER.findall(mark)]


@pytest.mark.parametrize("study", PAPERS)
def test_figures_are_small_described_and_shown(study: str) -> None:
    folder = ROOT / "docs" / "reproduction"
    page = (folder / f"{PAGE_NAMES.get(study, study)}.md").read_text(encoding="utf-8")
    shown = dict.fromkeys(re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page))
    for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page):
        assert len(words.split()) >= 8, f"say what {target} shows"
        assert (folder / target).is_file(), target
        assert (folder / target).stat().st_size < 150_000, target
    assert {path.name for path in folder.glob(f"{study}-*.svg")} <= set(shown)
