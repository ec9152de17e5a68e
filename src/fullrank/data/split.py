"""A split: training and held-out interactions, and how they were separated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from fullrank.data.interactions import Interactions

PARTS = ("train", "valid_fold_in", "valid", "fold_in", "test")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Split:
    """Training, test and perhaps validation interactions, over the same users and items.

    All parts have rows for all users, so that a row number means the same user everywhere. A user
    who is not in a part has no interactions there.

    Attributes
    ----------
    train, test : Interactions
    valid : Interactions or None
        The part on which settings are chosen.
    fold_in, valid_fold_in : Interactions or None
        For a split by users: the known interactions of the users in `test` and in `valid`, none of
        whom is in `train`.
    kind : str
        "leave-one-out", "ratio", "strong" or "given".
    settings : dict
        The settings of the split.
    n_skipped : int
        The number of users without a test item; for a split by users, of test users without one.
    n_dropped : int
        The number of interactions of held-out users that are in no part, because no training user
        has their item.
    """

    train: Interactions
    test: Interactions
    valid: Interactions | None = None
    fold_in: Interactions | None = None
    valid_fold_in: Interactions | None = None
    kind: str = "given"
    settings: Mapping[str, Any] = field(default_factory=dict)
    n_skipped: int = 0
    n_dropped: int = 0

    @property
    def history(self) -> Interactions:
        """The known interactions of the users in `test`: `fold_in`, or else `train`.

        An item–item model scores from them and a ranking excludes them, for any kind of split:
        ``ItemItemScorer(split.history, weights)``, ``rank(…, exclude=split.history)``.
        """
        return self.train if self.fold_in is None else self.fold_in

    @property
    def valid_history(self) -> Interactions:
        """The known interactions of the users in `valid`: `valid_fold_in`, or else `train`."""
        return self.train if self.valid_fold_in is None else self.valid_fold_in

    @property
    def described(self) -> str:
        """A line that tells how the parts were separated; it is printed with every result.

        >>> data = Interactions.from_arrays(["a", "a"], [1, 2])
        >>> data.split(rng=0).described
        'leave-one-out, random item (the data have no timestamps), seed 0'
        """
        return describe_split(self.kind, self.settings)

    def parts(self) -> dict[str, Interactions]:
        """Return the parts that exist, by name."""
        found = {name: getattr(self, name) for name in PARTS}
        return {name: part for name, part in found.items() if part is not None}

    def without_valid(self) -> Self:
        """Return the split with its validation part merged into the training part, for a final fit.

        >>> data = Interactions.from_arrays(["a", "a", "a"], [1, 2, 3])
        >>> split = data.split("leave-one-out", valid=1, rng=0)
        >>> split.train.n_interactions, split.without_valid().train.n_interactions
        (1, 2)
        """
        train = self.train
        for part in (self.valid_fold_in, self.valid):
            train = train if part is None else train.union(part)
        kept = {name: getattr(self, name) for name in ("test", "fold_in", "kind", "settings")}
        return type(self)(train=train, n_skipped=self.n_skipped, n_dropped=self.n_dropped, **kept)

    def to_arrow(self) -> Any:
        """Return all parts in one pyarrow table with a column `split` for `read_split`.

        >>> data = Interactions.from_arrays(["a", "a"], [1, 2])
        >>> data.split(rng=0).to_arrow()["split"].to_pylist()
        ['train', 'test']
        """
        import pyarrow as pa

        tables = []
        for name, part in self.parts().items():
            label = pa.array(np.full(part.n_interactions, name))
            tables.append(part.to_arrow().append_column("split", label))
        return pa.concat_tables(tables)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {part.n_interactions:,}" for name, part in self.parts().items())
        return f"Split({self.kind}: {counts})"

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        lines = [
            f"{self.kind} split{f' ({settings})' if settings else ''}",
            f"{'':<14}{'users':>11}{'items':>11}{'interactions':>14}",
        ]
        for name, part in self.parts().items():
            users = np.count_nonzero(part.user_counts())
            items = np.count_nonzero(part.item_counts())
            lines.append(f"{name:<14}{users:>11,}{items:>11,}{part.n_interactions:>14,}")
        lines.append(f"{'all':<14}{self.train.n_users:>11,}{self.train.n_items:>11,}")
        if self.n_skipped:
            lines.append(
                "1 user has no test item"
                if self.n_skipped == 1
                else f"{self.n_skipped:,} users have no test item"
            )
        if self.n_dropped:
            lines.append(
                "1 interaction was dropped, because its item is not in the training part"
                if self.n_dropped == 1
                else f"{self.n_dropped:,} interactions were dropped, because their items are not "
                "in the training part"
            )
        return "\n".join(lines)


def describe_split(kind: str, settings: Mapping[str, Any]) -> str:
    """Describe a split in a line, from its kind and settings.

    Examples
    --------
    >>> describe_split("ratio", {"test": 0.2, "by": "random", "per": "user", "rng": 0})
    "ratio, 20 % of each user's interactions at random, seed 0"
    """
    parts = [kind, *_how(kind, settings)]
    if "catalogue" in settings:
        parts.append(str(settings["catalogue"]))
    if settings.get("valid"):
        parts.append(f"validation part {settings['valid']:g}")
    drawn = settings.get("by") != "last" or 0 < settings.get("valid", 0) < 1
    if settings.get("rng") is not None and drawn:
        parts.append(f"seed {settings['rng']}")
    return ", ".join(parts)


def _how(kind: str, settings: Mapping[str, Any]) -> list[str]:
    last = settings.get("by") == "last"
    if kind == "leave-one-out":
        why = " (the data have no timestamps)" if settings.get("without_times") else ""
        return ["last item by time" if last else f"random item{why}"]
    share = _share(settings.get("test", 0.0))
    if kind == "ratio":
        of_users = settings.get("per", "user") == "user"
        whole = "each user's interactions" if of_users else "all interactions"
        return [f"the last {share} of {whole} by time" if last else f"{share} of {whole} at random"]
    if kind == "strong":
        return [f"{share} of the users held out"]
    if "files" in settings:
        return [str(settings["files"])]
    return [f"column {settings['column']}" if "column" in settings else "from the data"]


def _share(held: float) -> str:
    """A share, or a number of users."""
    return f"{100 * held:g} %" if isinstance(held, float) else f"{held:,}"
