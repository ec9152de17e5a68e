"""EmbeddingMF: vectors of users and items, learned by gradients with any of the losses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.text import enumerated
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.losses import LOSSES, positive_share
from fullrank.models.base import fitted, learned, named_as, rows_of
from fullrank.models.neural.gradient_model import NeuralModel
from fullrank.models.neural.learners.embedding import Embeddings
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import Pairs
from fullrank.models.training.negative_draws import NEGATIVES, Draws
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer

SIMILARITIES = ("dot", "cosine")
_LOSS_SETTINGS = ("temperature", "margin", "negative_weight")
_FEW, _MANY = 1, 128  # negatives by default: of BPR, and of the losses that look at all of them


@dataclass(kw_only=True, eq=False)
class EmbeddingMF(NeuralModel):
    """Matrix factorisation by gradients: a score is the dot product or cosine of two vectors.

    Every interaction is a positive pair once per epoch and is compared with items drawn from *all*
    items, including the user's own, as in the papers; only the softmax uses every item. A step
    costs about 6·n_factors operations per pair and drawn item, and a pass over all vectors and
    their moments (on a CPU only over those in the batch, if they are few). Memory: about 20 bytes
    per factor of each user and item (28 with a validation part), 20 per factor of each vector in a
    batch, and 44 per item drawn for a pair, or 20 if the batch shares them.

    Parameters
    ----------
    n_factors : int
    loss : str
        One of `fullrank.losses.LOSSES`, such as "bpr", "ccl", "info-nce" or "mine-plus".
    similarity : {"dot", "cosine"} or None
        Default: the similarity that the loss was made for.
    temperature, margin, negative_weight : float or None
        Settings of the loss. None is the loss's own default; a loss refuses settings of others.
    n_negatives : int or None
        Items drawn per pair. Default: 1 for "bpr" and 128 for other losses.
    negatives : {"uniform", "popularity"}
        How they are drawn: uniformly, or in proportion to their number of interactions to the power
        `popularity_power`.
    popularity_power : float
    shared_negatives : bool
        Whether a batch shares one draw of `n_negatives` items. A matrix product then replaces
        lookups of rows, which is much faster for many negatives, but the pairs of a batch are no
        longer independent.
    n_positives : int
        Additional items of the user drawn per pair, for the debiased losses.
    growth, unseen : float
        The debiased losses assume that a user with n items likes (1 + growth)·n + unseen items.
    regularization : float
        λ ≥ 0 of λ/2·(‖w‖² + ‖h⁺‖² + mean ‖h⁻‖²), the mean over the batch's pairs of the squared
        lengths of the vectors in it.
    initial_scale : float
        The standard deviation of the initial values.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        Settings of training; see `fit`. `weight_decay` is the λ of λ/2·‖·‖² over *all* vectors in
        every step.

    Attributes
    ----------
    user_factors_ : float32 array, shape (n_users, n_factors)
        Users without interactions keep their initial values.
    item_factors_ : float32 array, shape (n_items, n_factors)
    history_ : History
        Loss, validation metric, learning rate and seconds of each epoch.

    Notes
    -----
    Li (dissertation, chapter 4) trains it with batches of 512, 64 factors, 800 negatives and a
    learning rate that starts at 1e-4 and is halved on a plateau down to 1e-6. The best learning
    rate depends on the loss; with few factors and little data, 0.01 can work.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> split = simulate(n_users=300, n_items=80, mean_interactions=12).split(rng=0)
    >>> model = EmbeddingMF(n_factors=16, learning_rate=0.01, epochs=10)
    >>> history = model.fit(split.train, valid=split.test).history_
    >>> bool(history.best_metric > 1.5 * history.metric[0])
    True
    """

    n_factors: int = 64
    loss: str = "bpr"
    similarity: str | None = None
    temperature: float | None = None
    margin: float | None = None
    negative_weight: float | None = None
    n_negatives: int | None = None
    negatives: str = "uniform"
    popularity_power: float = 1.0
    shared_negatives: bool = False
    n_positives: int = 10
    growth: float = 0.0
    unseen: float = 0.0
    regularization: float = 0.0
    initial_scale: float = 0.01
    user_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("users", "factors")
    )
    item_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        LOSSES.find(self.loss)
        self.loss = str(LOSSES.name_of(self.loss))
        if self.similarity is not None:
            self.similarity = checks.choice("similarity", self.similarity, SIMILARITIES)
        if self.n_negatives is not None:
            self.n_negatives = checks.integer("n_negatives", self.n_negatives, low=1)
        self.negatives = checks.choice("negatives", self.negatives, NEGATIVES)
        self.shared_negatives = checks.flag("shared_negatives", self.shared_negatives)
        self.n_positives = checks.integer("n_positives", self.n_positives, low=1)
        for name in ("popularity_power", "growth", "unseen", "regularization"):
            setattr(self, name, checks.real(name, getattr(self, name), low=0))
        self.initial_scale = checks.positive("initial_scale", self.initial_scale)
        self._loss_settings()

    def scorer(self, users: Interactions | None = None) -> FactorScorer:
        """Return the scorer of dot products or cosines of the vectors.

        Parameters
        ----------
        users : Interactions, optional
            The users to score, matched by id. Default: all training users. Their items have no
            effect, and users outside the training data have no vectors.
        """
        from fullrank.scorers import FactorScorer

        fitted(self)
        rows = rows_of(self, users)
        own = self.user_factors_ if rows is None else self.user_factors_[rows]
        scorer = FactorScorer(own, self.item_factors_, similarity=self._similarity())
        return named_as(scorer, self.interactions_ if users is None else users)

    def _similarity(self) -> str:
        return self.similarity or LOSSES[self.loss].similarity

    def _loss_settings(self) -> dict[str, float]:
        """The settings of the loss that differ from its own defaults."""
        loss = LOSSES[self.loss]
        takes = loss.settings
        own = [name for name in _LOSS_SETTINGS if name in takes]
        found = {}
        for name in _LOSS_SETTINGS:
            value = getattr(self, name)
            if value is None:
                continue
            if name not in own:
                raise InputError(
                    f"`{name}` must be None for the loss {self.loss!r}, which takes "
                    f"{enumerated(own) if own else 'no settings'}; it is {checks.shown(value)}."
                )
            found[name] = loss.checked(name, value)
        if "lowest_score" in takes and self._similarity() == "dot":
            found["lowest_score"] = -math.inf
        return found

    def _drawn(self) -> int:
        return self.n_negatives or (_FEW if self.loss == "bpr" else _MANY)

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        loss, n_rows = LOSSES[self.loss], data.n_users + data.n_items
        pairs = min(self.batch_size, data.n_interactions)
        by_pair = not (loss.catalogue or self.shared_negatives)
        drawn = data.n_items if loss.catalogue else self._drawn()
        further = self.n_positives if loss.extra_positives else 0
        rows = min(n_rows, pairs * (2 + further) + (pairs if by_pair else 1) * drawn)
        step = 20.0 * self.n_factors * rows + 32.0 * data.n_interactions
        # of a score, its slope and what lies between; items of its own are looked up and sorted
        step += pairs * ((44.0 if by_pair else 20.0) * drawn + 44.0 * further)
        return self.n_factors * n_rows, step

    def _draws(self, data: Interactions, device: Any) -> Draws:
        return Draws(data, device=device, kind=self.negatives, power=self.popularity_power)

    def _source(self, data: Interactions, device: Any) -> Pairs:
        loss = LOSSES[self.loss]
        return Pairs(
            data,
            batch_size=self.batch_size,
            device=device,
            draws=None if loss.catalogue else self._draws(data, device),
            n_negatives=self._drawn(),
            shared=self.shared_negatives,
            n_positives=self.n_positives if loss.extra_positives else 0,
        )

    def _learner(self, data: Interactions, device: Any) -> Embeddings:
        torch, generator, loss = load_torch(), self.initial_generator(), LOSSES[self.loss]
        tables = [
            (torch.randn(n, self.n_factors, generator=generator) * self.initial_scale).to(device)
            for n in (data.n_users, data.n_items)
        ]
        share = None
        if loss.extra_positives:
            counts = torch.from_numpy(data.user_counts()).to(device)
            share = positive_share(counts, data.n_items, growth=self.growth, unseen=self.unseen)
        chances = self._draws(data, device).log_probability if loss.log_probability else None
        return Embeddings(
            *(table.requires_grad_() for table in tables),
            loss=loss,
            settings=self._loss_settings(),
            similarity=self._similarity(),
            regularization=self.regularization,
            log_probability=chances,
            positive_share=share,
        )

    def _keep(self, learner: Embeddings) -> None:
        self.user_factors_, self.item_factors_ = to_array(learner.users), to_array(learner.items)
