"""MES: the distribution of largest entropy whose outcomes look like the observed ones.

Jin et al. 2021, equation 26: maximise η H(π) - Σ_o w_o (q_o - P̃_o)² with q = Aᵀπ, where w_o
is P̃_o as printed ("weighted") or 1 ("unweighted", which is what the published figures come
from). An N-dimensional convex program; its dual has one unknown λ_o for each outcome:

    minimise  log Σ_R exp((Aλ)_R) - P̃ᵀλ + η/4 Σ_o λ_o²/w_o,      π_R ∝ exp((Aλ)_R),

solved by Newton's method in a handful of steps. Outcomes with w_o = 0 have λ_o = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import Sensitivity, System, possible_system
from fullrank.samples import RankDistribution, RankSample

WEIGHTINGS = ("unweighted", "weighted")
_STEPS = 200  # of Newton, at each η
_RESIDUAL = 1e-13  # where to stop
_DROWNED = 1e-9  # a descent that cannot be distinguished from rounding
_ACCEPTED = 1e-8  # what a solution may be left with


@dataclass(frozen=True)
class Dual:
    """The solution of the dual, and how well it solves it."""

    mass: Floats
    multipliers: Floats
    residual: float  # the largest entry of the gradient: the KKT residual
    steps: int


def mes(
    sample: RankSample,
    *,
    eta: float = 0.001,
    weighting: str = "unweighted",
    grid: RankGrid | None = None,
) -> RankDistribution:
    """Maximal entropy with squared distance to the observed outcomes.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    eta : η > 0, the weight of the entropy
    weighting : "unweighted" squares (the published figures, at η = 0.001) or "weighted" by
        the observed shares (equation 25 as printed; η = 0.0001 comes close to the figures)
    grid : rank grid
    """
    system = possible_system(sample, grid)
    solved = _solved(system, eta, weighting)
    name = "MES" if weighting == "unweighted" else "MES, weighted"
    return system.distribution(solved.mass, f"{name} {eta:g}")


def mes_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    eta: float = 0.001,
    weighting: str = "unweighted",
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How `mes` moves with the sample; of unweighted squares alone.

    At the minimum q(λ) - P̃ + ηλ/2 = 0, so that dλ = (Cov_π(A) + η/2)⁻¹ dP̃ and the functional
    moves by Cov_π(values, A) dλ.
    """
    if weighting == "weighted":
        raise InputError(
            '`weighting` must be "unweighted" here: weights that are the observed shares have no '
            "derivative where nothing was observed. Use `estimate` with uncertainty='bootstrap'."
        )
    from scipy.linalg import cho_factor, cho_solve

    system = possible_system(sample, grid)
    mass = _solved(system, eta, weighting).mass
    implied = mass @ system.table
    weighted = mass[:, None] * system.table
    hessian = system.table.T @ weighted - np.outer(implied, implied)
    hessian[np.diag_indices_from(hessian)] += 0.5 * eta
    toward = weighted.T @ values - np.outer(implied, mass @ values)
    return Sensitivity(
        system=system,
        mass=mass,
        gradient=np.asarray(cho_solve(cho_factor(hessian), toward)),
        centre=mass @ values,
    )


def _solved(system: System, eta: float, weighting: str) -> Dual:
    eta = checks.positive("eta", eta)
    weighting = checks.choice("weighting", weighting, WEIGHTINGS)
    solved = solve(system, eta, system.observed if weighting == "weighted" else None)
    if not solved.residual < _ACCEPTED:
        raise InputError(
            f"`eta` must be larger for this sample: {eta:g} is too small for double precision."
        )
    return solved


