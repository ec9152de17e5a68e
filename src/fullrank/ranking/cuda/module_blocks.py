"""Exact ranks of modules that return blocks of scores, counted on the GPU where they come out."""

from __future__ import annotations

from typing import Any

from fullrank._lib.device import free_memory
from fullrank.ranking.cuda.block_counts import Tally
from fullrank.ranking.cuda.modules import CELLS, refuse_elsewhere
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts
from fullrank.scorers.modules.torch_block import BlockScorer


def count_blocks(job: Job, scorer: BlockScorer, torch: Any, device: Any) -> Counts:
    """Counts of the scores that a module on `device` gives, whole rows at a time."""
    refuse_elsewhere([scorer.device_for(job.targets.users)], device)
    tally = Tally(torch, device, job)
    cells = min(CELLS, free_memory(torch, device) // 32)
    for batch in tally.batches(cells):
        users = job.targets.users[batch]
        tally.add(batch, scorer.tensor_scores(users, job.catalogue, fresh=True))
        tally.report(batch.stop)
    return tally.counts()
