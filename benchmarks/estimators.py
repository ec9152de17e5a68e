"""EM and MES beside the forms they replace: over users × N, over outcomes × N, cvxpy.

EM at N = 25,815, n = 500, 25,677 users, 100 steps; goals: 100 times faster than over users × N
and 10 times faster than over outcomes × N; N = 10^7, n = 1,000 under 3 s and 500 MB; time flat in
the number of users once counted. MES: KKT residual below 1e-8, objective within 1e-6 of
cvxpy's at N = 2,000, and 100 times faster than cvxpy (its default open solver) at N = 25,815,
n = 500, unless cvxpy does not finish in three minutes.

    python benchmarks/estimators.py [rounds]
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import sys
import time
from functools import partial
from typing import Any

import numpy as np
from _measure import in_turn, peak_megabytes, report

from fullrank.designs import RankGrid, Uniform, kernel
from fullrank.estimators import mes, mle
from fullrank.estimators.system import System, possible_system
from fullrank.estimators.uniform.entropy import objective, solve
from fullrank.samples import RankSample, simulate

ITEMS, SIZE, USERS, STEPS = 25_815, 500, 25_677, 100
CHUNK = 1_000  # users of the plain form that are measured, for a step
FEW_STEPS = 5  # steps over outcomes × N in a turn
LARGE, LARGE_SIZE = 10**7, 1_000
ETA = 0.001
PATIENCE = 180.0  # seconds for cvxpy


def ranks_like_a_model(n_items: int, n_users: int, seed: int = 0) -> np.ndarray:
    """True ranks with a long tail: log-rank nearly uniform, a fifth of the users anywhere."""
    rng = np.random.default_rng(seed)
    close = np.exp(np.log(n_items) * rng.beta(2.5, 1.2, size=n_users))
    spread = rng.uniform(1, n_items + 1, size=n_users)
    return np.where(rng.random(n_users) < 0.2, spread, close).astype(np.int64).clip(1, n_items)


def drawn(n_items: int, size: int, n_users: int) -> RankSample:
    return simulate(
        ranks_like_a_model(n_items, n_users),
        n_items=n_items,
        design=Uniform(size, replacement=True),
        rng=1,
    )


def every_rank(sample: RankSample) -> np.ndarray:
    """P(r | R) of all N ranks and the observed outcomes."""
    return kernel(
        np.arange(1, sample.n_items + 1), sample.rank, sample_size=int(sample.sample_size[0]),
        n_items=sample.n_items, replacement=True,
    )  # fmt: skip


def over_outcomes(table: np.ndarray, shares: np.ndarray, steps: int) -> np.ndarray:
    mass = np.full(table.shape[0], 1.0 / table.shape[0])
    for _ in range(steps):
        mass = mass * (table @ (shares / (mass @ table)))
    return mass


def over_users(rows: np.ndarray, which: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """What some users add to a step of equation 20: their posteriors, row by row."""
    joint = rows[which] * mass
    joint /= joint.sum(axis=1, keepdims=True)
    return np.asarray(joint.sum(axis=0))


def expectation_maximisation(rounds: int) -> dict[str, Any]:
    sample = drawn(ITEMS, SIZE, USERS)
    shares = sample.count / sample.count.sum()
    table = every_rank(sample)
    rows = np.ascontiguousarray(table.T)
    which = np.searchsorted(sample.rank, sample.rows.rank[:CHUNK])
    start = np.full(ITEMS, 1.0 / ITEMS)
    seconds = in_turn(
        {
            "ours": partial(mle, sample, iterations=STEPS),
            "kernel of all ranks": partial(every_rank, sample),
            "outcomes": partial(over_outcomes, table, shares, FEW_STEPS),
            "users": partial(over_users, rows, which, start),
        },
        rounds,
    )
    outcomes = seconds["kernel of all ranks"] + seconds["outcomes"] / FEW_STEPS * STEPS
    users = seconds["kernel of all ranks"] + seconds["users"] * USERS / CHUNK * STEPS
    dense = over_outcomes(table, shares, STEPS)
    ours = mle(sample, iterations=STEPS)
    return {
        "n_items": ITEMS,
        "sample_size": SIZE,
        "users": USERS,
        "steps": STEPS,
        "distinct outcomes": int(sample.rank.size),
        "seconds": {
            "ours, kernel included": round(seconds["ours"], 4),
            f"outcomes × N, kernel and {FEW_STEPS} steps measured, scaled": round(outcomes, 3),
            f"users × N, kernel and a step of {CHUNK} users measured, scaled": round(users, 1),
        },
        "outcomes × N / ours": round(outcomes / seconds["ours"], 1),
        "users × N / ours": round(users / seconds["ours"], 1),
        "largest difference of recall@1..100 from outcomes × N": float(
            np.abs(ours.cdf(np.arange(1, 101)) - np.cumsum(dense)[:100]).max()
        ),
        "goals": {"outcomes × N / ours": 10, "users × N / ours": 100},
    }


def large(rounds: int) -> dict[str, Any]:
    sample = drawn(LARGE, LARGE_SIZE, 100_000).without_rows()
    seconds = in_turn({"mle": partial(mle, sample)}, rounds)
    setup = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "import estimators as b\n"
        f"sample = b.drawn({LARGE}, {LARGE_SIZE}, 100_000).without_rows()"
    )
    return {
        "n_items": LARGE,
        "sample_size": LARGE_SIZE,
        "steps": STEPS,
        "seconds": round(seconds["mle"], 3),
        "peak MB beyond the inputs": peak_megabytes(setup, "b.mle(sample)"),
        "goals": {"seconds": 3.0, "megabytes": 500},
    }


def flat(rounds: int) -> dict[str, Any]:
    """The same hundred outcomes from ever more users."""
    samples = {m: drawn(ITEMS, 100, m).without_rows() for m in (10**4, 10**5, 10**6, 10**7)}
    seconds = in_turn({str(m): partial(mle, one) for m, one in samples.items()}, rounds)
    return {
        "seconds": {m: round(value, 4) for m, value in seconds.items()},
        "distinct outcomes": {str(m): int(one.rank.size) for m, one in samples.items()},
        "time of 10^7 users over 10^4": round(seconds["10000000"] / seconds["10000"], 2),
    }


def stationarity(system: System, mass: np.ndarray) -> float:
    """How far π is from exp((Aλ)_R) with the λ = 2/η (P̃ - Aᵀπ) that it implies itself."""
    multipliers = 2.0 / ETA * (system.observed - mass @ system.table)
    height = system.table @ multipliers + np.log(system.grid.widths)
    weight = np.exp(height - height.max())
    return float(np.abs(weight / weight.sum() - mass).max())


def by_cvxpy(table: np.ndarray, observed: np.ndarray) -> tuple[float, str]:
    """The primal as printed, by cvxpy's own choice of solver."""
    import cvxpy

    mass = cvxpy.Variable(table.shape[0])
    fit = cvxpy.sum_squares(table.T @ mass - observed)
    problem = cvxpy.Problem(
        cvxpy.Maximize(ETA * cvxpy.sum(cvxpy.entr(mass)) - fit),
        [cvxpy.sum(mass) == 1],
    )
    problem.solve()
    return float(problem.value), str(problem.solver_stats.solver_name)


