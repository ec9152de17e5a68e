"""Ranks of one model under several random seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from fullrank.errors import InputError
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.sample import RankSample


@dataclass(frozen=True, eq=False, repr=False)
class Seeds:
    """Ranks of one model under several seeds of its training or of its candidates.

    `estimate` and `compare` average the metric over the seeds of each user before they average over
    users, so that the unit of every interval is the user: three seeds of 6,040 users are 6,040
    independent values, not 18,120. How much the metric differs between seeds is reported beside it
    and is not part of the interval, which is about users.

    Parameters
    ----------
    samples : mapping from seeds to RankSample or ExactRanks, each with its rows and with users that
        are named.
        Users who are not in all of them, with the same items, are left out; `notes` says how many.

    Examples
    --------
    >>> how = {"design": "sampled:10", "n_items": 50, "user": ["ann", "bob"]}
    >>> ranks = {"1": [1, 4], "2": [3, 4]}
    >>> seeds = Seeds({seed: RankSample.from_ranks(one, **how) for seed, one in ranks.items()})
    >>> print(str(seeds).partition(", target")[0])
    2 seeds (1, 2) of 2 targets ranked among 10 of 50 items
    """

    samples: Mapping[str, RankSample | ExactRanks]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.samples, Mapping) or not self.samples:
            raise InputError("`samples` must map seeds to samples of one model.")
        kept, notes = _common({str(seed): one for seed, one in self.samples.items()})
        object.__setattr__(self, "samples", MappingProxyType(kept))
        object.__setattr__(self, "notes", (*self.notes, *notes))

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def first(self) -> RankSample | ExactRanks:
        """The sample of the first seed, which is like the others but for its ranks."""
        return next(iter(self.samples.values()))

    def __str__(self) -> str:
        first = self.first.about() if isinstance(self.first, ExactRanks) else self.first
        return f"{len(self)} seeds ({', '.join(self.samples)}) of {first}"

    def __repr__(self) -> str:
        return f"<Seeds: {self}>"


def _common(
    samples: dict[str, RankSample | ExactRanks],
) -> tuple[dict[str, RankSample | ExactRanks], tuple[str, ...]]:
    """The users that every seed has, with the same items; and how many these leave out."""
    pairs = {seed: _pairs(seed, one) for seed, one in samples.items()}
    shared = set.intersection(*(set(one.tolist()) for one in pairs.values()))
    every = set.union(*(set(one.tolist()) for one in pairs.values()))
    out = {pair[0] for pair in every - shared}
    if not out:
        return samples, ()
    keep = {
        seed: np.array([pair[0] not in out for pair in one.tolist()]) for seed, one in pairs.items()
    }
    if not all(one.any() for one in keep.values()):
        raise InputError(
            "`user` must name the same users for every seed; no user is in all of them."
        )
    users = len({pair[0] for pair in every})
    do, were = ("does", "was") if len(out) == 1 else ("do", "were")
    note = (
        f"{len(out):,} of {users:,} users {do} not have the same items in every seed and {were} "
        "left out."
    )
    return {seed: one.take(keep[seed]) for seed, one in samples.items()}, (note,)


def _pairs(seed: str, sample: Any) -> Any:
    """The user and item of each row; without items the user alone."""
    rows = sample if isinstance(sample, ExactRanks) else getattr(sample, "rows", None)
    if rows is None or rows.user is None:
        raise InputError(
            f"`user` must hold user ids if there are several seeds; seed {seed} has none: "
            "name their column with `columns={'user': 'NAME'}`."
        )
    items = rows.user if rows.item is None else rows.item
    found = np.empty(rows.user.size, object)
    found[:] = list(zip(rows.user.tolist(), items.tolist(), strict=True))
    return found
