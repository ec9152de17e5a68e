"""Maximum likelihood by EM, plain and converged (Jin et al. 2021; Li et al. 2023).

The likelihood of a sample is not affected by the factors c_j of an adaptive design, so that MLE
and adaptive MLE are one algorithm; only the outcomes differ.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import Sensitivity, System, observed_system, possible_system
from fullrank.samples import RankDistribution, RankSample

STEPS_FIXED = 100  # what the published figures of a fixed sample correspond to
STEPS_ADAPTIVE = 50  # and those of an adaptive one
_TINY = 1e-300
_LIMIT = 20_000  # accelerated cycles before giving up on `tol`


def mle(
    sample: RankSample,
    *,
    iterations: int | None = None,
    tol: float | None = None,
    grid: RankGrid | None = None,
) -> RankDistribution:
    """Estimate P(R) by maximum likelihood, with EM from the uniform distribution.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    iterations : number of plain EM steps; 100 for a fixed and 50 for an adaptive design if
        neither this nor `tol` is given. Few steps smooth: run on, the estimate grows noisy.
    tol : instead of a number of steps, the gain in mean log-likelihood that is still possible
        at the end; the maximum is reached by accelerated steps that never lose likelihood
    grid : rank grid; the default keeps 128 ranks one by one

    Notes
    -----
    The step is π_R ← Σ_o P̃(o) π_R P(o|R) / Σ_j π_j P(o|j) over outcomes o (Jin et al. 2021,
    equation 21). At a maximum Σ_o P̃(o) P(o|R)/P(o) is at most 1 for every R; its largest
    value minus 1 bounds what the mean log-likelihood can still gain, and is what `tol` limits.

    Cost: one kernel, then a few hundred rows times the distinct outcomes for each step,
    whatever the numbers of users and items.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate(range(1, 1001), n_items=1000, design="sampled:100", rng=0)
    >>> round(mle(sample).metric("recall@100"), 2)
    0.1
    """
    if iterations is not None and tol is not None:
        raise InputError("`iterations` must not be given together with `tol`: choose one.")
    system = observed_system(sample, grid)
    if tol is not None:
        return system.distribution(converged(system, checks.positive("tol", tol)), "MLE, converged")
    steps = default_steps(sample) if iterations is None else iterations
    steps = checks.integer("iterations", steps, low=1)
    name = "adaptive MLE" if sample.design.adaptive else "MLE"
    return system.distribution(plain(system, steps), f"{name}, {steps} steps")


def mle_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    iterations: int | None = None,
    tol: float | None = None,
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How `mle` moves with the sample; of a number of steps alone."""
    if tol is not None:
        raise InputError(
            "`tol` must not be given here: a converged maximum can lie on the boundary of the "
            "possible probabilities, where it has no derivative. Use `estimate` with "
            "uncertainty='bootstrap'."
        )
    system = possible_system(sample, grid)
    path = plain_path(system, default_steps(sample) if iterations is None else iterations)
    return Sensitivity(
        system=system,
        mass=path[-1],
        gradient=gradient(system, path[:-1], values),
        centre=path[-1] @ values,
    )


def default_steps(sample: RankSample) -> int:
    """The number of plain steps behind the published figures."""
    return STEPS_ADAPTIVE if sample.design.adaptive else STEPS_FIXED


def plain(system: System, steps: int) -> Floats:
    """`steps` EM steps from the uniform distribution."""
    return np.asarray(plain_path(system, steps)[-1])


def refits(system: System, steps: int, observed: Floats) -> Floats:
    """`plain` for many samples at once: a column of outcome shares each, a column of P(R) each."""
    mass = np.repeat(uniform(system)[:, None], observed.shape[1], axis=1)
    for _ in range(steps):
        expected = system.table.T @ mass
        ratio = np.divide(observed, expected, out=np.zeros_like(expected), where=observed > 0)
        mass *= system.table @ ratio
    return mass


def gradient(system: System, path: Floats, values: Floats) -> Floats:
    """How Σ_R values_R P̂(R) moves with the share of each outcome, exactly, step by step.

    Going back through the steps m' = m ∘ A(p/q), q = Aᵀm, with a = ∂T/∂m' and z = Aᵀ(a ∘ m):

        ∂T/∂p gains z/q,      ∂T/∂m = a ∘ A(p/q) - A(z p/q²).

    Parameters
    ----------
    path : the distributions before each step, one a row
    values : one column for each functional T
    """
    table, observed = system.table, system.observed[:, None]
    found = np.zeros((observed.size, values.shape[1]))
    for mass in path[::-1, :, None]:
        expected = np.maximum(table.T @ mass, _TINY)
        pull = table.T @ (values * mass)
        found += pull / expected
        ratio = observed / expected
        values = values * (table @ ratio) - table @ (pull * ratio / expected)
    return found


def plain_path(system: System, steps: int, start: Floats | None = None) -> Floats:
    """The distributions before each of the steps, and after the last, from the uniform one."""
    path = [uniform(system) if start is None else start]
    for _ in range(steps):
        path.append(step(system, path[-1]))
    return np.array(path)


def uniform(system: System) -> Floats:
    """Every rank alike."""
    return system.grid.widths / system.grid.n_items


def step(system: System, mass: Floats) -> Floats:
    """One EM step (equation 21)."""
    return mass * (system.table @ _ratio(system, mass))


def gap(system: System, mass: Floats) -> float:
    """An upper bound on what the mean log-likelihood can still gain."""
    return float((system.table @ _ratio(system, mass)).max() - 1.0)


def log_likelihood(system: System, mass: Floats) -> float:
    """The mean log-likelihood of a target."""
    expected = mass @ system.table
    if (expected <= 0.0).any():
        return -np.inf
    return float(system.observed @ np.log(expected))


def converged(system: System, tol: float) -> Floats:
    """The maximum, by SQUAREM steps on EM that fall back to EM wherever they would lose.

    Varadhan and Roland 2008, scheme S3: from m, m1 = EM(m), m2 = EM(m1) extrapolate along
    r = m1 - m, v = (m2 - m1) - r with step length -|r|/|v|.
    """
    mass = uniform(system)
    value = log_likelihood(system, mass)
    for _ in range(_LIMIT):
        first = step(system, mass)
        second = step(system, first)
        if gap(system, second) <= tol:
            return np.asarray(second / second.sum())
        mass, value = accelerated(system, mass, first, second, value)
    raise InputError(
        f"`tol` must be larger than {tol:g} for this sample: the likelihood is too flat to be "
        f"maximised that closely in {_LIMIT} steps."
    )


def accelerated(
    system: System, mass: Floats, first: Floats, second: Floats, value: float
) -> tuple[Floats, float]:
    """The mass that two steps of EM point to, and its likelihood; never less than theirs."""
    change = first - mass
    bend = second - first - change
    size = float(np.linalg.norm(bend))
    floor = log_likelihood(system, second)
    length = float(np.linalg.norm(change)) / size if size > 0.0 else 1.0
    while length > 1.0:
        jump = np.maximum(mass + 2.0 * length * change + length**2 * bend, 0.0)
        if jump.sum() > 0.0:
            jump = step(system, jump / jump.sum())
            reached = log_likelihood(system, jump)
            if reached >= floor:
                return jump, reached
        length = (length - 1.0) / 2.0
    return second, max(floor, value)


def _ratio(system: System, mass: Floats) -> Floats:
    expected = mass @ system.table
    return np.divide(
        system.observed, expected, out=np.zeros_like(expected), where=system.observed > 0
    )
