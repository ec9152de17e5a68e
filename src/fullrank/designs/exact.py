"""Every item for every target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.designs.design import Design, register
from fullrank.designs.rounds import Rounds
from fullrank.errors import InputError
from fullrank.metrics import Metric, parse_all

ORDERS = ("norms", "popularity", "random")


@register
@dataclass(frozen=True)
class Exact(Design):
    """No sampling: the rank of every target among all items.

    Parameters
    ----------
    max_rank : larger ranks are only known to be larger; None for all ranks
    order : with `max_rank`, the order in which candidates are scored: "norms", "popularity" or
        "random"; None for the default (`fullrank.rank`). It changes the time, never a rank
    pool, ties, excluded : see `Design`; ties are "mean" unless another policy is given

    Examples
    --------
    >>> Exact(10)
    exact:10
    >>> Design.of("exact:10,order=popularity").order
    'popularity'
    """

    name: ClassVar[str] = "exact"
    main: ClassVar[str | None] = "max_rank"
    tie_policies: ClassVar[tuple[str, ...]] = ("unknown", "mean", "best", "worst", "random")
    max_rank: int | None = None
    order: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_rank is not None:
            self._set("max_rank", checks.integer("max_rank", self.max_rank, low=1))
        if self.order is not None:
            checks.choice("order", self.order, ORDERS)
            if self.max_rank is None:
                raise InputError(
                    "`max_rank` must be given with `order`, as in exact:10,order=random; without "
                    "`max_rank`, all items are scored."
                )

    @property
    def adaptive(self) -> bool:
        return False

    def rounds(self, n_items: int, sample_size: int | None = None) -> Rounds:
        return Rounds((n_items,), ())

    def check(self, rank: Ints, sample_size: Ints, pool: Ints) -> None:
        """Check the outcomes as for every design, and that all items were drawn."""
        super().check(rank, sample_size, pool)
        few = sample_size < pool
        checks.reject(
            "sample_size", sample_size, few, "be the number of items for an exact design",
            "If fewer candidates were drawn, use `design='sampled'`.",
        )  # fmt: skip

    def cost(self, n_items: int) -> float:
        """How many items are scored for each target: with `max_rank`, at most.

        How many are left out depends on the model and on the order, and is known afterwards
        (`ExactRanks.n_scored`).
        """
        return super().cost(n_items)

    def to_dict(self) -> dict[str, Any]:
        """The name and the settings, for JSON; an order is there only where one was given."""
        found = super().to_dict()
        return {key: value for key, value in found.items() if key != "order" or value is not None}

    def describe(self) -> str:
        return "every item" if self.max_rank is None else f"every item, ranks up to {self.max_rank}"

    def within(self, metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
        """The metrics, with cut-offs of at most `max_rank`.

        >>> Exact(5).within("recall@10, ndcg@3")
        (Metric(kind='recall', k=5), Metric(kind='ndcg', k=3))
        """
        wanted = parse_all(metrics)
        if self.max_rank is None:
            return wanted
        return tuple(
            one if one.k is not None and one.k <= self.max_rank else Metric(one.kind, self.max_rank)
            for one in wanted
        )

    def check_metrics(
        self, metrics: str | Metric | Iterable[str | Metric], *, of: str | None = None
    ) -> None:
        """Refuse metrics that need a rank beyond `max_rank`; `of` names whose ranks they are."""
        if self.max_rank is None:
            return
        for metric in parse_all(metrics):
            if metric.k is not None and metric.k <= self.max_rank:
                continue
            needs = "all ranks, without `max_rank` (design exact)"
            if metric.k is not None:
                needs = f"`max_rank={metric.k}` (design exact:{metric.k})"
            raise InputError(
                f"`metrics` must have cut-offs of at most {self.max_rank}, up to which the ranks"
                f"{'' if of is None else f' of {of}'} are known; {metric.name} needs {needs}."
            )
