"""What a design draws for a target, in arrays, and how probable each outcome (r, n) is.

By the end of round j a target has been ranked among `sizes[j]` candidates, itself included. It
enters round j + 1 while its rank is at most `refine[j]`. A sample of fixed size is one round.

An outcome (r, n_j) has the probability ``c_j(r) P(r | R)`` with a factor that does not depend on R:
given that r - 1 of the n_j - 1 draws rank above the target, in random order, c_j(r) is the
probability that no earlier round stopped (`continuation`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, memory
from fullrank._lib.types import Floats, Ints
from fullrank.designs.probabilities import hypergeometric
from fullrank.errors import InputError

NO_LIMIT = 2**31 - 1  # draws of a user, where items may repeat
WITH, WITHOUT = 1, 2  # the codes of the kernels for draws with and without replacement
_NEGLIGIBLE = 1e-14  # outcomes less likely than this for every rank are left out


@dataclass(frozen=True)
class Rounds:
    """Sizes of the rounds, and the rank up to which each is followed by another.

    Parameters
    ----------
    sizes : candidates at the end of each round, including the target; increasing
    refine : a target enters round j + 1 while its rank is at most refine[j]; below sizes[0]
    replacement : whether an item can be drawn twice for the same target

    Examples
    --------
    >>> rounds = Rounds((10, 20, 40), (1, 1))
    >>> rounds.within(25).sizes
    (10, 20, 25)
    """

    sizes: tuple[int, ...]
    refine: tuple[int, ...] = ()
    replacement: bool = False

    def __post_init__(self) -> None:
        sizes = checks.integers("sizes", self.sizes, low=1)
        refine = checks.integers("refine", self.refine, low=1) if self.refine else np.empty(0, int)
        if sizes.size == 0 or (np.diff(sizes) <= 0).any():
            raise InputError(f"`sizes` must be increasing sample sizes, not {self.sizes!r}.")
        if refine.size != sizes.size - 1:
            raise InputError(
                f"`refine` must have one rank for each round except the last, so {sizes.size - 1}, "
                f"not {refine.size}."
            )
        if (refine >= sizes[0]).any():
            raise InputError(
                f"`refine` must be below the first size, {sizes[0]}, not {refine.max()}; "
                "otherwise every target would continue."
            )
        object.__setattr__(self, "sizes", tuple(sizes.tolist()))
        object.__setattr__(self, "refine", tuple(refine.tolist()))

    def within(self, n_items: int) -> Rounds:
        """The rounds of a target with a pool of `n_items`: the last ends at the pool."""
        if self.replacement or n_items >= self.sizes[-1]:
            return self
        sizes = (*(size for size in self.sizes if size < n_items), n_items)
        return Rounds(sizes, self.refine[: len(sizes) - 1], self.replacement)

    # -- drawing ------------------------------------------------------------------------------

    @property
    def drawing(self) -> int:
        """The code that the kernels know the way of drawing by."""
        if type(self).draw is not Rounds.draw:
            raise InputError(
                '`device` must be "cpu" for this design, because no GPU kernel implements its '
                "draws."
            )
        return WITH if self.replacement else WITHOUT

    def limits(self, pool_sizes: Ints) -> Ints:
        """The most items that can be drawn for users whose pools have these sizes."""
        if self.replacement:
            return np.where(pool_sizes > 0, NO_LIMIT, 0)
        return np.asarray(pool_sizes)

    def check_pools(self, pool_sizes: Ints, users: Ints) -> None:
        """Draws that repeat never end for a user without items, where rounds follow each other."""
        empty = users[pool_sizes == 0]
        if self.replacement and len(self.sizes) > 1 and empty.size:
            have = "has" if empty.size == 1 else "have"
            raise InputError(
                "`design` must draw without replacement if some users have no items to draw from; "
                f"{empty.size} of {users.size} {have} none (first: user row {empty[0]})."
            )

    def draw(
        self, pools: Any, key: int, groups: Ints, first: Ints, count: Ints
    ) -> NDArray[np.int32]:
        """Draws first .. first + count - 1 of these groups of the `Pools`, one row each."""
        drawn: NDArray[np.int32] = pools.draw(
            key, groups, first, count, replacement=self.replacement
        )
        return drawn

    def simulated(
        self, ranks: Ints, n_items: int, random: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Drawn items above targets of these true ranks, and drawn items, after the last round."""
        above, drawn = np.zeros_like(ranks), np.zeros_like(ranks)
        active = np.arange(ranks.size)
        for j, size in enumerate(self.sizes):
            if j > 0:
                active = active[above[active] < self.refine[j - 1]]
            rank, step = ranks[active], size - 1 - drawn[active]
            if self.replacement:
                above[active] += random.binomial(step, (rank - 1) / (n_items - 1))
            else:
                better = rank - 1 - above[active]
                worse = n_items - rank - (drawn[active] - above[active])
                above[active] += random.hypergeometric(better, worse, step)
            drawn[active] = size - 1
        return above, drawn

    # -- outcomes -----------------------------------------------------------------------------

    def exhausted(self, sample_size: Ints, pool: ArrayLike) -> NDArray[np.bool_]:
        """Which targets were ranked among all of their items, so that their rank is exact."""
        return np.asarray((sample_size == np.asarray(pool)) & (not self.replacement))

    def continuation(self, rank: ArrayLike, sample_size: int) -> Floats:
        """c_j(r) at the round that ends with `sample_size` candidates.

        A chain over rounds: of the x = r - 1 items above the target among n_j - 1 draws, y fell
        into the first n_{j-1} - 1 with a hypergeometric probability, and the target continued only
        if y < refine_{j-1}:

            c_0 = 1,   c_j(x + 1) = sum over y < refine_{j-1} of
                       Hypergeometric(y; n_j - 1, x, n_{j-1} - 1) c_{j-1}(y + 1)
        """
        r = checks.integers("rank", rank, low=1, high=sample_size, hint="Ranks are 1-based.")
        if sample_size not in self.sizes:
            raise InputError(
                f"`sample_size` must be a level of the design ({_listed(self.sizes)}), not "
                f"{sample_size}."
            )
        j = self.sizes.index(sample_size)
        if j == 0:
            return np.ones(r.size)
        before = self.sizes[j - 1]
        continued = np.arange(1, min(self.refine[j - 1], before) + 1)
        # the marked and the drawn of a hypergeometric can change places: one row for each x
        split = hypergeometric(continued - 1, sample_size - 1, r - 1, before - 1)
        return np.asarray(split @ self.continuation(continued, before))

    def possible(self) -> tuple[Ints, Ints]:
        """Every outcome (r, n)."""
        sizes, last = self.sizes, len(self.sizes) - 1
        memory.ask("levels", 32 * sizes[-1], f"{sizes[-1]:,} possible outcomes")
        ranks = [
            np.arange(1 if j == last else self.refine[j] + 1, self._best_kept(j) + 1)
            for j in range(len(sizes))
        ]
        return np.concatenate(ranks), np.repeat(sizes, [r.size for r in ranks])

    def _best_kept(self, j: int) -> int:
        """The last rank that round j can end with."""
        size = self.sizes[j]
        return size if j == 0 else min(size, self.refine[j - 1] + size - self.sizes[j - 1])

    def likely(self) -> tuple[Ints, Ints]:
        """The outcomes that some rank could show with more than a negligible probability.

        Given r - 1 of n_j - 1 draws above the target, the chance that all but a few of them came
        after the round before falls at least as fast as ((n_j - n_{j-1})/(n_j - 1))^(r - refine).
        """
        rank, n = self.possible()
        if len(self.sizes) == 1:
            return rank, n
        sizes = np.array(self.sizes)
        ratio = (np.diff(sizes) / np.maximum(sizes[1:] - 1, 1)).clip(0.0, 1.0 - 1e-12)
        ratio = np.log(_NEGLIGIBLE) / np.log(np.maximum(ratio, 1e-12))
        reach = np.concatenate([[np.inf], np.array(self.refine) * (2.0 + ratio) + 1.0])
        near = rank <= reach[np.searchsorted(sizes, n)]
        rank, n = rank[near], n[near]
        ends = [0, *(np.flatnonzero(np.diff(n)) + 1).tolist(), n.size]
        chances = [self.continuation(rank[a:b], int(n[a])) for a, b in pairwise(ends)]
        keep = np.concatenate(chances) > _NEGLIGIBLE
        return rank[keep], n[keep]

    def check(self, r: Ints, n: Ints, pool: Ints) -> None:
        """Every outcome must be one that these rounds can give."""
        levels, refine = np.asarray(self.sizes), np.asarray([*self.refine, 0])
        last = np.full(n.shape, levels[-1]) if self.replacement else np.minimum(levels[-1], pool)
        checks.reject(
            "sample_size",
            n,
            ~((np.isin(n, levels) & (n <= last)) | (n == last)),
            f"be a level of the design ({_listed(self.sizes)})",
        )
        where = np.searchsorted(levels, n, side="left")
        checks.reject(
            "rank",
            r,
            (r <= refine[where]) & (n < last),
            f"be above `refine_rank` ({_listed(set(self.refine))}) at every level but the last",
            "An adaptive design draws more candidates for targets up to that rank. Check `design`.",
        )
        at = np.maximum(where - 1, 0)
        reachable = np.where(where > 0, refine[at] + n - levels[at], n)
        checks.reject(
            "rank",
            r,
            r > reachable,
            "be at most `refine_rank` plus the number of candidates drawn after the previous level",
        )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
