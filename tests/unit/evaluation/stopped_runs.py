"""A run that stops halfway, for tests of what is left and how it resumes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullrank.engines import Serial


class StoppedError(Exception):
    """What stops a run in these tests."""


class Breaking(Serial):
    """An engine that stops after some shards."""

    def __init__(self, after: int) -> None:
        super().__init__(1)
        self.after = after

    def map(self, function: Any, shared: Any, parts: Any) -> Iterator[Any]:
        for result in super().map(function, shared, parts):
            if self.after == 0:
                raise StoppedError
            self.after -= 1
            yield result
