"""Progress of long work, with the remaining time; silent by default."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from fullrank.errors import InputError

Progress = Callable[[int, int], Any]
Steps = Callable[[str], AbstractContextManager[Progress | None]]
_REPORTS = 64


def reporter(progress: bool | Progress | None, label: str) -> Progress | None:
    """Return a function of (done, total), or None for silence; True writes one line to stderr."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _line(label)
    if callable(progress):
        return progress
    raise InputError(
        f"`progress` must be None, True or a function of (done, total), not {progress!r}."
    )


def _line(label: str) -> Progress:
    """Writes over its own line, with the time that is left as soon as it can be told."""
    clock, last = Clock(), 0

    def show(done: int, total: int) -> None:
        nonlocal last
        left = clock.left(done, total) if done < total else None
        tail = "" if left is None else f", {duration(left)} left"
        text = f"{label}: {done:,} of {total:,} ({done / max(total, 1):.0%}{tail})"
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{' ' * last}\r{text}{end}")
        sys.stderr.flush()
        last = len(text)

    return show


def steps(progress: bool | Steps | None) -> Steps:
    """Return a function of a label that opens the progress of one step."""
    if progress is None or progress is False:
        return lambda label: nullcontext()
    if progress is True:
        return _on_stderr
    if callable(progress):
        return progress
    raise InputError(f"`progress` must be None, True or a function of a label, not {progress!r}.")


@contextmanager
def _on_stderr(label: str) -> Iterator[Progress]:
    clock = Clock()

    def show(done: int, total: int) -> None:
        left = clock.left(done, total)
        tail = "" if left is None else f", {duration(left)} left"
        share = f"{done:,} of {total:,} ({done / max(total, 1):.0%}{tail})"
        sys.stderr.write(f"\r{label}: {share:<60}")
        sys.stderr.flush()

    yield show
    sys.stderr.write("\n")


class Clock:
    """The remaining time, estimated from the speed of the last reports.

    Work before the first report, as in a resumed run, does not show the speed. Nor does the time to
    the second report, in which workers start and kernels are compiled. Workers that start together
    also finish their first parts together, so there is no forecast until half of that time has
    passed again.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun: float | None = None
        self._patience: float | None = None
        self._reports: deque[tuple[float, int]] = deque(maxlen=_REPORTS)

    def left(self, done: int, total: int) -> float | None:
        """Return the remaining seconds, or None if there is no forecast yet.

        Examples
        --------
        >>> times = iter([0.0, 10.0, 15.0])
        >>> clock = Clock(lambda: next(times))
        >>> clock.left(0, 100), clock.left(25, 100), clock.left(50, 100)
        (None, None, 10.0)
        """
        now = self._now()
        if self._begun is None:
            self._begun = now
            return None
        if self._patience is None:
            self._patience = (now - self._begun) / 2
        self._reports.append((now, done))
        start, before = self._reports[0]
        known = done > before and (now - start >= self._patience or len(self._reports) == _REPORTS)
        return (total - done) * (now - start) / (done - before) if known else None


def duration(seconds: float) -> str:
    """Return seconds as a clock shows them.

    Examples
    --------
    >>> duration(65), duration(3700)
    ('1:05', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
