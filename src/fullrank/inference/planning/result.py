"""The result of `plan`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import extras, tabular
from fullrank._lib.results import markup
from fullrank.designs import Design


@dataclass(frozen=True, kw_only=True)
class Option:
    """A design, the number of users it needs, and its predicted error.

    Attributes
    ----------
    design : a `Design` that `sample_ranks`, `simulate` and `evaluate` run as it is
    n_users : number of users to rank; None if no number is enough
    items_per_user, scored : number of items scored per user, and in total
    standard_error, bias : predicted for the metric (or for the difference of two models)
    error : √(bias² + standard_error²), relative to the metric
    half_width : of an interval that holds the metric at the confidence level, at least that of the
        interval that `estimate` would print; NaN for a difference of two models
    method : the estimator of the prediction
    note : why the design cannot reach the goal; empty if it can
    """

    design: Design
    n_users: int | None
    items_per_user: float
    scored: float
    standard_error: float
    bias: float
    error: float
    half_width: float
    method: str
    note: str = ""

    @property
    def name(self) -> str:
        """The design's text form without what all options share: "sampled:100", …."""
        return self.design.label

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with the design by its name."""
        plain = {k: v for k, v in vars(self).items() if k != "design"}
        return {"design": self.name} | {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in plain.items()
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan(tabular.Tabular):
    """Designs in a table: the best first, those that cannot reach the goal last.

    The best is the cheapest or, with a budget, the one with the smallest error.

    Attributes
    ----------
    options : the designs
    metric, value : the metric, and its value in the pilot or under the assumed shape
    goal : the goal, in words
    n_items, n_users : number of items in the catalogue and of test users; None: no limit
    confidence_level, interval_for : settings of the planned intervals
    notes : further remarks
    """

    options: tuple[Option, ...]
    metric: str
    value: float
    goal: str
    n_items: int
    n_users: int | None
    confidence_level: float
    interval_for: str
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> Option | None:
        """The first design if it reaches the goal, otherwise None.

        It is the cheapest or, with a budget, the one with the smallest error.
        """
        first = self.options[0]
        return first if first.n_users is not None else None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "Plan",
            "metric": self.metric,
            "value": self.value,
            "goal": self.goal,
            "n_items": self.n_items,
            "n_users": self.n_users,
            "confidence_level": self.confidence_level,
            "interval_for": self.interval_for,
            "options": self._records(),
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Predicted error against items scored, one point for each design. Returns the axes."""
        plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
        ax = ax if ax is not None else plt.subplots()[1]
        reached = [option for option in self.options if option.n_users is not None]
        ax.scatter([o.scored for o in reached], [100 * o.error for o in reached])
        for option in reached:
            ax.annotate(option.name, (option.scored, 100 * option.error), fontsize="small")
        ax.set(xscale="log", xlabel="items scored", ylabel="predicted RMS error of " + self.metric)
        return ax

    def __str__(self) -> str:
        head = f"{self.metric} is about {self.value:.3g}; {self.goal}"
        body = markup.text(*self._table(), left=(0, len(_HEAD) - 1))
        return "\n".join([head, "", *body, *self.notes])

    def _title(self) -> str:
        return self.goal

    def _records(self) -> list[dict[str, Any]]:
        return [option.to_dict() for option in self.options]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return list(_HEAD), self._rows()

    def _rows(self) -> list[list[str]]:
        rows = []
        for place, option in enumerate(self.options):
            reached = option.n_users is not None
            mark = "◀ recommended" if reached and place == 0 else option.note
            rows.append(
                [
                    option.name,
                    f"{option.n_users:,}" if reached else "–",
                    f"{option.items_per_user:,.0f}",
                    f"{option.scored:.2g}" if reached else "–",
                    f"{100 * option.error:.1f} %" if reached else "–",
                    f"± {option.half_width:.2g}" if reached and option.half_width > 0.0 else "–",
                    mark,
                ]
            )
        return rows


_HEAD = ("design", "users", "items per user", "scored", "RMS error", "interval", "")
