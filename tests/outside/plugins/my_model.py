"""A model: items that the same users have, each item's count held back by its popularity."""

import numpy as np

from fullrank import errors, models


class Cooccurrence:
    def __init__(self, discount=0.5):
        self.discount = discount

    def fit(self, interactions):
        matrix = interactions.matrix(np.float64)
        counts = (matrix.T @ matrix).toarray()
        popular = np.maximum(np.diag(counts), 1.0)
        np.fill_diagonal(counts, 0.0)
        self.weights_ = counts / popular**self.discount
        self.interactions_ = interactions
        return self

    def scorer(self):
        if not hasattr(self, "weights_"):
            raise errors.NotFittedError("Cooccurrence has learned nothing yet.")
        return Histories(self.interactions_, self.weights_)

    def memory(self, interactions):
        return 24.0 * interactions.n_items**2


class Histories:
    """Offers its item-item matrix, and so is ranked as fast and exactly as EASE."""

    def __init__(self, history, weights):
        self.history, self.weights = history, weights
        self.n_users, self.n_items = history.n_users, history.n_items

    def item_item(self):
        return self.history, self.weights


models.register("cooccurrence", Cooccurrence)
