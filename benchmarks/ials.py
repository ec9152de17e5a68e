"""Compare iALS with the ALS of `implicit`: the same model, factors, passes and threads.

Hu et al.'s loss (confidence κ, regularisation λ′) is the one of fullrank.models.IALS at ν = 0,
κ = 1 + 1/α₀ and λ′ = λ(1 + α₀)/α₀, with factors √(1 + α₀) times as large, so that both are judged
by the same objective, in double precision. Both start from a seed of their own; fitting includes
everything from the interactions to the factors. `implicit` takes part twice: as it comes, with
three steps of conjugate gradients, which after these passes may be far from the least objective
(ml-1m: a quarter above), and with its exact solver, which is not, and is timed once for its
slowness. Time says something only beside the objective that it bought. FULLRANK_DATA names the
folder of gowalla.parquet and ml-1m.parquet; --simulated does without.

    python benchmarks/ials.py [--simulated] [--data name …] [--rounds 5] [--threads 2]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `implicit` asks for

import numpy as np
from _measure import has_data, has_peer, peak_megabytes, report
from scipy.sparse import csr_matrix

from fullrank.data import Interactions, load, load_split
from fullrank.models import IALS

CASES = [
    {"data": "ml-1m", "n_factors": 64, "unobserved_weight": 0.1, "regularization": 1.0},
    {"data": "gowalla", "n_factors": 64, "unobserved_weight": 0.1, "regularization": 1.0},
    {"data": "gowalla", "n_factors": 128, "unobserved_weight": 0.03, "regularization": 0.3},
]
SIMULATED = [
    {"data": "simulated", "n_factors": 32, "unobserved_weight": 0.1, "regularization": 1.0}
]
EPOCHS = 10

_SETUP = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import sys
sys.path.insert(0, {folder!r})
import ials
case, threads = {case!r}, {threads}
data = ials.training(case["data"])
matrix = ials.as_matrix(data)
small = ials.Interactions.from_arrays([0, 0, 1], [0, 1, 0])
ials.ours(case, threads).fit(small)
theirs = ials.theirs(case, threads)
"""
_WORK = {
    "fullrank": "ials.ours(case, threads).fit(data)",
    "implicit": "theirs.fit(matrix, show_progress=False)",
}
PEERS = {"implicit": True, "implicit, exact": False}  # and whether by conjugate gradients


def training(name: str) -> Interactions:
    return load(name) if name == "simulated" else load_split(name).train


def as_matrix(data: Interactions) -> Any:
    return csr_matrix(data.matrix(np.float32))


def ours(case: dict[str, Any], threads: int, epochs: int = EPOCHS) -> IALS:
    settings = {name: value for name, value in case.items() if name != "data"}
    return IALS(**settings, frequency_scaling=0.0, epochs=epochs, n_jobs=threads)


def theirs(case: dict[str, Any], threads: int, epochs: int = EPOCHS, use_cg: bool = True) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from implicit.cpu.als import AlternatingLeastSquares

        alpha = case["unobserved_weight"]
        return AlternatingLeastSquares(
            factors=case["n_factors"],
            regularization=case["regularization"] * (1 + alpha) / alpha,
            alpha=1 + 1 / alpha,
            iterations=epochs,
            num_threads=threads,
            random_state=0,
            use_cg=use_cg,
        )


def objective(case: dict[str, Any], data: Interactions, users: Any, items: Any) -> float:
    """The loss of IALS for any factors."""
    model = ours(case, 1)
    model.user_factors_, model.item_factors_ = users, items
    model.interactions_ = data
    return model.objective()


def compared(case: dict[str, Any], rounds: int, threads: int) -> dict[str, Any]:
    data = training(case["data"])
    matrix = as_matrix(data)
    small = Interactions.from_arrays([0, 0, 1], [0, 1, 0])
    ours(case, threads).fit(small)  # compiles
    theirs(case, threads, 1).fit(as_matrix(small), show_progress=False)
    times: dict[str, list[float]] = {"fullrank": [], **{name: [] for name in PEERS}}
    reached: dict[str, float] = {}
    scale = np.float32(np.sqrt(1 + case["unobserved_weight"]))
    for at in range(rounds):
        start = time.perf_counter()
        mine = ours(case, threads).fit(data)
        times["fullrank"].append(time.perf_counter() - start)
        reached["fullrank"] = mine.objective()
        for name, use_cg in PEERS.items():
            if at > 0 and not use_cg:
                continue  # so slow that once will do
            other = theirs(case, threads, use_cg=use_cg)
            start = time.perf_counter()
            other.fit(matrix, show_progress=False)
            times[name].append(time.perf_counter() - start)
            if at == 0:
                users, items = other.user_factors / scale, other.item_factors / scale
                reached[name] = objective(case, data, users, items)
    setup = _SETUP.format(folder=os.path.dirname(__file__), case=case, threads=threads)
    factors = (data.n_users + data.n_items) * case["n_factors"] * 4 / 2**20
    return {
        **case,
        "epochs": EPOCHS,
        "threads": threads,
        "seconds": {name: round(statistics.median(each), 3) for name, each in times.items()},
        "objective": {name: round(value, 1) for name, value in reached.items()},
        "beside": {
            name: {
                "ratio_of_medians": round(
                    statistics.median(times["fullrank"]) / statistics.median(times[name]), 3
                ),
                "ratio_of_each_pair": [
                    round(a / b, 3) for a, b in zip(times["fullrank"], times[name], strict=False)
                ],
                "objective_relative": round(reached["fullrank"] / reached[name], 5),
                "epochs_to_its_objective": _enough(case, data, threads, reached[name]),
            }
            for name in PEERS
        },
        "peak_megabytes_added": {name: peak_megabytes(setup, work) for name, work in _WORK.items()},
        "megabytes_of_the_factors": round(factors, 1),
    }


def _enough(case: dict[str, Any], data: Interactions, threads: int, wanted: float) -> int | None:
    """The fewest of our epochs that reach an objective; None where EPOCHS do not."""
    for epochs in range(1, EPOCHS + 1):
        if ours(case, threads, epochs).fit(data).objective() <= wanted:
            return epochs
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--simulated", action="store_true", help="use simulated data instead of data sets"
    )
    parser.add_argument("--data", nargs="+", help="run only the cases of these data sets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    if not has_peer("implicit"):
        return
    cases = SIMULATED if asked.simulated else CASES
    cases = [case for case in cases if asked.data is None or case["data"] in asked.data]
    there = {name for name in {case["data"] for case in cases} if asked.simulated or has_data(name)}
    cases = [case for case in cases if case["data"] in there]
    for case in cases:
        report("ials", compared(case, asked.rounds, asked.threads))


if __name__ == "__main__":
    main()
