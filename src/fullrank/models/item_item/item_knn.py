"""itemKNN: similarities of items by their common users, for nearest neighbours only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, threads
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import ItemItemModel, learned, to_learn_from

if TYPE_CHECKING:
    from scipy.sparse import csr_array


SIMILARITIES = ("dot", "cosine", "jaccard")  # in the order of the kernel's numbers
WEIGHTINGS = ("none", "tfidf", "bm25")
_BLOCK = 32  # items to a task, at least: popular ones cost far more than others
_TASKS = 512  # at most, for each makes room for all items


@dataclass(kw_only=True, eq=False)
class ItemKNN(ItemItemModel):
    """Score an item by its similarity to those of the user's items that are its neighbours.

    Every interaction counts 1 before weighting. Fitting adds one number for each pair of items of
    each user, Σ n_u² additions in total, and holds 16 bytes per kept neighbour in addition to a
    copy of the interactions. It never makes a table of all pairs of items. The result takes 8 bytes
    per neighbour.

    Parameters
    ----------
    n_neighbors : int
        Each item is scored through the `n_neighbors` items most similar to it (the first of equally
        similar ones).
    similarity : {"cosine", "jaccard", "dot"}
    weighting : {"none", "tfidf", "bm25"}
        "tfidf" gives users with many items less weight, and "bm25" also items with many users.
    shrinkage : float
        Added to the denominator, so that a similarity supported by few users counts less.
        "dot" has no denominator and needs 0.
    k1, b : float
        The parameters of "bm25": saturation, and how much the number of an item's users counts.
    n_jobs : int or None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    weights_ : csr_array of float32, shape (n_items, n_items)
        The similarity of the row's item to the column's, where it is one of its neighbours.

    Notes
    -----
    With an item as the vector x_i of the weights of its users: "dot" is x_i·x_j, "cosine"
    x_i·x_j / (‖x_i‖‖x_j‖ + h), "jaccard" x_i·x_j / (‖x_i‖² + ‖x_j‖² − x_i·x_j + h), which
    without weighting is the share of common users. With n_u items of user u, n_i users of item i
    and N items, "tfidf" weighs by max(0, log(N/(1 + n_u))), and "bm25" by that times
    (k₁ + 1)/(k₁(1 − b + b·n_i/mean n) + 1). An item is not its own neighbour.

    References
    ----------
    M. Deshpande and G. Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 2004.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 2])
    >>> ItemKNN(n_neighbors=1, similarity="jaccard").fit(data).weights_.toarray().round(3)
    array([[0.   , 0.667, 0.333],
           [0.667, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]], dtype=float32)
    """

    n_neighbors: int = 100
    similarity: str = "cosine"
    weighting: str = "none"
    shrinkage: float = 0.0
    k1: float = 1.2
    b: float = 0.75
    n_jobs: int | None = field(default=None, repr=False)
    weights_: csr_array[Any] = field(
        init=False, repr=False, metadata=learned("items", "items", sparse=True)
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_neighbors = checks.integer("n_neighbors", self.n_neighbors, low=1)
        self.similarity = checks.choice("similarity", self.similarity, SIMILARITIES)
        self.weighting = checks.choice("weighting", self.weighting, WEIGHTINGS)
        self.shrinkage = checks.real("shrinkage", self.shrinkage, low=0)
        self.k1 = checks.real("k1", self.k1, low=0)
        self.b = checks.real("b", self.b, low=0, high=1)
        threads.n_threads(self.n_jobs)
        if self.similarity == "dot" and self.shrinkage:
            raise InputError(
                f"`shrinkage` must be 0 for similarity='dot', not {self.shrinkage:g}: the dot "
                "product has no denominator to add it to."
            )

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return 16.0 * min(self.n_neighbors, interactions.n_items) * interactions.n_items

    def fit(self, interactions: Interactions) -> Self:
        """Find the neighbours of every item."""
        self.weights_ = _neighbours(self, to_learn_from(interactions))
        self.interactions_ = interactions
        return self


def _neighbours(model: ItemKNN, data: Interactions) -> csr_array[Any]:
    from scipy.sparse import csc_array

    from fullrank.models.item_item import knn_kernels as kernels

    n_items, width = data.n_items, min(model.n_neighbors, max(data.n_items - 1, 1))
    by_item = data.matrix(np.float32).T.tocsr()
    users_indptr, users = by_item.indptr.astype(np.uint64), by_item.indices.astype(np.uint32)
    user_weight, item_weight = _weights(model, data)
    square = item_weight**2 * np.bincount(
        data.indices, np.repeat(user_weight, data.user_counts()), minlength=n_items
    )
    size = np.sqrt(square) if model.similarity == "cosine" else square
    neighbours = np.empty((n_items, width), np.int32)
    similarities = np.empty((n_items, width), np.float32)
    counts = np.empty(n_items, np.int64)
    block = max(_BLOCK, -(-n_items // _TASKS))

    def work(start: int) -> None:
        kernels.nearest(
            start,
            min(start + block, n_items),
            users_indptr,
            users,
            data.indptr.view(np.uint64),
            data.indices.view(np.uint32),
            user_weight,
            item_weight,
            size,
            SIMILARITIES.index(model.similarity),
            model.shrinkage,
            neighbours,
            similarities,
            counts,
        )

    threads.run(work, range(0, n_items, block), n_jobs=model.n_jobs)
    kept = np.arange(width) < counts[:, None]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns = (similarities[kept], neighbours[kept], indptr)
    # column after column, as found; turning it row after row sorts it
    return csc_array(columns, shape=(n_items, n_items)).tocsr()


def _weights(model: ItemKNN, data: Interactions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """b_u² of every user and a_i of every item: an interaction weighs a_i·b_u."""
    users, items = np.ones(data.n_users), np.ones(data.n_items)
    if model.weighting != "none":
        users = np.maximum(0.0, np.log(data.n_items / (1.0 + data.user_counts()))) ** 2
    if model.weighting == "bm25":
        length = data.item_counts() / max(data.n_interactions / data.n_items, 1e-300)
        items = (model.k1 + 1.0) / (model.k1 * (1.0 - model.b + model.b * length) + 1.0)
    return users, items
