"""Estimators linear in the observed outcomes: BV and MN, each with a prior on P(R).

Both choose a number x_o for each outcome o so that the mean of x over the sample estimates
the metric. With A the outcome probabilities and b the metric on the ranks (Krichene and
Rendle 2020; Li et al. 2023, equation 11)

    BV(γ):  x = ((1 - γ) AᵀDA + γ diag(Aᵀd))⁻¹ AᵀD b
    MN:     x = (AᵀDA - AᵀA/M + diag(Aᵀ1)/M)⁻¹ AᵀD b

with D = diag(d) the prior. Since x is linear in b, the estimate is a signed distribution,
P̂(R) = d_R A_R G⁻¹ P̃ (Jin et al. 2021, equation 15), which serves every metric at once. G is a
sum of covariances and a multiple of AᵀDA: positive semi-definite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank import _checks
from fullrank.errors import InputError
from fullrank.estimators._system import System, possible_system
from fullrank.estimators.entropy import mes
from fullrank.estimators.likelihood import mle
from fullrank.sampling import RankDistribution, RankGrid, RankSample

Floats = NDArray[np.float64]
Prior = str | RankDistribution

PRIORS = ("uniform", "mle", "mes")


def bv(
    sample: RankSample,
    *,
    gamma: float = 0.01,
    prior: Prior = "uniform",
    grid: RankGrid | None = None,
) -> RankDistribution:
    """The bias-variance estimator: γ weighs variance against bias.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    gamma : from 0 (least bias) to 1 (least variance)
    prior : "uniform", "mle" or "mes" (from the same sample), or a distribution of your own
    grid : rank grid

    Notes
    -----
    The published BV_MLE and BV_MES take their prior from the mean over a hundred repeats,
    which nobody has who draws one sample: pass such a prior to reproduce them.
    """
    gamma = _checks.real("gamma", gamma, low=0.0, high=1.0)
    system = possible_system(sample, grid)
    weights, name = _prior(sample, prior, system)
    moments = (1.0 - gamma) * _gram(system, weights) + gamma * np.diag(weights @ system.table)
    return system.distribution(_solve(system, weights, moments), f"BV{name} {gamma:g}")


def mn(
    sample: RankSample,
    *,
    prior: Prior = "uniform",
    n_users: int | None = None,
    grid: RankGrid | None = None,
) -> RankDistribution:
    """The multinomial estimator: BV whose γ at each rank is 1/(M P(R)).

    Its variance term applies Jensen's inequality where it need not and overstates the
    variance, by a factor of hundreds where P(R) is small; it is here as published.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    prior : "uniform", "mle" or "mes" (from the same sample), or a distribution of your own
    n_users : M; the sample's own by default
    grid : rank grid
    """
    system = possible_system(sample, grid)
    weights, name = _prior(sample, prior, system)
    users = system.n_targets if n_users is None else _checks.integer("n_users", n_users, low=1)
    every = system.grid.widths.astype(np.float64)  # each rank once
    variance = np.diag(every @ system.table) - _gram(system, every)
    moments = _gram(system, weights) + variance / users
    return system.distribution(_solve(system, weights, moments), f"MN{name}")


def _prior(sample: RankSample, prior: Prior, system: System) -> tuple[Floats, str]:
    """The prior's mass on the grid, and what to call it."""
    if isinstance(prior, RankDistribution):
        if not np.array_equal(prior.grid.edges, system.grid.edges):
            raise InputError("`prior` must be on the rank grid of the estimate; pass `grid`.")
        return np.maximum(prior.mass, 0.0), "_given"
    name = _checks.choice("prior", prior, PRIORS)
    if name == "uniform":
        return system.grid.widths / system.grid.n_items, ""
    fitted = (mle if name == "mle" else mes)(sample, grid=system.grid)
    return fitted.mass, f"_{name.upper()}"


def _gram(system: System, weights: Floats) -> Floats:
    return np.asarray(system.table.T @ (weights[:, None] * system.table))


def _solve(system: System, weights: Floats, moments: Floats) -> Floats:
    """P̂ = d A G⁻¹ P̃, by the pseudo-inverse where outcomes cannot be told apart."""
    from scipy.linalg import eigh

    values, vectors = eigh(moments)
    keep = values > values[-1] * values.size * np.finfo(np.float64).eps
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    solved = vectors @ (inverse * (vectors.T @ system.observed))
    mass = weights * (system.table @ solved)
    # G 1 = Aᵀd, so that the mass sums to 1 but for what the pseudo-inverse left out
    total = float(mass.sum())
    return np.asarray(mass / total) if total > 0.0 else weights
