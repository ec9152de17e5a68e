"""Sampled, item-item and module ranks on a GPU: parts of gpu.py."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from scipy import sparse

from fullrank.data.targets import clean_targets
from fullrank.designs import Uniform
from fullrank.designs.draws import make_pools
from fullrank.ranking import rank, sample_ranks
from fullrank.ranking.cuda.sampled.device_data import Level, make_group
from fullrank.ranking.cuda.sampled.device_ranks import Climb, Ranking
from fullrank.scorers import FactorScorer, ItemItemScorer

Timed = Callable[[dict[str, Callable[[], Any]], int], dict[str, float]]


@triton.jit
def add_rows(table, chosen, out, D: tl.constexpr, BLOCK: tl.constexpr):
    """The least that a gather does: rows read once, one number kept for each."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(chosen + at).to(tl.int64)
    y = tl.load(table + row[:, None] * D + tl.arange(0, D)[None, :])
    tl.store(out + at, tl.sum(y, axis=1))


def gather_rate(in_turn: Timed, table: Any, rounds: int) -> float:
    """GB/s of rows gathered at random: the best of torch's way and of a few bare kernels."""
    n, d = 1 << 24, table.shape[1]
    chosen = torch.randint(0, table.shape[0], (n,), device="cuda")
    short, out = chosen.int(), torch.empty(n, device="cuda")
    few = chosen[: n // 4]

    def bare(block: int, warps: int) -> Callable[[], Any]:
        return lambda: add_rows[(n // block,)](table, short, out, d, block, num_warps=warps)

    work = {f"{b}/{w}": bare(b, w) for b, w in ((16, 1), (32, 1), (64, 2), (128, 4))}
    times = in_turn({**work, "torch": lambda: torch.index_select(table, 0, few)}, rounds)
    times["torch"] *= 4
    return n * d * 4 / min(times.values()) / 1e6


class Sampling:
    """The count of `sample_ranks(device="cuda")` alone: everything is on the device already."""

    def __init__(self, scorer: FactorScorer, targets: Any, n: int, replacement: bool) -> None:
        ranking = Ranking(
            "cuda", scorer, exclusion=None, ties=2, key=1, batch_size=None, progress=None
        )
        t = clean_targets(targets, n_users=scorer.n_users, n_items=scorer.n_items)
        pools = make_pools(t, n_items=scorer.n_items)
        every = slice(0, t.users.size)
        self.model = ranking.model
        drawing = Uniform(n, replacement=replacement).rounds(scorer.n_items).drawing
        self.group = make_group(ranking.gpu, t.users, None, pools, every, None, drawing)
        self.model.start(t.users)
        self.climb = Climb(ranking.gpu, self.model, self.group, t.starts, t.item_rows[t.order])
        rows = torch.arange(t.users.size, device="cuda")
        self.level = Level(
            rows=rows, starts=self.climb.starts, targets=self.climb.targets,
            marks=self.climb.marks, first=torch.zeros_like(rows),
            count=torch.zeros_like(rows) + n - 1, given=None, width=0,
        )  # fmt: skip

    def __call__(self) -> None:
        self.model.marks(self.climb.starts, self.climb.group_of, self.climb.targets)
        self.model.above(self.group, self.level)


def sampled(in_turn: Timed, rounds: int, scale: float) -> dict[str, Any]:
    """10^6 users, 10^7 items, n = 100: the share of the bandwidth of a random gather."""
    n_users, n_items = int(1e6 * scale), int(1e7 * scale)
    rng = np.random.default_rng(0)
    users, items = (rng.standard_normal((n, 64), np.float32) for n in (n_users, n_items))
    scorer = FactorScorer(users, items)
    targets = np.arange(n_users), rng.integers(0, n_items, n_users)
    ceiling = gather_rate(in_turn, torch.from_numpy(items).cuda(), rounds)
    torch.cuda.empty_cache()
    result: dict[str, Any] = {
        "users": n_users, "items": n_items, "d": 64, "gather_gb_s": ceiling, "cells": [],
    }  # fmt: skip
    few = targets[0][:20_000], targets[1][:20_000]
    for n, replacement in ((100, False), (100, True), (1000, False)):
        some = targets if n == 100 else (targets[0][: n_users // 5], targets[1][: n_users // 5])
        times = in_turn({"count": Sampling(scorer, some, n, replacement)}, rounds)
        rate = some[0].size * n * 64 * 4 / times["count"] / 1e6
        how = {"design": Uniform(n, replacement=replacement), "rng": 1}
        here, there = (sample_ranks(scorer, few, device=x, **how) for x in (None, "cuda"))
        result["cells"].append(
            {
                "n": n, "replacement": replacement, "ms": times["count"], "gb_s": rate,
                "share_of_gather": rate / ceiling, "ranks_checked": few[0].size,
                "ranks_that_differ": int((here.rows.rank != there.rows.rank).sum()),
            }
        )  # fmt: skip
        torch.cuda.empty_cache()
    result["whole_call_s"] = _seconds(
        lambda: sample_ranks(scorer, targets, design="sampled:100", rng=1, device="cuda")
    )
    result["adaptive_whole_call_s"] = _seconds(
        lambda: sample_ranks(scorer, targets, design="adaptive:limit=3200", rng=1, device="cuda")
    )
    deep = sample_ranks(scorer, targets, design="adaptive:limit=3200", rng=1, device="cuda")
    result["adaptive_average_size"] = deep.average_size
    here = sample_ranks(scorer, few, design="adaptive:limit=3200", rng=1)
    result["adaptive_ranks_that_differ"] = int(
        (here.rows.rank != deep.rows.rank[: few[0].size]).sum()
    )
    return result


def item_item(scale: float) -> list[dict[str, Any]]:
    """Item-item models of two sizes: ranks beside the CPU's, whole calls timed."""
    sizes = (6_040, 3_706, 165, 6_040), (29_858, 40_981, 27, 500)
    return [_item_item(int(u * scale), int(i * scale), mean, few) for u, i, mean, few in sizes]


def _item_item(n_users: int, n_items: int, mean: int, checked: int) -> dict[str, Any]:
    rng = np.random.default_rng(n_users)
    pairs = np.unique(rng.integers(0, n_users * n_items, n_users * mean))
    history = sparse.csr_array(
        (np.ones(pairs.size, np.float32), np.divmod(pairs, n_items)), shape=(n_users, n_items)
    )
    scorer = ItemItemScorer(history, rng.standard_normal((n_items, n_items), np.float32))
    targets = np.arange(n_users), rng.integers(0, n_items, n_users)
    some = targets[0][:checked], targets[1][:checked]
    there = rank(scorer, targets, exclude=history, device="cuda")
    here = rank(scorer, some, exclude=history)
    seconds = _seconds(lambda: rank(scorer, targets, exclude=history, device="cuda"))
    on_cpu = _seconds(lambda: rank(scorer, some, exclude=history))
    return {
        "users": n_users, "items": n_items, "history": history.nnz / n_users,
        "whole_call_s": seconds, "cpu_s": on_cpu * n_users / some[0].size,
        "ranks_checked": some[0].size,
        "ranks_that_differ": int((there.ranks[: some[0].size] != here.ranks).sum()),
    }  # fmt: skip


def _seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """Median seconds of whole calls."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
