"""Which model may be named the best: one rule for every table, summary and page.

A model is named where it has both the highest value and the highest P(best), and is likelier than
not to be the best. Otherwise no model is: a bold number or a sentence would say more than is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullrank._lib.types import Floats

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
        why = f"{self.highest} has the highest value, but only a {chance} chance of being the best"
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
