"""What a billion users and a hundred million items would cost, from rates measured here.

Rates of one core come from `rates`, those of a GPU from the results of `benchmarks/gpu.py`. The
schedule is simulated by `schedule`: shards, slow and lost workers, one driver. What is assumed
rather than measured is marked as such in the JSON.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive
from fullrank.inference import users_needed
from fullrank.samples import simulate
from reproduction.common.kept import stored
from reproduction.common.workers import in_processes
from reproduction.own.scaling.rates import SAMPLE_SIZE, D, measured
from reproduction.own.scaling.schedule import Cluster, Work, play

REPEATS = 3

USERS, ITEMS = 10**9, 10**8
LEVELS = [25 * 2**step for step in range(12)]
ASSUMED = {
    "workers_per_node": 16,
    "network_bytes_per_second": 1.25e9,  # of a node: 10 Gbit/s
    "storage_bytes_per_second": 10e9,  # of the users' files, all readers together
    "recall_at_10": 0.05,  # of the model; P(rank ≤ r) = (r / N)^b gives the depth of adaptive runs
    "relative_margin": 0.02,
    "worker_start_seconds": 20.0,
    "slow_share": 0.05,
    "slow_factor": 3.0,
    "spread": 0.1,
    "loss_noticed_seconds": 30.0,
    "shard_open_seconds": 0.05,
    "object_store_share": 0.3,  # of a node's memory, by default of Ray
}
POWER = math.log(ASSUMED["recall_at_10"]) / math.log(10 / ITEMS)
# workers, and seconds of a shard; costs are given for the middle number of workers
PLAYED: dict[str, tuple[tuple[int, ...], tuple[float, ...]]] = {
    "exact": ((512, 4_096, 16_384), (300, 1_000, 3_000, 10_000, 30_000)),
    "sampled": ((16, 64, 256), (0.3, 1, 3, 10, 30, 100)),
    "adaptive": ((64, 512, 4_096), (3, 10, 30, 100, 300, 1_000)),
}
LOSSES = (0.0, 0.01, 0.1)  # of a worker in an hour
USUAL_LOSS = 0.01


def study(asked: argparse.Namespace) -> dict[str, Any]:
    rates = measured(quick=asked.quick)
    depth = adaptive_depth(20_000 if asked.quick else 1_000_000)
    pairs = {"exact": float(ITEMS), "sampled": float(SAMPLE_SIZE), "adaptive": depth}
    read = rates["parquet_bytes_per_user"] / rates["parquet_read"]
    per_user = {name: x / _last(rates[f"{name}_pairs"]) + read for name, x in pairs.items()}
    tasks = [
        (name, per_user[name], rates["driver_seconds"], workers, lost, asked.repeats, asked.quick)
        for name, (clusters, _) in PLAYED.items()
        for workers in clusters[: 1 if asked.quick else None]
        for lost in LOSSES[:: 2 if asked.quick else 1]
    ]
    cells = [cell for cells in in_processes(_played, tasks, asked.jobs) for cell in cells]
    margin, recall = ASSUMED["relative_margin"], ASSUMED["recall_at_10"]
    return {
        "n_users": USERS,
        "n_items": ITEMS,
        "d": D,
        "sample_size": SAMPLE_SIZE,
        "levels": LEVELS,
        "assumed": ASSUMED,
        "gpu": gpu_rates(),
        "rates": rates,
        "adaptive_depth": round(depth, 1),
        "users_for_margin": users_needed(margin, proportion=recall, relative=True).n_users,
        "costs": [costs(name, pairs[name], per_user[name], rates, cells) for name in PLAYED],
        "cells": cells,
    }


def gpu_rates() -> dict[str, Any]:
    """Pairs a second of a GPU: exact ranks of skewed factors, stored scores, samples of 100."""
    found = stored("gpu")
    cells = {
        cell["factors"]: cell
        for cell in found["counts"]
        if (cell["d"], cell["operands"]) == (D, "tf32")
    }
    pairs = 65_536 * 1e6  # of those cells
    drawn = next(c for c in found["sampled"]["cells"] if c["n"] == SAMPLE_SIZE)
    return {
        "device": found["device"],
        "exact_pairs": pairs / cells["skewed"]["exact_ms"] * 1e3,
        "stored_pairs": pairs / cells["random"]["stored_ms"] * 1e3,
        "sampled_pairs": found["sampled"]["users"] * SAMPLE_SIZE / drawn["ms"] * 1e3,
    }


def gpu_hours(name: str, pairs: float) -> dict[str, float | None]:
    """Hours of one GPU for all users, once their factors are there; None where not timed."""
    rates = gpu_rates()
    hours = {
        "exact": USERS * pairs / rates["exact_pairs"] / 3600,
        "sampled": USERS * pairs / rates["sampled_pairs"] / 3600,
    }
    stored = USERS * pairs / rates["stored_pairs"] / 3600
    return {
        "gpu_hours": hours.get(name),
        "gpu_hours_stored": stored if name == "exact" else None,
    }


def _last(rates: dict[str, float]) -> float:
    """The rate at the largest catalogue that was measured."""
    return list(rates.values())[-1]


def adaptive_depth(users: int) -> float:
    """Items for each user of an adaptive sample, for the assumed shape of P(R)."""
    uniform = np.random.default_rng(0).random(users)
    ranks = np.maximum(1, np.ceil(ITEMS * uniform ** (1.0 / POWER))).astype(np.int64)
    return simulate(ranks, n_items=ITEMS, design=Adaptive(levels=LEVELS), rng=0).average_size


def distinct_ranks(n_users: float) -> float:
    """How many different exact ranks so many users have, on average."""
    edges = np.unique(np.geomspace(1, ITEMS, 2_000).round())
    low = np.concatenate(([0.0], edges[:-1]))
    each = np.diff((np.concatenate(([0.0], edges)) / ITEMS) ** POWER) / (edges - low)
    return float(-((edges - low) * np.expm1(n_users * np.log1p(-each))).sum())


def adding(name: str, shard: int, costs: dict[str, float]) -> dict[str, float]:
    """What the driver holds when all shards are there, and the seconds to add them by halves."""
    shards = math.ceil(USERS / shard)
    if name != "exact":  # there are few outcomes, and every shard has most of them
        held = shards * costs["outcomes"]
        return {"held_bytes": 40.0 * held, "adding_seconds": shards * costs["add_seconds"]}
    read, size, number = 0.0, float(shard), float(shards)
    while number > 1:
        read += number * distinct_ranks(size)
        size, number = 2 * size, number / 2
    return {
        "held_bytes": 40.0 * shards * distinct_ranks(shard),
        "adding_seconds": read * costs["add_seconds_per_outcome"],
    }


def costs(
    name: str, pairs: float, per_user: float, rates: dict[str, Any], cells: list[dict[str, Any]]
) -> dict[str, Any]:
    """What one strategy takes on its usual cluster, with shards of the recommended size."""
    best = recommended(cells, name)
    workers = best["workers"]
    sample = rates["sample"][name]
    items, node = 4.0 * ITEMS * D, ASSUMED["workers_per_node"]
    own = 1e6 * rates["worker_megabytes"] + best["shard"] * rates["parquet_bytes_per_user"]
    sums = adding(name, best["shard"], sample)
    sent = distinct_ranks(best["shard"]) / sample["outcomes"] if name == "exact" else 1.0
    found = {
        "seconds_per_user": per_user,
        "pairs": USERS * pairs,
        "core_hours": USERS * per_user / 3600,
        **gpu_hours(name, pairs),
        "hours": best["makespan"] / 3600,
        "worker_bytes": own,
        "node_bytes": items + node * own,
        "users_bytes": USERS * rates["parquet_bytes_per_user"],
        "items_bytes": items * math.ceil(workers / node),
        "counts_bytes": USERS / best["shard"] * sample["counts_bytes"] * sent,
        "rows_bytes": USERS * sample["row_bytes"],
        **sums,
    }
    rounded = {k: None if v is None else float(f"{v:.4g}") for k, v in found.items()}
    return {
        "strategy": name,
        "workers": workers,
        "shard": best["shard"],
        "shard_seconds": best["shard_seconds"],
        **rounded,
        "limits": limits(per_user, best["shard"], rates, sums["adding_seconds"]),
    }


def limits(per_user: float, shard: int, rates: dict[str, Any], sum_up: float) -> dict[str, float]:
    """The number of workers beyond which each of these takes longer than all the ranking."""
    stored = ASSUMED["storage_bytes_per_second"] / rates["parquet_bytes_per_user"]
    fetched = 4 * ITEMS * D / ASSUMED["network_bytes_per_second"]
    found = {
        "driver": shard * per_user / rates["driver_seconds"],
        "reduction": USERS * per_user / sum_up,
        "users' files": stored * per_user,
        "item factors": USERS * per_user / fetched,
    }
    return {name: float(f"{number:.3g}") for name, number in found.items()}


def _played(task: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Schedules of one strategy on one cluster, with shards of several sizes."""
    name, per_user, at_driver, workers, lost, repeats, quick = task
    cluster = Cluster(
        workers=workers,
        start=ASSUMED["worker_start_seconds"] + 4 * ITEMS * D / ASSUMED["network_bytes_per_second"],
        spread=ASSUMED["spread"],
        slow_share=ASSUMED["slow_share"],
        slow_factor=ASSUMED["slow_factor"],
        lost_per_hour=lost,
        noticed=ASSUMED["loss_noticed_seconds"],
    )
    found = []
    for seconds in PLAYED[name][1][-2 if quick else 0 :]:
        shard = int(float(f"{seconds / per_user:.2g}"))
        if USERS / shard < workers / 2:  # half of them would have nothing to do
            continue
        opening = ASSUMED["shard_open_seconds"]
        work = Work(
            n_users=USERS, shard=shard, per_user=per_user, per_shard=opening, at_driver=at_driver
        )
        outcomes = [play(work, cluster, seed) for seed in range(repeats)]
        means = {
            key: statistics.mean(getattr(one, key) for one in outcomes)
            for key in ("makespan", "over_ideal", "lost_workers", "driver_busy")
        }
        found.append(
            {
                "strategy": name,
                "workers": workers,
                "lost_per_hour": lost,
                "shard_seconds": seconds,
                "shard": shard,
                **{key: float(f"{value:.4g}") for key, value in means.items()},
            }
        )
    return found


