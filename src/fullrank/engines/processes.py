"""Worker processes on one machine, with the large arrays in memory that they share."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Self

from fullrank._lib import checks
from fullrank._lib import threads as _threads
from fullrank.engines.protocol import Part, Result, Shared
from fullrank.engines.shared import Handle, Published, opened
from fullrank.errors import FullrankError

_AHEAD = 2  # parts given out for each worker: one at work and one to go on with
_PATIENCE = 3  # deaths of workers without any result in between


class Processes:
    """Worker processes, started fresh (spawn), each with one thread.

    The arrays of `shared` are in shared memory once, for any number of workers. A worker that dies,
    for example out of memory, is replaced and its parts are retried; after three deaths in a row
    without a result, the run fails. Workers end with the process that started them, even if it is
    killed.

    Parameters
    ----------
    workers : int, optional
        Default: the number of cores.

    Notes
    -----
    A script that uses this engine needs ``if __name__ == "__main__":`` around its code, like every
    Python script that starts processes.
    """

    threads = 1

    def __init__(self, workers: int | None = None) -> None:
        self.workers = (
            _threads.n_threads(None)
            if workers is None
            else checks.integer("workers", workers, low=1)
        )
        self._pool: ProcessPoolExecutor | None = None
        self._entered = 0

    def map(
        self, function: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]
    ) -> Iterator[tuple[int, Result]]:
        """Call `function(shared, part)` for each part, and yield results as they finish."""
        if self._pool is None:
            with self:
                yield from self.map(function, shared, parts)
            return
        published = Published(shared)
        try:
            yield from self._results(function, published.handle, parts)
        finally:
            published.close()

    def _results(
        self, function: Callable[..., Result], handle: Handle, parts: Sequence[Any]
    ) -> Iterator[tuple[int, Result]]:
        waiting = deque(range(len(parts)))
        running: dict[Future[Result], int] = {}
        deaths = 0
        try:
            while waiting or running:
                try:
                    while waiting and len(running) < _AHEAD * self.workers:
                        place = waiting[0]
                        future = self._submit(function, handle, parts[place])
                        running[future] = waiting.popleft()
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        result = future.result()
                        yield running.pop(future), result
                        deaths = 0
                except BrokenProcessPool as error:
                    deaths += 1
                    if deaths == _PATIENCE:
                        raise FullrankError(_DIED.format(deaths)) from error
                    waiting.extendleft(sorted(running.values(), reverse=True))
                    running.clear()
                    self._stop()
                    self._start()
        finally:
            for future in running:
                future.cancel()

    def _submit(self, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
        assert self._pool is not None
        with _no_interrupts():
            return self._pool.submit(_call, function, *arguments)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_prepare)

    def _stop(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Self:
        if self._entered == 0:
            self._start()
        self._entered += 1  # who is inside already goes on with the same workers
        return self

    def __exit__(self, *_: Any) -> None:
        self._entered -= 1
        if self._entered == 0:
            self._stop()

    def __repr__(self) -> str:
        return f"Processes(workers={self.workers})"


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C, as do processes that start meanwhile: it is for the one that started them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_DIED = (
    "Worker processes died {} times in a row without a result. They may have run out of memory, "
    "or the script may lack `if __name__ == '__main__':` around its code."
)
_held: list[Any] = []  # of a worker: the limit on its threads
_last: tuple[Handle, Any] | None = None  # of a worker: the object it opened last


def _prepare() -> None:
    """Hold BLAS to one thread, and end when the parent does."""
    import numpy as np  # noqa: F401  BLAS must be there to be held
    import scipy.linalg  # noqa: F401  SciPy's wheels bring a BLAS of their own
    from threadpoolctl import threadpool_limits

    _held.append(threadpool_limits(limits=1, user_api="blas"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who stops us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(function: Callable[[Any, Any], Any], handle: Handle, part: Any) -> Any:
    global _last
    if _last is None or _last[0].key != handle.key:
        _last = None  # the memory of the former one first
        _last = handle, opened(handle)
    return function(_last[1], part)
