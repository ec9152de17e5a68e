"""Tables and numbers for the pages, read from the results of the studies."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import yaml

_DOCS = Path(__file__).parents[1]
_STUDIES = _DOCS / "studies"
if str(_DOCS.parent) not in sys.path:  # where the package reproduction is
    sys.path.append(str(_DOCS.parent))

import bank_tables  # noqa: E402
import exact_tables  # noqa: E402

from reproduction import tables  # noqa: E402
from reproduction.tables import stored as study  # noqa: E402
from reproduction.tables import table  # noqa: E402

_NAMERS = ("naive", "BV 0.01", "MLE", "MES", "MN_MES", "smoothed")
_NAMED_FROM = ("fixed 100", "fixed 500", "adaptive 100", "adaptive 25")


def smoothing() -> str:
    """Smoothed likelihood against EM stopped early, by design."""
    columns = {
        "design": "design",
        "cells": "cells",
        "smoothed has the smaller error": "{share_won:.0%}",
        "mean ratio of errors": "{geometric_mean_ratio:.2f}",
        "worst": "{worst_ratio:.1f}",
    }
    return tables.records("smoothing", "summary", columns).replace("%", " %")


def smoothing_of(design: str) -> Any:
    """The summary of one design."""
    return tables.selected("smoothing", "summary", {"design": design})[0]


def designs() -> str:
    """Error and cost of fixed and adaptive designs, items or users sampled."""
    columns = {
        "design": "design",
        "scores, millions": "{scored_millions:,.1f}",
        "error of recall, %": "{recall[mean]:.1f} ± {recall[sd]:.1f}",
        "error of NDCG, %": "{ndcg[mean]:.1f} ± {ndcg[sd]:.1f}",
    }
    return tables.records("user_sampling", "rows", columns, where=_of_ease())


def design_error(design: str, metric: str = "recall") -> str:
    """The mean error of a design on the data set that the study names first, in percent."""
    rows = tables.selected("user_sampling", "rows", _of_ease())
    row = next(row for row in rows if row["design"].startswith(design))
    return f"{row[metric]['mean']:.1f} %"


def _of_ease() -> dict[str, str]:
    return {"data": study("user_sampling")["data"], "model": "EASE"}


def winners() -> str:
    """How often estimators name the best of five models, over data sets and metrics."""
    found = {
        one["design"]: one["right"] for one in study("reproduction_index")["verdict"]["winners"]
    }
    designs = [one for one in _NAMED_FROM if one in found]
    rows = [
        [
            name.replace("naive", "naive metric"),
            *(f"{found[one][name]:.0f}" if name in found[one] else "–" for one in designs),
        ]
        for name in _NAMERS
    ]
    return table(["right winner, % of runs", *designs], rows)


def hundred(metric: str = "recall@10") -> str:
    """Bias, standard deviation and error of the published estimators from a hundred candidates."""
    rows = [
        [name, f"{bias:+.0f}", f"{spread:.0f}", f"{both:.0f}"]
        for name, bias, spread, both in _errors_of_hundred(metric)
    ]
    return table(["estimator", "bias, %", "standard deviation, %", "RMSE, %"], rows)


def hundred_best(metric: str = "recall@10") -> str:
    """The estimator of least error from a hundred candidates."""
    return min(_errors_of_hundred(metric), key=lambda row: row[-1])[0]


def _errors_of_hundred(metric: str) -> list[tuple[str, float, float, float]]:
    """Estimator, bias, spread and both together, in percent of the exact value."""
    name = metric.partition("@")[0]
    found = []
    for cell in study("aaai2021")["estimates"][0]["cells"]:
        if (cell["model"], cell["metric"]) == ("EASE", name):
            exact, measured = cell["exact"], cell["measured"]
            bias = 100 * (measured["mean"] / exact - 1)
            spread = 100 * measured["sd"] / exact
            found.append((cell["estimator"], bias, spread, (bias**2 + spread**2) ** 0.5))
    return found


def coverage(design: str, target: str = "population", metric: str = "recall@10") -> str:
    """Coverage of the intervals of what `estimate` picks, at full size, over the shapes."""
    cells = [
        cell
        for cell in study("intervals")["cells"]
        if cell["design"] == design and cell["target"] == target and cell["metric"] == metric
        and cell["n_users"] > 1_000
        and (cell["method"] == "smoothed" or design.startswith("fixed"))
    ]  # fmt: skip
    return table(
        ["shape of the ranks", "estimator", "coverage, %"],
        ([cell["shape"], cell["method"], f"{100 * cell['coverage']:.1f}"] for cell in cells),
    )


def growing() -> str:
    """How bounds narrow as the sample grows."""
    columns = {
        "candidates": "{sample_size:,}",
        "interval for the population": "{population[0]:.2f} … {population[1]:.2f}",
        "interval for these users": "{users[0]:.2f} … {users[1]:.2f}",
    }
    return tables.records("bounds", "growing/rows", columns)


def least_coverage() -> str:
    """The least coverage of the regions behind the bounds."""
    cells = study("bounds")["cells"]
    return f"{min(100 * cell['population'] / cell['runs'] for cell in cells):.1f} %"


def several() -> str:
    """Errors with several targets for each user."""
    found = study("several_targets")
    return table(
        ["metric", *(one["method"] for one in found["adaptive"])],
        (
            [
                metric,
                *(
                    f"{one['metrics'][metric]['relative_error_percent']:+.1f} %"
                    for one in found["adaptive"]
                ),
            ]
            for metric in found["exact"]
        ),
    )


def stated() -> str:
    """Stated probabilities of being the best against how often they are right."""
    columns = {
        "stated, %": "{stated_percent:.0f}",
        "runs": "{runs:,}",
        "right, %": "{right_percent:.0f}",
    }
    return tables.records("winner_probability", "stated", columns)


def gpu() -> str:
    """The count of exact ranks on a GPU beside torch's ways, for random factors."""
    columns = {
        "factors, operands": "{d}, {operands}",
        "fast": "{fast_ms:.0f} ms",
        "share of the product's rate": "{share_of_product:.0%}",
        "stored scores": "{stored_over_fast:.0f} times as long",
        "top 100": "{top100_over_fast:.0f} times as long",
    }
    shown = tables.records("gpu", "counts", columns, where={"factors": "random"})
    return f"65,536 users against 1,000,000 items on an {study('gpu')['device']}:\n\n{shown}"


