"""The study of Li et al. 2023: published tables, numbers computed a second way, and outcomes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullrank.designs import Adaptive
from fullrank.estimators import mle
from fullrank.samples import simulate
from reproduction.aaai2023 import compared, depth, errors, outcome, tables
from reproduction.aaai2023 import published as printed
from reproduction.common import repeats
from reproduction.common.bank import bank
from reproduction.common.exact import Judge, Ranks


def test_published_tables_are_whole() -> None:
    models = {"EASE", "MultiVAE", "NeuMF", "itemKNN", "iALS"}
    for table in printed.ERRORS:
        assert tuple(table.cells) == printed.DATA
        for cells in table.cells.values():
            assert set(cells) == models
            assert {len(row) for row in cells.values()} <= {6, 7}
    for rows in printed.WINNERS.values():
        assert len(rows) == 9


def test_figures_that_are_printed_twice_agree() -> None:
    """NDCG from 500 items is in two tables of Li et al. 2023, MN_MES in two of the dissertation."""
    for data in ("pinterest-20", "yelp"):
        for model, row in printed.NDCG_500.cells[data].items():
            again = printed.NDCG_ADAPTIVE.cells[data][model]
            assert {name: row[name] for name in printed.FOUR} == {
                name: again[name] for name in printed.FOUR
            }
            users = {m: printed.USER_SAMPLING[m][data][model] for m in ("recall", "ndcg")}
            recall = printed.RECALL_100.cells[data][model]["MN_MES"]
            assert users["recall"]["100 items, MN_MES"] == recall
            deeper = printed.RECALL_ADAPTIVE.cells[data][model]
            assert users["recall"]["500 items, MN_MES"] == deeper["MN_MES"]
            assert users["ndcg"]["500 items, MN_MES"] == row["MN_MES"]
            sizes = (deeper["size"], again["size"])
            assert sizes[0] == sizes[1]


def _as_published() -> dict[str, Any]:
    """The content of a run that measured every published value."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    names = {"BV": "BV 0.01", "adaptive MLE": "MLE"}
    for table in printed.ERRORS:
        at = ("recall", "ndcg", "ap").index(table.metric)
        for data, models in table.cells.items():
            for model, columns in models.items():
                for column, (mean, sd) in columns.items():
                    adaptive = column in ("adaptive MLE", "size")
                    design = "adaptive 100" if adaptive else f"fixed {table.size(data)}"
                    key = (data, model, design)
                    row = rows.setdefault(
                        key,
                        dict(zip(("data", "model", "design"), key, strict=True))
                        | {"errors": {}, "spread": {}},
                    )
                    if column == "size":
                        row |= {"size": mean, "size_spread": sd}
                        continue
                    averaged = column in printed.FOUR
                    name = f"{column}, averaged" if averaged else names.get(column, column)
                    row["errors"].setdefault(name, [1.0] * 3)[at] = mean
                    row["spread"].setdefault(name, [1.0] * 3)[at] = sd
    winners = []
    for data, metrics in printed.WINNERS.items():
        fixed = {
            metric: {
                f"{name}, averaged" if name in printed.FOUR else names.get(name, name): count
                for name, count in counts.items()
                if name != "adaptive MLE"
            }
            for metric, counts in metrics.items()
        }
        deep = {metric: {"MLE": counts["adaptive MLE"]} for metric, counts in metrics.items()}
        size = printed.FIXED[data]
        winners.append({"data": data, "design": f"fixed {size}", "by_metric": fixed})
        winners.append({"data": data, "design": "adaptive 100", "by_metric": deep})
    sizes = {data: {"n_users": printed.USERS[data]} for data in printed.DATA}
    return {"data": sizes, "repeats": 100, "verdict": list(rows.values()), "winners": winners}


def test_a_run_that_measures_what_is_published_is_reproduced() -> None:
    content = _as_published()
    found = tables.tables(content)
    assert [one["item"] for one in found] == [
        "000 Table 1", "000 Table 6", "003 Table 3", "000 Table 9", "000 Table 10", "000 Table 2",
        "000 Table 7", "000 Table 11", "003 Table 4", "000 Table 3", "000 Table 8", "003 Table 5",
    ]  # fmt: skip
    for one in found:
        assert one["state"] == "reproduced"
        assert one["absent"] == 0
        assert one["within"] == one["cells"]
        assert one["order"] == 1.0
    cells = {one["item"]: one["cells"] for one in found}
    assert cells["000 Table 1"] == 2 * 5 * 7
    assert cells["000 Table 7"] == 3 * 5 * 6
    assert cells["003 Table 5"] == 3 * 9 * 8


def test_a_run_that_measures_something_else_is_not() -> None:
    content = _as_published()
    for row in content["verdict"]:
        # every error five times as large, and in the other order
        row["errors"] = {name: [100 - 5 * x for x in e] for name, e in row["errors"].items()}
    by_item = {one["item"]: one["state"] for one in tables.tables(content)}
    assert by_item["000 Table 6"] == by_item["000 Table 11"] == "not reproduced"
    assert by_item["003 Table 5"] == "reproduced"  # winners were left as they were


