"""What a ranking metric is: a gain for each target, from its rank.

With the ranks R of a user's targets T and, for each target, the number o of other
targets above it, every metric here is a sum over targets of

    1[R <= K] * factor(|T|, K) * shape(R, o)

(Rendle 2019, equations 2-15, written per target). With one target per user the sum has
one term, and the metric is a weight w(R). A metric without a cut-off has K = N.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.metrics.kinds import KINDS, Kind, Promises

Held = TypeVar("Held")
# what is computed where nothing is asked for
DEFAULT = ("recall@10", "ndcg@10")


@dataclass(frozen=True)
class Metric:
    """A metric such as ``ndcg@10``: made by `parse`, compared and hashed by its kind and cut-off.

    Attributes
    ----------
    kind, k : what is computed; `k` is None without a cut-off
    label : the requested spelling, if it differs: ``MRR@10`` is printed as ``MRR@10``
    """

    kind: str
    k: int | None = None
    label: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        promises = KINDS.find(self.kind, argument="kind").promises
        object.__setattr__(self, "kind", KINDS.name_of(self.kind))
        if self.k is not None:
            object.__setattr__(self, "k", checks.integer("k", self.k, low=1))
        elif promises.needs_cutoff:
            raise InputError(f'`metric` must have a cut-off, as in "{self.kind}@10".')

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The metric as it was requested, which `parse` reads back."""
        return self.canonical if self.label is None else self.label

    @property
    def canonical(self) -> str:
        """The same text for every spelling of the metric."""
        return self.kind if self.k is None else f"{self.kind}@{self.k}"

    def _to_plain(self) -> str:
        return self.name

    @classmethod
    def _from_plain(cls, content: Any) -> Metric:
        return parse(content)

    @property
    def word(self) -> str:
        """The name without its cut-off."""
        return self.name.partition("@")[0]

    @property
    def entry(self) -> Kind:
        """The family that it belongs to."""
        return KINDS[self.kind]

    @property
    def promises(self) -> Promises:
        """What others may rely on."""
        return self.entry.promises

    @property
    def first_only(self) -> bool:
        """Whether only the best-ranked target of a user counts."""
        return self.entry.first_only

    @property
    def looks_at_catalogue(self) -> bool:
        """Whether the metric of a user with one target depends on the number of the items."""
        if self.promises.uses_catalogue:
            return True
        first, second = self.factor(1, [2, 3])
        return self.k is None and bool(first != second)

    def factor(self, n_targets: ArrayLike, n_items: ArrayLike) -> Floats:
        """The weight of one target among |T|, free of its rank."""
        if not self.promises.multi_target and (_floats(n_targets) > 1.0).any():
            raise InputError(
                f"`metrics` must be defined for multi-target users; {self.name} was "
                "registered with multi_target=None."
            )
        n_targets, n_items = np.broadcast_arrays(_floats(n_targets), _floats(n_items))
        cut = n_items if self.k is None else np.full_like(n_items, self.k)
        return np.asarray(self.entry.factor(n_targets, cut))

    def shape(
        self,
        rank: ArrayLike,
        n_items: ArrayLike,
        *,
        n_targets: ArrayLike = 1,
        offset: ArrayLike = 0,
    ) -> Floats:
        """The gain of a target as a smooth function of its rank, before cut-off and factor."""
        rank, n_items, n_targets, offset = np.broadcast_arrays(
            _floats(rank), _floats(n_items), _floats(n_targets), _floats(offset)
        )
        return np.asarray(self.entry.shape(rank, offset, n_items, n_targets))

    def gains(
        self,
        rank: ArrayLike,
        n_items: ArrayLike,
        *,
        n_targets: ArrayLike = 1,
        offset: ArrayLike = 0,
    ) -> Floats:
        """What each target adds to its user's metric.

        Parameters
        ----------
        rank : array of ranks, from 1; halves (mean ties) are allowed
        n_items : int or array, catalogue size
        n_targets : int or array, number of targets |T| of the target's user
        offset : int or array, other targets of the same user ranked above this one

        Returns
        -------
        array of float64; a user's metric is the sum over its targets

        Examples
        --------
        >>> from fullrank import metrics
        >>> metrics.parse("ap@10").gains([2, 5, 11], 100, n_targets=3, offset=[0, 1, 2])
        array([0.16666667, 0.13333333, 0.        ])
        """
        rank, offset = _floats(rank), _floats(offset)
        counted = rank <= (np.inf if self.k is None else self.k)
        if self.first_only:
            counted = counted & (offset == 0)
        value = self.shape(rank, n_items, n_targets=n_targets, offset=offset)
        return np.where(counted, value * self.factor(n_targets, n_items), 0.0)

    def weights(self, rank: ArrayLike, n_items: ArrayLike) -> Floats:
        """w(R): the metric of a user whose only target has rank R."""
        return self.gains(rank, n_items)


