"""The validation metric of a training run, by exact ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import to_score_from
from fullrank.models.training.checkpoints import fingerprint


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """Held-out items, ranked by the learner in its current state.

    Attributes
    ----------
    targets : Interactions, the held-out items
    history : Interactions or None, what users outside the training data are scored from
    exclude : Interactions or None, items that are not candidates
    metric : str
    device : where factor models and modules are ranked
    """

    targets: Interactions
    history: Interactions | None
    exclude: Interactions | None
    metric: str
    device: str | None

    def __call__(self, learner: Any) -> float:
        """Return the metric of the learner in its current state."""
        from fullrank.metrics import deepest
        from fullrank.ranking import rank
        from fullrank.scorers import as_scorer
        from fullrank.scorers.offers import offers
        from fullrank.scorers.reordered import named

        made = learner.scorer() if self.history is None else learner.scorer(self.history)
        scorer = named(as_scorer(made), self.targets)  # whose rows `validation` has compared
        there = offers(scorer, "factors") or offers(scorer, "torch_pairs")
        device = self.device if there else None
        ranks = rank(
            scorer,
            self.targets,
            exclude=self.exclude,
            max_rank=deepest(self.metric),  # ranks beyond it are not needed
            device=device,
        )
        return ranks.metrics(self.metric)[self.metric]

    def fingerprint(self) -> list[str | None]:
        """Short texts that differ if the ranked data differ."""
        return [fingerprint(part) for part in (self.targets, self.history, self.exclude)]


def validation(
    data: Interactions, valid: Any, *, history: Any, exclude: bool, metric: str, device: str | None
) -> Validation | None:
    """Check the arguments of `fit`; None if there is no validation part."""
    seen = checks.flag("exclude", exclude)
    if valid is None:
        if history is not None:
            raise InputError("`valid_history` must be given with `valid`, which is missing.")
        return None
    if not isinstance(valid, Interactions):
        raise InputError(
            f"`valid` must be Interactions or None, not {type(valid).__name__}. If you have a "
            "split, give its validation part."
        )
    if history is not None:
        history = to_score_from(history, data.item_ids, "valid_history")
    known = data if history is None else history
    to_score_from(valid, data.item_ids, "valid")
    if not np.array_equal(valid.user_ids, known.user_ids):
        whose = "`interactions`" if history is None else "`valid_history`"
        hint = " For a strong split, give `valid_history` as well." if history is None else ""
        got = "their order or ids differ"
        if valid.n_users != known.n_users:
            got = f"it has {valid.n_users} users, not {known.n_users}"
        raise InputError(f"`valid` must have the users of {whose}, in the same order; {got}.{hint}")
    if not valid.n_interactions:
        raise InputError("`valid` must hold at least one interaction; it is empty.")
    return Validation(
        targets=valid,
        history=history,
        exclude=known if seen else None,
        metric=metric,
        device=device,
    )


def only_learned_users(history: Interactions | None) -> None:
    """Raise if users must be scored from a history, for models that have vectors of users."""
    if history is not None:
        raise InputError(
            "`valid_history` must be None for a model that has vectors only for its training users."
        )
