"""Nearby models: additional parameters of a linear model, learned by BPR (extra `torch`).

A closed form minimises a squared error, but the aim is a good ranking (Li, dissertation, section
3.4). These models start from a closed form and adjust it slightly for a better ranking.
"""

from __future__ import annotations

import copy
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import ItemItemModel, Model, learned, to_learn_from
from fullrank.models.item_item.edlae import EDLAE
from fullrank.models.low_rank.bpr import Descent, descend, load_torch
from fullrank.models.low_rank.spectrum import SpectralModel, Spectrum

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(kw_only=True, eq=False)
class LambdaSearch(SpectralModel):
    """LRR with a separate regularisation for every singular vector.

    Memory: that of LRR, and 4 bytes for each pair of an item and a user of a batch.

    Parameters
    ----------
    n_factors : int
    regularization : float
        λ > 0, the centre of the search, such as the best value of LRR.
    search_range : float
        How far each λᵢ may move, as a share of λ, in [0, 1); the dissertation has an eighth.
    epochs, learning_rate, batch_size : settings of Adam
    dropout : float
        The share of a history that is dropped at random in each step.
    scale : float
        t > 0, the factor of score differences in the loss.
    seed : int

    Attributes
    ----------
    item_factors_, gains_ : as in LRR
    penalties_ : float64 array, shape (n_factors,)
        The λᵢ.

    Notes
    -----
    λᵢ = λ·(1 + c·tanh(aᵢ)) with c the `search_range`, and the aᵢ are learned by BPR from aᵢ = 0
    (Li, dissertation, section 3.4.1). They are learned from items that the singular vectors were
    computed from, and tend to be too small: keep `search_range` small, and choose it on held-out
    items.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=100, n_items=60, mean_interactions=12)
    >>> model = LambdaSearch(n_factors=8, regularization=50, epochs=1).fit(data)
    >>> bool(abs(model.penalties_ - 50).max() < 25)
    True
    """

    regularization: float = 1000.0
    search_range: float = 0.125
    epochs: int = 5
    learning_rate: float = 0.05
    batch_size: int = 512
    dropout: float = 0.5
    scale: float = 10.0
    seed: int = 0
    penalties_: NDArray[np.float64] = field(
        init=False, repr=False, metadata=learned("factors", dtype=np.float64)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.regularization = checks.positive("regularization", self.regularization)
        if not 0 <= checks.real("search_range", self.search_range) < 1:
            raise InputError(
                f"`search_range` must be at least 0 and below 1, not {self.search_range:g}."
            )
        _descent(self)

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return 8.0 * interactions.n_items**2

    def fit_from(self, found: Spectrum, interactions: Interactions) -> Self:
        """Learn the λᵢ, from a decomposition of at least as many factors."""
        torch = load_torch()
        square = torch.from_numpy(found.values[: self.n_factors] ** 2).float()
        vectors = torch.from_numpy(found.vectors[:, : self.n_factors].astype(np.float32))
        moves = torch.zeros(square.shape[0], requires_grad=True)

        def penalties() -> Any:
            return self.regularization * (1.0 + self.search_range * torch.tanh(moves))

        def difference(histories: Any, wanted: Any, others: Any) -> Any:
            gains = square / (square + penalties())
            return ((histories @ vectors) * gains * (vectors[wanted] - vectors[others])).sum(1)

        descend(to_learn_from(interactions), [moves], difference, _descent(self))
        self.penalties_ = penalties().detach().numpy().astype(np.float64)
        return super().fit_from(found, interactions)

    def _gains(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(values**2 / (values**2 + self.penalties_))


@dataclass(kw_only=True, eq=False)
class HeadTail(ItemItemModel):
    """An item–item model with a learned factor for each row and each column of its weights.

    Memory: that of the base model, once more for the weights, and 12 bytes for each pair of an item
    and a user of a batch.

    Parameters
    ----------
    base : model with `weights_`, a dense array (EASE, EDLAE, DLAE, …)
        A copy of it is fitted first, on the same interactions; EDLAE() if none is given. A file
        does not hold it: what is loaded scores, but is fitted again on EDLAE().
    epochs, learning_rate, batch_size, dropout, scale, seed
        As in :class:`LambdaSearch`.

    Attributes
    ----------
    head_, tail_ : float32 arrays, shape (n_items,)
        Between 0 and 1; ½ where nothing was learned.
    weights_ : float32 array, shape (n_items, n_items)
        diag(head)·W·diag(tail).

    Notes
    -----
    Li, dissertation, equation 76, left. Both vectors are sigmoids of what is learned, which starts
    at 0: that is at the ranks of the base model.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> from fullrank.models import EASE
    >>> data = simulate(n_users=100, n_items=60, mean_interactions=12)
    >>> HeadTail(base=EASE(regularization=10), epochs=1).fit(data).head_.shape
    (60,)
    """

    base: InitVar[Model | None] = None
    epochs: int = 5
    learning_rate: float = 0.05
    batch_size: int = 512
    dropout: float = 0.5
    scale: float = 10.0
    seed: int = 0
    head_: NDArray[np.float32] = field(init=False, repr=False, metadata=learned("items"))
    tail_: NDArray[np.float32] = field(init=False, repr=False, metadata=learned("items"))
    weights_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "items")
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self, base: Model | None) -> None:
        self._base = _checked_base(base)
        _descent(self)

    def fit(self, interactions: Interactions) -> Self:
        """Fit the base model, and then the two vectors."""
        torch = load_torch()
        weights = _base_weights(self._base, interactions)
        columns = torch.from_numpy(np.ascontiguousarray(weights.T))
        head = torch.zeros(interactions.n_items, requires_grad=True)
        tail = torch.zeros(interactions.n_items, requires_grad=True)

        def difference(histories: Any, wanted: Any, others: Any) -> Any:
            inputs, outputs = histories * torch.sigmoid(head), torch.sigmoid(tail)
            high = (inputs * columns[wanted]).sum(1) * outputs[wanted]
            return high - (inputs * columns[others]).sum(1) * outputs[others]

        descend(interactions, [head, tail], difference, _descent(self))
        self.head_ = torch.sigmoid(head).detach().numpy()
        self.tail_ = torch.sigmoid(tail).detach().numpy()
        self.weights_ = self.head_[:, None] * weights * self.tail_
        self.interactions_ = interactions
        return self


