"""Penalised maximum likelihood: a log-density with no more curvature than the data require.

EM from the uniform start smooths by stopping early, and how much is an accident of the number
of steps. Here P(R) ∝ exp(g(x)) with g a cubic spline in x = log((R + c) / (N + 1 - R)): the
logarithm of the rank near the top, and the other end of the catalogue spread out alike, so that
targets piled up at the bottom cost the top nothing. Curvature is penalised: maximise

    M Σ_o P̃(o) log P(o) - λ/2 ∫ exp(-x/2) g''(x)² dx.

The penalty falls with the square root of the rank: in the bulk, where a sample is informative, the
curve may bend; at the top, where it is not, the curve continues in a line. Where λ grows
without end P(R) is a power of R + c (times the anchor below, if there is one), near the beta
distribution of Li et al. 2020. Real densities flatten towards rank 1, and more so where training
items are among the candidates and take the first ranks: `Prior` has c. λ itself is chosen from the
data, by the marginal likelihood of the sample (Laplace's approximation, the coefficients θ of the
spline being Gaussian with precision Q = λS, I the information):

    log-likelihood - ½ θᵀQθ + ½ log |Q|₊ - ½ log |I + Q|.

An anchor, the known density a(R) of other models on the same data, lends its shape: then
P(R) ∝ a(R) exp(g(x)). Without one a(R) is a power, e^(-0.4 x). Either way the slope of g at the
first rank is Gaussian around 0, which adds to Q.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from fullrank._lib import checks, threads
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.estimators.system import (
    Sensitivity,
    System,
    observed_system,
    possible_system,
)
from fullrank.samples import RankDistribution, RankSample

_SLOPE = -0.4  # of the log-density at the first rank, without an anchor
_KNOT = 0.3  # spacing of the knots
_FALL = 0.5  # how the penalty falls with x; 0.4 and 0.6 do as well (benchmarks/)
_PENALTIES = 10.0 ** np.arange(4.0, -3.1, -0.25)  # from stiff to loose, each starts the next
_HOPELESS = 12.0  # in log evidence
_STEPS = 60
_LEAST = 1e-150  # probability of an outcome: its inverse squared is still a number
_BIAS = 2.0  # standard deviations of the smoothing bias that intervals allow for


@dataclass(frozen=True)
class Fit:
    """A fit at one penalty."""

    penalty: float
    coefficients: Floats
    mass: Floats
    evidence: float  # log marginal likelihood, up to a constant


# forgotten with the sample
_FITS: WeakKeyDictionary[RankSample, dict[tuple[float | None, bytes], Fit]] = WeakKeyDictionary()


def smoothed(
    sample: RankSample, *, penalty: float | None = None, grid: RankGrid | None = None
) -> RankDistribution:
    """Estimate P(R) by penalised maximum likelihood, with the penalty chosen from the data.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    penalty : λ > 0; default: the penalty of largest marginal likelihood
    grid : rank grid

    Notes
    -----
    Cost: a few hundred Newton steps in about 2·log(N)/0.3 unknowns, because knots are 0.3 apart:
    50 to 90 for thousands to hundreds of thousands of items, whatever the number of users. They
    take a fraction of a second.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate(range(1, 1001), n_items=1000, design="adaptive:levels=25/50/100", rng=0)
    >>> round(smoothed(sample).metric("recall@100"), 2)
    0.1
    """
    fit = _fit(sample, penalty, grid)
    name = f"smoothed, λ = {float(f'{fit.penalty:.2g}'):g}"
    return observed_system(sample, grid).distribution(fit.mass, name)


def smoothed_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    penalty: float | None = None,
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How the fit moves with the sample at a fixed penalty, and how far smoothing may bias it.

    Value, error and bias are those of the one fit; `bias_bound` says how the bias is bounded.
    """
    system = possible_system(sample, grid)
    fit = _fit(sample, penalty, grid)
    with threads.one_blas_thread():
        return Sensitivity(
            system=system,
            mass=fit.mass,
            gradient=gradient(system, fit, values),
            centre=fit.mass @ values,
            bias=bias_bound(system, fit, values),
        )


