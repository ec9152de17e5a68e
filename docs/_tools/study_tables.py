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

from reproduction import tables  # noqa: E402
from reproduction.tables import stored as study  # noqa: E402
from reproduction.tables import table  # noqa: E402

_NAMERS = ("naive", "BV 0.01", "MLE", "MES", "MN_MES", "smoothed")
_NAMED_FROM = ("fixed 100", "fixed 500", "adaptive 100", "adaptive 25")


def smoothing() -> str:
    """Smoothed likelihood against EM stopped early, design by design."""
    return table(
        ["design", "cells", "smoothed has the smaller error", "mean ratio of errors", "worst"],
        (
            [
                one["design"],
                one["cells"],
                f"{one['share_won']:.0%}",
                f"{one['geometric_mean_ratio']:.2f}",
                f"{one['worst_ratio']:.1f}",
            ]
            for one in study("smoothing")["summary"]
        ),
    )


def smoothing_of(design: str) -> Any:
    """The summary of one design."""
    return next(one for one in study("smoothing")["summary"] if one["design"] == design)


def designs() -> str:
    """Error and cost of fixed and adaptive designs, items or users sampled."""
    return table(
        ["design", "scores, millions", "error of Recall, %", "error of NDCG, %"],
        (
            [
                row["design"],
                f"{row['scored_millions']:,.1f}",
                *(f"{row[m]['mean']:.1f} ± {row[m]['sd']:.1f}" for m in ("recall", "ndcg")),
            ]
            for row in _of_ease()
        ),
    )


def design_error(design: str, metric: str = "recall") -> str:
    """The mean error of a design on the data set that the study names first, in percent."""
    row = next(row for row in _of_ease() if row["design"].startswith(design))
    return f"{row[metric]['mean']:.1f} %"


def _of_ease() -> list[Any]:
    found = study("user_sampling")
    asked = (found["data"], "EASE")
    return [row for row in found["rows"] if (row["data"], row["model"]) == asked]


def winners() -> str:
    """How often estimators name the best of five models, over data sets and metrics."""
    found = {
        one["design"]: one["right"] for one in study("reproduction_index")["verdict"]["winners"]
    }
    designs = [one for one in _NAMED_FROM if one in found]
    rows = [
        [
            name.replace("naive", "the sampled metric as it is"),
            *(f"{found[one][name]:.0f}" if name in found[one] else "–" for one in designs),
        ]
        for name in _NAMERS
    ]
    return table(["right winner, % of runs", *designs], rows)


def hundred(metric: str = "recall@10") -> str:
    """Bias, spread and error of the published estimators from a hundred candidates."""
    rows = [
        [name, f"{bias:+.0f}", f"{spread:.0f}", f"{both:.0f}"]
        for name, bias, spread, both in _errors_of_hundred(metric)
    ]
    return table(["estimator", "bias, %", "spread, %", "together, %"], rows)


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
        ["ranks as on", "estimator", "coverage, %"],
        ([cell["shape"], cell["method"], f"{100 * cell['coverage']:.1f}"] for cell in cells),
    )


def growing() -> str:
    """How bounds narrow as the sample grows."""
    found = study("bounds")["growing"]
    return table(
        ["candidates", "all users like these", "these users"],
        (
            [
                f"{row['sample_size']:,}",
                *(f"{row[t][0]:.2f} … {row[t][1]:.2f}" for t in ("population", "users")),
            ]
            for row in found["rows"]
        ),
    )


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
    rows = study("winner_probability")["stated"]
    return table(
        ["stated, %", "runs", "right, %"],
        (
            [f"{row['stated_percent']:.0f}", f"{row['runs']:,}", f"{row['right_percent']:.0f}"]
            for row in rows
        ),
    )


def gpu() -> str:
    """The count of exact ranks on a GPU beside torch's ways, for random factors."""
    found = study("gpu")
    cells = [cell for cell in found["counts"] if "stored_ms" in cell]
    shown = table(
        ["factors, operands", "fast", "share of the product's rate", "stored scores", "top 100"],
        (
            [
                f"{cell['d']}, {cell['operands']}",
                f"{cell['fast_ms']:.0f} ms",
                f"{cell['share_of_product']:.0%}",
                f"{cell['stored_over_fast']:.0f} times as long",
                f"{cell['top100_over_fast']:.0f} times as long",
            ]
            for cell in cells
        ),
    )
    return f"65,536 users against 1,000,000 items on an {found['device']}:\n\n{shown}"


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
} | {"study": study}  # fmt: skip