def entropy(rounds: int) -> dict[str, Any]:
    small = possible_system(drawn(2_000, 100, 6_000), RankGrid.dense(2_000))
    found = solve(small, ETA)
    sample = drawn(ITEMS, SIZE, USERS)
    binned = possible_system(sample)
    solved = solve(binned, ETA)
    seconds = in_turn({"mes": partial(mes, sample, eta=ETA)}, rounds)["mes"]
    result: dict[str, Any] = {
        "KKT residual, N = 2,000, every rank": found.residual,
        "KKT residual, N = 25,815": solved.residual,
        "stationarity in the primal": [
            stationarity(small, found.mass), stationarity(binned, solved.mass)
        ],
        "Newton steps": [found.steps, solved.steps],
        "seconds, N = 25,815, n = 500": round(seconds, 4),
        "goals": {"KKT residual": 1e-8, "objective": 1e-6, "cvxpy / ours": 100},
    }  # fmt: skip
    if importlib.util.find_spec("cvxpy") is None:
        return result | {"cvxpy": "not installed; it comes with the bench extra"}
    value, solver = by_cvxpy(small.table, small.observed)
    ours = objective(small, found.mass, ETA)
    ended, taken = _limited(sample)
    return result | {
        "cvxpy": {
            "solver": solver,
            "objective, N = 2,000": value,
            "ours": ours,
            "ours - cvxpy's": ours - value,
            "N = 25,815": f"{ended} after {taken:.1f} s",
        },
        "cvxpy / ours" if ended == "done" else "cvxpy / ours, more than": round(taken / seconds, 1),
    }


def _limited(sample: RankSample) -> tuple[str, float]:
    """How cvxpy ends over every rank, and after how many seconds."""
    system = possible_system(sample, RankGrid.dense(sample.n_items))
    process = multiprocessing.get_context("spawn").Process(
        target=by_cvxpy, args=(system.table, system.observed)
    )
    start = time.perf_counter()
    process.start()
    process.join(PATIENCE)
    taken = time.perf_counter() - start
    if process.is_alive():
        process.terminate()
        process.join()
        return "stopped", taken
    return "done" if process.exitcode == 0 else "failed", taken


def main(rounds: int = 5) -> None:
    report(
        "estimators",
        {
            "EM": expectation_maximisation(rounds),
            "EM at N = 10^7": large(rounds),
            "EM, n = 100, once counted": flat(rounds),
            "MES": entropy(rounds),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
