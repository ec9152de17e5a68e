"""The losses by name, and the arguments that each needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank.errors import InputError
from fullrank.losses.listwise import (
    debiased_info_nce,
    info_nce,
    mine,
    mine_plus,
    sampled_softmax,
    softmax,
)
from fullrank.losses.pairwise import bpr
from fullrank.losses.pointwise import ccl, debiased_ccl, debiased_mse, mse
from fullrank.losses.scores import load_torch, setting

if TYPE_CHECKING:
    from torch import Tensor

_GIVEN_BY_TRAINING = ("log_probability", "positive_share", "reduction")


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A loss, and what a model must know to train with it.

    Attributes
    ----------
    function : callable
        `function(positive, others, [extra_positives], **settings)`.
    similarity : {"dot", "cosine"}
        The kind of scores that it is made for.
    catalogue : bool
        Whether `others` are all items rather than drawn negatives.
    extra_positives : bool
        Whether it takes `extra_positives` as its third argument, and `positive_share=`.
    log_probability : bool
        Whether it takes `log_probability=`, the log-probability of each negative in one draw.
    weight_in_log : bool
        Whether `negative_weight` is inside a logarithm, where it cannot be 0.
    """

    function: Callable[..., Tensor]
    similarity: str
    catalogue: bool = False
    extra_positives: bool = False
    log_probability: bool = False
    weight_in_log: bool = False

    @property
    def settings(self) -> Mapping[str, float | None]:
        """The loss's own settings with their defaults, such as temperature and margin."""
        arguments = inspect.signature(self.function).parameters.values()
        return {
            one.name: one.default
            for one in arguments
            if one.kind is one.KEYWORD_ONLY and one.name not in _GIVEN_BY_TRAINING
        }

    def checked(self, name: str, value: float) -> float:
        """Temperature, margin or weight, in the range that the function asks for."""
        return setting(name, value, in_log=self.weight_in_log)


LOSSES: Registry[Loss] = Registry(
    "loss",
    {
        "softmax": Loss(function=softmax, similarity="dot", catalogue=True),
        "sampled-softmax": Loss(
            function=sampled_softmax, similarity="dot", log_probability=True, weight_in_log=True
        ),
        "bpr": Loss(function=bpr, similarity="dot"),
        "mse": Loss(function=mse, similarity="dot"),
        "debiased-mse": Loss(function=debiased_mse, similarity="dot", extra_positives=True),
        "ccl": Loss(function=ccl, similarity="cosine"),
        "debiased-ccl": Loss(function=debiased_ccl, similarity="cosine", extra_positives=True),
        "info-nce": Loss(function=info_nce, similarity="dot", weight_in_log=True),
        "debiased-info-nce": Loss(
            function=debiased_info_nce, similarity="dot", extra_positives=True, weight_in_log=True
        ),
        "mine": Loss(function=mine, similarity="dot"),
        "mine-plus": Loss(function=mine_plus, similarity="cosine"),
    },
)


def register(
    name: str,
    function: Callable[..., Tensor],
    *,
    similarity: str = "dot",
    catalogue: bool = False,
    extra_positives: bool = False,
    log_probability: bool = False,
    weight_in_log: bool = False,
) -> None:
    """Register a loss under a name that `EmbeddingMF(loss=…)` accepts.

    Parameters
    ----------
    name : the name of the loss
    function : called as `function(positive, others, [extra_positives], **settings)`; settings are
        keyword-only
    similarity, catalogue, extra_positives, log_probability, weight_in_log : as in `Loss`
    """
    if not callable(function):
        raise InputError(f"`function` must be callable, not {checks.shown(function)}.")
    LOSSES.register(
        name,
        Loss(
            function=function,
            similarity=checks.choice("similarity", similarity, ("dot", "cosine")),
            catalogue=checks.flag("catalogue", catalogue),
            extra_positives=checks.flag("extra_positives", extra_positives),
            log_probability=checks.flag("log_probability", log_probability),
            weight_in_log=checks.flag("weight_in_log", weight_in_log),
        ),
    )


def unregister(name: str) -> None:
    """Remove a registered loss."""
    LOSSES.unregister(name)


def positive_share(
    n_known: Tensor, n_items: int, *, growth: float = 0.0, unseen: float = 0.0
) -> Tensor:
    """Return τ⁺, the share of all items that a user likes, from the number of known ones.

    Parameters
    ----------
    n_known : tensor
        The number of items of each user.
    n_items : int
        The number of items.
    growth : float
        α ≥ 0: unseen positives for each known one.
    unseen : float
        K ≥ 0: unseen positives of every user, such as the length of the list to be recommended.

    Returns
    -------
    tensor
        Shares, at most 0.5: users do not like most of a catalogue, and the debiased losses divide
        by the remaining share.

    Notes
    -----
    ((1 + α)·|I⁺| + K)/|I| (Li, dissertation, section 4.2.2, which has only one of the two terms at
    a time).

    Examples
    --------
    >>> import torch
    >>> positive_share(torch.tensor([10, 40]), 1000, unseen=20)
    tensor([0.0300, 0.0600])
    """
    if not isinstance(n_known, load_torch().Tensor):
        raise InputError(f"`n_known` must be a torch tensor, not {type(n_known).__name__}.")
    size = checks.integer("n_items", n_items, low=1)
    more = checks.real("growth", growth, low=0)
    unknown = checks.real("unseen", unseen, low=0)
    return ((1.0 + more) * n_known + unknown).div(size).clamp(max=0.5)  # type: ignore[no-any-return]
