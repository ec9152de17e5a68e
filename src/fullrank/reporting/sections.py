"""The sections of a report's page, each a function of the report that may find nothing to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from fullrank import __version__
from fullrank.reporting.conclusions import asked, leading, ranked_among
from fullrank.reporting.escaping import clean
from fullrank.reporting.figures.figure import Figure
from fullrank.reporting.measurement import described, doubts
from fullrank.reporting.parts import (
    Code,
    Facts,
    Fold,
    Grid,
    Heading,
    Listing,
    Part,
    Picture,
    Prose,
    Section,
)
from fullrank.reporting.tables import comparison_table, metric_table

if TYPE_CHECKING:
    from fullrank.reporting.result import Report

_LEADS = 2  # sentences of the summary that are set large: which model, how sure, by how much
_FIRST = 3  # sentences before the figure: what the sample could not show is the third
_OPEN = 4  # figures model by model that are shown without a click
_PEOPLE = {"population": "the population of users", "users": "these users"}
_PAPERS = {
    "sampled": "S. Rendle. Evaluation metrics for item recommendation under sampling. 2019.",
    "mapping": "D. Li, R. Jin, J. Gao, Z. Liu. On sampling top-K recommendation evaluation. "
    "KDD 2020.",
    "estimate": "R. Jin, D. Li, B. Mudgal, J. Gao, Z. Liu. On estimating recommendation evaluation "
    "metrics under sampling. AAAI 2021.",
    "adaptive": "D. Li, R. Jin, Z. Liu, B. Ren, J. Gao, Z. Liu. Towards reliable item sampling for "
    "recommendation evaluation. AAAI 2023.",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Page:
    """What the sections are made from."""

    report: Report
    named: dict[str, int]  # metric to the row of the model that may be named the best
    figures: dict[str, list[Figure]]


def sections(report: Report) -> tuple[Section, ...]:
    """The sections that apply, in their order."""
    named = {
        metric: row
        for metric in report.metrics
        if (row := leading(report.models, report.comparison, metric)) is not None
    }
    figures: dict[str, list[Figure]] = {}
    for figure in report.figures.values():
        figures.setdefault(figure.section, []).append(figure)
    page = _Page(report=report, named=named, figures=figures)
    found = tuple(
        Section(name=name, link=link, heading=heading, parts=parts)
        for name, link, heading, make in _SECTIONS
        if (parts := make(page))
    )
    if len(report.models) > 1:
        return found
    return tuple(  # one model is not compared: only its notes are left
        replace(one, link="Notes", heading="Notes") if one.name == "comparison" else one
        for one in found
    )


def byline(report: Report) -> tuple[str, ...]:
    """Below the title: the data, the design, the users and the date."""
    users = {int(model.given.n_users or 0) for model in report.models}
    many = f"{min(users):,} to {max(users):,}" if len(users) > 1 else f"{max(users):,}"
    ways = dict.fromkeys(ranked_among(model.given) for model in report.models)
    design = f"ranked {next(iter(ways))}" if len(ways) == 1 else f"{len(ways)} designs"
    data = (report.measured.get("data") or report.measured.get("Data", "")).split(":")[0]
    people = "user" if users == {1} else "users"
    told = (data if data != "as given" else "", f"{many} {people}", design, report.date)
    return tuple(one for one in told if one)


def _answer(page: _Page) -> tuple[Part, ...]:
    said = page.report.summary
    return (
        Prose(text=said[:_LEADS], look="lead"),
        Prose(text=said[_LEADS:_FIRST]),
        *_pictures(page, "answer"),
        Prose(text=(" ".join(said[_FIRST:]),) if said[_FIRST:] else ()),
    )


def _metrics(page: _Page) -> tuple[Part, ...]:
    report = page.report
    return (
        *_pictures(page, "metrics"),
        metric_table(report, page.named),
        Facts(pairs=_key(page), look="key"),
        Fold(
            title="Notes on each model" if len(report.models) > 1 else "Notes on the model",
            parts=(
                Facts(
                    pairs=tuple(
                        (model.name, (described(model.given), *report.notes_of(model)))
                        for model in report.models
                    )
                ),
            ),
        ),
    )


def _key(page: _Page) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The columns of the table of metrics."""
    report = page.report
    columns = report.columns()
    people = " or ".join(_PEOPLE[one] for one in sorted({asked(one) for one in report.models}))
    bold = "; bold where a model can be named best" if page.named else ""
    said = {
        "naive": "the metric among the sampled candidates, which is not a full-catalogue value",
        "full catalogue": f"the value over all items, exact or estimated{bold}",
        f"{100 * report.confidence_level:g} % CI": f"the confidence interval for {people}",
        "bounds": "the smallest and largest values consistent with the sample, with no assumption "
        "about the ranks",
        "exact": "the value computed from exact ranks, where they are known",
    }
    pairs = [(name, (text,)) for name, text in said.items() if name in columns]
    why = " ".join(doubts(report.models))
    return (*pairs, *([("▲", (why,))] if why else []))


