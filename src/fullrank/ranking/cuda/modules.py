"""Exact ranks of PyTorch modules on a GPU: scores in blocks of users, counted where they are.

The scores are what the module gives (torch_module.py); they never leave the device.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

from fullrank._lib.device import free_memory
from fullrank.errors import InputError
from fullrank.ranking.cuda.block_counts import Tally
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts
from fullrank.scorers.modules.module_calls import scoring
from fullrank.scorers.modules.torch_module import TorchScorer, score_pairs

CELLS = 1 << 26  # scores held at once: 256 MB
PAIRS = 1 << 20  # pairs given to a module at once, each with room for its activations:
ROOM = 1 << 14


def count_module(job: Job, scorer: TorchScorer, torch: Any, device: Any) -> Counts:
    """Counts of the scores that a module on `device` gives."""
    module = scorer.module
    check_place(module, device)
    tally = Tally(torch, device, job)
    free = free_memory(torch, device)
    cells, pairs = min(CELLS, free // 32), max(1, min(PAIRS, free // ROOM))
    with scoring(torch, module):
        for batch in tally.batches(cells):
            tally.add(batch, _scores(tally, module, batch, pairs))
            tally.report(batch.stop)
    return tally.counts()


def _scores(tally: Tally, module: Any, batch: slice, pairs: int) -> Any:
    """Some users against the whole catalogue, a row for each."""
    torch, device, width = tally.torch, tally.device, tally.job.size
    users = tally.users[batch]

    def part(start: int, stop: int) -> Any:
        flat = torch.arange(start, stop, device=device)
        return score_pairs(torch, module, users[flat // width], tally.names[flat % width])

    return filled(torch, part, users.shape[0] * width, pairs, device).view(-1, width)


def filled(torch: Any, part: Callable[[int, int], Any], n: int, step: int, device: Any) -> Any:
    """The scores of n pairs in parts, of the type that the module gives: float32 or float64."""
    out = torch.empty(n, dtype=torch.float32, device=device)
    for start in range(0, n, step):
        stop = min(start + step, n)
        scores = part(start, stop)
        if scores.dtype != out.dtype:  # it says so with the first scores
            out = out.to(scores.dtype)
        out[start:stop] = scores
    return out


def check_place(module: Any, device: Any) -> None:
    """A module works where its parameters are."""
    refuse_elsewhere({t.device for t in chain(module.parameters(), module.buffers())}, device)


def refuse_elsewhere(places: Collection[Any], device: Any) -> None:
    """Refuse a device other than where a module is."""
    for place in {*places} - {device}:
        raise InputError(
            f'`device` must be "{place}", where the module is, not "{device}". To use '
            f'"{device}", move the module there: module.to("{device}").'
        )
