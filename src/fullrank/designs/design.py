"""How the candidates were drawn: the design that gives an outcome (r, n) its probability."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory
from fullrank._lib.types import Floats, Ints
from fullrank.designs.grid import RankGrid
from fullrank.designs.probabilities import hypergeometric, kernel, kernel_averages
from fullrank.errors import InputError

POOLS = ("all", "unseen")
TIES = ("unknown", "best", "worst", "random")


@dataclass(frozen=True, kw_only=True)
class Design:
    """The rule by which candidates were drawn for every target.

    Parameters
    ----------
    replacement : whether an item can be drawn twice for the same target
    levels : sample sizes of an adaptive design, increasing, including the target; None for a
        fixed design, in which each target's size was known before its candidates were seen
    stop_rank : an adaptive design continues to the next level while the rank is at most this
    pool : "all" items, or the items "unseen" by the user
    excluded : whether the user's training items were excluded, that is, not drawn or counted as
        below the target; None where that is not known
    ties : which rank a target gets among candidates of equal score
    shared_draws : whether users were given the same candidates, so that their ranks are not
        independent; estimates stay what they are, their spread is larger

    Notes
    -----
    An adaptive outcome (r, n_j) has the probability ``c_j(r) P(r | R)`` with a factor free
    of R: given that r - 1 of the n_j - 1 draws rank above the target, in random order,
    c_j(r) is the probability that no earlier level stopped (`continuation`).
    """

    replacement: bool
    levels: tuple[int, ...] | None = None
    stop_rank: int = 1
    pool: str = "all"
    ties: str = "unknown"
    shared_draws: bool = False
    excluded: bool | None = None

    def __post_init__(self) -> None:
        for name in ("replacement", "shared_draws"):
            object.__setattr__(self, name, checks.flag(name, getattr(self, name)))
        if self.excluded is not None:
            object.__setattr__(self, "excluded", checks.flag("excluded", self.excluded))
        checks.choice("pool", self.pool, POOLS)
        checks.choice("ties", self.ties, TIES)
        object.__setattr__(self, "stop_rank", checks.integer("stop_rank", self.stop_rank, low=1))
        if self.levels is None:
            return
        levels = checks.integers("levels", self.levels, low=1)
        if levels.size == 0 or (np.diff(levels) <= 0).any():
            raise InputError(f"`levels` must be increasing sample sizes, not {self.levels!r}.")
        if self.stop_rank >= levels[0]:
            raise InputError(
                f"`stop_rank` must be below the first level, {levels[0]}, not {self.stop_rank}: "
                "every target would go on."
            )
        object.__setattr__(self, "levels", tuple(int(level) for level in levels))

    @property
    def adaptive(self) -> bool:
        return self.levels is not None

    def __str__(self) -> str:
        how = "with" if self.replacement else "without"
        pool = "all items" if self.pool == "all" else "unseen items"
        size = ""
        if self.levels is not None:
            stop = "" if self.stop_rank == 1 else f" while r <= {self.stop_rank}"
            size = f"adaptive {self.levels[0]} to {self.levels[-1]}{stop}, "
        shared = ", draws shared" if self.shared_draws else ""
        return f"{size}{how} replacement from {pool}{shared}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def level_sizes(self, n_items: int) -> tuple[int, ...]:
        """The levels a target with a pool of `n_items` can reach: the last ends at the pool."""
        if self.levels is None:
            raise InputError("`levels` must be given for this; the design has a fixed size.")
        if self.replacement or n_items >= self.levels[-1]:
            return self.levels
        return (*(level for level in self.levels if level < n_items), n_items)

    def continuation(self, rank: ArrayLike, sample_size: int, n_items: int) -> Floats:
        """c_j(r) at a level that a pool of `n_items` reaches.

        A chain over levels: of the x = r - 1 items above the target among n_j - 1 draws, y
        fell into the first n_{j-1} - 1 with a hypergeometric probability, and the design
        continued only if y < stop_rank:

            c_0 = 1,   c_j(x + 1) = sum over y < stop_rank of
                       Hypergeometric(y; n_j - 1, x, n_{j-1} - 1) c_{j-1}(y + 1)
        """
        r = checks.integers("rank", rank, low=1, high=sample_size, hint="Ranks are 1-based.")
        sizes = self.level_sizes(n_items)
        if sample_size not in sizes:
            raise InputError(
                f"`sample_size` must be a level of the design, {', '.join(map(str, sizes))}, "
                f"not {sample_size}."
            )
        level = sizes.index(sample_size)
        if level == 0:
            return np.ones(r.size)
        going_on = np.arange(1, min(self.stop_rank, sizes[level - 1]) + 1)
        before = self.continuation(going_on, sizes[level - 1], n_items)
        # the marked and the drawn of a hypergeometric can change places: one row for each x
        split = hypergeometric(going_on - 1, sample_size - 1, r - 1, sizes[level - 1] - 1)
        return np.asarray(split @ before)

    def possible(self, n_items: int, sample_size: int | None = None) -> tuple[Ints, Ints]:
        """Every outcome (r, n) of a target with a pool of `n_items`."""
        if self.levels is None:
            size = checks.integer("sample_size", sample_size, low=1)
            memory.ask("sample_size", 16 * size, f"{size:,} possible outcomes")
            return np.arange(1, size + 1), np.full(size, size)
        sizes = self.level_sizes(n_items)
        memory.ask("levels", 32 * sizes[-1], f"{sizes[-1]:,} possible outcomes")
        ranks = []
        for level, size in enumerate(sizes):
            first = 1 if level == len(sizes) - 1 else self.stop_rank + 1
            last = size if level == 0 else min(size, self.stop_rank + size - sizes[level - 1])
            ranks.append(np.arange(first, last + 1))
        return np.concatenate(ranks), np.repeat(sizes, [r.size for r in ranks])

    def probabilities(
        self, rank: ArrayLike, sample_size: ArrayLike, *, n_items: ArrayLike, grid: RankGrid
    ) -> Floats:
        """P(outcome | R), averaged over each bin: shape (n_bins, number of outcomes).

        `n_items` is the pool of each outcome (or of all): the items that could rank above
        the target, and the target.
        """
        r, n, pool = _outcomes(rank, sample_size, n_items)
        table = np.empty((grid.n_bins, r.size))
        for group in _groups(n, pool):
            size, items = int(n[group[0]]), int(pool[group[0]])
            table[:, group] = kernel_averages(
                r[group],
                sample_size=size,
                n_items=items,
                replacement=self.replacement,
                grid=grid,
            )
            if self.adaptive:
                table[:, group] *= self.continuation(r[group], size, items)
        return table

    def probabilities_at(
        self, true_ranks: ArrayLike, rank: ArrayLike, sample_size: ArrayLike, *, n_items: int
    ) -> Floats:
        """P(outcome | R) at given true ranks: shape (number of ranks, number of outcomes)."""
        r, n, pool = _outcomes(rank, sample_size, n_items)
        table = np.empty((np.asarray(true_ranks).size, r.size))
        for group in _groups(n, pool):
            size = int(n[group[0]])
            table[:, group] = kernel(
                true_ranks,
                r[group],
                sample_size=size,
                n_items=n_items,
                replacement=self.replacement,
            )
            if self.adaptive:
                table[:, group] *= self.continuation(r[group], size, n_items)
        return table


def _outcomes(
    rank: ArrayLike, sample_size: ArrayLike, n_items: ArrayLike
) -> tuple[Ints, Ints, Ints]:
    r = checks.integers("rank", rank, low=1, hint="Ranks are 1-based.")
    n = checks.integers("sample_size", sample_size, size=r.size, low=1)
    pool = checks.integers("n_items", n_items, size=r.size, low=1)
    checks.reject("rank", r, r > n, "be at most the sample size")
    return r, n, pool


def _groups(n: Ints, pool: Ints) -> list[Ints]:
    """Indices of the outcomes that share sample size and pool."""
    if n.size == 0:
        return []
    order = np.lexsort((n, pool))
    new = (np.diff(n[order]) != 0) | (np.diff(pool[order]) != 0)
    return np.split(order, np.flatnonzero(new) + 1)