def test_missing_users_make_errors_larger() -> None:
    content = {"data": {"pinterest-20-part": {"n_users": 37_501}, "yelp-diffnet": {"n_users": 9}}}
    assert tables.standing(content, "pinterest-20") == "pinterest-20-part"
    assert tables.scale(content, "pinterest-20") == pytest.approx((55_187 / 37_501) ** 0.5)
    assert tables.standing(content, "yelp") is None  # other data are not compared with it
    assert tables.standing(content, "ml-20m") is None
    content["data"]["pinterest-20"] = {"n_users": 55_187}
    assert tables.scale(content, "pinterest-20") == 1.0


def test_a_table_without_data_says_so() -> None:
    content = {"data": {"ml-1m": {"n_users": 6040}}, "verdict": [], "winners": []}
    for one in tables.tables(content):
        assert one["state"] == "not here"
        assert "pinterest-20" in one["why"]


def test_cost_of_a_level_by_hand() -> None:
    """Of 100 users 60 leave rank 1 at once, 10 at the second level: C_0 and C_1 (equation 13)."""
    costs = depth.costs(np.array([60.0, 10.0, 20.0]), [100, 200, 400], 100)
    assert costs == pytest.approx([100 * 100 / 60, 40 * 100 / 10])


def test_growth_of_the_cost_by_hand() -> None:
    """Costs 1, 1.5, 3, 9 at 2, 4, 12 and 24 % of the items, the last size without a cost."""
    levels = [
        {"size": size, "percent_of_items": size / 50, "cost": cost and {"mean": cost}}
        for size, cost in ((100, 1.0), (200, 1.5), (600, 3.0), (1200, 9.0), (5000, None))
    ]
    assert outcome._growth(levels) == pytest.approx((1.5, 3.0))
    assert outcome._growth(levels[:2]) is None


def test_the_levels_of_a_depth_are_one_sample() -> None:
    """Users who stop at a level, counted once from the deepest sample."""
    ranks = np.random.default_rng(0).integers(1, 60, 400)
    known = Ranks(ranks, 1000)
    levels = [100, 200, 400, 1000]
    rows = depth._repeat(3, known, levels, True)
    whole = simulate(ranks, n_items=1000, design=Adaptive(levels=levels, replacement=True), rng=3)
    for size, row in zip(levels, rows, strict=True):
        at = (whole.sample_size == size) & (whole.rank > 1)
        assert row[0] == whole.count[at].sum()
    assert rows[-1][1] == pytest.approx(whole.average_size)


