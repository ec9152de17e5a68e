"""Anchors of fixed samples: cheap models that are ranked exactly on the same data."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.fingerprints import fingerprint
from fullrank._lib.types import Array, Ints
from fullrank.data import Interactions, Split
from fullrank.data.shards import ShardedTargets
from fullrank.data.targets import by_rows
from fullrank.designs import Design, Exact
from fullrank.errors import InputError
from fullrank.estimators import anchored
from fullrank.estimators.anchors import smooth
from fullrank.evaluation import fit_memory
from fullrank.evaluation.model_sources import Entry, fitted_entry
from fullrank.evaluation.problem import Ranks
from fullrank.evaluation.result import HOW_TO_TURN_OFF
from fullrank.models import ItemKNN, PureSVD
from fullrank.samples import RankSample
from fullrank.tables import ids

AUTO = "auto"
MOST_SCORES = 2e9  # users × items of one anchor: both take some seconds on two cores
_FACTORS = 64
_SHARE = 10  # users or items to a factor at least: nearly all factors would copy the data
_NAMES = "PureSVD and ItemKNN"
_BORROWED = "Anchored estimates take the shape of P(R) near rank 1 from"


@dataclass(frozen=True, kw_only=True, eq=False)
class Anchors:
    """The anchors of an evaluation: given ranks, or models to train; or none.

    Attributes
    ----------
    asked : what the manifest stores of the argument: "auto", a fingerprint, or None
    given : exact ranks from the caller, or their P(R)
    train : the training data of the cheap models
    history : the known interactions of the evaluated users
    """

    asked: str | None = None
    given: tuple[Any, ...] = ()
    train: Interactions | None = None
    history: Interactions | None = None

    def refusal(self, n_users: int) -> str | None:
        """Return why cheap models are not ranked for that many users, in a line."""
        if self.train is None:
            return None
        scores = float(n_users) * self.train.n_items
        if scores > MOST_SCORES:
            return (
                f"No anchor is used: exact ranks of {_NAMES} would need {scores:.2g} scores each, "
                f"and the limit is {MOST_SCORES:.2g}."
            )
        try:
            for name, model in cheap_models(self.train).items():
                fit_memory.check_fit(name, model, self.train)
        except InputError:
            return f"No anchor is used: there is too little memory to train {_NAMES}."
        return None

    def entries(self) -> list[Entry]:
        """Return the cheap models as models to evaluate."""
        if self.train is None:
            return []
        assert self.history is not None
        return [
            fitted_entry(f"anchor {name}", model, self.train, self.history)
            for name, model in cheap_models(self.train).items()
        ]

    def lent(
        self, samples: Mapping[str, Ranks], ranks: Sequence[Ranks], others: Container[str]
    ) -> dict[str, Ranks]:
        """Return the samples with the shape of the given ranks, or of `ranks`.

        By default, samples of `others`, which score alike for all users, are left unchanged: their
        ranks have another shape (on the rank bank, the error of popularity would rise from 11 to 16
        %).
        """
        source = list(self.given or ranks)
        return {
            name: anchored(sample, source)
            if borrows(sample) and (self.given or name not in others)
            else sample
            for name, sample in samples.items()
        }

    @property
    def says(self) -> str:
        """A line that names the anchors of the samples."""
        if self.given:
            return f"{_BORROWED} the given anchor{'s' if len(self.given) > 1 else ''}."
        return f"{_BORROWED} {_NAMES}, ranked exactly on the same data{HOW_TO_TURN_OFF}."


def cheap_models(train: Interactions) -> dict[str, Any]:
    """Return the default anchors; for small data, with fewer factors."""
    factors = max(1, min(_FACTORS, train.n_users // _SHARE, train.n_items // _SHARE))
    return {
        "PureSVD": PureSVD(n_factors=factors),
        "ItemKNN": ItemKNN(n_neighbors=100, shrinkage=10.0),
    }


def borrows(sample: Ranks) -> bool:
    """Return whether an anchor applies to these ranks: a fixed sample with one target per user."""
    fixed = isinstance(sample, RankSample) and not sample.design.adaptive
    return fixed and not sample.exhausted and not sample.several


def make_anchors(
    anchor: Any, *, design: Design | None, targets: Any, split: Split | None, exclude: Any
) -> Anchors:
    """Return the anchors that the argument requests: none unless a fixed sample is drawn.

    By default there are no anchors for multi-target users, without training data, or where training
    items are candidates, because models differ in how high they rank these.
    """
    if anchor is None:
        return Anchors()
    fixed = design is None or not (design.adaptive or isinstance(design, Exact))
    several = (targets.n_targets or 0) > targets.n_users
    if isinstance(anchor, str):
        checks.choice("anchor", anchor, (AUTO,))
        if not fixed or several or exclude is None:
            return Anchors()
        train = _training(exclude, targets) if split is None else split.train
        if train is None or _too_small(train):
            return Anchors()
        history = train if split is None else split.history
        return Anchors(asked=AUTO, train=train, history=history)
    if not fixed or several:
        why = "users have more than one target" if fixed else f"the design is {design}"
        raise InputError(
            f"`anchor` must not be given when {why}: only fixed samples with one target per "
            "user use an anchor."
        )
    if exclude is None:
        raise InputError(
            "`anchor` must be omitted when training items are kept: it helps only when they "
            "are excluded."
        )
    return _given(anchor)


def _given(anchor: Any) -> Anchors:
    several = tuple(anchor) if isinstance(anchor, list | tuple) else (anchor,)
    if not several:
        raise InputError("`anchor` must hold exact ranks; the list is empty.")
    for one in several:
        smooth(one)  # refuses what is no shape, before a model is trained
    return Anchors(asked=fingerprint(*several), given=several)


def _training(exclude: Any, targets: ShardedTargets) -> Interactions | None:
    """The excluded items as training data, if they know every user and item of the targets."""
    matrix = None if isinstance(exclude, Interactions) else by_rows(exclude)
    if matrix is not None and matrix.nnz == 0:
        return None
    train = exclude if matrix is None else _unnamed(matrix)
    users = _knows(train.user_ids, targets.users, targets.user_ids)
    return train if users and _knows(train.item_ids, targets.items, targets.item_ids) else None


def _unnamed(matrix: Any) -> Interactions:
    n_users, n_items = matrix.shape
    rows = np.repeat(np.arange(n_users), np.diff(matrix.indptr))
    return Interactions.from_arrays(
        rows,
        np.asarray(matrix.indices),
        user_ids=np.arange(n_users),
        item_ids=np.arange(n_items),
    )


def _knows(known: Array, rows: Ints, names: Array | None) -> bool:
    if names is None:
        return bool(rows.max() < known.size)
    if (names.dtype.kind == "U") != (known.dtype.kind == "U"):
        return False
    return bool((ids.find("exclude", names[np.unique(rows)], known) >= 0).all())


def _too_small(train: Interactions) -> bool:
    counts = train.user_counts(), train.item_counts()
    return any(np.count_nonzero(one) < 2 for one in counts)
