"""Compare exact and sampled ranks on a GPU with torch, as shares of the chip's peak rates.

    python benchmarks/gpu.py --prepare out/gpu-factors.npz    # where the data is; no GPU needed
    python benchmarks/gpu.py --factors out/gpu-factors.npz --out benchmarks/results/gpu.json

Times are by the device's own clock, medians of rounds in which the alternatives take turns, with
items and users on the device already; `whole_call_s` is `rank` from arrays of the host and back.
Ceilings are measured in the same run: a large product in each precision, a copy on the device, a
gather of random rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

USERS, ITEMS = 65_536, 1_000_000
PRECISIONS = ("bf16", "tf32")
Floats = NDArray[np.float32]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--prepare", type=Path, help="train on gowalla and keep the factors")
    options.add_argument("--factors", type=Path, help="the file that --prepare wrote")
    options.add_argument(
        "--parts", default="counts,widths,trained,up_to,streamed,sampled,item_item"
    )
    options.add_argument("--out", type=Path, help="write the JSON here as well")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument(
        "--scale", type=float, default=1.0, help="factor of every size, for trials"
    )
    given = options.parse_args()
    if given.prepare:
        return prepare(given.prepare)
    import torch

    if not torch.cuda.is_available():
        print("Torch cannot use a GPU: nothing was measured.")
        return
    import _gpu_sampled

    result: dict[str, Any] = {
        "benchmark": "gpu",
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "rounds": given.rounds,
        "ceilings": ceilings(given.rounds),
    }
    parts: dict[str, Callable[[], Any]] = {
        "counts": lambda: counts(result["ceilings"], given.rounds, given.scale),
        "widths": lambda: widths(result["ceilings"], given.rounds, given.scale),
        "trained": lambda: trained(given.factors, given.rounds),
        "up_to": lambda: up_to(given.factors, given.rounds, given.scale),
        "streamed": lambda: streamed(given.scale),
        "sampled": lambda: _gpu_sampled.sampled(in_turn, given.rounds, given.scale),
        "item_item": lambda: _gpu_sampled.item_item(given.scale),
    }
    for part in given.parts.split(","):
        start = time.perf_counter()
        result[part] = parts[part]()
        print(f"{part}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        torch.cuda.empty_cache()
        if given.out:
            given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


def in_turn(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each by the device's clock; they take turns."""
    import torch

    times: dict[str, list[float]] = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, function in work.items():
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            function()
            last.record()
            torch.cuda.synchronize()
            if number:  # the first round compiles and fills caches
                times[name].append(first.elapsed_time(last))
    return {name: statistics.median(values) for name, values in times.items()}


def ceilings(rounds: int) -> dict[str, float]:
    """The rates that nothing here can exceed, in TFLOP/s and GB/s."""
    import torch

    a, b = (torch.randn(8192, 8192, device="cuda") for _ in range(2))
    low_a, low_b = a.bfloat16(), b.bfloat16()
    source = torch.empty(1 << 30, device="cuda")
    target = torch.empty_like(source)
    torch.backends.cuda.matmul.allow_tf32 = True
    times = in_turn(
        {
            "bf16": lambda: low_a @ low_b,
            "tf32": lambda: a @ b,
            "copy": lambda: target.copy_(source),
        },
        2 * rounds,
    )
    torch.backends.cuda.matmul.allow_tf32 = False
    return {
        "bf16_tflops": 2 * 8192**3 / times["bf16"] / 1e9,
        "tf32_tflops": 2 * 8192**3 / times["tf32"] / 1e9,
        "copy_gb_s": 2 * source.numel() * 4 / times["copy"] / 1e6,
    }


