"""The serial engine: one part after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from fullrank._lib import checks
from fullrank.engines.protocol import Part, Result, Shared


class Serial:
    """Run one part after the other; each call may use threads.

    Parameters
    ----------
    threads : int, optional
        Threads of each call; default: all cores.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads if threads is None else checks.integer("threads", threads, low=1)

    def map(
        self, function: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]
    ) -> Iterator[tuple[int, Result]]:
        """Call `function(shared, part)` for each part, in order."""
        for place, part in enumerate(parts):
            yield place, function(shared, part)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __repr__(self) -> str:
        return f"Serial(threads={self.threads})"
