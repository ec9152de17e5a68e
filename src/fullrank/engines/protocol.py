"""The protocol of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

Shared = TypeVar("Shared")
Part = TypeVar("Part")
Result = TypeVar("Result")


@runtime_checkable
class Engine(Protocol):
    """Calls a function on many parts.

    `threads` is how many threads a call may use, None for all cores. `map` yields the index of each
    part and its result, in the order in which they finish; `shared` is passed to every call and
    sent to each worker once. A `with` block keeps an engine open over several calls of `map`, so
    that its workers are started once.
    """

    @property
    def threads(self) -> int | None: ...

    def map(
        self, function: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]
    ) -> Iterator[tuple[int, Result]]: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any: ...
