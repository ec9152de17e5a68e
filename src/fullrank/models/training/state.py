"""The state of a training run: its epochs so far, its rate, and its best epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


def _columns() -> dict[str, list[Any]]:
    return {"loss": [], "metric": [], "learning_rate": [], "seconds": []}


@dataclass(kw_only=True)
class Run:
    """The part of a run's state that is not in tensors; checkpoints store it as JSON.

    Attributes
    ----------
    rate : the learning rate of the next epoch
    step : batches trained on
    waited : validations in a row without a gain, since the rate was last halved
    best : the best validation metric, None before the first
    stopped : whether the rate has fallen below its least
    columns : loss, metric (or None), learning rate and seconds of each epoch
    """

    rate: float
    step: int = 0
    waited: int = 0
    best: float | None = None
    stopped: bool = False
    columns: dict[str, list[Any]] = field(default_factory=_columns)

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return len(self.columns["loss"])

    def note(self, *, loss: float, metric: float | None, seconds: float) -> None:
        """Add what an epoch was like."""
        for name, value in (
            ("loss", loss),
            ("metric", metric),
            ("learning_rate", self.rate),
            ("seconds", seconds),
        ):
            self.columns[name].append(value)

    def judge(self, metric: float, patience: int, min_rate: float) -> bool:
        """Whether a validation metric is the best so far; if not for long, halve the rate."""
        if self.best is None or metric > self.best:
            self.best, self.waited = metric, 0
            return True
        self.waited += 1
        if self.waited >= patience:
            self.waited, self.rate = 0, self.rate / 2
            self.stopped = self.rate < min_rate
        return False

    def to_dict(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`; a TypeError or ValueError if it is something else."""
        run = cls(**record)
        lengths = {len(run.columns[name]) for name in _columns()}
        if len(lengths) != 1:
            raise ValueError("the columns of its training history differ in length")
        return run