def best_penalty(
    sample: RankSample, *, penalty: float | None = None, grid: RankGrid | None = None
) -> dict[str, float]:
    """The penalty that the data choose, as a setting."""
    return {"penalty": _fit(sample, penalty, grid).penalty}


def _fit(sample: RankSample, penalty: float | None, grid: RankGrid | None) -> Fit:
    """The fit that value, standard error and bias share."""
    if penalty is not None:
        penalty = checks.positive("penalty", penalty)
    system = observed_system(sample, grid)
    fits = _FITS.setdefault(sample, {})
    key = (penalty, system.grid.edges.tobytes())
    if key not in fits:
        fits[key] = best_fit(system, penalty)
    return fits[key]


def best_fit(system: System, penalty: float | None = None) -> Fit:
    """The fit of the given penalty, or of the one with the largest marginal likelihood."""
    with threads.one_blas_thread():  # more only get in each other's way on matrices so small
        if penalty is not None:
            return fit_path(system, np.array([float(penalty)]))[0]
        coarse = fit_path(system, _PENALTIES[::2])
        best = max(coarse, key=lambda fit: fit.evidence)
        step = float(_PENALTIES[0] / _PENALTIES[1])
        near = [refit(system, best.penalty * ratio, best) for ratio in (step, 1.0 / step)]
    inside = [fit for fit in near if fit.penalty >= _PENALTIES[-1] * 0.999]
    return max([best, *inside], key=lambda fit: fit.evidence)


