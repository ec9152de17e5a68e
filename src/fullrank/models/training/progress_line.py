"""Progress of a training run: a line with the loss, the metric and the remaining time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from fullrank._lib.progress import Progress, duration, reporter
from fullrank.models.training.state import Run


def announcer(
    progress: bool | Progress | None, *, label: str, epochs: int, metric: str | None
) -> Callable[[Run], Any] | None:
    """Return a function of the run, called after each epoch; None for silence.

    True writes a line to stderr; a function gets the epochs done and the epochs planned, and both
    are equal at the end, which may come early.
    """
    report = reporter(progress, label)
    if report is None:
        return None
    if progress is not True:
        return lambda run: report(run.epoch, run.epoch if run.stopped else epochs)
    start, done_before = time.monotonic(), -1

    def write(run: Run) -> None:
        nonlocal done_before
        if done_before < 0:  # epochs of an earlier process took their time elsewhere
            done_before = run.epoch - 1
        each = (time.monotonic() - start) / (run.epoch - done_before)
        over = run.stopped or run.epoch >= epochs
        parts = [f"epoch {run.epoch} of {epochs}", f"loss {run.columns['loss'][-1]:.4g}"]
        if run.columns["metric"][-1] is not None:
            parts.append(f"{metric} {run.columns['metric'][-1]:.4f} (best {run.best:.4f})")
        parts.append("done" if over else f"{duration(each * (epochs - run.epoch))} left")
        line = f"{label}: {', '.join(parts)}"
        sys.stderr.write(f"\r{line:<79}" + ("\n" if over else ""))
        sys.stderr.flush()

    return write
