"""The index of tables and figures: nothing is left out, and the weaker outcome counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reproduction import outcome
from reproduction.common.kept import RESULTS
from reproduction.index import figures, verdict
from reproduction.index import study as index
from reproduction.papers import ITEMS, PAPERS

ROOT = Path(__file__).parents[2]
DEEP, WIDE = "adaptive 25", "fixed 100"


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


def test_the_verdict_by_hand() -> None:
    right = {"data": "x", "design": WIDE, "metrics": 9, "right": {"MLE": 60.0, "smoothed": 70.0}}
    found = verdict.verdict(ROWS, [right, right | {"data": "y"}])
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
def test_a_tie_is_a_tie(errors: dict[str, tuple[Any, ...]], first: list[str]) -> None:
    found = [
        {"estimator": name, "error": one[0], "arithmetic": one[1], "apart": len(one) > 2}
        for name, one in errors.items()
    ]
    assert verdict.first(found) == first
    assert verdict.first(found[::-1]) == first


def test_designs_are_compared_on_the_same_pairs() -> None:
    compare = verdict.verdict
    more = row("EASE", DEEP, 500, MLE=[90, 90, 90], smoothed=[99, 99, 99]) | {"data": "y"}
    found, without = compare([*ROWS, more], []), compare(ROWS, [])
    assert (found["pairs"], found["pairs_with_every_design"]) == (3, 2)
    assert found["designs"] == without["designs"]
    assert found["by_data"][-1] == {
        "data": "y", "design": DEEP, "size": 500.0, "first": ["MLE"],
        "errors": {"MLE": [90.0, 90.0], "smoothed": [99.0, 99.0]},
    }  # fmt: skip
    rare = compare([*ROWS, *(one | {"data": "y"} for one in ROWS), more | {"design": "rare"}], [])
    assert (rare["apart"], rare["pairs_with_every_design"]) == (["rare"], 4)
    assert [one["design"] for one in rare["designs"]] == [DEEP, WIDE]
    assert rare["by_data"][-1]["design"] == "rare"
    with pytest.raises(ValueError, match="no data set and model has every design"):
        compare([ROWS[0], more], [])


def test_every_kind_of_state() -> None:
    cells = [{"row": "a", "column": "b", "published": 1.0, "measured": 1.01}]
    kdd = made_up(
        "kdd",
        tables=[
            outcome.compare("001 Table 2", cells, differs="another fit"),
            outcome.shown("001 Figure 2", "curves meet", False),
            outcome.missing("001 Table 3", "not in our copy"),
        ],
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
    cells += [{"row": "a", "column": "c", "published": 1.0, "measured": None}]
    part = index.collected([made_up("kdd", tables=[outcome.compare("001 Table 2", cells)])])
    assert next(one for one in part["items"] if one["item"] == "001 Table 2")["in_part"]


def test_the_weaker_of_two_outcomes_counts() -> None:
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


def test_an_item_that_no_paper_has() -> None:
    wrong = made_up("kdd", tables=[{"item": "001 Table 8", "state": "not here", "why": "x"}])
    with pytest.raises(ValueError, match=r"^kdd speaks of 001 Table 8, which no paper has$"):
        index.collected([wrong])


def test_the_list_of_items_is_whole() -> None:
    """Tables and figures are numbered without a gap, and twins are on the list."""
    items = ITEMS
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


def test_what_the_library_takes_by_itself() -> None:
    chosen = index.chosen
    # rank 1 of 100 stands for 37 ranks of ml-1m and for 374 of yelp-diffnet
    for data, design in (("ml-1m", "fixed 100"), ("yelp-diffnet", "fixed 100"),
                         ("yelp-diffnet", "adaptive 25")):  # fmt: skip
        assert chosen(data, design) == "smoothed"
    found = verdict.verdict(ROWS, [], lambda data, design: "MLE")
    for one in found["by_itself"]:
        mine = [row["errors"]["MLE"] for row in ROWS if row["design"] == one["design"]]
        assert one["taken"] == {"x": "MLE"}
        assert one["arithmetic"] == pytest.approx(sum(map(sum, mine)) / 6, abs=1e-3)
    assert len(found["by_itself"]) == len(found["designs"])


@pytest.mark.slow
def test_a_verdict_of_one_kind_of_design_is_drawn(
    need: Callable[[str], Any], tmp_path: Path
) -> None:
    need("matplotlib")
    for design in (DEEP, WIDE):
        rows = [one for one in ROWS if one["design"] == design]
        figures.draw(verdict.verdict(rows, []), tmp_path)
        assert ">smoothed</text>" in (tmp_path / figures.FIGURE).read_text("utf-8")


def test_the_stored_index_is_up_to_date(stored: Any) -> None:
    kept = stored("reproduction_index")
    for key, value in index.collected(index.read(RESULTS / "papers")).items():
        assert kept[key] == json.loads(json.dumps(value)), f"run reproduction_index: {key}"


def test_every_item_has_a_study_or_a_reason(stored: Any) -> None:
    for item in stored("reproduction_index")["items"]:
        for one in item["outcomes"]:
            assert one.get("why") != index.NOT_RUN, item["item"]
            page = ROOT / "docs" / "reproduction" / f"{one['study']}.md"
            assert one.get("why") or page.is_file(), item["item"]
