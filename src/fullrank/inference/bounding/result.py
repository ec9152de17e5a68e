"""The result of `bounds`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import tabular
from fullrank._lib.text import counted
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import ByMetric, named

_NO_SHAPE = (
    "The data contradict the shape: no distribution P(R) that is non-increasing in R explains the "
    "observed outcomes."
)
_NO_DESIGN = (
    "The data contradict the design: no distribution P(R) explains the observed outcomes if the "
    "candidates were drawn as stated."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Bounds(tabular.Tabular):
    """The smallest and largest metrics that are consistent with a sample.

    All bounds hold simultaneously with probability `confidence_level` or more. Neither a bound
    nor the middle of two bounds is an estimate.

    Attributes
    ----------
    intervals : metric name to Interval(low, high); NaN if the data contradict the assumptions
    contradicted : None; "shape" if no distribution of the shape fits the data; "design" if no
        distribution fits at all, so the candidates were not drawn as stated
    confidence_level, interval_for, shape, until : the settings
    region : how the confidence region was made
    n_events : number of events that define it, chosen before the data were seen
    n_bins : number of bins of ranks in the linear programs
    n_targets, n_items, average_size : sizes of the sample; n_items is None if users have
        catalogues of their own
    notes : further remarks
    """

    intervals: Mapping[str, Interval]
    contradicted: str | None
    confidence_level: float
    interval_for: str
    shape: str | None
    until: int | None
    region: str
    n_events: int
    n_bins: int
    n_targets: int
    n_items: int | None
    average_size: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "intervals", ByMetric(self.intervals))

    def __getitem__(self, metric: str) -> Interval:
        return self.intervals[named(metric, self.intervals)]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.intervals)

    @property
    def contradiction(self) -> str | None:
        """A sentence on the assumption that the data contradict, or None."""
        says = {"shape": _NO_SHAPE, "design": _NO_DESIGN}
        return None if self.contradicted is None else says[self.contradicted]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version; None for a missing bound."""
        return {
            "format": 1,
            "kind": "Bounds",
            "metrics": [
                {"metric": name, "low": _end(one.low), "high": _end(one.high)}
                for name, one in self.intervals.items()
            ],
            "contradicted": self.contradicted,
            "confidence_level": self.confidence_level,
            "interval_for": self.interval_for,
            "shape": self.shape,
            "until": self.until,
            "region": self.region,
            "n_events": self.n_events,
            "n_bins": self.n_bins,
            "n_targets": self.n_targets,
            "n_items": self.n_items,
            "average_size": self.average_size,
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw one whisker for each metric. Returns the axes."""
        ax = tabular.axes(ax)
        low, high = np.array(list(self.intervals.values())).T
        place = np.arange(low.size)[::-1]
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        ax.errorbar(middle, place, xerr=half, fmt="none", capsize=4)
        ax.set_yticks(place, list(self.intervals))
        ax.set(xlim=(0, None), xlabel="metric on the full catalogue", title=self._title())
        return ax

    def __str__(self) -> str:
        head, rows = self._table()
        width = max(len(row[0]) for row in (head, *rows))
        body = [f"{name:<{width}}  {low:>8}  {high:>8}" for name, low, high in (head, *rows)]
        tail = [] if self.contradiction is None else [self.contradiction]
        return "\n".join([self._title(), "", *body, *tail, *self.notes])

    def _title(self) -> str:
        shape = ""
        if self.shape is not None:
            reach = "" if self.until is None else f" up to rank {self.until:,}"
            shape = f", P(R) {self.shape}{reach}"
        who = ", for these users only" if self.interval_for == "users" else ""
        targets = counted(self.n_targets, "target")
        return (
            f"{100 * self.confidence_level:g} % bounds from {targets}{shape}{who} ({self.region})"
        )

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"metric": name, "low": one.low, "high": one.high}
            for name, one in self.intervals.items()
        ]

    def _table(self) -> tuple[tuple[str, str, str], list[tuple[str, str, str]]]:
        rows = [(name, *self._rounded(name)) for name in self.intervals]
        return ("metric", "low", "high"), rows

    def shown(self, metric: str) -> str:
        """Both ends of a metric as text."""
        return "–" if self.contradicted is not None else " … ".join(self._rounded(metric))

    def between(self, metric: str) -> str:
        """Both ends of a metric as an interval."""
        return "–" if self.contradicted is not None else f"[{', '.join(self._rounded(metric))}]"

    def _rounded(self, metric: str) -> tuple[str, str]:
        """Ends rounded outwards, so that what is printed are bounds too."""
        if self.contradicted is not None:
            return "–", "–"
        one = self.intervals[metric]
        return f"{np.floor(one.low * 1e4) / 1e4:.4f}", f"{np.ceil(one.high * 1e4) / 1e4:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class SeveralBounds(tabular.ByModel[Bounds]):
    """A mapping from names of models to their `Bounds`, as `bounds` returns for a mapping."""

    models: Mapping[str, Bounds]

    def plot(self, ax: Any = None) -> Any:
        """Draw one whisker for each model and metric. Returns the axes."""
        ax, found = tabular.axes(ax), self._records()
        names = [f"{one['model']}, {one['metric']}" for one in found]
        ends = [(one["low"], one["high"]) for one in found]
        tabular.whiskers(ax, names, [np.nan] * len(names), ends)
        ax.set_xlabel("bounds of the metric on the full catalogue")
        return ax


def _end(value: float) -> float | None:
    return None if np.isnan(value) else value
