"""Values by metric: shown under the names that were asked for, found under any spelling."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.metrics.metric import Metric, parse

Held = TypeVar("Held")


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