class Counting:
    """The count of `rank(device="cuda")` alone: users and items are on the device already."""

    def __init__(
        self,
        users: Floats,
        items: Floats,
        targets: Any,
        *,
        fast: bool = False,
        operands: str = "tf32",
        max_rank: int | None = None,
    ) -> None:
        from fullrank._lib.device import open_device
        from fullrank.data.targets import clean_targets
        from fullrank.ranking.cuda.exact.factors import Count, Stream
        from fullrank.ranking.job import Job
        from fullrank.scorers import FactorScorer

        torch, device = open_device("cuda")
        scorer = FactorScorer(users, items)
        job = Job(
            scorer=scorer,
            targets=clean_targets(targets, n_users=users.shape[0], n_items=items.shape[0]),
            catalogue=None, exclusion=None, random=False, key=0, fast=fast, n_jobs=None,
            batch_size=None, progress=None, device="cuda", operands=operands, max_rank=max_rank,
        )  # fmt: skip
        stream = Stream(torch, device, items, None, items.shape[0])
        self.count = Count(torch, device, job, scorer, stream)
        assert self.count.set_up()
        (self.blocks,) = (self.count.blocks(piece) for piece in stream)
        self.max_rank, self.rows = max_rank, self.count.rows

    def __call__(self) -> int:
        if self.max_rank is not None:
            self._begin_again()
        return self.count.count_blocks(self.blocks)

    def _begin_again(self) -> None:
        """Bring everybody back, and forget what was counted."""
        count = self.count
        count.rows, count.row_user = self.rows, count._send(self.rows.user)
        for counted in (count.greater, count.equal, count.before):
            counted.zero_()
        assert count.leaving is not None
        count.leaving.begin_again()

    def share(self) -> float:
        """The share of the items that were multiplied, over users."""
        assert self.count.leaving is not None
        scored, n_items = self.count.leaving.scored, self.count.job.size
        return float(np.where(scored < 0, n_items, scored).mean() / n_items)


def counts(limits: dict[str, float], rounds: int, scale: float) -> list[dict[str, Any]]:
    """65,536 users against 1,000,000 items: fused, through stored scores, and by top-100."""
    import torch

    n_users, n_items = int(USERS * scale), int(ITEMS * scale)
    rows = []
    for d in (64, 128):
        for kind in ("random", "skewed"):
            users, items, targets = synthetic(n_users, n_items, d, kind)
            for operands in PRECISIONS:
                work: dict[str, Any] = {
                    name: Counting(users, items, targets, fast=name == "fast", operands=operands)
                    for name in ("fast", "exact")
                }
                if kind == "random":
                    work |= alternatives(users, items, targets, operands)
                times = in_turn(work, rounds)
                rate = 2 * n_users * n_items * d / times["fast"] / 1e9
                row = {
                    "d": d, "factors": kind, "operands": operands,
                    "fast_ms": times["fast"], "exact_ms": times["exact"], "fast_tflops": rate,
                    "share_of_product": rate / limits[f"{operands}_tflops"],
                    "exact_over_fast": times["exact"] / times["fast"],
                    "undecided_a_target": work["exact"]() / n_users,
                }  # fmt: skip
                for name in ("stored", "top100"):
                    if name in times:
                        row[f"{name}_ms"] = times[name]
                        row[f"{name}_over_fast"] = times[name] / times["fast"]
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                del work
                torch.cuda.empty_cache()
    return rows


def alternatives(users: Floats, items: Floats, targets: Any, operands: str) -> dict[str, Any]:
    """What torch offers: a product whose scores are stored and counted, and a blocked top-100."""
    import torch

    kind = torch.bfloat16 if operands == "bf16" else torch.float32
    u, v = (torch.from_numpy(x).cuda().to(kind) for x in (users, items))
    v = v.T.contiguous()
    mark = (u * v[:, torch.from_numpy(targets[1]).cuda()].T).sum(1, keepdim=True)
    step = 4096

    def stored() -> None:
        torch.backends.cuda.matmul.allow_tf32 = True
        for at in range(0, u.shape[0], step):
            (u[at : at + step] @ v > mark[at : at + step]).sum(1)
        torch.backends.cuda.matmul.allow_tf32 = False

    def top100() -> None:
        torch.backends.cuda.matmul.allow_tf32 = True
        for at in range(0, u.shape[0], step):
            torch.topk(u[at : at + step] @ v, 100, dim=1)
        torch.backends.cuda.matmul.allow_tf32 = False

    return {"stored": stored, "top100": top100}


