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

from reproduction.runner import PAPERS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproduction"
DEEP, WIDE = "adaptive 25", "fixed 100"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    return lambda name: importlib.import_module(f"reproduction.{name}")


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
    found = module("index.verdict").verdict(ROWS, [right, right | {"data": "y"}])
    deep, wide = found["designs"]  # the cheaper first
    assert (deep["design"], deep["size"], deep["cells"], deep["front"]) == (DEEP, 65.0, 6, True)
    assert (wide["design"], wide["front"]) == (WIDE, False)
    first, second = deep["estimators"]
    assert (first["estimator"], first["won"], first["seconds"]) == ("smoothed", 5, None)
    assert first["error"] == pytest.approx(4 ** (1 / 6), abs=1e-3)
    assert first["by_metric"] == [1.0, 1.0, 2.0]
    assert (first["arithmetic"], deep["first"]) == (1.5, ["smoothed"])
    assert (second["error"], second["won"], second["seconds"]) == (2.0, 1, 0.5)
    assert deep["sizes"] == {"x": 65.0}
    # what no user has and what is measured otherwise neither wins nor ranks
    names = [one["estimator"] for one in wide["estimators"]]
    assert names[0] == "MLE"
    assert set(names[3:]) == {"MN_MLE, averaged", "bounds"}
    assert sum(one["won"] for one in wide["estimators"]) == wide["cells"] == 6
    assert [(one["design"], one["first"]) for one in found["by_data"]] == [
        (WIDE, ["MLE"]), (DEEP, ["smoothed"])
    ]  # fmt: skip
    assert found["by_data"][0]["errors"]["MLE"] == [28.284, 35.0]
    (prior,) = found["priors"]
    assert prior["base"] == "MLE"
    assert prior["single"] == pytest.approx((1.5 * 1.5 * 90 / 80) ** (1 / 6), abs=1e-3)
    assert prior["averaged"] == pytest.approx((0.5**3 * 0.25**3) ** (1 / 6), abs=1e-3)
    assert found["winners"] == [
        {"design": WIDE, "data": ["x", "y"], "right": {"MLE": 60.0, "smoothed": 70.0}}
    ]


@pytest.mark.parametrize(
    ("errors", "first"),
    [
        ({"a": (10.0, 10.0), "b": (10.5, 10.5), "c": (10.6, 10.0)}, ["a", "b", "c"]),
        ({"a": (10.0, 10.0), "b": (10.6, 10.4)}, ["a"]),  # near by one mean alone
        ({"a": (10.0, 14.0), "b": (12.0, 13.0), "c": (11.0, 13.5)}, ["a", "b"]),  # they disagree
        ({"a": (10.0, 10.0), "b": (9.0, 9.0, "apart")}, ["a"]),
    ],
)
def test_a_tie_is_a_tie(
    module: Callable[[str], Any], errors: dict[str, tuple[Any, ...]], first: list[str]
) -> None:
    found = [
        {"estimator": name, "error": one[0], "arithmetic": one[1], "apart": len(one) > 2}
        for name, one in errors.items()
    ]
    assert module("index.verdict").first(found) == first
    assert module("index.verdict").first(found[::-1]) == first


def test_designs_are_compared_on_the_same_pairs(module: Callable[[str], Any]) -> None:
    verdict = module("index.verdict").verdict
    more = row("EASE", DEEP, 500, MLE=[90, 90, 90], smoothed=[99, 99, 99]) | {"data": "y"}
    found, without = verdict([*ROWS, more], []), verdict(ROWS, [])
    assert (found["pairs"], found["pairs_with_every_design"]) == (3, 2)
    assert found["designs"] == without["designs"]
    assert found["by_data"][-1] == {
        "data": "y", "design": DEEP, "size": 500.0, "first": ["MLE"],
        "errors": {"MLE": [90.0, 90.0], "smoothed": [99.0, 99.0]},
    }  # fmt: skip
    rare = verdict([*ROWS, *(one | {"data": "y"} for one in ROWS), more | {"design": "rare"}], [])
    assert (rare["apart"], rare["pairs_with_every_design"]) == (["rare"], 4)
    assert [one["design"] for one in rare["designs"]] == [DEEP, WIDE]
    assert rare["by_data"][-1]["design"] == "rare"
    with pytest.raises(ValueError, match="no data set and model has every design"):
        verdict([ROWS[0], more], [])


