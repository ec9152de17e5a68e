"""What a design would give: bias, spread and cost of an estimate before anything is drawn.

With P(R) from a pilot or assumed, the design's outcomes have known probabilities q = AᵀP. The
estimator applied to q itself shows its bias. Its influence φ on each outcome, with w the metric
of a rank, gives the variance of what `m` users of `M` show about all M:

    Var(φ)/m - (2 Cov(φ, w) - Var(w))/M,

which for m = M is that of "these users", and for M without end that of a population. Exact ranks
of m users are the case φ = w.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import Design, Exact
from fullrank.estimators.system import System, expected_system
from fullrank.estimators.uniform.smoothed import best_fit, bias_bound
from fullrank.estimators.uniform.smoothed import gradient as smoothed_gradient
from fullrank.inference.statistics.normal import biased_quantile
from fullrank.samples import RankDistribution


@dataclass(frozen=True)
class Predicted:
    """Of one user's outcome: the spread of φ, its covariance with w, and the spread of w."""

    size: float  # items scored for a user
    bias: float
    bias_bound: float  # what intervals and comparisons allow for, who do not know the bias
    spread: float
    shared: float
    ranks: float
    method: str

    def variance(self, n_users: float, population: float | None) -> float:
        """Variance of the estimate from `n_users`, for `population` users (None: unlimited)."""
        if population is None:
            return self.spread / n_users
        return max(self.spread / n_users - (2.0 * self.shared - self.ranks) / population, 0.0)

    def half_width(self, n_users: float, population: float | None, level: float) -> float:
        """Half the width of an interval that holds the metric: value ± cv(b/se)·se for a bias b.

        `estimate` knows a bound only. Under P(R) the bias is known too, and may be the larger one.
        """
        error = float(np.sqrt(self.variance(n_users, population)))
        if error == 0.0:
            return self.largest_bias
        return float(biased_quantile(level, self.largest_bias / error)) * error

    @property
    def largest_bias(self) -> float:
        """The bias under P(R), or the bound that `estimate` allows for if that is larger."""
        return max(abs(self.bias), self.bias_bound)


class Predictor:
    """A design before a truth; its outcomes are worked out once, for any number of users."""

    def __init__(self, design: Design, truth: RankDistribution, gain: Floats) -> None:
        self.truth, self.gain = truth, gain
        self.ranks = _covariance(truth.mass, gain, gain)
        self.expected: tuple[System, float] | None = None
        if not isinstance(design, Exact):
            self.expected = expected_system(design, truth.mass, truth.grid, 1)

    def __call__(self, n_users: int) -> Predicted:
        """What it would show with as many users, by the estimator of "auto"."""
        if self.expected is None:
            size = float(self.truth.n_items)
            return Predicted(size, 0.0, 0.0, self.ranks, self.ranks, self.ranks, "exact")
        system = replace(self.expected[0], n_targets=n_users)
        fit, gain = best_fit(system), self.gain[:, None]
        gradient = smoothed_gradient(system, fit, gain)[:, 0]
        moves = gradient - float(system.observed @ gradient)
        return Predicted(
            size=self.expected[1],
            bias=float((fit.mass - self.truth.mass) @ self.gain),
            bias_bound=float(bias_bound(system, fit, gain)[0]),
            spread=float(system.observed @ moves**2),
            shared=_covariance(self.truth.mass, system.table @ moves, self.gain),
            ranks=self.ranks,
            method="smoothed",
        )


def _covariance(mass: Floats, first: Floats, second: Floats) -> float:
    return float(mass @ (first * second)) - float(mass @ first) * float(mass @ second)
