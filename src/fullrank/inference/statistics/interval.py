"""An interval: what every uncertain number of the library carries."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float

    def with_(self, value: float) -> Interval:
        """The interval, stretched to hold a value."""
        return Interval(min(self.low, value), max(self.high, value))