def test_an_interrupted_depth_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def work(seed: int, known: Any) -> list[list[float]]:
        seeds.append(seed)
        return [[float(seed)] * 8] * 2

    path, known = tmp_path / "kept.npz", Ranks(np.array([3, 1, 4]), 9)
    depth._kept(path, partial(work, known=known), [2, 4], 3, 1)
    found = depth._kept(path, partial(work, known=known), [2, 4], 5, 1)
    assert seeds == [0, 1, 2, 3, 4]
    assert found[:, 0, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    # of other ranks, another catalogue or other settings nothing is kept
    for ranks, n_items, steps in (([3, 1, 5], 9, 50), ([3, 1, 5], 8, 50), ([3, 1, 5], 8, 60)):
        monkeypatch.setattr(depth, "EM_STEPS", steps)
        other = partial(work, known=Ranks(np.array(ranks), n_items))
        del seeds[:]
        depth._kept(path, other, [2, 4], 1, 1)
        depth._kept(path, other, [2, 4], 1, 1)
        assert seeds == [0]


def _repeats(values: list[list[float]], exact: float) -> Any:
    """Repeats of two estimators that say the same of every metric and cut-off."""
    shaped = np.array(values)[:, :, None, None] * np.ones((1, 1, 3, 50))
    found = np.full((3, 50), exact)
    return SimpleNamespace(values=shaped, estimators=("MLE", "smoothed"), exact=found)


def test_winners_by_hand() -> None:
    found = {
        "EASE": _repeats([[0.5, 0.5], [0.1, 0.5], [0.5, 0.5], [0.5, 0.1]], 0.4),
        "iALS": _repeats([[0.2, 0.2]] * 4, 0.3),
    }
    one = errors.winners("ml-1m", "fixed 500", found)
    assert set(one["best"].values()) == {"EASE"}
    assert one["right"] == {"MLE": 75.0, "smoothed": 75.0}
    assert one["by_metric"]["recall@5"] == {"MLE": 75.0, "smoothed": 75.0}
    found["EASE"] = _repeats([[0.1, 0.5]] * 4, 0.4)
    assert errors.winners("ml-1m", "fixed 500", found)["right"] == {"MLE": 0.0, "smoothed": 100.0}


def test_winners_that_tie_share_the_point() -> None:
    found = {"EASE": _repeats([[0.5, 0.0]] * 4, 0.3), "iALS": _repeats([[0.5, 0.0]] * 4, 0.4)}
    one = errors.winners("ml-1m", "fixed 500", found)
    assert one["right"] == {"MLE": 50.0, "smoothed": 50.0}


def test_a_figure_without_its_data_is_tested_elsewhere() -> None:
    figure = outcome._figure
    found = figure("000 Figure 2", "it grows", None, "yelp", ["yelp-diffnet", "ml-1m"])
    assert (found["state"], found["holds"]) == ("on other data", None)
    assert found["data"] == "yelp-diffnet, ml-1m"
    for holds, state in ((None, "not reproduced"), (True, "reproduced")):
        assert figure("000 Figure 2", "it grows", holds, "yelp", ["yelp"])["state"] == state


def test_stored_comparisons_and_outcomes_follow_from_the_errors(stored: Any) -> None:
    content = stored("aaai2023")
    made = [*tables.tables(content), *outcome.figures_and_notes(content)]
    assert made == content["tables"]
    assert compared.advantage(content) == content["priors"]
    assert compared.wins(content) == content["wins"]
    for one in content["blind_spot"]:
        one["shares"][1] = 99.0
    changed = {one["item"]: one.get("holds") for one in outcome.figures_and_notes(content)}
    assert changed["003 Figure 7"] is False
    assert changed["000 Figure 1"] is None
    assert changed["003 Figure 8"] is True


def test_seconds_are_read_again(tmp_path: Path) -> None:
    known = Ranks(np.arange(1, 400), 500)
    first = errors.seconds("ml-1m", known, "fixed 100", ("naive", "MLE"), tmp_path)
    assert list(first) == ["MLE"]
    (path,) = tmp_path.iterdir()
    path.write_text('{"MLE": 7.0}', "utf-8")
    assert errors.seconds("ml-1m", known, "fixed 100", ("naive", "MLE"), tmp_path) == {"MLE": 7.0}
    other = errors.seconds("ml-1m", known, "fixed 100", ("MLE", "BV 0.1"), tmp_path)
    assert list(other) == ["MLE", "BV 0.1"]


def test_what_is_left_of_a_prior() -> None:
    each = {"MES": [10.0] * 3, "MLE": [10.0] * 3}
    for name in ("BV_MES", "BV_MLE", "MN_MES", "MN_MLE"):
        each |= {f"{name}, averaged": [8.0] * 3, name: [9.0] * 3}
    each |= {"MN_MLE, averaged": [10.0] * 3}
    row = {"data": "ml-1m", "model": "EASE", "design": "fixed 100", "errors": each}
    content = {"designs": ["fixed 100", "adaptive 25"], "verdict": [row]}
    found = {one["estimator"]: one for one in compared.advantage(content)}
    assert found["MN_MES"]["averaged"] == pytest.approx(0.8)
    assert found["MN_MES"]["single"] == pytest.approx(0.9)
    assert found["MN_MES"]["left_percent"] == pytest.approx(50.0)
    assert found["MN_MLE"]["left_percent"] is None  # no advantage, nothing left of it


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any) -> None:
    content = quick("aaai2023")
    assert {one["design"] for one in content["verdict"]} == set(content["designs"])
    states: dict[str, set[str]] = {"Table": set(), "Figure": set()}
    for one in content["tables"]:
        states[one["item"].split()[1]].add(one["state"])
    assert states["Table"] == {"not here", "nothing to reproduce"}
    assert states["Figure"] == {"on other data", "nothing to reproduce"}
    _errors_again(content)
    _blind_spot_again(content)


def _errors_again(content: dict[str, Any]) -> None:
    """MLE from the same draws by the public function, judged as the other studies do."""
    known = bank("ml-latest-small")["EASE"]
    judge = Judge(known)
    for design, steps in (("fixed 100", 100), ("adaptive 25", 50)):
        cell = repeats.Cell("ml-latest-small", "EASE", design)
        each = [
            judge.errors(
                mle(repeats._draw(cell, known, seed), iterations=steps, grid=judge.grid).mass
            )
            for seed in range(content["repeats"])
        ]
        row = next(
            one for one in content["verdict"] if (one["model"], one["design"]) == ("EASE", design)
        )
        assert row["errors"]["MLE"] == pytest.approx(np.mean(each, axis=0), rel=1e-3)
        assert row["spread"]["MLE"] == pytest.approx(np.std(each, axis=0, ddof=1), rel=1e-3)


def _blind_spot_again(content: dict[str, Any]) -> None:
    """Shares of the ranks among 100 from a draw of its own: binomial, one for each user."""
    known = bank("ml-latest-small")["EASE"]
    chance = (known.ranks - 1) / (known.n_items - 1)
    expected = 100 * np.mean((1 - chance) ** 99)
    (one,) = content["blind_spot"]
    assert sum(one["shares"]) == pytest.approx(100, abs=0.1)
    assert one["shares"][0] == pytest.approx(expected, abs=5)  # 671 users: a sd below 2
