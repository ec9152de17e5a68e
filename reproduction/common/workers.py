"""Worker processes that end with the study, however it ends, and an estimate of the time left.

Ctrl-C reaches the study, which ends its workers: unfinished parts are lost, finished ones are kept.
A worker whose study was killed ends by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor as Pool
from contextlib import contextmanager
from typing import Any

from fullrank._lib.progress import duration

_EVERY = 10.0  # seconds between two lines, and later a twentieth of the time that has passed
_AT_ONCE = 0.05  # seconds; a faster result was kept, so it does not count for the pace


class Steps:
    """Counts finished tasks, and prints now and then how many there are and the time left.

    In lines, on a terminal too, because the work itself prints between them.
    """

    def __init__(
        self, total: int, label: str = "", *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._total, self._label, self._now = total, label, now
        self._done = 0
        self._begun = self._last = self._said = now()
        self._before: int | None = None  # done when the first that took time was begun

    def step(self) -> None:
        """Count one more task; print a line if the last one was a while ago."""
        text = self.text()
        now = self._last
        if now - self._said >= max(_EVERY, (now - self._begun) / 20) and self._done < self._total:
            print(f"{self._label}: {text}", file=sys.stderr, flush=True)
            self._said = now

    def text(self) -> str:
        """Count one more task: how many are done, and the time left.

        Examples
        --------
        >>> times = iter([0.0, 0.0, 60.0])
        >>> steps = Steps(10, now=lambda: next(times))
        >>> steps.text(), steps.text()
        ('1 of 10', '2 of 10, about 8:00 left')
        """
        now = self._now()
        if self._before is None and now - self._last >= _AT_ONCE:
            self._before, self._begun = self._done, self._last
        self._done, self._last = self._done + 1, now
        text = f"{self._done:,} of {self._total:,}"
        if self._before is None or self._done == self._total:
            return text
        pace = (now - self._begun) / (self._done - self._before)
        return f"{text}, about {duration(pace * (self._total - self._done))} left"


def watched(results: Iterable[Any], total: int, label: str = "") -> Iterator[Any]:
    """The results as they come, with a line of progress now and then."""
    steps = Steps(total, label or "done")
    for result in results:
        steps.step()
        yield result


@contextmanager
def workers(jobs: int, enter: Callable[..., None] | None = None, *given: Any) -> Iterator[Pool]:
    """Processes that are ended at once when something goes wrong or is interrupted.

    Each calls `enter` with what is given before its first work. Give them work by `submit`: after
    an interrupt `map` cancels what then cannot be called broken.
    """
    context = multiprocessing.get_context("spawn")
    pool = Pool(jobs, mp_context=context, initializer=begin, initargs=(enter, *given))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):  # no other way before Python 3.14
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def in_processes(
    work: Callable[[Any], Any], tasks: Iterable[Any], jobs: int, label: str = ""
) -> list[Any]:
    """Do all tasks, in `jobs` processes, with an estimate of the time left."""
    tasks = list(tasks)
    if jobs == 1 or len(tasks) < 2:
        return list(watched(map(work, tasks), len(tasks), label))
    with workers(min(jobs, len(tasks))) as pool:
        running = [pool.submit(work, task) for task in tasks]
        return list(watched((one.result() for one in running), len(tasks), label))


def begin(enter: Callable[..., None] | None = None, *given: Any) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_study, daemon=True).start()
    if enter is not None:
        enter(*given)


def _end_with_study() -> None:
    study = multiprocessing.parent_process()
    if study is not None:
        study.join()
        os._exit(1)
