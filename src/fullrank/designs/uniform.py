"""A fixed number of candidates for each target, drawn uniformly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.designs.design import Design, register
from fullrank.designs.rounds import Rounds
from fullrank.errors import InputError


@register
@dataclass(frozen=True)
class Uniform(Design):
    """A fixed number of candidates for every target, known before any of them is scored.

    Parameters
    ----------
    sample_size : candidates per target, including the target; None if sizes differ between
        targets. Without replacement, a user with a smaller pool gets all of it.
    replacement, pool, ties, excluded : see `Design`

    Examples
    --------
    >>> Uniform(100, pool="unseen")
    sampled:100,pool=unseen
    >>> Uniform(3).probabilities_at([1, 26, 51], [1, 2, 3], 3, n_items=51).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.24, 0.51, 0.24],
           [0.  , 0.  , 1.  ]])
    """

    name: ClassVar[str] = "sampled"
    main: ClassVar[str | None] = "sample_size"
    sample_size: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample_size is not None:
            self._set("sample_size", checks.integer("sample_size", self.sample_size, low=1))

    @property
    def adaptive(self) -> bool:
        return False

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        size = self.sample_size if sample_size is None else sample_size
        if size is None:
            raise InputError("`sample_size` must be given, because the design does not fix it.")
        size = checks.integer("sample_size", size, low=1)
        return Rounds((size,), (), self.replacement)

    @property
    def bare(self) -> Self:
        return super().bare.with_(sample_size=None)

    def of_size(self, sample_size: int) -> Uniform:
        return self.with_(sample_size=sample_size)

    def drawable(self, n_items: int) -> Self:
        if self.sample_size is None:
            return self.with_(sample_size=100).drawable(n_items)
        return super().drawable(n_items)

    def seen(self, sample_size: Ints) -> Self:
        """Sizes that do not differ are those of the design."""
        if self.sample_size is not None or (sample_size != sample_size[0]).any():
            return self
        return self.with_(sample_size=int(sample_size[0]))

    def check(self, rank: Ints, sample_size: Ints, pool: Ints) -> None:
        super().check(rank, sample_size, pool)
        if self.sample_size is not None:
            other = sample_size != self.reachable(self.sample_size, pool)
            checks.reject(
                "sample_size", sample_size, other, f"be {self.sample_size}, as in the design"
            )

    def joined(self, other: Design) -> Design | None:
        """Sizes may differ: each target's size was known before it was ranked."""
        if isinstance(other, Uniform) and self.with_(sample_size=other.sample_size) == other:
            return self if self == other else self.with_(sample_size=None)
        return None

    def describe(self) -> str:
        return self._manner()
