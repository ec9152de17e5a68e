"""The learner of EmbeddingMF: two tables of vectors, and a loss of their products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fullrank.data.interactions import Interactions
from fullrank.losses import Loss
from fullrank.models.neural.learners import gather
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import PairBatch
from fullrank.models.training.torch_use import load_torch
from fullrank.models.training.validation import only_learned_users

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer


class Embeddings:
    """Vectors of users and items on the device.

    Parameters
    ----------
    users, items : leaf tensors, shapes (n_users, d) and (n_items, d)
    loss : Loss
    settings : of the loss
    similarity : {"dot", "cosine"}
    regularization : λ of the vectors in a batch
    log_probability : tensor, shape (n_items,), of each item in one draw; or None
    positive_share : tensor, shape (n_users,), for debiased losses; or None
    """

    capturable = True

    def __init__(
        self,
        users: Any,
        items: Any,
        *,
        loss: Loss,
        settings: Mapping[str, float],
        similarity: str,
        regularization: float,
        log_probability: Any = None,
        positive_share: Any = None,
    ) -> None:
        self.users, self.items = users, items
        self.similarity, self.regularization = similarity, regularization
        self._loss, self._settings = loss, dict(settings)
        self._log_probability, self._positive_share = log_probability, positive_share

    def parameters(self) -> dict[str, Any]:
        """The two tables."""
        return {"users": self.users, "items": self.items}

    def loss(self, batch: PairBatch, generator: Any) -> Any:
        """The loss of a batch, and the penalty of the vectors in it."""
        return self.value(self.users, self.items, batch, batch)

    def value(self, users: Any, items: Any, local: PairBatch, batch: PairBatch) -> Any:
        """The loss from tables that may hold some rows alone; `local` are the numbers in them."""
        own = gather.take(users, local.users)
        positive, others, extra = self._scores(own, items, local)
        given: dict[str, Any] = dict(self._settings)
        more = []
        if extra is not None:
            more, given["positive_share"] = [extra], self._positive_share[batch.users]
        if self._log_probability is not None:
            given["log_probability"] = self._log_probability[batch.negatives]
        value = self._loss.function(positive, others, *more, **given)
        if self.regularization:
            value = value + 0.5 * self.regularization * _penalty(own, items, local)
        return value

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        """The scorer of the tables as they are."""
        from fullrank.scorers import FactorScorer

        only_learned_users(history)
        return FactorScorer(to_array(self.users), to_array(self.items), similarity=self.similarity)

    def _scores(self, users: Any, table: Any, batch: PairBatch) -> tuple[Any, Any, Any]:
        """Scores of the positives, of what they are set against, and of further positives."""
        torch = load_torch()
        if self.similarity == "cosine":
            users = torch.nn.functional.normalize(users, dim=1)
            table = torch.nn.functional.normalize(table, dim=1)
        wanted, n_extra = [batch.items[:, None]], 0
        if batch.positives is not None:
            wanted.append(batch.positives)
            n_extra = batch.positives.shape[1]
        by_pair = batch.negatives is not None and batch.negatives.ndim == 2
        if by_pair:
            wanted.append(batch.negatives)
        # all in one: each call for rows of the table has a gradient of the size of the table
        scores = gather.dots(users, table, torch.cat(wanted, 1) if wanted[1:] else wanted[0])
        if by_pair:
            others = scores[:, 1 + n_extra :]
        elif batch.negatives is None:
            others = users @ table.T
        else:
            others = users @ gather.take(table, batch.negatives).T
        return scores[:, 0], others, scores[:, 1 : 1 + n_extra] if n_extra else None


def _penalty(users: Any, items: Any, batch: PairBatch) -> Any:
    """Squared lengths: the mean over the batch's users, its items and its negatives, added up."""
    total = users.square().sum(1).mean() + gather.mean_square(items, batch.items)
    if batch.negatives is not None:
        total = total + gather.mean_square(items, batch.negatives)
    return total