@dataclass(kw_only=True, eq=False)
class Sparsified(ItemItemModel):
    """The large weights of an item–item model, each with a learned factor.

    Memory while learning: 40 bytes per weight that is kept, in addition to the base model.

    Parameters
    ----------
    base : model with `weights_`, a dense array (EASE, EDLAE, DLAE, …)
        A copy of it is fitted first, on the same interactions; EDLAE() if none is given. A file
        does not hold it: what is loaded scores, but is fitted again on EDLAE().
    threshold : float
        Weights above it are kept; the others become 0.
    epochs, learning_rate, batch_size, dropout, scale, seed
        As in :class:`LambdaSearch`.

    Attributes
    ----------
    weights_ : csr_array of float32, shape (n_items, n_items)

    Notes
    -----
    Li, dissertation, equation 76, right: S ∘ W ∘ (W > t), where S holds sigmoids of what is
    learned, which starts at 0.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> from fullrank.models import EASE
    >>> data = simulate(n_users=100, n_items=60, mean_interactions=12)
    >>> model = Sparsified(base=EASE(regularization=10), threshold=0.05, epochs=1).fit(data)
    >>> bool(model.weights_.nnz < 60 * 60 / 2)
    True
    """

    base: InitVar[Model | None] = None
    threshold: float = 0.001
    epochs: int = 5
    learning_rate: float = 0.05
    batch_size: int = 512
    dropout: float = 0.5
    scale: float = 10.0
    seed: int = 0
    weights_: csr_array[Any] = field(
        init=False, repr=False, metadata=learned("items", "items", sparse=True)
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self, base: Model | None) -> None:
        self._base = _checked_base(base)
        self.threshold = checks.real("threshold", self.threshold)
        _descent(self)

    def fit(self, interactions: Interactions) -> Self:
        """Fit the base model, and then a factor for each weight that is kept."""
        from scipy.sparse import csc_array

        torch = load_torch()
        weights = _base_weights(self._base, interactions)
        kept = csc_array(np.where(weights > self.threshold, weights, np.float32(0.0)))
        rows, values = torch.from_numpy(kept.indices).long(), torch.from_numpy(kept.data)
        share = torch.zeros(kept.nnz, requires_grad=True)

        def scores(histories: Any, items: Any) -> Any:
            """Of the batch's users, each against one item: a sum over the item's column."""
            counts = np.diff(kept.indptr)[items]
            ends = np.cumsum(counts)
            shift = np.repeat(kept.indptr[:-1][items] - (ends - counts), counts)
            entries = torch.from_numpy(np.arange(int(ends[-1])) + shift).long()
            users = torch.from_numpy(np.repeat(np.arange(items.size), counts))
            terms = histories[users, rows[entries]] * values[entries] * share[entries].sigmoid()
            return torch.zeros(items.size).index_add(0, users, terms)

        def difference(histories: Any, wanted: Any, others: Any) -> Any:
            return scores(histories, wanted) - scores(histories, others)

        if kept.nnz:
            descend(interactions, [share], difference, _descent(self))
        kept.data = kept.data * torch.sigmoid(share).detach().numpy()
        self.weights_ = kept.tocsr()
        self.interactions_ = interactions
        return self


def _descent(model: LambdaSearch | HeadTail | Sparsified) -> Descent:
    return Descent(
        epochs=model.epochs,
        learning_rate=model.learning_rate,
        batch_size=model.batch_size,
        dropout=model.dropout,
        scale=model.scale,
        seed=model.seed,
    )


def _checked_base(base: Model | None) -> Model:
    if base is None:
        return EDLAE()
    if isinstance(base, type) or not hasattr(base, "fit"):
        got = f"the class {base.__name__}" if isinstance(base, type) else type(base).__name__
        raise InputError(f"`base` must be a model, such as EASE(); got {got}.")
    return base


def _base_weights(base: Any, interactions: Interactions) -> NDArray[np.float32]:
    """W of the base model, fitted on the interactions."""
    own = copy.copy(base)  # the caller's stays as it is
    weights = getattr(own.fit(to_learn_from(interactions)), "weights_", None)
    if not isinstance(weights, np.ndarray):
        raise InputError(
            f"`base` must learn a dense array `weights_` of items × items, as EASE does; "
            f"{type(base).__name__} does not."
        )
    return np.asarray(weights, np.float32)
