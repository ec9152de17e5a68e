"""A summary of interactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fullrank.data.interactions import Interactions


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How interactions spread over users, or over items."""

    rows: int
    without: int  # rows that have no interaction
    least: int  # of those that have
    median: float
    most: int


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Counts of interactions, users and items.

    Attributes
    ----------
    n_interactions : int
    density : float
        The share of all user–item pairs.
    users, items : Spread
        `rows`, `without` interactions, and the `least`, `median` and `most` interactions of the
        others.
    """

    n_interactions: int
    density: float
    users: Spread
    items: Spread

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": 1,
            "n_interactions": self.n_interactions,
            "density": self.density,
            "users": vars(self.users).copy(),
            "items": vars(self.items).copy(),
        }

    def __str__(self) -> str:
        lines = [f"{'':<22}{'users':>9}{'items':>8}"]
        for label, name in _LABELS.items():
            one, two = getattr(self.users, name), getattr(self.items, name)
            lines.append(f"{label:<22}{_shown(one):>9}{_shown(two):>8}")
        share = f"{100 * self.density:.3f} %"
        lines.append(f"{self.n_interactions:,} interactions, {share} of all pairs")
        return "\n".join(lines)


_LABELS = {
    "rows": "rows",
    "without interactions": "without",
    "interactions: minimum": "least",
    "interactions: median": "median",
    "interactions: maximum": "most",
}


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def summarize(data: Interactions) -> Summary:
    """Count the interactions, users and items."""
    pairs = data.n_users * data.n_items
    return Summary(
        n_interactions=data.n_interactions,
        density=data.n_interactions / pairs,
        users=_spread(data.user_counts()),
        items=_spread(data.item_counts()),
    )


def _spread(counts: NDArray[np.int64]) -> Spread:
    some = counts[counts > 0]
    return Spread(
        rows=int(counts.size),
        without=int(counts.size - some.size),
        least=int(some.min(initial=counts.max(initial=0))),
        median=float(np.median(some)) if some.size else 0.0,
        most=int(counts.max(initial=0)),
    )
