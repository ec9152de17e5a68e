"""The ranking problem of a model, in shards of users, and the function that ranks a shard.

The draws of a user depend only on the seed and the user's row, so results depend neither on the
size of the shards nor on where they are ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib.device import on_gpu
from fullrank.data.shards import Shard
from fullrank.designs import Design, Exact
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import ExactRanks, RankSample

Ranks = RankSample | ExactRanks

_SHARDS = 64  # as many as this, where the sizes below allow it
_GPU_SHARDS = 8
_LEAST, _MOST = 512, 100_000  # users in a shard
_SCORES = 4e8  # in a shard at least: every shard prepares the items again, and waits for its last
AT_ONCE = 1_000_000  # users whose ranks are held without shards


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """The data that every shard of a model needs; its arrays can be shared between processes."""

    scorer: Any
    targets: Any  # ShardedTargets, or anything with the same `part`
    design: Design
    seed: int
    threads: int | None = None
    device: str | None = None
    keep_rows: bool = True
    progress: Any = None  # where the work is one part in this process


def rank_shard(problem: Problem, shard: Shard) -> Ranks:
    """Return the ranks of one shard."""
    targets, seen = problem.targets.part(shard)
    scorer = problem.scorer
    if hasattr(scorer, "for_shard"):
        scorer = scorer.for_shard(problem.targets, shard)
    sample = _ranked(
        problem.design, scorer, targets, exclude=seen, n_jobs=problem.threads,
        device=problem.device, rng=problem.seed, progress=problem.progress,
    )  # fmt: skip
    return sample if problem.keep_rows else sample.without_rows()


def _ranked(design: Design, scorer: Any, targets: Any, **arguments: Any) -> Ranks:
    """The ranks of these targets, exact or among candidates."""
    if not isinstance(design, Exact):
        return sample_ranks(scorer, targets, design=design, **arguments)
    ties = "mean" if design.ties == "unknown" else design.ties
    return rank(
        scorer, targets, ties=ties, max_rank=design.max_rank, order=design.order, **arguments
    )


def usual_size(n_users: int, per_user: float, device: str | None = None) -> int:
    """Return the usual number of users in a shard; `per_user` items are scored for each.

    There are about 64 shards, none of them tiny or huge. A GPU receives the items again for every
    shard, so it has fewer and larger ones.
    """
    if on_gpu(device):
        return max(_LEAST, -(-n_users // _GPU_SHARDS))
    least = np.clip(_SCORES / per_user, _LEAST, _MOST)
    return int(np.clip(-(-n_users // _SHARDS), least, _MOST))


def added(samples: Sequence[Ranks]) -> Ranks:
    """Return the sum, added in pairs: sequential addition would be quadratic work."""
    parts: list[Any] = list(samples)
    while len(parts) > 1:
        pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs if len(parts) % 2 == 0 else [*pairs, parts[-1]]
    found: Ranks = parts[0]
    return found