def more_studies() -> str:
    """Rows for the studies that the index does not name."""
    index = (_STUDIES / "index.md").read_text(encoding="utf-8")
    titles = {
        page.name: page.read_text(encoding="utf-8").split("\n")[0][2:]
        for page in sorted(_STUDIES.glob("*.md"))
        if f"({page.name})" not in index and page.name != "index.md"
    }
    return "\n".join(f"| {title} | [{name[:-3]}]({name}) |" for name, title in titles.items())


def citations() -> list[tuple[str, str]]:
    """What each of the papers in CITATION.cff is good for, and the paper."""
    content = yaml.safe_load((_DOCS.parent / "CITATION.cff").read_text(encoding="utf-8"))
    found = []
    for one in content["references"]:
        names = ", ".join(f"{who['given-names']} {who['family-names']}" for who in one["authors"])
        where = one.get("collection-title") or one["identifiers"][0]["value"]
        found.append((one["notes"], f"{names}, *{one['title']}*, {where}, {one['year']}"))
    return found


def first_line(value: Any) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


FUNCTIONS = {
    function.__name__: function
    for function in (
        gpu, smoothing, smoothing_of, designs, design_error, winners, hundred,
        hundred_best, coverage, growing, least_coverage, several, stated, citations,
        first_line, more_studies,
        tables.at, tables.column, tables.counts, tables.items, tables.number, tables.outcomes,
        tables.pivot, tables.published, tables.records, tables.run_of, tables.states,
        tables.studies_of_papers,
    )
} | bank_tables.FUNCTIONS | exact_tables.FUNCTIONS | {"study": study}  # fmt: skip
