"""The result of `explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import tabular
from fullrank._lib.results import markup
from fullrank._lib.types import Floats
from fullrank.designs import Design
from fullrank.metrics import ByMetric, parse


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(tabular.Tabular):
    """What metrics among `sample_size` candidates mean in a catalogue of `n_items`.

    Attributes
    ----------
    metrics : names
    sample_size, n_items, design : of the sample; both numbers include the target
    resolution : how many ranks of the catalogue rank 1 covers, about N / n
    stands_for : metric to mapping function to the corresponding cut-off K in the catalogue; only
        for hit rates (recall)
    true_rank : ranks R in the table
    exact, expected : metric to its value for a target of each rank, in the catalogue and on
        average among the candidates
    needed : metric to the number of candidates at which rank 1 covers no more than the top K
    sampled : metric to its value in the given sample; None without a sample
    why : metric to the assumption of each mapping function
    notes : further remarks
    """

    metrics: tuple[str, ...]
    sample_size: int
    n_items: int
    design: Design
    resolution: float
    stands_for: Mapping[str, Mapping[str, float]]
    true_rank: NDArray[np.int64]
    exact: Mapping[str, Floats]
    expected: Mapping[str, Floats]
    needed: Mapping[str, int]
    sampled: Mapping[str, float] | None
    why: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("stands_for", "exact", "expected", "needed", "sampled", "why"):
            found = getattr(self, name)
            if found is not None:
                object.__setattr__(self, name, ByMetric(found))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "Explanation",
            "sample_size": self.sample_size,
            "n_items": self.n_items,
            "design": str(self.design),
            "resolution": self.resolution,
            "metrics": [
                {
                    "metric": name,
                    "sampled": None if self.sampled is None else self.sampled[name],
                    "stands_for": dict(self.stands_for.get(name, {})) or None,
                    "candidates_needed": self.needed.get(name),
                    "true_rank": self.true_rank.tolist(),
                    "exact": self.exact[name].tolist(),
                    "expected": self.expected[name].tolist(),
                }
                for name in self.metrics
            ],
            "notes": list(self.notes),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw each metric against the true rank, exact and among candidates. Returns the axes."""
        ax = tabular.axes(ax)
        for name in self.metrics:
            (line,) = ax.plot(self.true_rank, self.exact[name], label=name)
            label = f"{name} among {self.sample_size:,} candidates"
            ax.plot(self.true_rank, self.expected[name], "--", color=line.get_color(), label=label)
        ax.set(xscale="log", xlabel="rank in the catalogue", ylabel="metric of a target")
        ax.legend()
        return ax

    def __str__(self) -> str:
        lines = [self._title(), ""]
        for name, places in self.stands_for.items():
            kind = parse(name).word
            shown = [f"{kind}@{round(place):,}" for place in places.values()]
            width = max(map(len, shown))
            now = f" (here {self.sampled[name]:.4f})" if self.sampled is not None else ""
            lines.append(f"{name} among {self.sample_size:,} candidates{now} corresponds to about")
            lines += [
                f"  {one:<{width}}  {how}: {why}"
                for one, how, why in zip(shown, places, self.why[name], strict=True)
            ]
            lines.append("")
        lines.append(
            "Metrics of a target by its rank in the catalogue: exact, and on average among "
            f"{self.sample_size:,} candidates"
        )
        lines += [*markup.text(*self._table(), left=()), "", *self._advice()]
        lines += self.notes
        return "\n".join(lines)

    def _title(self) -> str:
        return (
            f"A target ranked among {self.sample_size:,} candidates, including itself, drawn from "
            f"{self.n_items:,} items ({self.design.describe()})"
        )

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"metric": name, "true_rank": int(r), "exact": float(w), "expected": float(e)}
            for name in self.metrics
            for r, w, e in zip(self.true_rank, self.exact[name], self.expected[name], strict=True)
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["rank"]
        for name in self.metrics:
            head += [name, f"among {self.sample_size:,}"]
        rows = []
        for place, rank in enumerate(self.true_rank):
            row = [f"{rank:,}"]
            for name in self.metrics:
                row += [f"{self.exact[name][place]:.4f}", f"{self.expected[name][place]:.4f}"]
            rows.append(row)
        return head, rows

    def _advice(self) -> list[str]:
        n, ranks = self.sample_size, round(self.resolution)
        if self.design.exhausted(np.array([n]), self.n_items).all():
            return [f"Rank 1 among {n:,} candidates is rank 1 in the catalogue."]
        if ranks <= 1:
            covers = f"covers about {self.resolution:.1f} ranks of the catalogue"
            return [f"Rank 1 among {n:,} candidates {covers}."]
        lines = [f"A sample of {n:,} hardly distinguishes ranks 1 to about {ranks:,}."]
        if n == 2:
            lines.append(
                "With one sampled item, every metric is a linear function of AUC, or constant."
            )
        for size in dict.fromkeys(one for one in self.needed.values() if one > n):
            *most, last = (name for name, one in self.needed.items() if one == size)
            names = f"{', '.join(most)} and {last}" if most else last
            larger = f"about {size:,} candidates per user"
            lines.append(f"To resolve {names}, use {larger} or an adaptive design.")
        return lines


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(tabular.ByModel[Explanation]):
    """A mapping from names of models to their `Explanation`, as `explain` returns for a mapping."""

    models: Mapping[str, Explanation]

    def plot(self, ax: Any = None) -> Any:
        """Draw the first explanation; models usually share one design. Returns the axes."""
        return next(iter(self.models.values())).plot(ax)
