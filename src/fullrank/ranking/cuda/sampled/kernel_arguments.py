"""The arguments that the kernels of sampled ranks share."""

from __future__ import annotations

from typing import Any

from fullrank.ranking.cuda.sampled.device_data import Gpu, Group, Level

NO_NAN = 2**63 - 1  # the code of no item: see sampled_kernels.py


def counts(gpu: Gpu, level: Level) -> tuple[Any, Any]:
    """What the kernels write: the counts, and the code of the first NaN."""
    above = gpu.zeros(level.targets.shape[0])
    bad = gpu.torch.full((1,), NO_NAN, dtype=gpu.torch.int64, device=gpu.device)
    return above, bad


def drawing(gpu: Gpu, group: Group, level: Level) -> tuple[Any, ...]:
    """The arguments of the kernels from `rows` to `width`."""
    names = level.rows if group.names is None else group.names
    given = level.rows if level.given is None else level.given
    return (
        level.rows, group.users, group.hole_starts, group.holes, names, group.sides, group.n_items,
        gpu.key, level.first, level.count, given, level.width,
    )  # fmt: skip


def kind(gpu: Gpu, group: Group, level: Level) -> dict[str, Any]:
    """What the kernels are compiled for."""
    return {
        "DRAW": group.draw if level.given is None else 0,
        "TWELVE": group.twelve,
        "MAPPED": group.mapped,
        "SEEN": group.has_seen,
        "TIES": gpu.ties,
    }
