"""Progress of long work, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from fullrank._progress import Progress
from fullrank.errors import InputError

_REPORTS = 64

Steps = Callable[[str], AbstractContextManager[Progress | None]]


def steps(progress: bool | Steps | None) -> Steps:
    """A function of a label that opens the progress of one step."""
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
    """The time left, from how fast the last reports came.

    What was done before the first report, as by a run that was stopped, tells nothing of the
    speed; nor does the time to the second one, in which workers start and kernels are compiled,
    as soon as there are others.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._reports: deque[tuple[float, int]] = deque(maxlen=_REPORTS)
        self._seen = 0

    def left(self, done: int, total: int) -> float | None:
        """Seconds, or None where nothing can be said yet.

        Examples
        --------
        >>> times = iter([0.0, 10.0])
        >>> clock = Clock(lambda: next(times))
        >>> clock.left(50, 100), clock.left(75, 100)
        (None, 10.0)
        """
        now = self._now()
        self._reports.append((now, done))
        self._seen += 1
        if self._seen == 3:
            self._reports.popleft()
        start, before = self._reports[0]
        return (total - done) * (now - start) / (done - before) if done > before else None


def duration(seconds: float) -> str:
    """Seconds as a clock shows them.

    Examples
    --------
    >>> duration(65), duration(3700)
    ('1:05', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
