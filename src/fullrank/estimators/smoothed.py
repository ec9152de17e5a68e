"""Smoothed maximum likelihood: a log-density that bends no more than the data ask for.

EM from the uniform start smooths by stopping early, and how much is an accident of the number
of steps. Here P(R) ∝ exp(g(x)) with g a cubic spline in x = log(R / (N + 1 - R)): the logarithm
of the rank near the top, and the other end of the catalogue spread out alike, so that targets
piled up at the bottom cost the top nothing. The likelihood pays for bending: maximise

    M Σ_o P̃(o) log P(o) - λ/2 ∫ exp(-x/2) g''(x)² dx.

The price falls with the square root of the rank: the bulk of the ranks, of which a sample tells
much, may bend; the few at the top, of which it tells little, follow in a line. Where λ grows
without end P(R) is a power of R, the beta distribution of Li et al. 2020. λ itself is chosen
from the data, by the marginal likelihood of the sample (Laplace's approximation, the
coefficients θ of the spline being Gaussian with precision λS, I the information):

    log-likelihood - λ/2 θᵀSθ + ½ log |λS|₊ - ½ log |I + λS|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank import _checks
from fullrank.errors import InputError
from fullrank.estimators._system import System, observed_system
from fullrank.sampling import RankDistribution, RankGrid, RankSample

Floats = NDArray[np.float64]

_KNOT = 0.3  # spacing of the knots
_FALL = 0.5  # how the price of bending falls with x; 0.4 and 0.6 do as well (benchmarks/)
_PENALTIES = 10.0 ** np.arange(4.0, -3.1, -0.25)  # from stiff to loose, each starts the next
_HOPELESS = 12.0  # in log evidence
_STEPS = 60


@dataclass(frozen=True)
class Fit:
    """A fit at one penalty."""

    penalty: float
    coefficients: Floats
    mass: Floats
    evidence: float  # log marginal likelihood, up to a constant


def smoothed(
    sample: RankSample, *, penalty: float | None = None, grid: RankGrid | None = None
) -> RankDistribution:
    """P(R) by penalised maximum likelihood, the penalty chosen from the data.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    penalty : λ > 0; left out, the one of largest marginal likelihood
    grid : rank grid

    Notes
    -----
    Cost: a few hundred Newton steps in as many unknowns as there are knots, thirty or so,
    whatever the numbers of users and items: a fraction of a second.

    Examples
    --------
    >>> from fullrank.sampling import simulate
    >>> sample = simulate(range(1, 1001), n_items=1000, levels=[25, 50, 100], rng=0)
    >>> round(smoothed(sample).metric("recall@100"), 2)
    0.1
    """
    if penalty is not None and not _checks.real("penalty", penalty) > 0.0:
        raise InputError(f"`penalty` must be above 0, not {penalty:g}.")
    system = observed_system(sample, grid)
    path = fit_path(system, _PENALTIES if penalty is None else np.array([float(penalty)]))
    best = max(path, key=lambda fit: fit.evidence)
    return system.distribution(best.mass, f"smoothed, λ = {best.penalty:.2g}")


def fit_path(system: System, penalties: Floats) -> list[Fit]:
    """Fits from the stiffest to the loosest penalty, each started from the one before.

    The path ends where the evidence has fallen so far that no looser fit can be the choice.
    """
    problem = _Problem(system)
    coefficients = np.zeros(problem.basis.shape[1])
    path = []
    for penalty in np.sort(penalties)[::-1].tolist():
        fit = problem.fit(penalty, coefficients)
        path.append(fit)
        coefficients = fit.coefficients
        if fit.evidence < max(one.evidence for one in path) - _HOPELESS:
            break
    return path


class _Problem:
    """The penalised likelihood of one sample."""

    def __init__(self, system: System) -> None:
        from scipy.linalg import eigvalsh

        self.system = system
        self.users = float(system.n_targets)
        self.log_width = np.log(system.grid.widths)
        self.basis, self.bending = _spline(system.grid)
        # two directions do not bend, the constant and the line
        self.bent = np.log(eigvalsh(self.bending)[2:])

    def mass(self, coefficients: Floats) -> Floats:
        height = self.basis @ coefficients + self.log_width
        weight = np.exp(height - height.max())
        return np.asarray(weight / weight.sum())

    def value(self, coefficients: Floats, penalty: float) -> float:
        expected = np.maximum(self.mass(coefficients) @ self.system.table, 1e-300)
        likelihood = self.users * float(self.system.observed @ np.log(expected))
        return likelihood - 0.5 * penalty * float(coefficients @ self.bending @ coefficients)

    def slopes(self, coefficients: Floats, penalty: float) -> tuple[Floats, Floats]:
        """The gradient, and the expected information with the penalty's curvature."""
        mass = self.mass(coefficients)
        expected = np.maximum(mass @ self.system.table, 1e-300)
        jacobian = (mass[:, None] * (self.system.table - expected)).T @ self.basis
        gradient = self.users * (jacobian.T @ (self.system.observed / expected))
        information = self.users * (jacobian.T @ (jacobian / expected[:, None]))
        # the constant changes nothing: a grain of curvature keeps it where it is
        information[np.diag_indices_from(information)] += 1e-9
        return gradient - penalty * (self.bending @ coefficients), (
            information + penalty * self.bending
        )

    def fit(self, penalty: float, coefficients: Floats) -> Fit:
        """Newton with the expected information, damped until the objective grows."""
        from scipy.linalg import eigvalsh

        value, damping = self.value(coefficients, penalty), 1e-6
        for _ in range(_STEPS):
            gradient, curvature = self.slopes(coefficients, penalty)
            scale = np.diag(np.maximum(np.diag(curvature), 1e-8))
            gain = -1.0
            while gain < 0.0 and damping < 1e12:
                moved = coefficients + np.linalg.solve(curvature + damping * scale, gradient)
                moved -= moved.mean()
                gain = self.value(moved, penalty) - value
                damping *= 10.0 if gain < 0.0 else 0.1
            if gain > 0.0:
                coefficients, value = moved, value + gain
            if gain <= 1e-6:
                break
            damping = max(damping, 1e-10)
        curvature = self.slopes(coefficients, penalty)[1]
        spectrum = np.maximum(eigvalsh(curvature)[1:], 1e-300)  # all but the constant
        evidence = value + 0.5 * float((np.log(penalty) + self.bent).sum() - np.log(spectrum).sum())
        return Fit(penalty, coefficients, self.mass(coefficients), evidence)


