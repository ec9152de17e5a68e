"""The result of `winner`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks, extras, tabular
from fullrank._lib.types import Floats
from fullrank.inference.comparison.leader import Leader, leader
from fullrank.metrics import Metric, parse_all


@dataclass(frozen=True, kw_only=True, eq=False)
class Winner(tabular.Tabular):
    """For each metric and model, the probability that the model is the best.

    Attributes
    ----------
    models, metrics : names
    probability : (n_models, n_metrics); each column sums to 1
    estimate, standard_error : (n_models, n_metrics)
    how, n_draws : "normal" or "bootstrap", and how many draws
    methods : the estimator of each model
    paired, n_users : whether the models share their users, and the number of users of each
    notes : what else should be known
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    probability: Floats
    estimate: Floats
    standard_error: Floats
    how: str
    n_draws: int
    methods: tuple[str, ...]
    paired: bool
    n_users: tuple[int, ...]
    notes: tuple[str, ...]

    def __getitem__(self, metric: str | Metric) -> dict[str, float]:
        column = self._at(metric)
        return dict(zip(self.models, self.probability[:, column].tolist(), strict=True))

    def best(self, metric: str | Metric) -> str:
        """The model with the highest estimate; of equal ones the first. See `leader`."""
        return self.leader(metric).highest

    def leader(self, metric: str | Metric) -> Leader:
        """Who leads at a metric, and whether that model may be named the best."""
        at = self._at(metric)
        return leader(self.metrics[at], self.models, self.estimate[:, at], self.probability[:, at])

    def _at(self, metric: str | Metric) -> int:
        (parsed,) = parse_all(metric)
        return self.metrics.index(checks.choice("metric", parsed.name, self.metrics))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "Winner",
            "how": self.how,
            "n_draws": self.n_draws,
            "paired": self.paired,
            "models": [
                {"model": model, "method": method, "n_users": n}
                for model, method, n in zip(self.models, self.methods, self.n_users, strict=True)
            ],
            "probabilities": self._records(),
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the probabilities as bars, a group for each metric. Returns the axes."""
        plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
        ax = ax if ax is not None else plt.subplots()[1]
        width = 0.8 / len(self.models)
        at = np.arange(len(self.metrics))
        for i, model in enumerate(self.models):
            ax.bar(at + (i + 0.5) * width - 0.4, self.probability[i], width, label=model)
        ax.set_xticks(at, self.metrics)
        ax.set(ylabel="probability of being best", ylim=(0.0, 1.0))
        ax.legend()
        return ax

    def __str__(self) -> str:
        head, rows = self._table()
        width = max(map(len, self.models))
        lines = [f"{'P(best)':<{max(width, 7)}}" + "".join(f"  {m:>12}" for m in head[1:])]
        lines += [f"{name:<{max(width, 7)}}" + "".join(f"  {c:>12}" for c in cells)
                  for name, *cells in rows]  # fmt: skip
        lines += [says for one in self.metrics if (says := self.leader(one).says) is not None]
        return "\n".join([*lines, *self.notes])

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [model, *(f"{p:.2f}" for p in column)]
            for model, column in zip(self.models, self.probability, strict=True)
        ]
        return ["model", *self.metrics], rows

    def _title(self) -> str:
        return "P(best)"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "model": model,
                "metric": metric,
                "estimate": float(self.estimate[i, j]),
                "standard_error": float(self.standard_error[i, j]),
                "p_best": float(self.probability[i, j]),
            }
            for i, model in enumerate(self.models)
            for j, metric in enumerate(self.metrics)
        ]
