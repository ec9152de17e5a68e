"""`fullrank.torch.counts` beside what training loops do: topk and a gather, or a whole argsort.

Goal, on a GPU: 4,096 rows of 1,000,000 scores, float32 and bfloat16, read at 80 % or more of the
bandwidth of a copy on the same device, and less than 1 % of the block as further memory.

Alternatives take turns, and medians are compared. The copy goes into a block that is there already,
and its bandwidth counts what it reads and what it writes; that of `counts` counts what it reads.
`topk` is the rank as RecBole finds it: a dense table of the targets, gathered at the first 100.
Counts are compared with comparisons in float64 on some rows, exclusions included.

    python benchmarks/torch_counts.py --out benchmarks/results/torch_counts.json
    python benchmarks/torch_counts.py --device cpu --rounds 9
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _measure import report

SIZES = {
    "cuda": [(4_096, 1_000_000), (4_096, 100_000), (1_024, 20_000)],
    "cpu": [(256, 100_000), (1_024, 5_000)],
}
EXCLUDED, TOP, SORTED_ROWS = 100, 100, 64
GOALS = {"share_of_copy_bandwidth": 0.8, "memory_share": 0.01}


def main() -> None:
    options = argparse.ArgumentParser(description="See the first lines of the file.")
    options.add_argument("--device", choices=("cuda", "cpu"), help="default: both, if available")
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument(
        "--scale", type=float, default=1.0, help="factor of the number of rows, for trials"
    )
    options.add_argument("--out", type=Path, help="write the JSON here as well")
    given = options.parse_args()
    try:
        import torch
    except ModuleNotFoundError:
        print("torch is not installed (extra `torch`): nothing was measured.", file=sys.stderr)
        return
    result: dict[str, Any] = {"goals": GOALS, "torch": torch.__version__, "parts": []}
    if torch.cuda.is_available():
        result["device"] = torch.cuda.get_device_name()
    for device in ("cuda", "cpu"):
        if given.device not in (None, device):
            continue
        if device == "cuda" and not torch.cuda.is_available():
            print("Torch cannot use a GPU: skipped.", file=sys.stderr)
            continue
        for rows, items in SIZES[device]:
            for kind in ("float32", "bfloat16"):
                part = attempt(device, max(2, int(rows * given.scale)), items, kind, given.rounds)
                result["parts"].append(part)
                print(line(part), file=sys.stderr, flush=True)
                if given.out:
                    given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    report("torch_counts", result)


def attempt(device: str, rows: int, items: int, kind: str, rounds: int) -> dict[str, Any]:
    """One size and type; what fails is told, and the rest goes on."""
    import torch

    part = {"where": device, "rows": rows, "items": items, "type": kind}
    began = time.perf_counter()
    try:
        Block(device, rows, items, kind).measure(part, rounds)
    except Exception as error:  # of any part: the others are wanted all the same
        traceback.print_exc()
        part["error"] = f"{type(error).__name__}: {error}"[:500]
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    return {**part, "took_s": round(time.perf_counter() - began, 1)}


def line(part: dict[str, Any]) -> str:
    shown = {key: value for key, value in part.items() if not isinstance(value, dict)}
    return "  ".join(f"{key}={value}" for key, value in shown.items())


class Block:
    """Scores, targets and exclusions of one size and type."""

    def __init__(self, device: str, rows: int, items: int, kind: str) -> None:
        import torch

        self.torch, self.device = torch, device
        torch.manual_seed(0)
        self.scores = torch.empty(rows, items, dtype=getattr(torch, kind), device=device)
        self.scores.normal_()
        self.bytes = self.scores.numel() * self.scores.element_size()
        self.target = torch.randint(items, (rows,), device=device)
        self.excluded = torch.randint(items, (rows, EXCLUDED), device=device)
        self.excluded[:, EXCLUDED // 2 :].masked_fill_(
            torch.rand(rows, EXCLUDED - EXCLUDED // 2, device=device) < 0.5, -1
        )
        self.excluded[0, 0] = self.target[0]

    def measure(self, part: dict[str, Any], rounds: int) -> None:
        from fullrank.torch import counts

        part["block_mb"] = round(self.bytes / 2**20, 1)
        work: dict[str, Callable[[], Any]] = {
            "counts": lambda: counts(self.scores, self.target),
            "counts_excluding": lambda: counts(self.scores, self.target, exclude=self.excluded),
        }
        for function in work.values():  # compiles
            function()
        self.check(part, counts)
        if self.device == "cuda":
            for name, function in work.items():
                part[f"{name}_memory_share"] = round(self.memory(function) / self.bytes, 6)
        self.add("copy", self.copying, work, part)
        self.add(f"topk_{TOP}", self.topk, work, part)
        self.add("argsort", self.argsort, work, part)
        times = self.in_turn(work, rounds)
        some = min(SORTED_ROWS, len(self.scores))
        if "argsort" in times:
            times["argsort"] *= len(self.scores) / some
            part["argsort_rows"] = some
        part["ms"] = {name: round(value, 4) for name, value in times.items()}
        speed = {name: round(value / times["counts"], 2) for name, value in times.items()}
        part["times_of_counts"] = speed
        part["counts_gb_s"] = round(self.bytes / times["counts"] / 1e6, 1)
        if "copy" in times:
            copied = 2 * self.bytes / times["copy"]
            part["copy_gb_s"] = round(copied / 1e6, 1)
            for name in ("counts", "counts_excluding"):
                share = self.bytes / times[name] / copied
                part[f"{name}_share_of_copy_bandwidth"] = round(share, 4)

    def add(
        self, name: str, make: Callable[[], Any], work: dict[str, Any], part: dict[str, Any]
    ) -> None:
        """An alternative, unless it does not fit or work here."""
        try:
            function = make()
            function()
            work[name] = function
        except Exception as error:
            part[f"{name}_error"] = f"{type(error).__name__}: {error}"[:200]
            if self.device == "cuda":
                self.torch.cuda.empty_cache()

    def copying(self) -> Callable[[], Any]:
        there = self.torch.empty_like(self.scores)
        return lambda: there.copy_(self.scores)

    def topk(self) -> Callable[[], Any]:
        """RecBole's collector: the places of the targets among the first of each row."""
        torch = self.torch
        top = min(TOP, self.scores.shape[1])

        def find() -> Any:
            first = torch.topk(self.scores, top, dim=-1).indices
            positive = torch.zeros_like(self.scores, dtype=torch.int)
            positive[torch.arange(len(self.target), device=self.device), self.target] = 1
            return torch.gather(positive, 1, first)

        return find

    def argsort(self) -> Callable[[], Any]:
        some = self.scores[:SORTED_ROWS]
        wanted = self.target[:SORTED_ROWS, None]
        return lambda: (self.torch.argsort(some, 1, descending=True) == wanted).int().argmax(1)

    def in_turn(self, work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
        """Median milliseconds of each."""
        times: dict[str, list[float]] = {name: [] for name in work}
        for number in range(rounds + 1):
            for name, function in work.items():
                value = self.milliseconds(function)
                if number:
                    times[name].append(value)
        return {name: statistics.median(values) for name, values in times.items()}

    def milliseconds(self, function: Callable[[], Any]) -> float:
        if self.device == "cpu":
            began = time.perf_counter()
            function()
            return 1e3 * (time.perf_counter() - began)
        cuda = self.torch.cuda
        first, last = (cuda.Event(enable_timing=True) for _ in range(2))
        cuda.synchronize()
        first.record()
        function()
        last.record()
        cuda.synchronize()
        return float(first.elapsed_time(last))

    def memory(self, function: Callable[[], Any]) -> int:
        """Bytes that a call adds at its peak, its result included."""
        cuda = self.torch.cuda
        cuda.synchronize()
        cuda.empty_cache()
        before = cuda.memory_allocated()
        cuda.reset_peak_memory_stats()
        function()
        cuda.synchronize()
        return int(cuda.max_memory_allocated() - before)

    def waits(self, counts: Callable[..., Any]) -> str | bool:
        """Whether a call waits for the device, and where."""
        cuda = self.torch.cuda
        cuda.set_sync_debug_mode("error")
        try:
            counts(self.scores, self.target)
            counts(self.scores, self.target, exclude=self.excluded)
        except RuntimeError as error:
            traceback.print_exc()
            return str(error)[:200]
        finally:
            cuda.set_sync_debug_mode("default")
        return False

    def check(self, part: dict[str, Any], counts: Callable[..., Any]) -> None:
        """Some rows by comparisons in float64, the first and the last among them."""
        torch, rows = self.torch, len(self.scores)
        plain = counts(self.scores, self.target)
        without = counts(self.scores, self.target, exclude=self.excluded)
        if self.device == "cuda":
            part["waits_for_the_device"] = self.waits(counts)
        wrong = 0
        for row in sorted({0, 1, rows // 3, rows // 2, rows - 2, rows - 1}):
            scores, own = self.scores[row].double(), int(self.target[row])
            hidden = self.excluded[row][self.excluded[row] >= 0]
            for found, gone in ((plain, hidden[:0]), (without, hidden)):
                kept = torch.ones_like(scores, dtype=torch.bool)
                kept[gone] = False
                kept[own] = True
                expected = [
                    int((kept & (scores > scores[own])).sum()),
                    int((kept & (scores == scores[own])).sum()) - 1,
                    int(kept.sum()),
                ]
                wrong += found[row].tolist() != expected
        part["rows_wrong"] = wrong


if __name__ == "__main__":
    main()
