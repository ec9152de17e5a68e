"""LRR with a λ for every singular vector, and perhaps a factor for every row and column of W.

Li (dissertation), section 3.4: both are learned at once by BPR, starting from the closed form. If W
has its diagonal (`own_item`), the positive item is part of the history that it is scored from,
unless dropout removes it; without the diagonal it is not. The items of the history are not ranked,
so the diagonal only changes what is learned. Without factors and diagonal this is
`fullrank.models.LambdaSearch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data import Interactions
from fullrank.models.low_rank.bpr import Descent, descend, load_torch
from fullrank.models.low_rank.spectrum import Spectrum
from fullrank.scorers import FactorScorer

SEARCH_RANGE = 0.125  # c / λ: 1000 of 8000 on ML-20M and 5000 of 40,000 on Netflix
DROPOUT = 0.5


@dataclass(frozen=True)
class Rescaled:
    """diag(head)·V·diag(gains)·Vᵀ·diag(tail), and the λᵢ behind the gains."""

    vectors: np.ndarray
    penalties: np.ndarray
    gains: np.ndarray
    head: np.ndarray
    tail: np.ndarray

    def scorer(self, history: Interactions) -> FactorScorer:
        users = (history.matrix(np.float64) * self.head[None, :]).tocsr() @ self.vectors
        items = self.vectors * self.tail[:, None]
        return FactorScorer(
            (users * self.gains).astype(np.float32),
            items.astype(np.float32),
            user_ids=history.user_ids,
            item_ids=history.item_ids,
        )


def rescaled(
    found: Spectrum,
    train: Interactions,
    *,
    n_factors: int,
    regularization: float,
    head_tail: bool,
    own_item: bool,
    epochs: int,
    learning_rate: float,
    batch_size: int = 2048,
    scale: float = 10.0,
    seed: int = 0,
) -> Rescaled:
    torch = load_torch()
    square = torch.from_numpy(found.values[:n_factors] ** 2).float()
    vectors = torch.from_numpy(np.ascontiguousarray(found.vectors[:, :n_factors], np.float32))
    moves = torch.zeros(square.shape[0], requires_grad=True)
    sides = [torch.zeros(train.n_items, requires_grad=head_tail) for _ in range(2)]
    drawn = np.random.default_rng([seed, 1])

    def penalties() -> Any:
        return regularization * (1.0 + SEARCH_RANGE * torch.tanh(moves))

    def factor(side: Any) -> Any:
        return 2.0 * torch.sigmoid(
            side
        )  # 1 at the start, which keeps the scores of the closed form

    def difference(histories: Any, wanted: Any, others: Any) -> Any:
        if own_item:
            kept = (drawn.random(wanted.size) >= DROPOUT).astype(np.float32) / (1.0 - DROPOUT)
            histories[np.arange(wanted.size), wanted] = torch.from_numpy(kept)
        head, tail = (factor(side) for side in sides)
        users, items = histories.nonzero(as_tuple=True)
        starts = torch.searchsorted(users, torch.arange(histories.shape[0]))
        weights = histories[users, items] * head[items]
        sums = torch.nn.functional.embedding_bag(
            items, vectors, starts, mode="sum", per_sample_weights=weights
        )
        rows = vectors[wanted] * tail[wanted, None] - vectors[others] * tail[others, None]
        return (sums * (square / (square + penalties())) * rows).sum(1)

    how = Descent(
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        dropout=DROPOUT,
        scale=scale,
        seed=seed,
    )
    descend(train, [moves, *(sides if head_tail else [])], difference, how)
    each = penalties().detach().numpy().astype(np.float64)
    values = found.values[:n_factors] ** 2
    head, tail = (factor(side).detach().numpy().astype(np.float64) for side in sides)
    return Rescaled(
        vectors=found.vectors[:, :n_factors],
        penalties=each,
        gains=values / (values + each),
        head=head,
        tail=tail,
    )
