"""Python threads over blocks of work, with BLAS held to one thread each.

Threads inside BLAS and threads around it compete for the same cores, and numba's parallel layer
together with OpenBLAS is slower than either, so this module handles all parallelism.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from fullrank._lib import checks
from fullrank.errors import InputError

Block = TypeVar("Block")
Progress = Callable[[int, int], Any]
_BRING_BLAS = ("numpy", "scipy.linalg", "torch")  # a wheel of each has its own
Crew = Callable[[Callable[[Any], Any], Sequence[Any]], None]


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads: the number of cores for None and -1, otherwise `n_jobs`.

    >>> n_threads(3), n_threads(-1) == n_threads(None)
    (3, True)
    """
    if n_jobs is None or (isinstance(n_jobs, int) and n_jobs == -1):
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return checks.integer("n_jobs", n_jobs, low=1)


def one_blas_thread() -> Any:
    """Return a context in which BLAS has one thread: in numpy, and in SciPy and torch if loaded."""
    return _controller(*(name in sys.modules for name in _BRING_BLAS)).limit(
        limits=1, user_api="blas"
    )


@lru_cache
def _controller(*loaded: bool) -> Any:
    """What finds the libraries takes milliseconds: once for each set of modules that bring one."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def run(
    work: Callable[[Block], Any],
    blocks: Sequence[Block],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    sizes: Sequence[int] | None = None,
    limited: bool = True,
) -> None:
    """Call `work` on every block; `work` writes its results into its own arrays.

    BLAS has one thread, unless `limited` is False for work that uses threads of its own.

    `progress` is called as progress(done, total) in the calling thread, after each block; it counts
    `sizes`, if given, or blocks. An error cancels blocks that have not started. The error of the
    first failing block is raised, so that it does not depend on the speed of the threads.
    """
    if progress is not None and not callable(progress):
        raise InputError(
            f"`progress` must be a function of (done, total) or None, not {progress!r}."
        )
    threads = min(n_threads(n_jobs), max(len(blocks), 1))
    counts = [1] * len(blocks) if sizes is None else list(sizes)
    done, total = 0, sum(counts)
    with one_blas_thread() if limited else nullcontext():
        if threads == 1:
            for block, count in zip(blocks, counts, strict=True):
                work(block)
                done += count
                if progress is not None:
                    progress(done, total)
            return
        with ThreadPoolExecutor(threads) as pool:
            futures = {pool.submit(work, b): c for b, c in zip(blocks, counts, strict=True)}
            try:
                if progress is None:
                    wait(futures, return_when=FIRST_EXCEPTION)
                else:
                    for future in as_completed(futures):
                        if future.exception() is not None:
                            break
                        done += futures[future]
                        progress(done, total)
            finally:
                pool.shutdown(cancel_futures=True)  # those before one that failed have started
            for future in futures:
                if not future.cancelled():
                    future.result()


@contextmanager
def crew(n_jobs: int | None = None) -> Iterator[Crew]:
    """Keep threads for many short passes: gives a function of (work, blocks) that runs one pass."""
    threads = n_threads(n_jobs)
    with one_blas_thread():
        if threads == 1:
            yield _in_line
            return
        with ThreadPoolExecutor(threads) as pool:

            def together(work: Callable[[Any], Any], blocks: Sequence[Any]) -> None:
                list(pool.map(work, blocks))  # raises what any of them raised

            yield together


def _in_line(work: Callable[[Any], Any], blocks: Sequence[Any]) -> None:
    for block in blocks:
        work(block)