def parse(metric: str | Metric) -> Metric:
    """Read a metric from text: a name, then ``@K`` for a cut-off.

    Examples
    --------
    >>> from fullrank import metrics
    >>> metrics.parse("NDCG@10")
    Metric(kind='ndcg', k=10)
    >>> str(metrics.parse("hr@5")), metrics.parse("hr@5") == metrics.parse("hit_rate@5")
    ('hr@5', True)
    """
    if isinstance(metric, Metric):
        return metric
    found = re.fullmatch(r"\s*([^\W\d][\w\- ]*?)\s*(?:@\s*(.+?))?\s*", str(metric))
    kind = KINDS.name_of(found[1]) if found else None
    if not isinstance(metric, str) or found is None or kind is None:
        known = ", ".join(KINDS.closest(found[1] if found else metric))
        raise InputError(
            f"`metric` must be one of {known}, with or without @K "
            f'as in "ndcg@10", not {checks.shown(metric)}.{KINDS.meant(found[1]) if found else ""}'
        )
    if found[2] is not None and not re.fullmatch(r"[0-9]{1,18}", found[2]):
        raise InputError(
            f"`metric` must have a whole number of at least 1 after the @, not "
            f"{checks.shown(metric)}."
        )
    if found[2] is not None and int(found[2]) == 0:
        raise InputError(f"`metric` must have a cut-off of at least 1, not {checks.shown(metric)}.")
    return _labelled(Metric(kind, None if found[2] is None else int(found[2])), found[1])


def _labelled(metric: Metric, asked: str) -> Metric:
    """The metric under the name that was asked for, if that is not its own."""
    label = asked if metric.k is None else f"{asked}@{metric.k}"
    return metric if label == metric.canonical else replace(metric, label=label)


def parse_all(metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """Read one or more metrics, each once; separate names in a text by commas."""
    if isinstance(metrics, Metric):
        return (metrics,)
    if isinstance(metrics, str):
        return tuple(dict.fromkeys(parse(text) for text in metrics.split(",")))
    try:
        parsed = tuple(dict.fromkeys(parse(metric) for metric in metrics))
    except TypeError:
        raise InputError(
            f'`metrics` must be names such as "ndcg@10", not {checks.shown(metrics)}.'
        ) from None
    if not parsed:
        raise InputError("`metrics` must name at least one metric; it is empty.")
    return parsed


def deepest(metrics: str | Metric | Iterable[str | Metric]) -> int | None:
    """The last rank that makes a difference to any of the metrics; None where every rank does.

    >>> deepest("recall@20, ndcg@10"), deepest(["recall@20", "auc"])
    (20, None)
    """
    cuts = [metric.k for metric in parse_all(metrics)]
    return max((k for k in cuts if k is not None), default=None) if None not in cuts else None


def _floats(value: Any) -> Floats:
    return np.asarray(value, dtype=np.float64)


class ByMetric(Mapping[str, Held]):
    """A read-only mapping from metric names to values.

    Examples
    --------
    >>> values = ByMetric({"MRR@10": 0.25})
    >>> list(values), values["rr@10"], "recall@10" in values
    (['MRR@10'], 0.25, False)
    """

    def __init__(self, values: Mapping[str, Held]) -> None:
        self._values = dict(values)

    def __getitem__(self, metric: str | Metric) -> Held:
        if isinstance(metric, str) and metric in self._values:
            return self._values[metric]
        found = spelled(metric, self._values)
        if found is None:
            raise KeyError(str(metric))
        return self._values[found]

    def __contains__(self, metric: Any) -> bool:
        return metric in self._values or spelled(metric, self._values) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


def spelled(metric: Any, names: Collection[str]) -> str | None:
    """The spelling of a metric among some names; None where it is not among them."""
    try:
        wanted = parse(metric)
    except InputError:
        return None
    return next((name for name in names if parse(name) == wanted), None)


def named(metric: str | Metric, names: Collection[str]) -> str:
    """The spelling of a metric among the names of a result, which must have it."""
    found = spelled(parse(metric), names)
    return checks.choice("metric", str(metric), names) if found is None else found
