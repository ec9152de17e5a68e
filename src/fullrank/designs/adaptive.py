"""Few candidates for each target, and more while it ranks near the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from fullrank._lib import checks
from fullrank.designs.design import Design, register
from fullrank.designs.rounds import Rounds
from fullrank.designs.sizes import growing_levels
from fullrank.errors import InputError


@register
@dataclass(frozen=True)
class Adaptive(Design):
    """Draw more candidates for targets that rank near the top (Li et al. 2023, Algorithm 1).

    A fixed sample cannot distinguish the first ranks, because its best rank covers N/n of them. An
    adaptive design ranks every target among `start` candidates; a target at rank `refine_rank` or
    better is ranked among `growth` times as many, and so on up to `limit`.

    Parameters
    ----------
    start : candidates at the first level, including the target
    growth : number above 1. The levels are start, start·growth, start·growth², … (rounded up)
        below `limit`, and `limit`
    limit : candidates at the last level; an eighth of the items by default (at least `start`), the
        middle of the 10 to 15 percent that the paper found. See `recommend_limit`
    refine_rank : more candidates are drawn while the rank is at most this
    levels : increasing sizes, instead of `start`, `growth` and `limit`
    replacement, pool, ties, excluded : see `Design`

    Examples
    --------
    >>> Adaptive(25, limit=250).rounds(3000).sizes
    (25, 50, 100, 200, 250)
    >>> Adaptive(levels=(25, 50, 100))
    adaptive:25,limit=100
    """

    name: ClassVar[str] = "adaptive"
    main: ClassVar[str | None] = "start"
    size_names: ClassVar[tuple[str, str]] = ("start", "limit")
    start: int = 25
    growth: float = 2.0
    limit: int | None = None
    refine_rank: int = 1
    levels: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("refine_rank", checks.integer("refine_rank", self.refine_rank, low=1))
        self._set("growth", checks.real("growth", self.growth))
        if self.growth <= 1:
            raise InputError(f"`growth` must be above 1, not {self.growth:g}.")
        if self.levels is not None:
            self._take_levels()
        else:
            self._set("start", checks.integer("start", self.start, low=2))
        if self.limit is not None:
            self._set("limit", checks.integer("limit", self.limit, low=1))
            if self.limit < self.start:
                raise InputError(
                    f"`limit` must be at least `start` = {self.start}, not {self.limit}."
                )
        if self.refine_rank >= self.start:
            raise InputError(
                f"`refine_rank` must be below the first level, {self.start}, not "
                f"{self.refine_rank}; otherwise every target would continue."
            )

    def _take_levels(self) -> None:
        """Levels that start, growth and limit give are written that way: one form for each."""
        if isinstance(self.levels, str):
            raise InputError(f"`levels` must be increasing sample sizes, not {self.levels!r}.")
        given = np.atleast_1d(checks.as_array("levels", self.levels))
        levels = checks.integers("levels", given, low=1)
        if levels.size == 0 or (np.diff(levels) <= 0).any():
            raise InputError(f"`levels` must be increasing sample sizes, not {self.levels!r}.")
        sizes = tuple(levels.tolist())
        self._set("start", sizes[0])
        self._set("limit", sizes[-1])
        grown = growing_levels(sizes[0], sizes[-1], self.growth)
        self._set("levels", None if grown == sizes else sizes)

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        sizes = self.levels
        if sizes is None:
            limit = max(self.start, n_items // 8) if self.limit is None else self.limit
            sizes = growing_levels(self.start, limit, self.growth)
        return Rounds(sizes, (self.refine_rank,) * (len(sizes) - 1), self.replacement)

    def resolved(self, n_items: int) -> Self:
        return self.with_(limit=self.rounds(n_items).sizes[-1])

    def cost(self, n_items: int) -> float:
        return 200.0  # hardly more on real data, whatever the limit

    def describe(self) -> str:
        end = "" if self.limit is None else f" to {self.limit}"
        while_ = "" if self.refine_rank == 1 else f" while r <= {self.refine_rank}"
        return f"adaptive {self.start}{end}{while_}, {self._manner()}"
