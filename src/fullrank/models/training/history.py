"""The history of a training run, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fullrank._lib import checks, extras
from fullrank._lib.results import markup
from fullrank._lib.types import Floats
from fullrank.errors import InputError

_COLUMNS = ("loss", "metric", "learning_rate", "seconds")


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """Loss, validation metric, learning rate and time of each epoch.

    Attributes
    ----------
    loss : array, shape (n_epochs,), the mean over the epoch's pairs or users
    metric : array, shape (n_epochs,), on the validation part; NaN where it was not measured
    learning_rate : array, shape (n_epochs,)
    seconds : array, shape (n_epochs,), of training, without validation
    metric_name : str or None, such as ``"ndcg@20"``; None if nothing was validated
    n_rows : int, pairs or users trained on in an epoch
    """

    loss: Floats
    metric: Floats
    learning_rate: Floats
    seconds: Floats
    metric_name: str | None
    n_rows: int

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], **rest: Any) -> Self:
        """From lists of equal length, whose missing metrics are None."""
        arrays: dict[str, Any] = {
            name: checks.frozen(
                np.array([np.nan if x is None else x for x in columns[name]], float)
            )
            for name in _COLUMNS
        }
        if len({array.shape for array in arrays.values()}) > 1:
            raise InputError("`columns` must all have the same length.")
        return cls(**arrays, **rest)

    @property
    def n_epochs(self) -> int:
        return int(self.loss.size)

    @property
    def best_epoch(self) -> int:
        """The epoch that was kept, counted from 1: the best on the validation part, or the last."""
        if np.isnan(self.metric).all():
            return self.n_epochs
        return int(np.nanargmax(self.metric)) + 1

    @property
    def best_metric(self) -> float | None:
        """The validation metric of the epoch that was kept; None if nothing was validated."""
        return None if np.isnan(self.metric).all() else float(np.nanmax(self.metric))

    @property
    def rates(self) -> list[float]:
        """The learning rates up to the epoch that was kept.

        ``fit(everything, rates=found.history_.rates)`` trains on all data for the same number of
        epochs.
        """
        return [float(rate) for rate in self.learning_rate[: self.best_epoch]]

    @property
    def rows_per_second(self) -> float:
        """Pairs or users trained on per second, in the median epoch."""
        return float(self.n_rows / np.median(self.seconds)) if self.n_epochs else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with a format version; missing values are None."""
        columns = {
            name: [None if np.isnan(x) else float(x) for x in getattr(self, name)]
            for name in _COLUMNS
        }
        return {
            "format": 1,
            "kind": "History",
            "metric_name": self.metric_name,
            "n_rows": self.n_rows,
            **columns,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`."""
        return cls.from_columns(
            record, metric_name=record["metric_name"], n_rows=int(record["n_rows"])
        )

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with one row per epoch."""
        import pyarrow as pa

        return pa.Table.from_pylist(self._records())

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per epoch."""
        return extras.frame(self.to_arrow())

    def to_markdown(self) -> str:
        """Return a Markdown table with the kept epoch in bold."""
        rows = self._cells()
        if self.n_epochs:
            rows[self.best_epoch - 1] = [
                markup.Best(one) if one else "" for one in rows[self.best_epoch - 1]
            ]
        return markup.markdown(["epoch", "loss", self._name, "rate", "seconds"], rows)

    def __str__(self) -> str:
        rows = [["epoch", "loss", self._name, "rate", "seconds"], *self._cells()]
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = []
        for epoch, row in enumerate(rows):
            mark = "*" if epoch and epoch == self.best_epoch else " "
            cells = (f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
            lines.append(f"{mark} {'  '.join(cells)}")
        return "\n".join(lines)

    @property
    def _name(self) -> str:
        return self.metric_name or "metric"

    def _cells(self) -> list[list[str]]:
        columns = (self.loss, self.metric, self.learning_rate, self.seconds)
        return [
            [
                str(epoch),
                f"{loss:.5f}",
                "" if np.isnan(metric) else f"{metric:.5f}",
                f"{rate:.2g}",
                f"{seconds:.2f}",
            ]
            for epoch, (loss, metric, rate, seconds) in enumerate(zip(*columns, strict=True), 1)
        ]

    def _records(self) -> list[dict[str, Any]]:
        record = self.to_dict()
        return [
            {"epoch": at + 1, **{name: record[name][at] for name in _COLUMNS}}
            for at in range(self.n_epochs)
        ]

    def plot(self, ax: Any = None) -> Any:
        """Plot the loss, and the metric on a second axis; return the axes of the loss."""
        if ax is None:
            ax = extras.load("matplotlib.pyplot", extra="plot", purpose="plot").subplots()[1]
        epochs = np.arange(1, self.n_epochs + 1)
        ax.plot(epochs, self.loss, color="tab:gray", label="loss")
        ax.set(xlabel="epoch", ylabel="loss")
        if self.metric_name is not None:
            measured = ~np.isnan(self.metric)
            other = ax.twinx()
            other.plot(epochs[measured], self.metric[measured], label=self.metric_name)
            other.set(ylabel=self.metric_name)
        return ax
