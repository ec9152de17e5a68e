"""iALS: factors by alternating least squares, with unseen items as weak negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, threads
from fullrank.data.interactions import Interactions
from fullrank.models.base import (
    Saved,
    factor_bytes,
    fitted,
    history_for,
    learned,
    named_as,
    to_learn_from,
)
from fullrank.models.low_rank import alternating

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer

_LEAST = 1e-9  # penalties and what they are divided into stay within single precision


@dataclass(kw_only=True, eq=False)
class IALS(Saved):
    """Matrix factorisation for implicit feedback, with a small weight for unobserved pairs.

    Every interaction counts 1. An epoch costs about 8·n_factors·(steps + 1) operations for each
    interaction and 6·n_factors² for each user and item. Memory: 4 bytes for each factor of each
    user and item, 8 for each interaction, and a few MB. The same settings give the same factors for
    any `n_jobs`.

    Parameters
    ----------
    n_factors : int
    regularization : float
        λ > 0. With `frequency_scaling` 1, thousandths are usual; with 0, from 0.1 to tens.
    unobserved_weight : float
        α₀ ≥ 0, the weight of an unobserved pair; an observed pair has 1 more. From 0.01 to 1: a
        larger weight reduces the scores of popular items and overfits histories less.
    frequency_scaling : float
        ν in 0..2: how far the penalty of a user or an item grows with its number of interactions.
    epochs : int
        Number of passes over users and items.
    steps : int
        Conjugate gradient steps per vector and epoch; more than 3 hardly help.
    seed : int
    n_jobs : int or None
        Threads; None or -1 for all cores.

    Attributes
    ----------
    user_factors_ : float32 array, shape (n_users, n_factors)
        The optimal factors given `item_factors_`, which are those that a user with the same items
        gets from `scorer(history)`. Users without items have zeros.
    item_factors_ : float32 array, shape (n_items, n_factors)

    Notes
    -----
    The loss (Rendle et al. 2021; Li, dissertation, equation 99) is Σ_observed (ŷ − 1)² + α₀·Σ_all
    ŷ² + λ·(Σ_u (n_u + α₀·n_items)^ν‖w_u‖² + Σ_i (n_i + α₀·n_users)^ν‖h_i‖²). Hu et al. (2008) give
    observed pairs the confidence κ, others 1 and both norms λ′: the same model, with scores 1 + α₀
    times as large, for ν = 0, κ = 1 + 1/α₀ and λ′ = λ(1 + α₀)/α₀.

    References
    ----------
    Y. Hu, Y. Koren, C. Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM
    2008. S. Rendle, W. Krichene, L. Zhang, Y. Koren, "Revisiting the performance of iALS on item
    recommendation benchmarks", RecSys 2022.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3])
    >>> model = IALS(n_factors=2, regularization=0.01).fit(data)
    >>> abs(model.scorer().scores([0]).round(1))
    array([[0.9, 0.9, 0. , 0. ]])
    """

    n_factors: int = 64
    regularization: float = 0.003
    unobserved_weight: float = 0.1
    frequency_scaling: float = 1.0
    epochs: int = 10
    steps: int = 3
    seed: int = 0
    n_jobs: int | None = field(default=None, repr=False)
    user_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("users", "factors")
    )
    item_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        self.regularization = checks.real("regularization", self.regularization, low=_LEAST)
        self.unobserved_weight = checks.real("unobserved_weight", self.unobserved_weight, low=0)
        self.frequency_scaling = checks.real(
            "frequency_scaling", self.frequency_scaling, low=0, high=2
        )
        self.epochs = checks.integer("epochs", self.epochs, low=1)
        self.steps = checks.integer("steps", self.steps, low=1)
        self.seed = checks.integer("seed", self.seed, low=0)
        threads.n_threads(self.n_jobs)

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return factor_bytes(self.n_factors, interactions)

    def fit(self, interactions: Interactions) -> Self:
        """Fit by alternating between users and items, and solve for the users at the end."""
        users, items = self._sides(to_learn_from(interactions))
        with threads.crew(self.n_jobs) as crew:
            first = alternating.start(users, items, self.n_factors, self.seed, crew)
            self.item_factors_ = alternating.alternate(
                users, items, first, self._loss(), epochs=self.epochs, steps=self.steps, crew=crew
            )
            self.user_factors_ = alternating.solve(
                users, self.item_factors_, self._loss(), crew=crew
            )
        self.interactions_ = interactions
        return self

    def fold_in(self, history: Interactions) -> NDArray[np.float32]:
        """Return the factors of users with these items, given the item factors.

        Parameters
        ----------
        history : Interactions
            Interactions of any users, over the items that the model was fitted on.

        Returns
        -------
        float32 array, shape (history.n_users, n_factors)
        """
        data = history_for(self, history)
        penalty = self._penalty(data.user_counts(), data.n_items)
        rows = alternating.Rows(
            indptr=data.indptr, indices=data.indices, penalty=alternating.weights(penalty)
        )
        with threads.crew(self.n_jobs) as crew:
            return alternating.solve(rows, self.item_factors_, self._loss(), crew=crew)

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        """Return the factor scorer; users with another history are folded in."""
        from fullrank.scorers import FactorScorer

        fitted(self)
        users = self.user_factors_ if history is None else self.fold_in(history)
        scorer = FactorScorer(users, self.item_factors_)
        return named_as(scorer, self.interactions_ if history is None else history)

    def objective(self) -> float:
        """Return the loss that fitting minimises, in double precision."""
        fitted(self)
        users, items = self._sides(self.interactions_)
        return alternating.objective(
            self.interactions_, self.user_factors_, self.item_factors_, users, items, self._loss()
        )

    def _loss(self) -> alternating.Loss:
        return alternating.Loss(unobserved=self.unobserved_weight)

    def _sides(self, data: Interactions) -> tuple[alternating.Rows, alternating.Rows]:
        return alternating.sides(
            data,
            self._penalty(data.user_counts(), data.n_items),
            self._penalty(data.item_counts(), data.n_users),
        )

    def _penalty(self, counts: NDArray[np.int64], n_others: int) -> NDArray[np.float64]:
        """λ·(n + α₀·N)^ν for rows of n interactions, N the number of rows of the other side."""
        size = np.maximum(counts + self.unobserved_weight * n_others, 1.0)
        with np.errstate(over="ignore"):  # an infinite penalty keeps factors at zero
            return np.asarray(self.regularization * size**self.frequency_scaling)
