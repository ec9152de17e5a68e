"""The study of Jin et al. 2021: its tables computed a second way, and its outcomes."""

from __future__ import annotations

import zlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullrank.estimators import mle
from fullrank.metrics import parse
from fullrank.samples import simulate
from reproduction.aaai2021.curves import _second, figure_outcomes
from reproduction.aaai2021.outcomes import estimates_outcome, winners_outcome
from reproduction.aaai2021.published import ESTIMATORS, WINNERS_OF, estimates, winners
from reproduction.aaai2021.tables import _right
from reproduction.common.bank import MODELS, bank
from reproduction.common.exact import METRICS
from reproduction.common.repeats import Cell


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any) -> None:
    content = quick("aaai2021")
    assert quick.printed.count("2 repeats in") == 2 * 4 + 1
    cells = content["estimates"][0]["cells"]
    assert len(cells) == 2 * 3 * 6
    for cell in cells:
        scaled = cell["published"]["mean"] * cell["exact"] / cell["published_exact"]
        assert cell["published_scaled"] == pytest.approx(scaled, rel=1e-4)
    _check_by_a_second_way(content)
    # from the cache: nothing is computed, and nothing but the time changes
    again = quick("aaai2021")
    assert "repeats in" not in quick.printed
    for key in ("estimates", "ours_beside", "winner_tables", "winners", "curves", "tables"):
        assert again[key] == content[key]


def _check_by_a_second_way(content: dict[str, Any]) -> None:
    """MLE of one cell and the winners of one metric, from the ranks and the library alone."""
    known = bank("ml-latest-small")
    values, exact, models = {}, {}, content["models"]
    for model in models:
        own = zlib.crc32(f"ml-latest-small, {model}, fixed 100".encode())
        samples = [
            simulate(
                known[model].ranks,
                n_items=known[model].n_items,
                design="sampled:100,replacement=true",
                rng=np.random.default_rng([seed, own]),
            )
            for seed in range(2)
        ]
        values[model] = [mle(sample).metric("ndcg@10") for sample in samples]
        exact[model] = parse("ndcg@10").weights(known[model].ranks, known[model].n_items).mean()
    cell = next(
        one
        for one in content["estimates"][0]["cells"]
        if (one["model"], one["metric"], one["estimator"]) == ("NeuMF", "ndcg", "MLE")
    )
    assert cell["measured"]["mean"] == pytest.approx(1000 * np.mean(values["NeuMF"]), rel=1e-4)
    assert cell["measured"]["sd"] == pytest.approx(1000 * np.std(values["NeuMF"], ddof=1), rel=1e-3)
    assert cell["exact"] == pytest.approx(1000 * exact["NeuMF"], rel=1e-4)
    best = max(models, key=lambda model: exact[model])
    named = [max(models, key=lambda model: values[model][seed]) for seed in range(2)]
    table = content["winner_tables"][0]
    assert table["best"]["ndcg@10"] == best
    assert table["right"]["MLE"]["ndcg@10"] == 50 * named.count(best)


