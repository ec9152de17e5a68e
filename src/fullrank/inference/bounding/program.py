"""The largest value of a linear function over a polytope of distributions, never too small.

maximise c·π over π >= 0 with A π <= b and the mass of each group of columns given. For any prices
y >= 0 of the rows, weak duality bounds it by

    y·b + Σ over groups of (mass) · max over the group's columns of (c - yA),

so that neither the solver's tolerance nor the columns it was given can make the bound too small:
the maximum is taken over all columns. A program is solved on a few columns; those that violate
its prices join, until the bound meets the value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Floats, Ints

_START = 200  # columns to start with, and at least 40 in each group
_GAP = 1e-7  # between the bound and what some distribution attains
_ROUNDS = 40
_JOIN = 12  # columns of a group that may join in a round
_SLACK = 1e-9  # by which the region is widened: for the solver, and for rounding in the table
_CONTRADICTED = 1e-6  # distance from the region that is no rounding


@dataclass
class Program:
    """The polytope: `table` holds one row for each column of the program."""

    table: Floats  # (n_columns, n_rows): A transposed
    limits: Floats  # b
    group: Ints  # of each column, 0 to n_groups - 1, in runs
    mass: Floats  # of each group
    active: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = np.searchsorted(self.group, np.arange(self.mass.size))
        self.active = np.zeros(self.group.size, bool)
        ends = np.append(self._starts[1:], self.group.size)
        for first, last in zip(self._starts.tolist(), ends.tolist(), strict=True):
            span = np.geomspace(1, last - first, max(_START // self.mass.size, 40))
            self.active[first + np.unique(np.rint(span)).astype(np.int64) - 1] = True

    def feasible(self) -> bool:
        """Whether any distribution lies in the region; makes sure the active columns hold one."""
        value, bound = self._maximise(np.zeros(self.group.size), elastic=True)
        if bound < -_CONTRADICTED:
            return False
        self.limits = self.limits + max(0.0, -value) + _SLACK
        return True

    def maximum(self, gain: Floats) -> float:
        """No distribution in the region has a larger c·π."""
        return self._maximise(gain, elastic=False)[1]

    def _maximise(self, gain: Floats, elastic: bool) -> tuple[float, float]:
        """What the active columns attain, and the bound over all columns.

        Elastic programs may leave the region, at the price of the distance.
        """
        value = -np.inf
        bound = float(self.mass @ np.maximum.reduceat(gain, self._starts))
        for _ in range(_ROUNDS):
            solved = self._solve(gain, elastic)
            if solved is None:
                break
            value, prices, worth = solved
            left = gain - self.table @ prices
            best = np.maximum.reduceat(left, self._starts)
            bound = min(bound, float(prices @ self.limits + self.mass @ best))
            if bound - value <= _GAP or not self._join(left - worth[self.group]):
                break
        return value, bound

    def _solve(self, gain: Floats, elastic: bool) -> tuple[float, Floats, Floats] | None:
        """Value, prices of the rows and worth of a unit of mass, on the active columns."""
        from scipy.optimize import linprog

        at = np.flatnonzero(self.active)
        rows = self.table[at].T
        cost = -gain[at]
        groups = (self.group[at] == np.arange(self.mass.size)[:, None]).astype(np.float64)
        if elastic:
            rows = np.hstack([rows, np.full((rows.shape[0], 1), -1.0)])
            groups = np.hstack([groups, np.zeros((groups.shape[0], 1))])
            cost = np.append(cost, 1.0)
        found = linprog(
            cost,
            A_ub=rows if rows.size else None,
            b_ub=self.limits if rows.size else None,
            A_eq=groups,
            b_eq=self.mass,
            method="highs",
        )
        if found.status != 0 or found.fun is None:
            return None
        prices = np.maximum(-found.ineqlin.marginals, 0.0) if rows.size else np.zeros(0)
        return -float(found.fun), prices, -np.asarray(found.eqlin.marginals)

    def _join(self, above: Floats) -> bool:
        """Take in the columns that violate the prices most, one for each peak."""
        padded = np.concatenate([[-np.inf], above, [-np.inf]])
        peak = (above >= padded[:-2]) & (above >= padded[2:])
        found = np.flatnonzero(peak & (above > 0.1 * _GAP) & ~self.active)
        found = found[np.argsort(-above[found], kind="stable")][: _JOIN * self.mass.size]
        self.active[found] = True
        return bool(found.size)