def widths(limits: dict[str, float], rounds: int, scale: float) -> list[dict[str, Any]]:
    """Every common number of factors, at a quarter of the size."""
    import torch

    n_users, n_items = int(USERS * scale), int(ITEMS * scale) // 4
    rows = []
    for d in (32, 48, 64, 96, 100, 128, 200, 256, 512):
        users, items, targets = synthetic(n_users, n_items, d, "skewed")
        for operands in PRECISIONS:
            work = {
                name: Counting(users, items, targets, fast=name == "fast", operands=operands)
                for name in ("fast", "exact")
            }
            times = in_turn(work, rounds)
            rate = 2 * n_users * n_items * d / times["fast"] / 1e9
            rows.append(
                {
                    "d": d, "operands": operands, "fast_tflops": rate,
                    "share_of_product": rate / limits[f"{operands}_tflops"],
                    "exact_over_fast": times["exact"] / times["fast"],
                }
            )  # fmt: skip
            del work
            torch.cuda.empty_cache()
    return rows


def trained(factors: Path, rounds: int) -> list[dict[str, Any]]:
    """Factors of gowalla: exact beside fast, and every rank beside the CPU's."""
    from scipy import sparse

    from fullrank.ranking import rank
    from fullrank.scorers import FactorScorer

    held = np.load(factors, allow_pickle=False)
    train = sparse.csr_array(
        (np.ones(held["indices"].size, np.float32), held["indices"], held["indptr"]),
        shape=tuple(held["shape"]),
    )
    learned = np.repeat(np.arange(train.shape[0]), np.diff(train.indptr)), train.indices
    test = held["test_users"], held["test_items"]
    every = tuple(np.concatenate(pair) for pair in zip(learned, test, strict=True))
    rows = []
    for name in ("ials", "bpr"):
        users, items = held[f"{name}_users"], held[f"{name}_items"]
        scorer = FactorScorer(users, items)
        here = rank(scorer, every, ties="random", rng=5)
        shown = rank(scorer, test, exclude=train, ties="random", rng=5)
        for operands in PRECISIONS:
            how = {"ties": "random", "rng": 5, "device": "cuda", "operands": operands}
            rank(scorer, every, **how)
            start = time.perf_counter()
            there = rank(scorer, every, **how)
            seconds = time.perf_counter() - start
            with_exclusion = rank(scorer, test, exclude=train, **how)
            row = {
                "model": name, "operands": operands, "d": users.shape[1],
                "targets": there.ranks.size,
                "undecided_a_target": there.n_undecided / there.ranks.size,
                "ranks_that_differ": int((there.ranks != here.ranks).sum()),
                "ranks_that_differ_training_items_excluded": int(
                    (with_exclusion.ranks != shown.ranks).sum()
                ),
                "whole_call_s": seconds,
            }  # fmt: skip
            first = np.unique(test[0], return_index=True)[1]
            for label, targets in (
                ("one_target", (test[0][first], test[1][first])),
                ("test", test),
            ):
                work = {
                    kind: Counting(users, items, targets, fast=kind == "fast", operands=operands)
                    for kind in ("fast", "exact")
                }
                times = in_turn(work, 2 * rounds)
                row |= {
                    f"{label}_fast_ms": times["fast"],
                    f"{label}_exact_ms": times["exact"],
                    f"{label}_exact_over_fast": times["exact"] / times["fast"],
                }
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def up_to(factors: Path, rounds: int, scale: float) -> list[dict[str, Any]]:
    """Ranks up to K beside all ranks: the count alone, and the share of items it multiplies."""
    import torch

    from fullrank.ranking import rank
    from fullrank.scorers import FactorScorer

    held = np.load(factors, allow_pickle=False)
    test = held["test_users"], held["test_items"]
    first = np.unique(test[0], return_index=True)[1]
    one = test[0][first], test[1][first]
    cells = [
        (f"gowalla, {name}", held[f"{name}_users"], held[f"{name}_items"], targets, number)
        for name in ("ials", "bpr")
        for targets, number in ((one, "one"), (test, "all"))
    ]
    for kind in ("skewed", "random"):
        users, items, targets = synthetic(int(USERS * scale), int(ITEMS * scale), 64, kind)
        cells.append((kind, users, items, targets, "one"))
    rows = []
    for name, users, items, targets, number in cells:
        for operands in PRECISIONS:
            for k in (10, 20, 50) if number == "one" else (20,):
                work = {
                    "all": Counting(users, items, targets, operands=operands),
                    "up_to": Counting(users, items, targets, operands=operands, max_rank=k),
                }
                times = in_turn(work, 2 * rounds)
                scorer, how = FactorScorer(users, items), {"device": "cuda", "operands": operands}
                full = rank(scorer, targets, **how).up_to(k)
                found = rank(scorer, targets, max_rank=k, **how)
                same = (found.ranks == full.ranks) | (found.beyond & full.beyond)
                rows.append(
                    {
                        "factors": name, "d": users.shape[1], "targets": number, "k": k,
                        "operands": operands, "all_ms": times["all"], "up_to_ms": times["up_to"],
                        "up_to_over_all": times["up_to"] / times["all"],
                        "share_multiplied": work["up_to"].share(),
                        "ranks": int(same.size), "ranks_that_differ": int((~same).sum()),
                    }
                )  # fmt: skip
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                del work
                torch.cuda.empty_cache()
    return rows


