"""Confidence regions for the probabilities of several events, as linear rows.

Clopper-Pearson. Each of m events has an interval at level α/m, so that all hold at once but for a
chance of α. Where users come from a population, the number of users for whom an event holds is
binomial. Where the users are fixed and only the items are drawn, it is a sum of independent
indicators of unequal chances with the same mean Mp; its tail at c or more is at most the
binomial's if c >= Mp + 1 (Hoeffding 1956, theorem 4). A lower limit misses p only where the count
reaches a c with P(Binomial >= c) <= α/2m; for c >= 2 that is at most 1/4 only if c >= Mp + 1, and
for c = 1 Markov's inequality, P(count >= 1) <= Mp, replaces the binomial. So one region holds for
the population and for the users.

Chernoff, for fixed users alone. With ranks R_u the count X of an event has the moment generating
function Π_u (1 + F(R_u)(e^s - 1)), F(R) = P(event | R), and so

    s X/M <= Σ_R P(R) log(1 + F(R)(e^s - 1)) + log(1/δ)/M     but for a chance of δ,

P(R) the distribution of these users' ranks: a row that is linear in it, for any s fixed
beforehand. It knows that an event which is all but sure at every rank hardly varies, however
evenly the users split over it. s is best at √(2 log(1/δ)/(M v)), v the mean of F(1 - F); as the
width grows by (ρ + 1/ρ)/2 only with ρ the ratio to the best, one guess of v serves.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.types import Floats, Ints

Rows = tuple[Floats, Floats]  # (n_columns, n_rows) and the limits of the rows

_SPREAD = 0.06  # v: 0.03 to 0.12 for the first events of samples from real models


def limits(count: Ints, n_users: int, alpha: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson intervals of several shares that hold together but for a chance of alpha."""
    from scipy.special import betainccinv, betaincinv

    tail = alpha / (2.0 * max(count.size, 1))
    inner = np.clip(count, 1, n_users)
    low = np.where(count > 0, betaincinv(inner, n_users - inner + 1.0, tail), 0.0)
    inner = np.clip(count, 0, n_users - 1)
    high = np.where(count < n_users, betainccinv(inner + 1.0, n_users - inner, tail), 1.0)
    low = np.where(count == 1, np.minimum(low, tail / n_users), low)
    high = np.where(count == n_users - 1, np.maximum(high, 1.0 - tail / n_users), high)
    return low, high


def clopper_pearson(count: Ints, n_users: int, alpha: float, top: Floats, bottom: Floats) -> Rows:
    """Rows for columns of ranks whose P(event | R) lies between `bottom` and `top`."""
    low, high = limits(count, n_users, alpha)
    above, below = high < 1.0, low > 0.0
    table = np.hstack([bottom[:, above], -top[:, below]])
    return table, np.concatenate([high[above], -low[below]])


def chernoff(count: Ints, n_users: int, alpha: float, top: Floats, bottom: Floats) -> Rows:
    """Limits on the share of each event, for fixed users."""
    cost = np.log(2.0 * max(count.size, 1) / alpha) / n_users
    s = np.sqrt(2.0 * cost / _SPREAD)
    share = count / n_users
    table = np.hstack([-np.log1p(top * np.expm1(s)), -np.log1p(bottom * np.expm1(-s))])
    return table, np.concatenate([cost - s * share, cost + s * share])
