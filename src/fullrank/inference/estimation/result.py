"""The result of `estimate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fullrank._lib import tabular
from fullrank._lib.results.markup import Sheet
from fullrank._lib.text import decimals
from fullrank.errors import InputError
from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.result import Bounds
from fullrank.inference.estimation.diagnosis import Diagnosis
from fullrank.inference.estimation.paper_table import sheet
from fullrank.inference.estimation.remarks import is_told, page, remarks, stands_for, table
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import ByMetric, named
from fullrank.samples import ExactRanks, RankDistribution, RankSample

PEOPLE = {"population": "the population of users", "users": "these users"}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(tabular.Tabular):
    """Full-catalogue metrics estimated from a sample.

    Attributes
    ----------
    values : metric name to estimate
    standard_error, confidence_interval : metric name to its standard error and `Interval`; NaN
        where none can be given (`diagnosis.notes` has the reason)
    confidence_level, interval_for, uncertainty : settings of the intervals
    diagnosis : what the sample cannot show, and which intervals are unreliable
    naive : metric name to the sampled metric, for comparison; None if there is none
    method, reason : the estimator, and why it was chosen
    distribution : the estimated P(R); None for multi-target users, and for exact ranks up to K
    recovers_exact : whether this estimator recovers the exact distribution (of the ranks that the
        grid keeps one by one) from a complete sample; smoothing estimators do not
    n_targets, n_users, n_items, average_size : sizes of the sample; n_items is None if users have
        catalogues of their own
    sample : the sample
    also : further metrics of the same fit (see `estimate`), name to value and `Interval`
    bounds : `Bounds` of the same metrics, if `with_bounds` has added them
    seeds : metric name to its standard deviation over seeds; empty for a single seed
    """

    values: Mapping[str, float]
    standard_error: Mapping[str, float]
    confidence_interval: Mapping[str, Interval]
    confidence_level: float | None
    interval_for: str
    uncertainty: str
    diagnosis: Diagnosis
    naive: Mapping[str, float] | None
    method: str
    reason: str
    distribution: RankDistribution | None
    recovers_exact: bool
    n_targets: int
    n_users: int
    n_items: int | None
    average_size: float
    sample: RankSample | ExactRanks
    also: Mapping[str, tuple[float, Interval]] = field(default_factory=dict)
    bounds: Bounds | None = None
    seeds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "standard_error", "confidence_interval", "naive", "also", "seeds"):
            found = getattr(self, name)
            if found is not None:
                object.__setattr__(self, name, ByMetric(found))

    @property
    def blind_share(self) -> float:
        """Share of the targets at rank 1 of a sample that did not hold all their items."""
        return self.diagnosis.blind_share

    @property
    def resolution(self) -> float:
        """How many ranks of the catalogue rank 1 covers, about N / n."""
        return self.diagnosis.resolution

    def __getitem__(self, metric: str) -> float:
        return self.values[named(metric, self.values)]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.values)

    def with_bounds(self) -> Estimate:
        """Return the estimate with `fullrank.bounds` of its metrics, at the same level."""
        if isinstance(self.sample, ExactRanks):
            raise InputError("`bounds` must not be given for exact ranks, which need none.")
        if self.seeds:
            raise InputError(
                "`bounds` must not be given for several seeds, because bounds hold for one seed."
            )
        level = 0.95 if self.confidence_level is None else self.confidence_level
        found = bounds(
            self.sample, list(self.values), interval_for=self.interval_for, confidence_level=level
        )
        return replace(self, bounds=found)

    def marked(self, metric: str) -> bool:
        """Whether a metric is marked ▲: it has a warning or is below the sample's resolution."""
        return self.diagnosis.marks(metric) or bool(self.diagnosis.warnings.get(metric))

    def remarks(self) -> list[str]:
        """Remarks on the numbers, the most useful first."""
        return list(remarks(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with a format version."""
        known = {} if self.bounds is None else {"contradicted": self.bounds.contradicted}
        return {
            "format": 1,
            "kind": "Estimate",
            "metrics": self._records(),
            "method": self.method,
            "reason": self.reason,
            "recovers_exact": self.recovers_exact,
            "confidence_level": self.confidence_level,
            "interval_for": self.interval_for,
            "uncertainty": self.uncertainty,
            "n_targets": self.n_targets,
            "n_users": self.n_users,
            "n_items": self.n_items,
            "average_size": self.average_size,
            "diagnosis": self.diagnosis.to_dict(),
            **known,
            "stands_for": stands_for(self.sample, self.values),
            "design": self._design(),
            "assumed": list(self.diagnosis.assumed),
        }

    def _design(self) -> dict[str, Any]:
        """How the candidates were drawn, or that all of them were ranked."""
        if isinstance(self.sample, ExactRanks):
            return {"kind": "exact", **self.sample.settings()}
        return self.sample.design.to_dict()

    def _entry(self, name: str) -> dict[str, Any]:
        ends = self.confidence_interval[name]
        numbers = {
            "naive": self.naive_of(name),
            "estimate": self.values[name],
            "low": ends.low,
            "high": ends.high,
            "standard_error": self.standard_error[name],
        }
        if self.seeds:
            numbers["sd_over_seeds"] = self.seeds[name]
        if self.bounds is not None:
            low, high = self.bounds[name]
            numbers |= {"bound_low": low, "bound_high": high}
        return {"metric": name} | {key: _known(value) for key, value in numbers.items()}

    def naive_of(self, name: str) -> float | None:
        """The sampled metric, if there is an informative one."""
        found = (self.naive or {}).get(name)
        return found if is_told(self.sample, name) else None

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimated recall curve, or the metrics if there is no P(R). Returns the axes."""
        if self.distribution is not None:
            return self.distribution.plot(ax)
        ax = tabular.axes(ax)
        ends = list(self.confidence_interval.values())
        tabular.whiskers(ax, list(self.values), list(self.values.values()), ends)
        ax.set_xlabel("metric on the full catalogue, with its interval")
        return ax

    def __str__(self) -> str:
        return page({"": self}, self.diagnosis.assumed)

    def _title(self) -> str:
        return self.method

    def _records(self) -> list[dict[str, Any]]:
        return [self._entry(name) for name in self.values]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return table({"": self})

    def _sheets(self) -> list[Sheet]:
        return [sheet({"": self})]

    def head(self) -> list[str]:
        """The names of the table's columns."""
        head = ["metric", "naive", "full catalogue"]
        if self.confidence_level is not None:
            people = PEOPLE[self.interval_for].removeprefix("the ")
            head.append(f"{100 * self.confidence_level:g} % CI ({people})")
        return head + (["bounds"] if self.bounds is not None else [])

    def cells(self, name: str) -> list[str]:
        """The row of a metric, without its mark."""
        digits, naive = decimals(self.values[name]), self.naive_of(name)
        row = [name, "–" if naive is None else f"{naive:.4f}", f"{self.values[name]:.{digits}f}"]
        if self.confidence_level is not None:
            low, high = self.confidence_interval[name]
            row.append(f"{low:.{digits}f} … {high:.{digits}f}" if np.isfinite(low) else "–")
        if self.bounds is not None:
            row.append(self.bounds.shown(name))
        return row


def _known(value: float | None) -> float | None:
    """JSON has no NaN."""
    return value if value is not None and np.isfinite(value) else None