def streamed(scale: float) -> dict[str, Any]:
    """1,000,000 users against 10,000,000 items by exact ranks, the items streamed by pieces."""
    import torch

    from fullrank.ranking import rank
    from fullrank.scorers import FactorScorer

    n_users, n_items, d = int(1_000_000 * scale), int(10_000_000 * scale), 64
    users, items, targets = synthetic(n_users, n_items, d, "skewed")
    scorer = FactorScorer(users, items)
    few = rank(scorer, (targets[0][:2000], targets[1][:2000]))  # by the CPU
    result = {"users": n_users, "items": n_items, "d": d}
    for operands in PRECISIONS:
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        there = rank(scorer, targets, device="cuda", operands=operands)
        seconds = time.perf_counter() - start
        result[operands] = {
            "seconds": seconds,
            "scores_per_second": n_users * n_items / seconds,
            "peak_device_gb": torch.cuda.max_memory_allocated() / 1e9,
            "undecided_a_target": there.n_undecided / n_users,
            "ranks_checked": few.ranks.size,
            "ranks_that_differ": int((there.ranks[:2000] != few.ranks).sum()),
        }
        print(json.dumps(result[operands]), file=sys.stderr, flush=True)
        torch.cuda.empty_cache()
    return result


def synthetic(n_users: int, n_items: int, d: int, kind: str) -> tuple[Floats, Floats, Any]:
    """Normal factors; "skewed" has lengths that fall with popularity, and popular targets."""
    rng = np.random.default_rng(d)
    users, items = (rng.standard_normal((n, d), dtype=np.float32) for n in (n_users, n_items))
    if kind == "random":
        return users, items, (np.arange(n_users), rng.integers(0, n_items, n_users))
    items *= 2 / np.arange(1, n_items + 1, dtype=np.float32)[:, None] ** np.float32(0.3)
    return users, items, (np.arange(n_users), rng.integers(0, max(2, n_items // 500), n_users))


def prepare(path: Path) -> None:
    """Factors of gowalla by implicit's ALS and BPR (extra `bench`), with the split, in one file."""
    import implicit
    from scipy import sparse

    from fullrank.data import load_split

    split = load_split("gowalla")
    train, test = split.train, split.test
    out = {
        "indptr": train.indptr, "indices": train.indices,
        "shape": np.array([train.n_users, train.n_items]),
    }  # fmt: skip
    out["test_users"] = np.repeat(np.arange(test.n_users), np.diff(test.indptr)).astype(np.int32)
    out["test_items"] = test.indices
    seen = sparse.csr_matrix(
        (np.ones(train.n_interactions, np.float32), train.indices, train.indptr),
        shape=(train.n_users, train.n_items),
    ).copy()  # implicit writes to its input
    ials = implicit.als.AlternatingLeastSquares(
        factors=64, iterations=8, regularization=0.05, alpha=10, random_state=0
    )
    bpr = implicit.bpr.BayesianPersonalizedRanking(factors=63, iterations=60, random_state=0)
    for name, model in (("ials", ials), ("bpr", bpr)):
        model.fit(seen, show_progress=False)
        out[f"{name}_users"], out[f"{name}_items"] = model.user_factors, model.item_factors
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **out)


if __name__ == "__main__":
    main()
