"""Losses of recommenders, as functions of positive and negative scores (extra `torch`).

They are differentiable functions of tensors and return one loss per row or the mean. `LOSSES` lists
them by name, with what each needs. Beside the flow: imports `_lib`; models may import it.
"""

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
from fullrank.losses.registry import LOSSES, Loss, positive_share, register, unregister

__all__ = [
    "LOSSES",
    "Loss",
    "bpr",
    "ccl",
    "debiased_ccl",
    "debiased_info_nce",
    "debiased_mse",
    "info_nce",
    "mine",
    "mine_plus",
    "mse",
    "positive_share",
    "register",
    "sampled_softmax",
    "softmax",
    "unregister",
]