def solve(system: System, eta: float, weights: Floats | None = None) -> Dual:
    """Newton on the dual; a small η is come to from larger ones, each starting the next."""
    use = np.ones(system.observed.size, bool) if weights is None else weights > 0.0
    scale = np.ones(use.sum()) if weights is None else 1.0 / weights[use]
    problem = _Problem(system.table[:, use], system.observed[use], np.log(system.grid.widths))
    multipliers, steps = np.zeros(scale.size), 0
    for value in (*_larger(eta), eta):
        multipliers, taken = problem.minimise(0.5 * value * scale, multipliers)
        steps += taken
    every = np.zeros(use.size)
    every[use] = multipliers
    mass = problem.mass(multipliers)
    residual = float(np.abs(problem.gradient(multipliers, 0.5 * eta * scale)).max())
    return Dual(mass=mass, multipliers=every, residual=residual, steps=steps)


def _larger(eta: float) -> Floats:
    """Powers of ten above η, from 0.001 down."""
    powers: Floats = 10.0 ** np.arange(-3.0, np.log10(eta), -1.0)
    return powers


@dataclass(frozen=True)
class _Problem:
    """The dual of the outcomes in use."""

    table: Floats
    observed: Floats
    log_width: Floats

    def mass(self, multipliers: Floats) -> Floats:
        height = self.table @ multipliers + self.log_width
        weight = np.exp(height - height.max())
        return np.asarray(weight / weight.sum())

    def gradient(self, multipliers: Floats, ridge: Floats) -> Floats:
        implied = self.mass(multipliers) @ self.table
        return np.asarray(implied - self.observed + ridge * multipliers)

    def value(self, multipliers: Floats, ridge: Floats) -> float:
        height = self.table @ multipliers + self.log_width
        top = float(height.max())
        total = top + float(np.log(np.exp(height - top).sum()))
        return total - float(self.observed @ multipliers) + 0.5 * float(ridge @ multipliers**2)

    def direction(self, multipliers: Floats, ridge: Floats, gradient: Floats) -> Floats:
        """Newton's, from the Hessian Cov_π(A) + diag(ridge)."""
        from scipy.linalg import cho_factor, cho_solve

        mass = self.mass(multipliers)
        implied = mass @ self.table
        hessian = self.table.T @ (mass[:, None] * self.table) - np.outer(implied, implied)
        hessian[np.diag_indices_from(hessian)] += ridge
        return np.asarray(cho_solve(cho_factor(hessian), gradient))

    def minimise(self, ridge: Floats, multipliers: Floats) -> tuple[Floats, int]:
        """Newton's steps, for as long as they descend."""
        for steps in range(_STEPS):
            gradient = self.gradient(multipliers, ridge)
            if float(np.abs(gradient).max()) < _RESIDUAL:
                return multipliers, steps
            moved = self.descend(multipliers, ridge, gradient)
            if moved is None:
                return multipliers, steps
            multipliers = moved
        return multipliers, _STEPS

    def descend(self, multipliers: Floats, ridge: Floats, gradient: Floats) -> Floats | None:
        """The end of a Newton step, halved until it descends; None where none does."""
        try:
            direction = self.direction(multipliers, ridge, gradient)
        except np.linalg.LinAlgError:  # a ridge below the rounding of the covariance
            return None
        here, slope, length = self.value(multipliers, ridge), float(gradient @ direction), 1.0
        if slope < _DROWNED:  # the descent drowns in rounding: now the gradient must shrink
            moved = multipliers - direction
            less = np.abs(self.gradient(moved, ridge)).max() < np.abs(gradient).max()
            return moved if less else None
        while length > 1e-10:
            moved = multipliers - length * direction
            if self.value(moved, ridge) <= here - 1e-4 * length * slope:
                return moved
            length /= 2.0
        return None


def objective(system: System, mass: Floats, eta: float, weights: Floats | None = None) -> float:
    """η H(π) - Σ w (q - P̃)² of the primal, the mass spread evenly over each bin's ranks."""
    inside = mass[mass > 0.0]
    entropy = -float(inside @ np.log(inside / system.grid.widths[mass > 0.0]))
    error = (mass @ system.table - system.observed) ** 2
    return eta * entropy - float(error.sum() if weights is None else weights @ error)
