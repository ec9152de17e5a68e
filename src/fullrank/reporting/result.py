"""The report: its sentences, its table, its figures, and the page made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from fullrank._lib import checks, extras, tabular
from fullrank._lib.files import PathLike, replacing
from fullrank._lib.results import markup
from fullrank._lib.results.markup import Best, Sheet
from fullrank._lib.text import decimals
from fullrank.errors import InputError
from fullrank.inference import Comparison
from fullrank.inference.comparison.paper_tables import BOLD
from fullrank.reporting.conclusions import leading
from fullrank.reporting.escaping import number, outward
from fullrank.reporting.figures.figure import Figure
from fullrank.reporting.measurement import Measurement, Value, best_first, doubts

FORMATS = ("png", "svg", "pdf")
SUFFIXES = (".html", ".htm", ".json", ".parquet")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report(tabular.Tabular):
    """A report on one or more models.

    Attributes
    ----------
    title, summary : the title, and the sentences of the summary
    models : a `Measurement` for each, in the order given
    metrics, confidence_level : the settings
    comparison : the comparison of the models; None if there is only one or they cannot be compared
    figures : name to Figure; `plot` draws them
    notes : further remarks
    measured : label to text: how the ranks were measured
    date : the day of the measurement or, if that is not known, of the report
    """

    title: str
    summary: tuple[str, ...]
    models: tuple[Measurement, ...]
    metrics: tuple[str, ...]
    confidence_level: float
    comparison: Comparison | None
    figures: Mapping[str, Figure]
    notes: tuple[str, ...]
    measured: Mapping[str, str]
    date: str = ""

    @property
    def order(self) -> list[int]:
        """The places of the models in tables: the highest value of the first metric first."""
        return best_first(self.models, self.metrics[0])

    def to_html(self) -> str:
        """Return the page: one file that needs nothing else (about 0.2 MB for four models)."""
        from fullrank.reporting.page import render

        return render(self)

    def write(self, path: PathLike) -> None:
        """Write the page to ``.html``, or the numbers to ``.json`` or ``.parquet`` for `read`.

        The file is written completely or not at all.
        """
        if check_suffix(path) in (".json", ".parquet"):
            super().write(path)
            return
        with replacing(path) as temporary:
            temporary.write_text(self.to_html(), encoding="utf-8")

    def plot(self, ax: Any = None, *, figure: str | None = None) -> Any:
        """Draw a figure, by default the first, with matplotlib, and return the axes."""
        from fullrank.reporting.figures.draw_matplotlib import draw

        name = next(iter(self.figures)) if figure is None else figure
        checks.choice("figure", name, tuple(self.figures))
        return draw(self.figures[name], ax)

    def save_figures(self, folder: PathLike, format: str = "png") -> tuple[Path, ...]:
        """Write each figure to its own file, and return the paths."""
        checks.choice("format", format, FORMATS)
        target = Path(folder)
        if target.exists() and not target.is_dir():
            raise InputError(f"`folder` must be a folder; {target} is a file.")
        pyplot = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
        target.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in self.figures:
            axes = self.plot(figure=name)
            path = target / f"{name}.{format}"
            with replacing(path) as temporary:
                axes.figure.savefig(temporary, format=format, dpi=150, bbox_inches="tight")
            pyplot.close(axes.figure)
            paths.append(path)
        return tuple(paths)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, with a format version."""
        return {
            "format": 1,
            "kind": "Report",
            "title": self.title,
            "summary": list(self.summary),
            "confidence_level": self.confidence_level,
            "models": [
                {
                    "model": model.name,
                    "method": "exact" if model.estimate is None else model.estimate.method,
                    "metrics": [_entry(one) for one in model.values.values()],
                    "notes": list(self.notes_of(model)),
                }
                for model in self.models
            ],
            "comparison": None if self.comparison is None else _compared(self.comparison),
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
            "notes": list(self.notes),
            "measured": dict(self.measured),
        }

    def notes_of(self, model: Measurement) -> tuple[str, ...]:
        """What should be known of one model's numbers."""
        found = model.estimate
        if found is None:
            return model.notes
        return f"{found.method}: {found.reason}.", *found.diagnosis.notes, *model.notes

    def __str__(self) -> str:
        lines = [self.title, "", *self.summary, "", *markup.text(*self._table(), left=(0, 1))]
        why = doubts(self.models)
        return "\n".join([*lines, *([f"▲ marks {' '.join(why)}"] if why else []), *self.notes])

    def _sheets(self) -> list[Sheet]:
        """The table of the screen; its caption says what was measured and what marks mean."""
        head, rows = self._table()
        column, bold = head.index("full catalogue"), False
        for place, metric in enumerate(self.metrics):
            named = leading(self.models, self.comparison, metric)
            if named is not None:
                row, bold = rows[place * len(self.models) + self.order.index(named)], True
                row[column] = Best(row[column])
        why = " ".join(doubts(self.models))
        said = [
            f"{self.title}. {self.summary[-1]}",
            BOLD if bold else "",
            f"▲ marks {why}" if why else "",
        ]
        return [Sheet(" ".join(one for one in said if one), head, rows)]

    def _title(self) -> str:
        return self.title

    def _records(self) -> list[dict[str, Any]]:
        return self.records()

    def records(self) -> list[dict[str, Any]]:
        """Return the table of metrics as a list of dictionaries, one per row."""
        return [
            {"model": model.name} | _entry(model.values[metric])
            for metric in self.metrics
            for model in (self.models[at] for at in self.order)
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head, groups = self.columns(), self.groups()
        rows = [
            [metric if place == 0 else "", *cells]
            for metric, members in groups
            for place, cells in enumerate(members)
        ]
        return ["metric", *head], rows

    def columns(self) -> list[str]:
        """The columns of the table after the metric: those that some model has a number for."""
        values = [one for model in self.models for one in model.values.values()]
        head = ["model", "naive", "full catalogue", f"{100 * self.confidence_level:g} % CI",
                "bounds", "exact"]  # fmt: skip
        has = {
            head[3]: any(isfinite(one.low) for one in values),
            "naive": any(one.naive is not None for one in values),
            "bounds": any(one.least is not None for one in values),
            "exact": any(model.sampled and one.exact is not None
                         for model in self.models for one in model.values.values()),
        }  # fmt: skip
        return [name for name in head if has.get(name, True)]

    def groups(self) -> list[tuple[str, list[list[str]]]]:
        """For each metric the cells of each model's row, in `order`."""
        columns, found = self.columns(), []
        for metric in self.metrics:
            ordered = [(self.models[at].name, self.models[at].values[metric]) for at in self.order]
            rows = [_cells(name, one, columns, decimals(one.estimate)) for name, one in ordered]
            found.append((metric, rows))
        return found


def check_suffix(path: PathLike) -> str:
    """The suffix of a path, which says what to write there: a page under another would mislead."""
    try:
        found = Path(path)
    except TypeError:
        raise InputError(f"`path` must be text or a path, not {type(path).__name__}.") from None
    suffix = found.suffix.lower()
    if suffix not in SUFFIXES and not found.is_dir():  # a folder is refused as such
        raise InputError(f"`path` must end in .html, .json or .parquet, not {suffix!r}.")
    return suffix


def _cells(name: str, one: Value, columns: list[str], digits: int) -> list[str]:
    mark, last = " ▲" if one.marked else "", any(column.endswith(" CI") for column in columns)
    cells = {
        "model": name,
        "naive": number(one.naive, digits),
        "full catalogue": number(one.estimate, digits) + ("" if last else mark),
        "bounds": "–"
        if one.least is None or one.most is None
        else " … ".join(outward(one.least, one.most)),
        "exact": number(one.exact, digits),
    }
    return [
        cells[column] if column in cells else _ends(one.low, one.high, digits) + mark
        for column in columns
    ]


def _ends(low: float | None, high: float | None, digits: int) -> str:
    shown = number(low, digits), number(high, digits)
    return "–" if "–" in shown else " … ".join(shown)


def _compared(comparison: Comparison) -> dict[str, Any]:
    """The comparison without what was assumed, which `measured` has for the whole report."""
    return {name: value for name, value in comparison.to_dict().items() if name != "assumed"}


def _entry(one: Value) -> dict[str, Any]:
    names = ("naive", "estimate", "low", "high", "standard_error", "exact", "least", "most")
    plain = {name: getattr(one, name) for name in names}
    return {"metric": one.metric} | {
        name: None if value is None or value != value else value for name, value in plain.items()
    }