def refit(system: System, penalty: float, start: Fit) -> Fit:
    """The fit of another penalty (or sample), started from one that is near."""
    return _Problem(system).fit(penalty, start.coefficients)


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
        edges = system.grid.edges.tobytes()
        self.basis, self.bending, slope, x = _spline(edges, _FALL, system.prior.shift)
        anchor = system.prior.anchor
        self.log_width = self.log_width + (_SLOPE * x if anchor is None else anchor)
        self.firm = np.outer(slope, slope) / system.prior.slope_spread**2
        # two directions do not bend, the constant and the line; what is assumed of the line's slope
        # adds to log |Q| a number that is free of the penalty
        self.bent = np.log(eigvalsh(self.bending)[2:])
        # the constant changes nothing: a grain of curvature keeps it where it is
        self.grain = 1e-9 * max(1.0, self.users) * np.eye(self.basis.shape[1])

    def precision(self, penalty: float) -> Floats:
        """Q, the inverse covariance of the coefficients before the sample."""
        return np.asarray(penalty * self.bending + self.firm)

    def mass(self, coefficients: Floats) -> Floats:
        height = self.basis @ coefficients + self.log_width
        weight = np.exp(height - height.max())
        return np.asarray(weight / weight.sum())

    def value(self, coefficients: Floats, penalty: float) -> float:
        expected = np.maximum(self.mass(coefficients) @ self.system.table, _LEAST)
        likelihood = self.users * float(self.system.observed @ np.log(expected))
        # rounding can take the curvature of huge coefficients below 0, and the climb after it
        bent = max(0.0, float(coefficients @ self.precision(penalty) @ coefficients))
        return likelihood - 0.5 * bent

    def slopes(self, coefficients: Floats, penalty: float) -> _Slopes:
        """The gradient and both curvatures, observed and expected."""
        system, mass, prior = self.system, self.mass(coefficients), self.precision(penalty)
        expected = np.maximum(mass @ system.table, _LEAST)
        weighted = mass[:, None] * self.basis
        centre = weighted.sum(axis=0)
        jacobian = system.table.T @ weighted - np.outer(expected, centre)
        ratio = system.observed / expected
        # ∂²q/∂θ² is what the observed information has beyond the products of ∂q/∂θ
        lift = mass * (system.table @ ratio - 1.0)
        bend = (self.basis - centre).T @ (lift[:, None] * (self.basis - centre))
        seen = jacobian.T @ ((ratio / expected)[:, None] * jacobian) - bend
        return _Slopes(
            gradient=self.users * (jacobian.T @ ratio) - prior @ coefficients,
            observed=self.users * seen + prior + self.grain,
            expected=self.users * (jacobian.T @ (jacobian / expected[:, None]))
            + prior
            + self.grain,
            score=jacobian / expected[:, None],
        )

    def fit(self, penalty: float, coefficients: Floats) -> Fit:
        """Newton's steps; where they would not climb, damped ones by the expected information."""
        from scipy.linalg import eigvalsh

        value = self.value(coefficients, penalty)
        slopes = self.slopes(coefficients, penalty)
        for _ in range(_STEPS):
            moved, gain = self.climb(coefficients, penalty, slopes, value)
            if gain > 0.0:
                coefficients, value = moved, value + gain
                slopes = self.slopes(coefficients, penalty)
            if gain <= 1e-6:
                break
        spectrum = np.maximum(eigvalsh(slopes.expected)[1:], 1e-300)  # all but the constant
        evidence = value + 0.5 * float((np.log(penalty) + self.bent).sum() - np.log(spectrum).sum())
        return Fit(penalty, coefficients, self.mass(coefficients), evidence)

    def climb(
        self, coefficients: Floats, penalty: float, slopes: _Slopes, value: float
    ) -> tuple[Floats, float]:
        """The end of a step, and what it gains."""
        curvature, damping = slopes.observed, 0.0
        scale = np.diag(np.maximum(np.diag(slopes.expected), 1e-8))
        moved, gain = coefficients, -1.0
        while damping < 1e12:
            direction = _solve(curvature + damping * scale, slopes.gradient)
            if direction is not None:
                moved = coefficients + direction - direction.mean()
                gain = self.value(moved, penalty) - value
            if gain >= 0.0:
                break
            curvature, damping = slopes.expected, max(1e-6, 10.0 * damping)
        return moved, gain


@dataclass(frozen=True)
class _Slopes:
    """Derivatives of the objective at some coefficients."""

    gradient: Floats
    observed: Floats  # minus the Hessian
    expected: Floats  # its expectation, which is never negative
    score: Floats  # ∂ log P(o) / ∂θ, a row for each outcome


def gradient(system: System, fit: Fit, values: Floats) -> Floats:
    """How Σ_R values_R P̂(R) moves with the share of each outcome, the penalty held fixed.

    At the maximum, θ moves by M H⁻¹ Σ_o s_o dP̃(o), with s_o the score of outcome o and H the
    curvature, and the functional by Σ_R P̂(R) (values_R - T) b_R · dθ.
    """
    problem = _Problem(system)
    slopes = problem.slopes(fit.coefficients, fit.penalty)
    mass = problem.mass(fit.coefficients)
    toward = problem.basis.T @ (mass[:, None] * (values - mass @ values))
    step = _solve(slopes.observed, toward)
    if step is None:
        step = _solve_never_negative(slopes.expected, toward)
    return np.asarray(problem.users * (slopes.score @ step))


def bias_bound(system: System, fit: Fit, values: Floats) -> Floats:
    """How far smoothing may have moved each functional T.

    Some standard deviations of the bias that the prior of the marginal likelihood expects, and the
    error σ dT of a slope that is off by σ above the rank ν that the sample resolves (`tilts`).
    Calibrated on the tuning part of the rank bank (docs/studies/hundred.md).
    """
    tilted = system.prior.slope_error * tilts(system, fit.mass, values)
    return np.asarray(np.hypot(_BIAS * np.sqrt(bias_square(system, fit, values)), tilted))


