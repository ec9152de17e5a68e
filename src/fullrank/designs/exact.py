"""Every item for every target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.designs.design import Design, register
from fullrank.designs.rounds import Rounds


@register
@dataclass(frozen=True)
class Exact(Design):
    """No sampling: the rank of every target among all items.

    Parameters
    ----------
    max_rank : ranks beyond this are only known to be beyond it; None for all ranks
    pool, ties, excluded : see `Design`; ties are "mean" unless another policy is given

    Examples
    --------
    >>> Exact(10)
    exact:10
    """

    name: ClassVar[str] = "exact"
    main: ClassVar[str | None] = "max_rank"
    tie_policies: ClassVar[tuple[str, ...]] = ("unknown", "mean", "best", "worst", "random")
    max_rank: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_rank is not None:
            self._set("max_rank", checks.integer("max_rank", self.max_rank, low=1))

    @property
    def adaptive(self) -> bool:
        return False

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Rounds((n_items,), ())

    def check(self, rank: Ints, sample_size: Ints, pool: Ints) -> None:
        """As of every design; and nothing was left undrawn."""
        super().check(rank, sample_size, pool)
        few = sample_size < pool
        checks.reject(
            "sample_size", sample_size, few, "be all items of an exact design",
            "Fewer candidates are a sample: `design='sampled'`.",
        )  # fmt: skip

    def describe(self) -> str:
        return "every item" if self.max_rank is None else f"every item, ranks up to {self.max_rank}"
