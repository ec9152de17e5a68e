"""The page: one HTML file with its style, its scripts and all its numbers inside."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from fullrank import __version__
from fullrank._lib import extras
from fullrank.inference.estimation.result import PEOPLE
from fullrank.reporting.conclusions import leading
from fullrank.reporting.escaping import as_code, script_json
from fullrank.reporting.figures.comparison_figures import comparison_table
from fullrank.reporting.figures.draw_plotly import spec
from fullrank.reporting.measurement import described

if TYPE_CHECKING:
    from fullrank.reporting.result import Report

_SECTIONS = {  # in the contents, and as a heading
    "summary": ("Summary", "Summary"),
    "metrics": ("Metrics", "Metrics"),
    "recall": ("Recall", "Recall at every K"),
    "ranks": ("Ranks", "Where the held-out items stand"),
    "blind": ("Blind spot", "What the sample cannot show"),
    "comparison": ("Comparison", "Which model is best"),
    "efficiency": ("Cost", "What sampling cost"),
    "measured": ("Method", "How it was measured"),
}
_PAPERS = {
    "sampled": "S. Rendle. Evaluation metrics for item recommendation under sampling. 2019.",
    "mapping": "D. Li, R. Jin, J. Gao, Z. Liu. On sampling top-K recommendation evaluation. "
    "KDD 2020.",
    "estimate": "R. Jin, D. Li, B. Mudgal, J. Gao, Z. Liu. On estimating recommendation evaluation "
    "metrics under sampling. AAAI 2021.",
    "adaptive": "D. Li, R. Jin, Z. Liu, B. Ren, J. Gao, Z. Liu. Towards reliable item sampling for "
    "recommendation evaluation. AAAI 2023.",
}


def render(report: Report) -> str:
    """The report as HTML. Every text is escaped, and no request leaves the page."""
    jinja2 = extras.load("jinja2", extra="report", purpose="Writing a report")
    offline = extras.load("plotly.offline", extra="report", purpose="Writing a report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined,
                                     trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    environment.filters["nb"] = _unbroken
    environment.filters["code"] = lambda text: as_code(text, jinja2.utils.markupsafe)
    plotly, script = offline.get_plotlyjs().replace("\r", ""), _read("report.js")
    sections: dict[str, list[Any]] = {}
    for figure in report.figures.values():
        sections.setdefault(figure.section, []).append(figure)
    shown = {"summary", "metrics", "measured", *sections}
    if report.notes:  # why there is no comparison is worth its place
        shown.add("comparison")
    page: str = environment.from_string(_read("report.html")).render(
        report=report,
        described=described,
        version=__version__,
        sections={name: titles for name, titles in _SECTIONS.items() if name in shown},
        figures=sections,
        groups=report.groups(),
        columns=report.columns(),
        named=_named(report),
        people=_people(report),
        warnings=_warnings(report),
        compared=_compared(report),
        papers=_papers(report),
        statement=_statement(report),
        style=jinja2.utils.markupsafe.Markup(_read("report.css")),
        policy=_policy(plotly, script),
        data=jinja2.utils.markupsafe.Markup(
            script_json([spec(figure) for figure in report.figures.values()])
        ),
        plotly=jinja2.utils.markupsafe.Markup(plotly),
        script=jinja2.utils.markupsafe.Markup(script),
    )
    return page


def _unbroken(text: str) -> str:
    """No line ends between a number and its per cent sign."""
    return text.replace(" %", "\u00a0%")


def _read(name: str) -> str:
    folder = resources.files("fullrank.reporting").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8").replace("\r", "")


def _policy(*scripts: str) -> str:
    """No request at all, and no script but those named by their hash."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _named(report: Report) -> dict[str, int]:
    """For each metric the row of the model that may be named the best, where one may."""
    rows = {one: leading(report.models, report.comparison, one) for one in report.metrics}
    return {metric: row for metric, row in rows.items() if row is not None}


def _compared(report: Report) -> Any:
    """The table of the comparison, where there is one."""
    if report.comparison is None:
        return None
    names = [model.name for model in report.models]
    measured = max(int(model.given.n_users or 0) for model in report.models)
    return comparison_table(report.comparison, names, measured)


def _people(report: Report) -> str:
    """Whom the intervals are about."""
    asked = {one.estimate.interval_for: None for one in report.models if one.estimate is not None}
    return " or ".join(PEOPLE[target] for target in asked or ("population",))


def _warnings(report: Report) -> list[str]:
    found = {why: None for model in report.models for one in model.values.values()
             for why in one.warnings}  # fmt: skip
    return list(found)


def _papers(report: Report) -> list[str]:
    """The papers behind what the page shows."""
    sampled = [model for model in report.models if model.sampled]
    kinds = ["sampled", "estimate"] if sampled else []
    if any(model.mapped for model in sampled):
        kinds.insert(1, "mapping")
    if any(getattr(model.given, "design", None) and model.given.design.adaptive  # type: ignore[union-attr]
           for model in sampled):  # fmt: skip
        kinds.append("adaptive")
    return [_PAPERS[kind] for kind in kinds]


def _statement(report: Report) -> str:
    """A sentence for a paper's section on evaluation."""
    model = next((one for one in report.models if one.sampled), report.models[0])
    level = f"{100 * report.confidence_level:g} %"
    tail = f"intervals are {level} confidence intervals over users"
    if not any(one.sampled for one in report.models):
        return (
            f"Metrics were computed by fullrank {__version__} from exact ranks over the full "
            f"catalogue ({model.n_items:,} items); {tail}."
        )
    methods = dict.fromkeys(
        one.estimate.method for one in report.models if one.estimate is not None
    )
    return (
        f"Metrics are estimates for the full catalogue ({model.n_items:,} items) by fullrank "
        f"{__version__} ({'; '.join(methods)}) from {described(model.given)}; {tail}."
    )
