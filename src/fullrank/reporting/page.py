"""The page: one HTML file with its style, its script, its drawings and all its numbers inside."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from fullrank import __version__
from fullrank._lib import extras
from fullrank.reporting.escaping import as_code, script_json
from fullrank.reporting.figures.canvas import NARROW, PAPER, SMALL, WIDE
from fullrank.reporting.figures.draw_svg import draw
from fullrank.reporting.figures.legend import entries, key, places, swatch
from fullrank.reporting.figures.tips import tips
from fullrank.reporting.parts import Part, Picture, pictures, tables
from fullrank.reporting.sections import byline, sections

if TYPE_CHECKING:
    from fullrank.reporting.result import Report


def render(report: Report) -> str:
    """The report as HTML. Every text is escaped, and no request leaves the page."""
    jinja2 = extras.load("jinja2", extra="report", purpose="Writing a report")
    safe = jinja2.utils.markupsafe.Markup
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_read),
    )  # fmt: skip
    environment.filters["nb"] = _unbroken
    environment.filters["code"] = lambda text: as_code(text, jinja2.utils.markupsafe)
    environment.globals["drawings"] = lambda one: [safe(svg) for svg in _drawings(one)]
    environment.globals["legend"] = lambda one: [
        (entry.label, entry.shown, safe(swatch(entry))) for entry in entries(one.figure)
    ]
    shown, script = sections(report), _read("report.js")
    parts = tuple(part for section in shown for part in section.parts)
    page: str = environment.get_template("report.html").render(
        report=report,
        byline=byline(report),
        sections=shown,
        version=__version__,
        style=safe(_read("report.css") + _painted()),
        policy=_policy(script),
        data=safe(script_json(_data(parts))),
        script=safe(script),
    )
    return page


def _drawings(one: Picture) -> list[str]:
    """The figure at the sizes between which the page's style chooses."""
    return [draw(one.figure, layout) for layout in ((SMALL,) if one.small else (WIDE, NARROW))]


def _data(parts: tuple[Part, ...]) -> dict[str, Any]:
    """What the script needs: the points of figures with their texts, and the files to download."""
    shown = [one.figure for one in pictures(parts)]
    return {
        "tips": {
            figure.name: [
                {"legend": places(figure)[key(one)], "name": one.name, "points": points}
                for one, points in zip(figure.series, tips(figure), strict=True)
            ]
            for figure in shown
        },
        "csv": {one.name: one.to_csv() for one in tables(parts)},
    }


def _painted() -> str:
    """Rules by which drawings take the colours of the page, which may be dark."""
    return "".join(
        f".s-{name}{{stroke:var(--{name})}}.f-{name}{{fill:var(--{name})}}\n" for name in PAPER
    )


def _unbroken(text: str) -> str:
    """No line ends between a number and its per cent sign."""
    return text.replace(" %", "\u00a0%")


def _read(name: str) -> str:
    folder = resources.files("fullrank.reporting").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8").replace("\r", "")


def _policy(script: str) -> str:
    """No request at all, and no script but the one named by its hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