def _comparison(page: _Page) -> tuple[Part, ...]:
    compared = page.report.comparison
    marked = {clean(one) for one in compared.unresolved} if compared is not None else set()
    notes = tuple(
        one.replace("▲ ", "", 1) if one in marked else one  # no number of the table has the mark
        for one in page.report.notes
    )
    found = comparison_table(page.report, page.named)
    parts: list[Part] = []
    if found is not None:
        parts = [*_pictures(page, "comparison"), found]
    return (*parts, Listing(items=notes)) if notes else tuple(parts)


def _recall(page: _Page) -> tuple[Part, ...]:
    figures = page.figures.get("recall", [])
    if not figures:
        return ()
    first, *detailed = figures
    if not detailed:
        return (Picture(figure=first),)
    same = len({figure.reading for figure in detailed}) == 1
    shared = (Prose(text=(detailed[0].reading,), look="quiet"),) if same else ()
    many = len(detailed) > _OPEN
    level = 3 if many else 4  # below a heading of their own, or below the section's
    grid = Grid(
        parts=tuple(
            Picture(figure=figure, level=level, small=True, said=not same) for figure in detailed
        )
    )
    if many:
        title = f"Model by model: {len(detailed)} figures"
        return (Picture(figure=first), Fold(title=title, parts=(*shared, grid)))
    return (Picture(figure=first), Heading(text="Model by model"), *shared, grid)


def _ranks(page: _Page) -> tuple[Part, ...]:
    return _pictures(page, "ranks")


def _blind(page: _Page) -> tuple[Part, ...]:
    return _pictures(page, "blind")


def _efficiency(page: _Page) -> tuple[Part, ...]:
    return _pictures(page, "efficiency")


def _pictures(page: _Page, section: str) -> tuple[Part, ...]:
    return tuple(Picture(figure=figure) for figure in page.figures.get(section, ()))


def _measured(page: _Page) -> tuple[Part, ...]:
    report = page.report
    papers = _papers(report)
    inside: list[Part] = [
        Facts(pairs=tuple((label, (text,)) for label, text in report.measured.items())),
        Heading(text="To paste into a paper"),
        Prose(text=(_statement(report),)),
        Heading(text="How to cite"),
        Code(text=_BIBTEX, label="BibTeX entry"),
    ]
    if papers:
        inside += [Prose(text=("The methods are from these papers:",)), Listing(items=papers)]
    return (Fold(title="Settings, versions, and how to cite", parts=tuple(inside), printed=True),)


_BIBTEX = f"""@software{{fullrank,
  title   = {{fullrank: full-catalogue recommender metrics from complete and sampled rankings}},
  author  = {{{{The fullrank contributors}}}},
  version = {{{__version__}}},
}}"""


def _papers(report: Report) -> tuple[str, ...]:
    """The papers behind what the page shows."""
    sampled = [model for model in report.models if model.sampled]
    kinds = ["sampled", "estimate"] if sampled else []
    if any(model.mapped for model in sampled):
        kinds.insert(1, "mapping")
    if any(getattr(model.given, "design", None) and model.given.design.adaptive  # type: ignore[union-attr]
           for model in sampled):  # fmt: skip
        kinds.append("adaptive")
    return tuple(_PAPERS[kind] for kind in kinds)


def _statement(report: Report) -> str:
    """A sentence for a paper's section on evaluation."""
    level = f"{100 * report.confidence_level:g} %"
    people = dict.fromkeys(_PEOPLE[asked(one)] for one in report.models)
    seeded = any(one.estimate is not None and one.estimate.seeds for one in report.models)
    averaged, tail = ", averaged over seeds within users" if seeded else "", ""
    if any(isfinite(one.low) for model in report.models for one in model.values.values()):
        tail = f"; intervals are {level} confidence intervals for {' or '.join(people)}"
    if not any(one.sampled for one in report.models):
        ways = dict.fromkeys(ranked_among(one.given) for one in report.models)
        return (
            f"Metrics were computed by fullrank {__version__} from exact ranks "
            f"{'; '.join(ways)}{averaged}{tail}."
        )
    methods = dict.fromkeys(
        one.estimate.method for one in report.models if one.estimate is not None
    )
    ranked = dict.fromkeys(described(one.given) for one in report.models)
    sampled = [one for one in report.models if one.sampled]
    sizes = sorted({one.n_items for one in sampled})
    items = f"{' to '.join(dict.fromkeys((f'{sizes[0]:,}', f'{sizes[-1]:,}')))} items"
    if any(getattr(one.given, "n_items", None) is None for one in sampled):
        items = f"up to {sizes[-1]:,} items per user"
    what = "estimates" if len(sampled) == len(report.models) else "estimates or exact values"
    return (
        f"Metrics are {what} for the full catalogue ({items}), computed by fullrank "
        f"{__version__} ({'; '.join(methods)}) from {'; '.join(ranked)}{averaged}{tail}."
    )


_SECTIONS: tuple[tuple[str, str, str, Callable[[_Page], tuple[Part, ...]]], ...] = (
    ("summary", "Summary", "Summary", _answer),
    ("metrics", "Metrics", "Metrics", _metrics),
    ("comparison", "Comparison", "Which model is best", _comparison),
    ("recall", "Recall", "Recall at every K", _recall),
    ("ranks", "Ranks", "Where the held-out items rank", _ranks),
    ("blind", "Blind spot", "What the sample cannot show", _blind),
    ("efficiency", "Cost", "What sampling cost", _efficiency),
    ("measured", "Method", "How it was measured", _measured),
)
