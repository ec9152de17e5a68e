"""The study of Rendle 2019: its figures computed a second way, and its outcomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from reproduction.rendle2019 import figures, study

RANKS = {
    "A": [100, 100, 100, 100, 100],
    "B": [40, 40, 8437, 9266, 4482],
    "C": [212, 2, 743, 5342, 1548],
}
LAST = 9_999  # items beside the target


def _expected_ap(model: str, samples: int) -> float:
    """The mean of 1/r under the binomial distribution, term by term."""
    above = np.arange(samples + 1)
    chances = [binom.pmf(above, samples, (rank - 1) / LAST) for rank in RANKS[model]]
    return float(np.mean([chance @ (1.0 / (above + 1)) for chance in chances]))


def test_orders_change_where_the_expectations_cross() -> None:
    steps = figures.orders("ap")["steps"]
    assert [step["order"] for step in steps] == [
        "A > C > B",
        "A > B > C",
        "A > C > B",
        "C > A > B",
        "C > B > A",
    ]
    for step in steps[1:]:
        before, after = (
            sorted(RANKS, key=lambda model, m=m: -_expected_ap(model, m))
            for m in (step["from"] - 1, step["from"])
        )
        assert " > ".join(after) == step["order"]
        assert before != after


def test_the_lines_of_the_figures(stored: Any) -> None:
    """AP a second way, and recall and AUC by hand."""
    drawn = stored("rendle2019")["curves"]
    assert drawn == figures.curves()
    first, second, third = drawn["figure1"], drawn["figure2"], drawn["figure3"]
    worth = dict(zip(first["ranks"], first["metrics"]["recall@10"], strict=True))
    assert worth == {rank: float(rank <= 10) for rank in first["ranks"]}
    assert {10, 11} <= set(worth)
    for model in RANKS:
        line = dict(zip(second["candidates"], second["metrics"]["ap"][model], strict=True))
        assert (min(line), max(line)) == (2, 10_000)
        for n in sorted(line)[::8]:
            assert line[n] == pytest.approx(_expected_ap(model, n - 1), abs=1e-5)
    # sampled AUC is AUC, whatever the number of candidates
    auc = [1 - (rank - 1) / LAST for rank in third["ranks"]]
    assert list(third["metrics"]["auc"]) == ["n = 2", "n = 11", "n = 101", "n = 1,001", "exact"]
    for line in third["metrics"]["auc"].values():
        assert line == pytest.approx(auc, abs=1e-5)


def test_the_figures_are_drawn_from_the_results_and_always_alike(
    stored: Any, need: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    need("matplotlib")
    draw, content = study.figures, stored("rendle2019")
    files = [f"rendle2019-figure{number}.svg" for number in (1, 2, 3)]
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        draw({"curves": content["curves"]}, folder)  # nothing else is needed
        assert sorted(path.name for path in folder.iterdir()) == files
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    content["curves"]["figure2"]["metrics"]["ap"]["A"][0] = 0.5
    draw(content, tmp_path / "two")
    changed = [
        n
        for n in files
        if (tmp_path / "one" / n).read_bytes() != (tmp_path / "two" / n).read_bytes()
    ]
    assert changed == ["rendle2019-figure2.svg"]


def test_equal_models_have_no_order() -> None:
    order = figures.order
    assert order({"B": 1.0, "A": 1.0 + 1e-13, "C": 0.5}) == "A = B > C"


def test_from_which_size_on() -> None:
    since = figures._since
    assert since([1, 2, 5, 9], [1, 5, 9]) == 5
    assert since([1, 2, 5, 9], [1, 2, 5, 9]) == 1
    assert since([1, 2, 5, 9], [1, 2, 5]) is None


def test_a_figure_that_fails_is_said_to_fail(stored: Any) -> None:
    """AUC that is not kept, and an order of AP that is not the named one."""
    content = stored("rendle2019")
    assert study._tables(content) == content["tables"]
    content["orders"]["auc"]["steps"].append({"from": 7, "order": "C > A > B"})
    content["shapes"][0]["from_exact"] = 0.5
    changed = {one["item"]: one["state"] for one in study._tables(content)}
    assert changed["002 Figure 2"] == changed["002 Figure 3"] == "not reproduced"
    assert changed["002 Figure 1"] == "reproduced"


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any) -> None:
    content = quick("rendle2019")
    assert {one["state"] for one in content["tables"]} == {"reproduced"}
    for cell in content["sampled"]:
        assert cell["within_simulation_error"]
        if cell["row"] == "ap":
            assert cell["measured"] == pytest.approx(_expected_ap(cell["column"], 99), rel=1e-12)
    rows = {(row["design"], row["estimator"]): row for row in content["estimated"]["rows"]}
    assert ("adaptive 25", "naive") not in rows
    assert rows["fixed 100", "naive"]["metrics"]["ap"]["best_named_percent"] == 0
    assert rows["adaptive 25", "smoothed"]["metrics"]["ap"]["best_named_percent"] == 100
    exact = {(c["row"], c["column"]): c["measured"] for c in content["exact"]}
    for one in content["estimated"]["bounds"]:
        low, high = one["interval"]
        assert low - 1e-4 <= exact[one["metric"], one["model"]] <= high + 1e-4