def _spline(grid: RankGrid) -> tuple[Floats, Floats]:
    """Cubic B-splines at the middle of each bin, and the matrix of their bending."""
    from scipy.interpolate import BSpline

    rank = np.sqrt((grid.edges[:-1] + 1.0) * grid.edges[1:])
    place = np.log(rank / (grid.n_items + 1.0 - rank))
    x = place - place[0]
    top = max(float(x[-1]), 2.0 * _KNOT)
    inner = np.linspace(0.0, top, max(2, round(top / _KNOT)) + 1)
    knots = np.concatenate([[0.0] * 3, inner, [top] * 3])
    basis = BSpline.design_matrix(x, knots, 3).toarray()
    curve = BSpline(knots, np.eye(knots.size - 4), 3).derivative(2)
    middle = 0.5 * (inner[1:] + inner[:-1])
    # the second derivative is a line between knots: Simpson's rule is exact for its square
    ends = ((1.0, inner[:-1]), (4.0, middle), (1.0, np.nextafter(inner[1:], 0.0)))
    price = np.exp(-_FALL * (middle - 0.5 * top)) * np.diff(inner) / 6.0
    bending = sum(weight * (curve(at).T @ (price[:, None] * curve(at))) for weight, at in ends)
    return basis, np.asarray(bending)