def test_every_kind_of_state(index: Any) -> None:
    outcome = importlib.import_module("reproduction.outcome")
    cells = [{"row": "a", "column": "b", "published": 1.0, "measured": 1.01}]
    kdd = made_up(
        "kdd",
        tables=[
            outcome.compare("001 Table 2", cells, differs="another fit"),
            outcome.shown("001 Figure 2", "curves meet", False),
            outcome.missing("001 Table 3", "not in our copy"),
        ],
        claims=[outcome.claim("001", "small errors", False, "|a - b| is large")],
    )
    content = index.collected([kdd])
    by = {item["item"]: item for item in content["items"]}
    assert by["001 Table 2"]["state"] == "reproduced"
    assert by["001 Figure 2"]["state"] == "not reproduced"
    assert by["001 Table 3"]["state"] == "not here"
    assert by["001 Table 1"]["state"] == "nothing to reproduce"
    twin = by["003 Figure 3"]  # which repeats Figure 2 of KDD 2020
    assert twin["state"] == "not reproduced"
    assert twin["outcomes"][0]["repeats"] == "001 Figure 2"
    assert by["004 Table 2"]["outcomes"][0]["why"] == index.NOT_RUN
    page = index.page(content)
    assert "| reproduced | 1 of 1 cells within the limits, 1.0 % off in the median; another" in page
    assert "as Figure 2 of KDD 2020; not so, or not all of it: curves meet" in page
    assert r"| **does not hold** | \|a - b\| is large |" in page
    cells += [{"row": "a", "column": "c", "published": 1.0, "measured": None}]
    part = index.collected([made_up("kdd", tables=[outcome.compare("001 Table 2", cells)])])
    assert next(one for one in part["items"] if one["item"] == "001 Table 2")["in_part"]
    page = index.page(part)
    assert "| reproduced, in part | 1 of 1 cells within the limits, 1.0 % off" in page
    assert "| [KDD 2020](#kdd-2020) | 15 | 1 (1 in part) |" in page


def test_the_weaker_of_two_outcomes_counts(index: Any) -> None:
    outcome = importlib.import_module("reproduction.outcome")
    assert sorted(index.WEAKER) == sorted(outcome.STATES)

    def state(*said: dict[str, Any]) -> str:
        content = index.collected([made_up(f"s{at}", tables=[x]) for at, x in enumerate(said)])
        item = next(one for one in content["items"] if one["item"] == "001 Figure 8")
        assert len(item["outcomes"]) == len(said)  # both are shown
        return str(item["state"])

    good, bad = (outcome.shown("001 Figure 8", "errors fall", holds) for holds in (True, False))
    absent = outcome.missing("001 Figure 8", "no yelp")
    other = outcome.elsewhere("001 Figure 8", "errors fall", True, data="ml-1m")
    assert state(good, absent) == state(absent, other) == "not here"
    assert state(good, other) == "on other data"
    assert state(bad, good) == state(absent, bad) == state(bad, other) == "not reproduced"


def test_statements_on_other_data_have_a_count_and_words_of_their_own(index: Any) -> None:
    outcome = importlib.import_module("reproduction.outcome")
    said = [
        outcome.elsewhere(f"003 Table {number}", f"claim {number}", holds, data="ml-1m")
        for number, holds in ((8, True), (9, None), (10, False), (14, True))
    ]
    page = index.page(index.collected([made_up("linear", tables=said)]))
    assert "| on other data: holds | claim 8; tested on ml-1m |" in page
    assert "| on other data: in part | claim 9; tested on ml-1m |" in page
    assert "| on other data: does not hold | claim 10; tested on ml-1m |" in page
    counted = next(line for line in page.split("\n") if line.startswith("| all | 80 |"))
    assert "| 4 (2 hold) |" in counted
    assert sum(int(cell.split()[0]) for cell in counted.split("|")[3:-1] if "–" not in cell) == 80


def test_the_exact_column_notes_and_wider_limits_stand_in_the_row(index: Any) -> None:
    outcome = importlib.import_module("reproduction.outcome")
    cells = [{"row": "a", "column": "b", "published": 1.0, "measured": 1.3, "published_sd": 0.2}]
    found = outcome.compare("004 Table 2", cells, differs="other fits", repeats=100)
    more = {"exact": "9 of 15 cells of the exact column within 15 %", "note": "unscaled 4 of 9"}
    page = index.page(index.collected([made_up("aaai2021", tables=[found | more])]))
    assert (
        "| not reproduced | 0 of 1 cells within the limits (1 within two published standard "
        "deviations of one repeat), 30.0 % off in the median; 9 of 15 cells of the exact column "
        "within 15 %; unscaled 4 of 9; other fits |"
    ) in page
    # what is said twice is written once
    twice = found | more | {"differs": f"other fits: {more['exact']}"}
    page = index.page(index.collected([made_up("aaai2021", tables=[twice])]))
    assert "in the median; unscaled 4 of 9; other fits: 9 of 15 cells of the exact column" in page