def test_estimates_that_tie_share_the_point() -> None:
    # two repeats; the first model is best, and the estimator sees that once and ties once
    pairs = ([2.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    values = dict(zip(MODELS, pairs, strict=True))
    found = {
        Cell("d", model, "fixed 100"): SimpleNamespace(of=lambda *_, v=value: np.array(v))
        for model, value in values.items()
    }
    exact = np.array([[5.0], [4.0], [3.0], [2.0], [1.0]])
    assert _right("d", "fixed 100", "MLE", [("recall", 10)], exact, found) == [75.0]  # type: ignore[arg-type]


def test_the_published_figures_belong_together() -> None:
    """From 100 items the head of P(R) is nearly flat, so that the metrics move together.

    This finds misread digits: NDCG/Recall and AP/NDCG hardly differ between rows, and relative
    standard deviations grow from Recall to AP.
    """
    for table, winners_table in WINNERS_OF.items():
        rows = estimates(table)
        assert set(rows) == {(model, metric) for model in MODELS for metric in METRICS}
        for model in MODELS:
            for name in rows[model, "recall"][1]:
                mean, sd = np.transpose([rows[model, metric][1][name] for metric in METRICS])
                assert 0.42 < mean[1] / mean[0] < 0.49, (table, model, name)
                assert 0.60 < mean[2] / mean[1] < 0.68, (table, model, name)
                relative = sd / mean
                assert relative[0] < 1.06 * relative[1] < 1.06 * 1.06 * relative[2]
        for name, counts in winners(winners_table).items():
            assert name in ESTIMATORS
            assert len(counts) == 12
            assert counts["recall@1"] == counts["ndcg@1"] == counts["ap@1"]


def test_every_table_and_figure_has_its_outcome(stored: Any) -> None:
    content = stored("aaai2021")
    kept = {one["item"]: one for one in content["tables"]}
    expected = [f"004 Table {n}" for n in range(1, 11)] + [f"004 Figure {n}" for n in (1, 2, 3)]
    assert sorted(kept) == sorted([*expected, "003 Figure 6"])
    again = [
        *(estimates_outcome(one, content["repeats"]) for one in content["estimates"]),
        *map(winners_outcome, content["winner_tables"]),
        *figure_outcomes(content["curves"]),
    ]
    assert len(again) == len(kept) - 2  # Tables 1 and 5 have no result
    for one in again:
        assert one == kept[one["item"]]


def test_table_2_agrees_with_the_paper(stored: Any) -> None:
    """EASE is the model whose exact values are the paper's within a few percent."""
    content = stored("aaai2021")
    table = content["estimates"][0]
    assert (table["table"], table["data"], content["repeats"]) == ("2", "ml-1m", 100)
    held = [cell for cell in table["cells"] if cell["model"] == "EASE" and cell["held_to"]]
    assert len(held) == 15
    for cell in held:
        assert abs(cell["exact"] / cell["published_exact"] - 1) < 0.05
        distance = abs(cell["measured"]["mean"] - cell["published_scaled"])
        assert distance <= 2 * cell["published"]["sd"], cell
        assert abs(cell["measured"]["sd"] / cell["published"]["sd"] - 1) <= 0.25, cell


def test_the_exact_column_and_unscaled_figures_are_counted(stored: Any) -> None:
    """The outcome of Table 3 depends on the scaling: both counts are there, and the rows used."""
    content = stored("aaai2021")
    entries = {one["item"]: one for one in content["tables"]}
    for table in content["estimates"][:3]:
        entry = entries[f"004 Table {table['table']}"]
        exact = {(c["model"], c["metric"]): c["exact"] / c["published_exact"] - 1
                 for c in table["cells"]}  # fmt: skip
        like = {row for row, away in exact.items() if abs(away) <= 0.15}
        assert entry["exact"] == f"{len(like)} of 15 cells of the exact column within 15 %"
        assert entry["exact"] in entry["differs"]
        cells = [c for c in table["cells"] if (c["model"], c["metric"]) in like]
        assert entry["cells"] == entry["unscaled"]["of"] == len(cells)
        for key, scaled in (("within", True), ("unscaled", False)):
            near = 0
            for cell in cells:
                factor = cell["exact"] / cell["published_exact"] if scaled else 1.0
                mean, sd = (factor * cell["published"][which] for which in ("mean", "sd"))
                error = np.hypot(sd, cell["measured"]["sd"]) / content["repeats"] ** 0.5
                near += abs(cell["measured"]["mean"] - mean) <= max(0.15 * mean, 2 * error)
            assert near == (entry[key] if scaled else entry[key]["within"])


def test_a_figure_is_shown_where_every_part_of_it_is() -> None:
    good = {"pmf": 30.0, "cdf": 3.0, "cdf_signed": 1.0}
    errors = {
        "MLE": good,
        "MES": good,
        "WMLE": good | {"cdf_signed": 2.0},
        "BV 0.1": good | {"cdf": 9.0},
    }
    panel = {"errors": errors}
    assert _second([panel] * 3)["state"] == "reproduced"
    for name, key, value in (("BV 0.1", "cdf", 2.0), ("WMLE", "cdf_signed", 0.0),
                             ("MLE", "cdf", 16.0)):  # fmt: skip
        other = {"errors": errors | {name: errors[name] | {key: value}}}
        assert _second([panel, panel, other])["state"] == "not reproduced"


def test_the_figure_of_the_dissertation_is_on_its_own_data(stored: Any) -> None:
    """Li (dissertation), Figure 6, has pinterest-20, MLE and MES; WMLE does not count."""
    drawn = stored("aaai2021")["curves"]
    first, later = drawn["1"]
    assert (first["data"], later["data"]) == ("ml-1m", "pinterest-20-part")
    later["errors"]["WMLE"]["cdf"] = 16.0

    def state() -> str:
        return str(next(o for o in figure_outcomes(drawn) if o["item"] == "003 Figure 6")["state"])

    assert state() == "reproduced"
    later["errors"]["MES"]["cdf"] = 16.0
    assert state() == "not reproduced"
    del drawn["1"][1]  # the quick form has no such data
    assert [one["item"] for one in figure_outcomes(drawn)] == [f"004 Figure {n}" for n in (1, 2, 3)]