def tilts(system: System, mass: Floats, values: Floats) -> Floats:
    """How each functional moves with the slope of the log-density above the rank ν.

    The sample tells how many targets lie there, and a tilt moves them among themselves alone: the
    derivative is Σ_{R<ν} P(R) (log(ν/R) - m) values_R, m the mean of log(ν/R) over these ranks.
    """
    edges = system.grid.edges
    rank = np.sqrt((edges[:-1] + 1.0) * edges[1:])
    beyond = np.log(system.prior.ranks / rank)
    top = np.where(beyond > 0.0, mass, 0.0)
    if not top.sum() > 0.0:
        return np.zeros(values.shape[1])
    return np.asarray((top * (beyond - top @ beyond / top.sum())) @ values)


def bias_square(system: System, fit: Fit, values: Floats) -> Floats:
    """The squared smoothing bias expected if θ is Gaussian with precision Q: dᵀH⁻¹ Q H⁻¹d.

    It is also what the variance of θ after the sample (H⁻¹) has beyond the sampling variance.
    """
    problem = _Problem(system)
    mass = problem.mass(fit.coefficients)
    toward = problem.basis.T @ (mass[:, None] * (values - mass @ values))
    expected = problem.slopes(fit.coefficients, fit.penalty).expected
    step = _solve_never_negative(expected, toward)
    bent = np.einsum("ij,ij->j", step, problem.precision(fit.penalty) @ step)
    return np.asarray(np.maximum(bent, 0.0))  # rounding could take it below


def _solve(curvature: Floats, right: Floats) -> Floats | None:
    """By Cholesky's factors; None where the curvature is not positive."""
    from scipy.linalg.lapack import dposv

    # hundreds of these make an estimate: the checks of scipy.linalg cost as much as the solution
    _, solution, failed = dposv(curvature, right)
    return None if failed else np.asarray(solution)


def _solve_never_negative(curvature: Floats, right: Floats) -> Floats:
    """The same for a curvature that only rounding can have made negative somewhere."""
    ridge, scale = 0.0, float(np.trace(curvature)) / len(curvature)
    while (step := _solve(curvature + ridge * np.eye(len(curvature)), right)) is None:
        ridge = max(1e-14 * scale, 10.0 * ridge)
    return step


@lru_cache(maxsize=16)
def _spline(grid: bytes, fall: float, shift: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Cubic B-splines at the middle of each bin, their bending, their slope at rank 1, and x."""
    from scipy.interpolate import BSpline

    edges = np.frombuffer(grid, np.int64)
    rank = np.sqrt((edges[:-1] + 1.0) * edges[1:])
    below = np.maximum(edges[-1] + 1.0 - rank, 0.5)  # at 2^53 items, 1 is lost in rounding
    place = np.log((rank + shift) / below)
    x = place - place[0]
    top = max(float(x[-1]), 2.0 * _KNOT)
    inner = np.linspace(0.0, top, max(2, round(top / _KNOT)) + 1)
    knots = np.concatenate([[0.0] * 3, inner, [top] * 3])
    basis = BSpline.design_matrix(x, knots, 3).toarray()
    spline = BSpline(knots, np.eye(knots.size - 4), 3)
    curve = spline.derivative(2)
    middle = 0.5 * (inner[1:] + inner[:-1])
    # the second derivative is a line between knots: Simpson's rule is exact for its square
    ends = ((1.0, inner[:-1]), (4.0, middle), (1.0, np.nextafter(inner[1:], 0.0)))
    # 1 in the middle of the catalogue, whatever the shift
    half = np.log(edges[-1]) - np.log1p(shift)
    price = np.exp(-fall * (middle - half)) * np.diff(inner) / 6.0
    bending = sum(weight * (curve(at).T @ (price[:, None] * curve(at))) for weight, at in ends)
    return basis, np.asarray(bending), np.asarray(spline.derivative(1)(0.0)), x
