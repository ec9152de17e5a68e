"""The page of every table and figure: nothing is left out, nothing is made up."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullrank.evaluation.studies import PAPERS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproduction"
DEEP, WIDE = "adaptive 25", "fixed 100"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "studies"))
    return importlib.import_module


@pytest.fixture
def index(module: Callable[[str], Any]) -> Any:
    return module("reproduction_index")


def made_up(name: str, **content: Any) -> dict[str, Any]:
    return {"study": name, "quick": False, "repeats": 3, "seconds": 1.0} | content


def row(model: str, design: str, size: float, **errors: list[float]) -> dict[str, Any]:
    named = {name.replace("_averaged", ", averaged"): one for name, one in errors.items()}
    return {"data": "x", "model": model, "design": design, "size": size, "errors": named}


ROWS = [
    row("EASE", WIDE, 100, MLE=[10, 20, 40], smoothed=[5, 40, 80], MN_MLE=[10, 20, 40],
        MN_MLE_averaged=[5, 10, 20], bounds=[0.1, 0.1, 0.1]),
    row("iALS", WIDE, 100, MLE=[20, 40, 80], smoothed=[20.1, 41, 81], MN_MLE=[30, 60, 90],
        MN_MLE_averaged=[5, 10, 20], bounds=[0.1, 0.1, 0.1]),
    row("EASE", DEEP, 60, MLE=[2, 2, 2], smoothed=[1, 1, 1]) | {"seconds": {"MLE": 0.25}},
    row("iALS", DEEP, 70, MLE=[2, 2, 2], smoothed=[1, 1, 4]) | {"seconds": {"MLE": 0.75}},
]  # fmt: skip


def test_the_verdict_by_hand(module: Callable[[str], Any]) -> None:
    right = {"data": "x", "design": WIDE, "metrics": 9, "right": {"MLE": 60.0, "smoothed": 70.0}}
    found = module("_verdict").verdict(ROWS, [right, right | {"data": "y"}])
    deep, wide = found["designs"]  # the cheaper first
    assert (deep["design"], deep["size"], deep["cells"], deep["front"]) == (DEEP, 65.0, 6, True)
    assert (wide["design"], wide["front"]) == (WIDE, False)
    first, second = deep["estimators"]
    assert (first["estimator"], first["won"], first["seconds"]) == ("smoothed", 5, None)
    assert first["error"] == pytest.approx(4 ** (1 / 6), abs=1e-3)
    assert first["by_metric"] == [1.0, 1.0, 2.0]
    assert (second["error"], second["won"], second["seconds"]) == (2.0, 1, 0.5)
    # what no user has and what is measured otherwise neither wins nor ranks
    names = [one["estimator"] for one in wide["estimators"]]
    assert names[0] == "MLE"
    assert set(names[3:]) == {"MN_MLE, averaged", "bounds"}
    assert sum(one["won"] for one in wide["estimators"]) == wide["cells"] == 6
    assert [(one["design"], one["first"]) for one in found["by_data"]] == [
        (WIDE, "MLE"), (DEEP, "smoothed")
    ]  # fmt: skip
    (prior,) = found["priors"]
    assert prior["single"] == pytest.approx((1.5 * 1.5 * 90 / 80) ** (1 / 6), abs=1e-3)
    assert prior["averaged"] == pytest.approx((0.5**3 * 0.25**3) ** (1 / 6), abs=1e-3)
    assert found["winners"] == [
        {"design": WIDE, "data": ["x", "y"], "right": {"MLE": 60.0, "smoothed": 70.0}}
    ]


def test_designs_are_compared_on_the_same_pairs(module: Callable[[str], Any]) -> None:
    verdict = module("_verdict").verdict
    more = row("EASE", DEEP, 500, MLE=[90, 90, 90], smoothed=[99, 99, 99]) | {"data": "y"}
    found, without = verdict([*ROWS, more], []), verdict(ROWS, [])
    assert (found["pairs"], found["pairs_with_every_design"]) == (3, 2)
    assert found["designs"] == without["designs"]
    assert found["by_data"][-1] == {
        "data": "y", "design": DEEP, "size": 500.0, "first": "MLE", "error": 90.0
    }  # fmt: skip
    rare = verdict([*ROWS, *(one | {"data": "y"} for one in ROWS), more | {"design": "rare"}], [])
    assert (rare["apart"], rare["pairs_with_every_design"]) == (["rare"], 4)
    assert [one["design"] for one in rare["designs"]] == [DEEP, WIDE]
    assert rare["by_data"][-1]["design"] == "rare"
    with pytest.raises(ValueError, match="no data set and model has every design"):
        verdict([ROWS[0], more], [])


def test_every_kind_of_state(index: Any) -> None:
    outcome = importlib.import_module("_outcome")
    cells = [{"row": "a", "column": "b", "published": 1.0, "measured": 1.01}]
    kdd = made_up(
        "kdd",
        tables=[
            outcome.compare("001 Table 2", cells, differs="another fit"),
            outcome.shown("001 Figure 1", "curves keep their order", False),
            outcome.missing("001 Table 3", "not in our copy"),
        ],
        claims=[outcome.claim("001", "small errors", False, "|a - b| is large")],
    )
    content = index.collected([kdd])
    by = {item["item"]: item for item in content["items"]}
    assert by["001 Table 2"]["state"] == "reproduced"
    assert by["001 Figure 1"]["state"] == "not reproduced"
    assert by["001 Table 3"]["state"] == "not here"
    assert by["001 Table 1"]["state"] == "nothing to reproduce"
    twin = by["003 Figure 2"]  # which repeats Figure 1 of KDD 2020
    assert twin["state"] == "not reproduced"
    assert twin["outcomes"][0]["repeats"] == "001 Figure 1"
    assert by["004 Table 2"]["outcomes"][0]["why"] == index.NOT_RUN
    page = index.page(content)
    assert "| reproduced | 1 of 1 cells within the limits, 1.0 % off in the median; another" in page
    assert "as Figure 1 of KDD 2020; not so: curves keep their order" in page
    assert r"| **does not hold** | \|a - b\| is large |" in page
    cells += [{"row": "a", "column": "c", "published": 1.0, "measured": None}]
    part = index.collected([made_up("kdd", tables=[outcome.compare("001 Table 2", cells)])])
    assert next(one for one in part["items"] if one["item"] == "001 Table 2")["in_part"]
    page = index.page(part)
    assert "| reproduced, in part | 1 of 1 cells within the limits, 1.0 % off" in page
    assert "| [KDD 2020](#kdd-2020) | 15 | 1 (1 in part) |" in page
    # the weaker of two outcomes counts, and both are shown
    again = made_up("more", tables=[outcome.missing("001 Table 2", "no yelp")])
    both = index.collected([kdd, again])
    item = next(one for one in both["items"] if one["item"] == "001 Table 2")
    assert (item["state"], len(item["outcomes"])) == ("not here", 2)


def test_an_item_that_no_paper_has(index: Any) -> None:
    wrong = made_up("kdd", tables=[{"item": "001 Table 8", "state": "not here", "why": "x"}])
    with pytest.raises(ValueError, match=r"^kdd speaks of 001 Table 8, which no paper has$"):
        index.collected([wrong])


def test_the_list_of_items_is_whole(module: Callable[[str], Any]) -> None:
    """Tables and figures are numbered without a gap, and twins are on the list."""
    items = module("_papers").ITEMS
    counts = {"002": (2, 3), "001": (7, 8), "004": (10, 3), "000": (11, 2), "003": (20, 14)}
    assert set(counts) == set(PAPERS)
    expected = [
        f"{paper} {kind} {number}"
        for paper, both in counts.items()
        for kind, count in zip(("Table", "Figure"), both, strict=True)
        for number in range(1, count + 1)
    ]
    assert list(items) == expected
    for item in items.values():
        assert not item.repeats or item.repeats in items
        assert not (item.repeats and item.nothing)


def test_the_words_of_the_verdict_come_from_its_figures(module: Callable[[str], Any]) -> None:
    found = module("_verdict").verdict(ROWS, [])
    text = module("_verdict_page").verdict_part(found)
    assert "The least error of all is that of smoothed on adaptive 25: 1.3 % with 65" in text
    assert "Fixed 100: MLE first with 28.3 %, least in 5 of 6 cells; smoothed is" in text
    # 28.28 / 1.26: the best of the fixed design over the best of the adaptive one
    assert "its error is 22.4 times smaller." in text
    assert "### Naming the best model" not in text
    assert "With the prior averaged over all repeats, as published, 1 of 1 gain" in text


def test_it_is_written_where_it_is_told(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "studies" / "reproduction_index.py"
    command = [sys.executable, script, "--quick", "--out", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "wrote reproduction_index.json and index.md\n"
    written = json.loads((tmp_path / "reproduction_index.json").read_text(encoding="utf-8"))
    stored = json.loads((FOLDER / "reproduction_index.json").read_text(encoding="utf-8"))
    assert written["quick"]
    assert written["items"] == stored["items"]
    assert (tmp_path / "reproduction_index-cost.svg").is_file()


def test_no_figure_on_the_page_is_stale(index: Any) -> None:
    """The index that is kept is the one that the studies beside it give now."""
    stored = json.loads((FOLDER / "reproduction_index.json").read_text(encoding="utf-8"))
    for key, value in index.collected(index.read(FOLDER)).items():
        assert stored[key] == json.loads(json.dumps(value)), f"run reproduction_index: {key}"


def test_every_item_has_its_row_and_a_reason_or_a_page(index: Any) -> None:
    stored = json.loads((FOLDER / "reproduction_index.json").read_text(encoding="utf-8"))
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    for number in PAPERS:
        part = page.partition(f"{{#{importlib.import_module('_index_page')._anchor(number)}}}")[2]
        rows = part.partition("\n#")[0]
        for item in stored["items"]:
            if item["item"].startswith(f"{number} "):
                name = item["item"].partition(" ")[2].replace(" ", "\u00a0")
                assert f"\n| {name} |" in rows, item["item"]
                assert len(re.findall(rf"^\| {name} \|", rows, re.M)) == 1
    for item in stored["items"]:
        for one in item["outcomes"]:
            assert one.get("why") != index.NOT_RUN, item["item"]
            assert one.get("why") or (FOLDER / f"{one['study']}.md").is_file(), item["item"]
