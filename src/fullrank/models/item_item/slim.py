"""SLIM: a sparse item–item model; each column is a regression with few positive weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from fullrank._lib import checks, threads
from fullrank.data.interactions import Interactions
from fullrank.errors import FullrankWarning
from fullrank.models.base import ItemItemModel, learned, to_learn_from
from fullrank.models.item_item.gram import gram

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_BLOCK = 16  # columns to a task


@dataclass(kw_only=True, eq=False)
class SLIM(ItemItemModel):
    """Predict a user's items from the other items by an elastic net without negative weights.

    Every interaction counts 1. Fitting computes XᵀX once, 4 bytes per pair of items, and then
    solves one item after the other; the sparse result takes 8 bytes per weight. A smaller `l1`
    gives more weights and takes more time.

    Parameters
    ----------
    regularization : float
        λ ≥ 0, the weight of the squared norm, as in :class:`EASE`.
    l1 : float
        ≥ 0, the penalty of the sum of the weights, which makes most of them 0: an item with at most
        `l1` users in common gets no weight.
    tolerance : float
        Stop at this distance from the optimality conditions, as a share of an item's users.
    max_iterations : int
        Maximum number of sweeps for an item; every third sweep covers all possible weights.
    n_jobs : int or None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    weights_ : csr_array of float32, shape (n_items, n_items)
        W: the contribution of the row's item to the score of the column's item.

    Notes
    -----
    Column j minimises ½‖x_j − Xw‖² + ½λ‖w‖² + l₁·Σw subject to w ≥ 0 and w_j = 0, by coordinate
    descent with updated gradients. A FullrankWarning reports how many columns stopped at
    `max_iterations`, and how far from the optimum.

    References
    ----------
    X. Ning and G. Karypis, "SLIM: Sparse linear methods for top-N recommender systems", ICDM
    2011.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> SLIM(regularization=1.0, l1=0.5).fit(data).weights_.toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0. , 0. ]], dtype=float32)
    """

    regularization: float = 100.0
    l1: float = 5.0
    tolerance: float = 1e-4
    max_iterations: int = 300
    n_jobs: int | None = field(default=None, repr=False)
    weights_: csr_array[Any] = field(
        init=False, repr=False, metadata=learned("items", "items", sparse=True)
    )
    interactions_: Interactions = field(init=False, repr=False)
    pair_bytes: ClassVar[float] = 4.0

    def __post_init__(self) -> None:
        self.regularization = checks.real("regularization", self.regularization, low=0)
        self.l1 = checks.real("l1", self.l1, low=0)
        self.tolerance = checks.real("tolerance", self.tolerance, low=0)
        self.max_iterations = checks.integer("max_iterations", self.max_iterations, low=1)
        threads.n_threads(self.n_jobs)

    def fit(self, interactions: Interactions) -> Self:
        """Solve for the columns."""
        self.weights_ = _columns(self, to_learn_from(interactions))
        self.interactions_ = interactions
        return self


def _columns(model: SLIM, data: Interactions) -> csr_array[Any]:
    from scipy.sparse import csr_array, vstack

    from fullrank.models.item_item.slim_kernels import solve_columns

    n_items = data.n_items
    # counts of users, exact in float32 up to 2²⁴
    common = gram(data.matrix(), np.float32, n_jobs=model.n_jobs)
    violation = np.zeros(n_items)
    starts = range(0, n_items, _BLOCK)
    blocks: dict[int, csr_array[Any]] = {}

    def work(start: int) -> None:
        stop = min(start + _BLOCK, n_items)
        rows = np.zeros((stop - start, n_items))
        solve_columns(
            start,
            stop,
            common,
            model.l1,
            model.regularization,
            model.tolerance,
            model.max_iterations,
            rows,
            violation,
        )
        blocks[start] = csr_array(rows.astype(np.float32))

    threads.run(work, starts, n_jobs=model.n_jobs)
    far = violation > model.tolerance
    if far.any():
        warnings.warn(
            f"{np.count_nonzero(far)} of {n_items} columns did not converge in "
            f"{model.max_iterations} sweeps; the largest violation of an optimality condition is "
            f"{violation.max():.1g} times the number of users of the item. The weights are "
            "returned unchanged. Increase `max_iterations` or `regularization`.",
            FullrankWarning,
            stacklevel=3,
        )
    return csr_array(vstack([blocks[start] for start in starts], format="csr").T.tocsr())
