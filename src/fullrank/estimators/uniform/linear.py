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

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import Sensitivity, System, possible_system
from fullrank.estimators.uniform.entropy import mes, mes_sensitivity
from fullrank.estimators.uniform.likelihood import default_steps, mle, mle_sensitivity, plain
from fullrank.samples import RankDistribution, RankSample

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
    which is not available from one sample: pass such a prior to reproduce them.
    """
    gamma = checks.real("gamma", gamma, low=0.0, high=1.0)
    system = possible_system(sample, grid)
    weights, name = _prior(sample, prior, system)
    solved = _solve(_bv_moments(system, weights, gamma), system.observed)
    return system.distribution(_mass(system, weights, solved), f"BV{name} {gamma:g}")


def bv_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    gamma: float = 0.01,
    prior: Prior = "uniform",
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How `bv` moves with the sample: the numbers x of the outcomes, and the prior's own part."""
    gamma = checks.real("gamma", gamma, low=0.0, high=1.0)
    system = possible_system(sample, grid)
    weights, _ = _prior(sample, prior, system)
    moments = _bv_moments(system, weights, gamma)
    return _sensitivity(sample, values, prior, system, weights, moments, gamma)


def _bv_moments(system: System, weights: Floats, gamma: float) -> Floats:
    return (1.0 - gamma) * _gram(system, weights) + gamma * np.diag(weights @ system.table)


def mn(
    sample: RankSample,
    *,
    prior: Prior = "uniform",
    n_users: int | None = None,
    grid: RankGrid | None = None,
) -> RankDistribution:
    """The multinomial estimator: BV whose γ at each rank is 1/(M P(R)).

    Its variance term applies Jensen's inequality where it need not and overstates the
    variance, by a factor of hundreds where P(R) is small; it is implemented as published.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    prior : "uniform", "mle" or "mes" (from the same sample), or a distribution of your own
    n_users : M; the sample's own by default
    grid : rank grid
    """
    system = possible_system(sample, grid)
    weights, name = _prior(sample, prior, system)
    solved = _solve(_mn_moments(system, weights, n_users), system.observed)
    return system.distribution(_mass(system, weights, solved), f"MN{name}")


def mn_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    prior: Prior = "uniform",
    n_users: int | None = None,
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How `mn` moves with the sample: the numbers x of the outcomes, and the prior's own part."""
    system = possible_system(sample, grid)
    weights, _ = _prior(sample, prior, system)
    moments = _mn_moments(system, weights, n_users)
    return _sensitivity(sample, values, prior, system, weights, moments, 0.0)


def _mn_moments(system: System, weights: Floats, n_users: int | None) -> Floats:
    users = system.n_targets if n_users is None else checks.integer("n_users", n_users, low=1)
    every = system.grid.widths.astype(np.float64)  # each rank once
    variance = np.diag(every @ system.table) - _gram(system, every)
    return _gram(system, weights) + variance / users


def _sensitivity(
    sample: RankSample,
    values: Floats,
    prior: Prior,
    system: System,
    weights: Floats,
    moments: Floats,
    gamma: float,
) -> Sensitivity:
    """T = yᵀAᵀ(d ∘ b) with y = G⁻¹P̃; x = G⁻¹Aᵀ(d ∘ b) is its derivative if d is given.

    A prior d from the same sample moves too, and T with it, since AᵀDA is in G (times 1 - γ):

        ∂T/∂d_R = b_R (Ay)_R - (1 - γ)(Ax)_R (Ay)_R - γ Σ_o A_Ro x_o y_o.
    """
    table = system.table
    toward = table.T @ (weights[:, None] * values)
    both = _solve(moments, np.column_stack([system.observed, toward]))
    solved, numbers = both[:, 0], both[:, 1:]
    through = np.zeros_like(numbers)
    if isinstance(prior, str) and prior != "uniform":
        moved = _moved(table, values, numbers, solved, gamma)
        of_prior = mle_sensitivity if prior == "mle" else mes_sensitivity
        through = of_prior(sample, moved, grid=system.grid).gradient
    return Sensitivity(
        system=system,
        mass=plain(system, default_steps(sample)),  # P̂ itself is signed
        gradient=numbers + through,
        centre=_mass(system, weights, solved) @ values,
    )


def _moved(table: Floats, values: Floats, numbers: Floats, solved: Floats, gamma: float) -> Floats:
    """∂T/∂d."""
    implied = (table @ solved)[:, None]
    moved = (values - (1.0 - gamma) * (table @ numbers)) * implied
    return np.asarray(moved - gamma * (table @ (numbers * solved[:, None])))


def _prior(sample: RankSample, prior: Prior, system: System) -> tuple[Floats, str]:
    """The prior's mass on the grid, and what to call it."""
    if isinstance(prior, RankDistribution):
        if not np.array_equal(prior.grid.edges, system.grid.edges):
            raise InputError("`prior` must be on the rank grid of the estimate; pass `grid`.")
        return np.maximum(prior.mass, 0.0), "_given"
    name = checks.choice("prior", prior, PRIORS)
    if name == "uniform":
        return system.grid.widths / system.grid.n_items, ""
    fitted = (mle if name == "mle" else mes)(sample, grid=system.grid)
    return fitted.mass, f"_{name.upper()}"


def _gram(system: System, weights: Floats) -> Floats:
    return np.asarray(system.table.T @ (weights[:, None] * system.table))


def _solve(moments: Floats, right: Floats) -> Floats:
    """G⁻¹ of the right-hand side, by the pseudo-inverse where outcomes cannot be told apart."""
    from scipy.linalg import eigh

    values, vectors = eigh(moments)
    keep = values > values[-1] * values.size * np.finfo(np.float64).eps
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    return np.asarray((vectors * inverse) @ (vectors.T @ right))


def _mass(system: System, weights: Floats, solved: Floats) -> Floats:
    """P̂ = d A G⁻¹ P̃."""
    mass = weights * (system.table @ solved)
    # G 1 = Aᵀd, so that the mass sums to 1 but for what the pseudo-inverse left out
    total = float(mass.sum())
    return np.asarray(mass / total) if total > 0.0 else weights