def test_the_rules_are_stated_once_with_every_state(index: Any) -> None:
    outcome = importlib.import_module("reproduction.outcome")
    page = index.page(index.collected([]))
    rules = page.partition("## How a state is given")[2].partition("\n## ")[0]
    for words in outcome.STATES.values():
        assert f"- **{words.capitalize()}**: " in rules
    assert "15 % of the published value" in rules
    assert "so in 90 % of them, holds *in part* from 50 %" in rules
    assert page.count("15 %") == 1


def test_the_pages_have_words_for_every_state(
    monkeypatch: pytest.MonkeyPatch, need: Callable[[str], Any]
) -> None:
    need("yaml")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_tools"))
    pages = importlib.import_module("study_tables")
    assert list(pages._STATES) == list(importlib.import_module("reproduction.outcome").STATES)
    items = [{"state": state, "in_part": False} for state in pages._STATES]
    monkeypatch.setattr(pages, "study", lambda name: {"items": items})
    assert pages.states().startswith("Of 6 tables and figures, 1 are reproduced (0 of them in part")
    assert len(re.findall(r"(?:, | and )1 (?=\w)", pages.states())) == 6
    items.append({"state": "lost", "in_part": False})
    with pytest.raises(KeyError, match="no words for lost"):
        pages.states()


def test_an_item_that_no_paper_has(index: Any) -> None:
    wrong = made_up("kdd", tables=[{"item": "001 Table 8", "state": "not here", "why": "x"}])
    with pytest.raises(ValueError, match=r"^kdd speaks of 001 Table 8, which no paper has$"):
        index.collected([wrong])


def test_the_list_of_items_is_whole(module: Callable[[str], Any]) -> None:
    """Tables and figures are numbered without a gap, and twins are on the list."""
    items = module("papers").ITEMS
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


def words(module: Callable[[str], Any], rows: list[dict[str, Any]]) -> str:
    found = {"repeats": 3} | module("index.verdict").verdict(rows, [])
    return str(module("_verdict_words").words(found))


def test_the_words_of_the_verdict_come_from_its_figures(module: Callable[[str], Any]) -> None:
    text = words(module, ROWS)
    assert "drawn 3 times" in text
    assert "stay among the candidates" in text
    assert (
        "- **You draw the candidates yourself**: take adaptive 25, then smoothed. Expect an error "
        "of 1.3 % (1.5); by data set 1.3 % (x) to 1.3 % (x). It costs 65 candidates a user.\n"
    ) in text
    # 28.28 / 1.26 and 35 / 1.5: the best of the fixed design over the best of the adaptive one
    assert "the error of fixed 100 is 22.4 times as large (23.3 times by the arithmetic" in text
    assert (
        "Over all data sets together: first alone on adaptive 25; level on none; behind on" in text
    )
    assert "behind on fixed 100 (32.0 against 28.3 % for MLE; arithmetic 44.5 against 35.0)" in text
    assert "Of 2 pairs of data set and design it is first in 1, level in 0 and behind in 1." in text
    assert "| x | first: 1.3, MLE 2.0 | **behind**: 32.0, MLE 28.3 |" in text
    # nothing is said of designs and estimators that are not there
    assert "adaptive 100" not in text
    assert "| CLS |" not in text


def test_a_design_that_costs_more_on_one_data_set_is_named(module: Callable[[str], Any]) -> None:
    dear = [one | {"data": "y", "size": 130 if one["design"] == DEEP else 100} for one in ROWS]
    text = words(module, ROWS + dear)
    assert "Adaptive 25 is not cheaper everywhere: 130 candidates on y, more than fixed 100" in text
    assert "| 98: 65 (x) to 130 (y) |" in text
    assert "not cheaper everywhere" not in words(module, ROWS)