def recommended(cells: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The longest shards within a twentieth of the best at every rate of losses."""
    clusters = [cell["workers"] for cell in cells if cell["strategy"] == name]
    usual = PLAYED[name][0][1]
    workers = usual if usual in clusters else clusters[0]  # the quick form plays fewer
    mine = [c for c in cells if (c["strategy"], c["workers"]) == (name, workers)]
    longest = {cell["shard_seconds"]: 0.0 for cell in mine}
    for cell in mine:
        length = cell["shard_seconds"]
        longest[length] = max(longest[length], cell["makespan"])
    good = [length for length, time in longest.items() if time <= 1.05 * min(longest.values())]
    found = [cell for cell in mine if cell["shard_seconds"] == max(good)]
    return min(found, key=lambda cell: abs(cell["lost_per_hour"] - USUAL_LOSS))


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.common.figures import drawing

    with drawing(folder / "sizing-shards.svg", columns=3, sharey=True) as axes:
        for ax, one in zip(axes, content["costs"], strict=True):
            for lost in sorted({cell["lost_per_hour"] for cell in content["cells"]}):
                cells = [
                    (cell["shard_seconds"], cell["over_ideal"])
                    for cell in content["cells"]
                    if (cell["strategy"], cell["workers"], cell["lost_per_hour"])
                    == (one["strategy"], one["workers"], lost)
                ]
                label = f"{100 * lost:g} % lost per hour"
                ax.plot(*zip(*cells, strict=True), marker="o", label=label)
            title = f"{one['strategy']}, {one['workers']:,} workers"
            ax.set(xscale="log", xlabel="seconds per shard", title=title, ylim=(0.9, 3.0))
        axes[0].set_ylabel("time over the ideal")
        axes[1].legend()
