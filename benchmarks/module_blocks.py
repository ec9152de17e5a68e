"""Ranks of a module that returns (batch, n_items), beside its forward passes alone.

Goal, on a CPU: at most 1.1 times the forward passes, which are all that cannot be left out.

A SASRec-like model of the size of ml-1m (6,040 users, 3,416 items, histories of 50, column 0 pads)
scores all users in batches of 256; `fr.rank` does the same, leaves out what was seen and counts.
The two take turns, and the ratio is the median of those of the pairs; on a machine that is busy
with other work, that of the processor's seconds says more (with `--threads 1`).

    python benchmarks/module_blocks.py [pairs] [--users 6040] [--items 3416] [--length 50] \
        [--threads 2]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from _measure import report
from scipy import sparse

import fullrank as fr
from fullrank.scorers import BlockScorer

GOAL = 1.1
BATCH = 256


class SequenceModel(torch.nn.Module):
    """Self-attention over a history, and a product with all items at its last position."""

    def __init__(self, n_items: int, length: int, size: int = 64) -> None:
        super().__init__()
        self.items = torch.nn.Embedding(n_items + 1, size, padding_idx=0)
        self.places = torch.nn.Parameter(torch.randn(length, size) / size)
        layer = torch.nn.TransformerEncoderLayer(size, 2, size, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, histories: torch.Tensor) -> torch.Tensor:
        states = self.layers(self.items(histories) + self.places)
        return states[:, -1] @ self.items.weight.T


def main() -> None:
    parser = argparse.ArgumentParser(description="See the first lines of the file.")
    parser.add_argument("pairs", type=int, nargs="?", default=15)
    for name, default in (("users", 6040), ("items", 3416), ("length", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    random = np.random.default_rng(0)
    torch.manual_seed(0)
    model = SequenceModel(asked.items, asked.length).eval()
    histories = random.integers(1, asked.items + 1, size=(asked.users, asked.length))
    targets = np.arange(asked.users), random.integers(asked.items, size=asked.users)
    rows = np.repeat(np.arange(asked.users), asked.length)
    shape = asked.users, asked.items
    seen = sparse.csr_array((np.ones(rows.size), (rows, histories.ravel() - 1)), shape=shape)
    scorer = BlockScorer(model, inputs=histories, padding_item=0, batch_size=BATCH)
    work = torch.from_numpy(histories)

    def forward() -> None:
        with torch.no_grad():
            for start in range(0, asked.users, BATCH):
                model(work[start : start + BATCH])

    def rank() -> None:
        fr.rank(scorer, targets, exclude=seen)

    def rank_up_to() -> None:
        fr.rank(scorer, targets, exclude=seen, max_rank=10)

    result: dict[str, Any] = {"goal": GOAL, **vars(asked)}
    for name, function in (("rank", rank), ("rank up to 10", rank_up_to)):
        result[name] = beside(forward, function, asked.pairs)
    report("module_blocks", {**result, "met": result["rank"]["ratio"] <= GOAL})


def beside(first: Callable[[], None], second: Callable[[], None], pairs: int) -> dict[str, float]:
    """Median seconds of both, and the medians of the pairs' ratios."""
    first(), second()
    times = np.array([(_seconds(first), _seconds(second)) for _ in range(pairs)])
    (alone, _), (ours, _) = np.median(times, axis=0)
    ratio, busy = np.median(times[:, 1] / times[:, 0], axis=0)
    found = {"forward_s": alone, "ours_s": ours, "ratio": ratio, "processor_ratio": busy}
    return {name: round(float(value), 3) for name, value in found.items()}


def _seconds(function: Callable[[], None]) -> tuple[float, float]:
    """By the clock, and of the processor."""
    start, used = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - start, time.process_time() - used


if __name__ == "__main__":
    main()
