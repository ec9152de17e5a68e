"""Truths with the shapes of real rank distributions (the study shapes)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullrank.metrics import Metric
from reproduction.common.kept import stored


@dataclass(frozen=True)
class Shape:
    """P(R) of a population, from which users are drawn."""

    name: str
    n_items: int
    n_users: int
    knots: tuple[tuple[float, float], ...]

    @cached_property
    def density(self) -> np.ndarray:
        rank, height = np.array(self.knots).T
        log_rank = np.log(np.arange(1.0, self.n_items + 1.0))
        density = np.exp(np.interp(log_rank, np.log(rank), height))
        return density / density.sum()

    @cached_property
    def _running(self) -> np.ndarray:
        return np.cumsum(self.density)

    def draw(self, n_users: int, rng: np.random.Generator) -> np.ndarray:
        """The true ranks of users from the population."""
        found = np.searchsorted(self._running, rng.random(n_users) * self._running[-1])
        return np.minimum(found, self.n_items - 1) + 1

    def metric(self, metric: Metric) -> float:
        """The population's value."""
        return float(self.density @ metric.weights(np.arange(1, self.n_items + 1), self.n_items))


def shapes() -> dict[str, Shape]:
    return {
        one["name"]: Shape(
            name=one["name"],
            n_items=one["n_items"],
            n_users=one["n_users"],
            knots=tuple(zip(one["rank"], one["log_density"], strict=True)),
        )
        for one in stored("shapes")["shapes"]
    }
