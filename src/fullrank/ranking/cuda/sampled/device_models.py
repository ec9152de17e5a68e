"""The scorers that sampled ranking knows on a GPU: what they keep there, and how they count."""

from __future__ import annotations

from typing import Any, Protocol

from fullrank._lib.device import no_device
from fullrank._lib.types import Ints
from fullrank.errors import InputError
from fullrank.ranking.capabilities import offer
from fullrank.ranking.cuda.sampled.device_data import Gpu, Group, Level
from fullrank.scorers.scorer import Scorer


class Model(Protocol):
    """A scorer on the device."""

    def users_at_once(self, width: int) -> int:
        """The users of a block, each with `width` items."""

    def start(self, users: Ints) -> None:
        """Take in what is known of the users of a block."""

    def marks(self, starts: Any, group_of: Any, targets: Any) -> Any:
        """Scores of targets, those of user g being starts[g]..starts[g + 1]."""

    def above(self, group: Group, level: Level) -> tuple[Any, Any]:
        """How many items rank above each target, and the code of the first NaN."""


def model_for(gpu: Gpu, scorer: Scorer) -> Model:
    """The scorer's form on the device."""
    from fullrank.ranking.cuda.sampled.factors import Factors
    from fullrank.ranking.cuda.sampled.scored import Blocks, ItemItem, Module

    has, offered = offer(scorer, ("factors", "item_item", "torch_pairs", "torch_blocks"))
    if has == "factors":
        return Factors(gpu, offered)
    if has == "item_item":
        if offered.is_sparse:
            raise InputError(
                '`device` must be None or "cpu" for sampled ranks of a sparse item-item matrix, '
                "which only `rank` supports on a GPU."
            )
        return ItemItem(gpu, offered)
    if has == "torch_pairs":
        return Module(gpu, offered)
    if has == "torch_blocks":
        return Blocks(gpu, offered)
    raise no_device(scorer)
