"""Tables and numbers for the pages, read from the results of the studies."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_STUDIES = Path(__file__).parents[1] / "studies"


@cache
def study(name: str) -> Any:
    """What a study found: `docs/studies/<name>.json`."""
    return json.loads((_STUDIES / f"{name}.json").read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table, numbers to the right."""
    body = [[str(cell) for cell in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))


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
    rows = [row for row in study("user_sampling")["rows"] if row["model"] == "EASE"]
    return table(
        ["design", "scores, millions", "error of Recall, %", "error of NDCG, %"],
        (
            [
                row["design"],
                f"{row['scored_millions']:,.1f}",
                *(f"{row[m]['mean']:.1f} ± {row[m]['sd']:.1f}" for m in ("recall", "ndcg")),
            ]
            for row in rows
        ),
    )


def design_error(design: str, metric: str = "recall") -> str:
    """The mean error of a design on pinterest-20-part, in percent."""
    row = next(
        row
        for row in study("user_sampling")["rows"]
        if row["model"] == "EASE" and row["design"].startswith(design)
    )
    return f"{row[metric]['mean']:.1f} %"


def winners() -> str:
    """How often each estimator names the best of four models, over nine metrics."""
    right = study("winners")["right_percent"]
    size, levels = study("winners")["sample_size"], study("winners")["adaptive_levels"]
    deep = f"adaptive, {levels[0]} to {levels[-1]:,}"
    rows = [
        [
            name.removeprefix("adaptive ").replace("naive", "the sampled metric as it is"),
            deep if name.startswith("adaptive") else f"fixed, {size}",
            f"{sum(values.values()) / len(values):.0f}",
        ]
        for name, values in right.items()
    ]
    return table(["estimator", "sample", "right winner, % of runs"], rows)


def winners_mean(name: str) -> str:
    """The share of runs in which an estimator names the best model."""
    values = study("winners")["right_percent"][name].values()
    return f"{sum(values) / len(values):.0f} %"


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
    exact = study("table2")["exact"][metric]
    found = []
    for cell in study("table2")["cells"]:
        if cell["metric"] == metric:
            bias = 100 * (cell["measured"]["mean"] / exact - 1)
            spread = 100 * cell["measured"]["sd"] / exact
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
    rows = study("winners")["stated"]
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
    content = yaml.safe_load((_STUDIES.parents[1] / "CITATION.cff").read_text(encoding="utf-8"))
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
        study, gpu, smoothing, smoothing_of, designs, design_error, winners, winners_mean, hundred,
        hundred_best, coverage, growing, least_coverage, several, stated, citations,
        first_line, more_studies,
    )
}  # fmt: skip