def test_level_estimators_are_all_advised(module: Callable[[str], Any]) -> None:
    level = [row("EASE", DEEP, 60, WMLE=[2, 2, 2], MLE=[2.05, 2, 2], smoothed=[3, 3, 3])]
    text = words(module, level)
    assert "then WMLE (tilted, ours) or MLE (level). Expect an error of 2.0 % (2.0); by" in text
    assert "first alone on no design; level on none; behind on adaptive 25 (3.0 against" in text
    assert "| x | **behind**: 3.0, WMLE (tilted, ours) 2.0 |" in text
    wider = [row("EASE", DEEP, 60, BV=[3.8, 3.8, 3.8], smoothed=[1, 1, 9.6])]  # 2.1 and 3.87
    text = words(module, wider)
    assert (
        "take adaptive 25, then smoothed or BV (level). Expect an error of 2.1 to 3.8 % (3.8 to 3.9"
        in text
    )
    assert "| x | level: 2.1, BV 3.8 |" in text
    assert "take smoothed" not in text
    few = [row("EASE", WIDE, 100, MLE=[2, 2, 2], smoothed=[3, 3, 3]), *wider]
    assert (
        "- **You have 100 candidates a user and no more**"
        not in words(module, few)  # 60 are the fewest, and the best have 60
    )
    few[1] = wider[0] | {"size": 200}
    few[0] = row("EASE", WIDE, 100, MLE=[5, 5, 5], BV=[9, 9, 9], smoothed=[8, 8, 8])
    assert (
        "- **You have 100 candidates a user and no more**: take MLE. Expect 5.0 % (5.0); by data "
        "set 5.0 % (x) to 5.0 % (x). Do not take smoothed: 8.0 % (8.0)."
    ) in words(module, few)
    few[0] = row("EASE", WIDE, 100, MLE=[5, 5, 5], BV=[9, 9, 9], smoothed=[4.9, 4.9, 4.9])
    text = words(module, few)
    assert "no more**: take smoothed or MLE (level)." in text
    assert "Do not take" not in text
    found = module("index.verdict").verdict(level, [])
    tables = module("index.verdict_page").tables(found)
    assert "| **adaptive 25** | 60 | WMLE (tilted, ours) | level | **2.0** | **2.0** | 3 |" in (
        tables
    )
    assert "|  |  | MLE | level | 2.0 | 2.0 | 0 |" in tables


def test_what_the_library_takes_by_itself(module: Callable[[str], Any]) -> None:
    chosen = module("reproduction_index").chosen
    # rank 1 of 100 stands for 37 ranks of ml-1m and for 374 of yelp-diffnet
    assert [chosen("ml-1m", "fixed 100"), chosen("yelp-diffnet", "fixed 100")] == [
        "smoothed",
        "MLE",
    ]
    assert chosen("yelp-diffnet", "adaptive 25") == "smoothed"
    found = module("index.verdict").verdict(ROWS, [], lambda data, design: "MLE")
    for one in found["by_itself"]:
        mine = [row["errors"]["MLE"] for row in ROWS if row["design"] == one["design"]]
        assert one["taken"] == {"x": "MLE"}
        assert one["arithmetic"] == pytest.approx(sum(map(sum, mine)) / 6, abs=1e-3)
    assert len(found["by_itself"]) == len(found["designs"])


def test_the_tables_of_the_verdict(module: Callable[[str], Any]) -> None:
    found = module("index.verdict").verdict(ROWS, [])
    text = module("index.verdict_page").tables(found)
    assert "### Naming the best model" not in text
    assert (
        "as published, 1 of 1 gain 5 % or more (1 over MLE); with the prior of the sample" in text
    )
    assert "at hand, 0 of 1 gain 5 % or more (none over MLE). Averaged, then single:" in text
    assert "| MLE | 2.0, 2.0 (1) | **28.3, 35.0** (5) | 0.5 |" in text


def test_what_is_said_of_mes_depends_on_its_errors(module: Callable[[str], Any]) -> None:
    def said(fixed: list[float], adaptive: float) -> str:
        sizes = {"fixed 100": 100, "fixed 500": 500, "fixed 1000": 1000}
        rows = [
            row("EASE", name, size, MLE=[2, 2, 2], MES=[x] * 3, MN_MES=[2] * 3,
                MN_MES_averaged=[2] * 3)
            for (name, size), x in zip(sizes.items(), fixed, strict=True)
        ]  # fmt: skip
        rows.append(row("EASE", DEEP, 60, MLE=[2, 2, 2], MES=[adaptive] * 3))
        return str(module("index.verdict_page").tables(module("index.verdict").verdict(rows, [])))

    assert "does not do well" not in said([9, 5, 3], 2)
    assert "from fixed 500 to fixed 1000 it does not gain (5.0 % and 5.1 %), probably" in (
        said([9, 5, 5.1], 2)
    )
    assert "on adaptive 25 it errs by 8.0 % (MLE by 2.0 %), probably" in said([9, 5, 3], 8)


@pytest.mark.slow
def test_a_verdict_of_one_kind_of_design_is_drawn(
    module: Callable[[str], Any], need: Callable[[str], Any], tmp_path: Path
) -> None:
    need("matplotlib")
    page = module("index.verdict_page")
    for design in (DEEP, WIDE):
        rows = [one for one in ROWS if one["design"] == design]
        page.draw(module("index.verdict").verdict(rows, []), tmp_path)
        assert ">smoothed</text>" in (tmp_path / page.FIGURE).read_text("utf-8")


def test_it_is_written_where_it_is_told(tmp_path: Path, need: Callable[[str], Any]) -> None:
    need("matplotlib")
    script = ROOT / "benchmarks" / "studies" / "reproduction_index.py"
    command = [sys.executable, script, "--quick", "--out", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
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
