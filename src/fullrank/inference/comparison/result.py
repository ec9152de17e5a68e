"""The result of a comparison: values, differences, and their uncertainty.

A model is named the best if it has both the highest value and the highest P(best), and P(best) is
above one half. Every table, summary and page follows this rule. Otherwise no model is named,
because the data do not show which one is the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullrank._lib import tabular
from fullrank._lib.results import markup
from fullrank._lib.results.markup import Sheet
from fullrank._lib.text import decimals, enumerated
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.inference.comparison.curves import Dominance
from fullrank.inference.comparison.numbers import (
    CORRECTIONS,
    decimals_of,
    shown_chance,
    shown_p,
    signed,
)
from fullrank.inference.comparison.paper_tables import sheets
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import ByMetric, Metric, named

LIKELY = 0.5  # at or below it, a model is as likely not to be the best


@dataclass(frozen=True, kw_only=True)
class Leader:
    """The first model by value and the first by P(best), at one metric.

    Attributes
    ----------
    metric : its name
    highest : the model with the highest value
    likeliest, probability : the model with the highest P(best), and that
    tied : how many models share the highest value
    """

    metric: str
    highest: str
    likeliest: str
    probability: float
    tied: int = 1

    @property
    def named(self) -> str | None:
        """The model that may be called the best; None where none may."""
        agreed = self.highest == self.likeliest and self.probability > LIKELY and self.tied == 1
        return self.highest if agreed else None

    @property
    def says(self) -> str | None:
        """Why no model is named, in a sentence; None where one is."""
        if self.named is not None:
            return None
        chance = f"{100 * self.probability:.0f} %"
        why = f"{self.highest} has the highest value, but its P(best) is only {chance}"
        if self.tied > 1:
            why = f"{self.tied} models share the highest value"
        elif self.highest != self.likeliest:
            why = f"{self.highest} has the highest value, {self.likeliest} the highest P(best), "
            why += chance
        return f"No model can be named best by {self.metric}: {why}."


def leader(metric: str, models: Sequence[str], values: Floats, chances: Floats) -> Leader:
    """Who leads at a metric; of equals the first.

    Examples
    --------
    >>> import numpy as np
    >>> leader("recall@10", ["a", "b"], np.array([0.2, 0.3]), np.array([0.1, 0.9])).named
    'b'
    >>> leader("recall@10", ["a", "b"], np.array([0.2, 0.3]), np.array([0.6, 0.4])).says
    'No model can be named best by recall@10: b has the highest value, a the highest P(best), 60 %.'
    """
    highest = int(np.argmax(values))
    likeliest = max(range(len(models)), key=lambda i: (chances[i], values[i], -i))
    return Leader(
        metric=metric,
        highest=models[highest],
        likeliest=models[likeliest],
        probability=float(chances[likeliest]),
        tied=int(np.count_nonzero(values == values[highest])),
    )


_SHOWN = 12  # differences that `str` shows


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of two models in one metric, first minus second.

    Attributes
    ----------
    first, second, metric : names
    estimate, standard_error, confidence_interval : of the difference
    p_value, corrected_p : of its test, alone and among all tests of the comparison
    effect_size : Cohen's d_z (same users) or d (different users)
    better : the model that is significantly better after correction; None if neither is, or if a
        sign or Wilcoxon test and the means favour different models
    """

    first: str
    second: str
    metric: str
    estimate: float
    standard_error: float
    confidence_interval: Interval
    p_value: float
    corrected_p: float
    effect_size: float
    better: str | None

    @property
    def flipped(self) -> Difference:
        """Second minus first."""
        low, high = self.confidence_interval
        return Difference(
            first=self.second,
            second=self.first,
            metric=self.metric,
            estimate=-self.estimate,
            standard_error=self.standard_error,
            confidence_interval=Interval(-high, -low),
            p_value=self.p_value,
            corrected_p=self.corrected_p,
            effect_size=-self.effect_size,
            better=self.better,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and names."""
        plain = {k: v for k, v in self.__dict__.items() if k != "confidence_interval"}
        return plain | {"low": self.confidence_interval.low, "high": self.confidence_interval.high}

    @property
    def pair(self) -> str:
        """Both names."""
        return f"{self.first} − {self.second}"

    @property
    def tail(self) -> str:
        """The numbers as text."""
        low, high = self.confidence_interval
        d = decimals_of(self.standard_error)
        ends = f"[{signed(low, d)}, {signed(high, d)}]"
        return f"{signed(self.estimate, d)} {ends}  {shown_p(self.p_value)}"

    def __str__(self) -> str:
        return f"{self.pair}  {self.metric}  {self.tail}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(tabular.Tabular):
    """Models compared by one or more metrics.

    Attributes
    ----------
    models, metrics : names
    estimate, standard_error, p_best : arrays (n_models, n_metrics) of the metric, its standard
        error over users, and the probability that the model is the best (see `compare`)
    differences : a `Difference` for each pair of models and each metric
    test, correction, confidence_level, baseline : the settings
    methods : the estimator of each model; "exact" for exact ranks
    paired : whether users are paired
    n_users : number of users compared, for each model
    naive_best : for each metric the model with the highest sampled value, if all models have one
        and no two share the highest
    dominance : for a naive comparison, pairs of models to the order of their sampled recall curves
    notes : further remarks
    assumed : assumptions about facts that are not known, one sentence each
    estimated_from : what was ranked among what, in a line for all sampled models or one for each;
        empty if all ranks are exact
    unresolved : those of the notes that name metrics which depend on the smoothness assumption
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    estimate: Floats
    standard_error: Floats
    p_best: Floats
    differences: tuple[Difference, ...]
    test: str
    correction: str | None
    confidence_level: float
    baseline: str | None
    methods: tuple[str, ...]
    paired: bool
    n_users: tuple[int, ...]
    naive_best: ByMetric[str]
    dominance: Mapping[tuple[str, str], Dominance]
    notes: tuple[str, ...]
    assumed: tuple[str, ...] = ()
    estimated_from: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.metrics)

    @property
    def corrects(self) -> bool:
        """Whether p values are corrected; also at one of several metrics that were tested."""
        several = any(one.corrected_p != one.p_value for one in self.differences)
        return self.correction is not None and (several or len(self.differences) > 1)

    def __getitem__(self, metric: str | Metric) -> Comparison:
        """The comparison at one metric alone."""
        at = [self._at(metric)]
        name = self.metrics[at[0]]
        return replace(
            self,
            metrics=(name,),
            estimate=self.estimate[:, at],
            standard_error=self.standard_error[:, at],
            p_best=self.p_best[:, at],
            differences=tuple(one for one in self.differences if one.metric == name),
            naive_best=ByMetric({k: v for k, v in self.naive_best.items() if k == name}),
        )

    def _at(self, metric: str | Metric) -> int:
        return self.metrics.index(named(metric, self.metrics))

    def between(self, first: str, second: str, metric: str | Metric) -> Difference:
        """The difference first minus second at a metric."""
        name = self.metrics[self._at(metric)]
        for one in self.differences:
            if one.metric == name and {one.first, one.second} == {first, second}:
                return one if one.first == first else one.flipped
        raise InputError(
            f"`first` and `second` must be two models that were compared, not {first!r} and "
            f"{second!r}."
        )

    def best(self, metric: str | Metric) -> str:
        """The model with the highest estimate, the first among equals. See `leader`."""
        return self.leader(metric).highest

    def leader(self, metric: str | Metric) -> Leader:
        """The leading model by a metric, and whether it may be named the best."""
        at = self._at(metric)
        return leader(self.metrics[at], self.models, self.estimate[:, at], self.p_best[:, at])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "Comparison",
            "test": self.test,
            "correction": self.correction,
            "confidence_level": self.confidence_level,
            "baseline": self.baseline,
            "paired": self.paired,
            "models": [
                {
                    "model": model,
                    "method": self.methods[i],
                    "n_users": self.n_users[i],
                    "metrics": [
                        {
                            "metric": metric,
                            "estimate": float(self.estimate[i, j]),
                            "standard_error": float(self.standard_error[i, j]),
                            "p_best": float(self.p_best[i, j]),
                        }
                        for j, metric in enumerate(self.metrics)
                    ],
                }
                for i, model in enumerate(self.models)
            ],
            "differences": [one.to_dict() for one in self.differences],
            "naive_best": dict(self.naive_best),
            "notes": list(self.notes),
            "assumed": list(self.assumed),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [one.to_dict() for one in self.differences]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return self._differences()

    def _sheets(self) -> list[Sheet]:
        return sheets(self)

    def _repr_html_(self) -> str:
        models = markup.html(self._title(), *self._models())
        return models + markup.html("differences", *self._differences())

    def plot(self, ax: Any = None) -> Any:
        """Draw the differences with their intervals. Returns the axes."""
        ax = tabular.axes(ax)
        at = np.arange(len(self.differences))[::-1]
        for y, one in zip(at, self.differences, strict=True):
            ax.plot(one.confidence_interval, (y, y), color="black")
            ax.plot(one.estimate, y, "o", color="black" if one.better else "white",
                    markeredgecolor="black")  # fmt: skip
        ax.axvline(0.0, color="grey", linewidth=0.8)
        labels = [f"{one.pair}, {one.metric}" for one in self.differences]
        ax.set_yticks(at, labels)
        ax.set_xlabel(f"difference, {100 * self.confidence_level:g} % interval")
        return ax

    def __str__(self) -> str:
        return self.page()

    def page(self, n_shown: int | None = _SHOWN) -> str:
        """The tables and notes as text, with at most `n_shown` differences; None shows all."""
        unnamed = [says for one in self.metrics if (says := self.leader(one).says) is not None]
        head = [self._title(), *(f"Estimated from {one}." for one in self.estimated_from)]
        lines = [*head, "", *self._block(), "", *self._lines(n_shown), *unnamed]
        return "\n".join([*lines, *self.notes, *self.assumed])

    def _title(self) -> str:
        if self.paired:
            return f"{self.n_users[0]:,} users in common, paired {self.test} test"
        sizes = enumerated([f"{n:,}" for n in self.n_users])
        return f"{sizes} users, unpaired two-sample {self.test} test"

    def order(self) -> list[int]:
        """The places of the models, the best by the first metric first."""
        return [int(i) for i in np.argsort(-self.estimate[:, 0], kind="stable")]

    def _block(self) -> list[str]:
        """Models by rows, best first; for each metric estimate, standard error and P(best)."""
        width = max(map(len, self.models))
        lines = [" " * width] + [f"{self.models[i]:<{width}}" for i in self.order()]
        for j, metric in enumerate(self.metrics):
            cells = []
            chances = [shown_chance(one) for one in self.p_best[:, j]]
            wide = max(map(len, chances))
            for place, i in enumerate(self.order()):
                d = decimals(self.estimate[i, j])
                label = "P(best)" if place == 0 else " " * 7
                cells.append(
                    f"{self.estimate[i, j]:.{d}f} (SE {self.standard_error[i, j]:.{d}f})   "
                    f"{label} {chances[i]:>{wide}}"
                )
            across = max(map(len, [metric, *cells]))
            lines = [
                f"{line}  {cell:<{across}}".rstrip() if j == len(self.metrics) - 1
                else f"{line}  {cell:<{across}}"
                for line, cell in zip(lines, [metric, *cells], strict=True)
            ]  # fmt: skip
        return lines

    def _lines(self, n_shown: int | None) -> list[str]:
        shown = self.differences
        if (
            n_shown is not None and len(shown) > n_shown
        ):  # the best against the second, at each metric
            shown = tuple(
                self.between(self.models[a], self.models[b], metric)
                for j, metric in enumerate(self.metrics)
                for a, b in [np.argsort(-self.estimate[:, j], kind="stable")[:2]]
                if self.baseline in (None, self.models[a], self.models[b])
            )[:n_shown]
            shown = shown or self.differences[:n_shown]
        pair = max(len(one.pair) for one in shown)
        metric = max(len(one.metric) for one in shown)
        lines = [f"{one.pair:<{pair}}  {one.metric:<{metric}}  {self._tail(one)}" for one in shown]
        rest = len(self.differences) - len(shown)
        more = f"… {rest:,} more; `.to_frame()` lists all differences"
        return lines + ([more] if rest else [])

    def _tail(self, one: Difference) -> str:
        if self.correction is None or not self.corrects:
            return one.tail
        label = CORRECTIONS[self.correction]
        return f"{one.tail} ({label} {shown_p(one.corrected_p, bare=True)})"

    def _models(self) -> tuple[list[str], list[list[str]]]:
        head = ["model", *(cell for m in self.metrics for cell in (m, "P(best)"))]
        rows = []
        for i in self.order():
            row = [self.models[i]]
            for j in range(len(self.metrics)):
                d = decimals(self.estimate[i, j])
                row += [
                    f"{self.estimate[i, j]:.{d}f} (SE {self.standard_error[i, j]:.{d}f})",
                    shown_chance(self.p_best[i, j]),
                ]
            rows.append(row)
        return head, rows

    def _differences(self) -> tuple[list[str], list[list[str]]]:
        label = "corrected p" if self.correction is None else f"p, {CORRECTIONS[self.correction]}"
        head = ["difference", "metric", "estimate", "low", "high", "p", label, "effect size"]
        rows = []
        for one in self.differences:
            d = decimals_of(one.standard_error)
            ends = (f"{end:+.{d}f}" for end in (one.estimate, *one.confidence_interval))
            ps = (shown_p(p, bare=True) for p in (one.p_value, one.corrected_p))
            rows.append([one.pair, one.metric, *ends, *ps, f"{one.effect_size:+.3f}"])
        return head, rows
