"""Adam steps on a CPU that touch only the rows of a batch: same result, a fraction of the work.

Adam moves every row in every step, those without a gradient too, by what is left of their moments.
For tables of many rows that is most of the work of a step. But how far a row moves in k steps
without a gradient has a closed form, so it is moved when it is needed next, or at the end of the
epoch, and the result differs only by rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.models.training import row_kernels as kernels
from fullrank.models.training.adam import BETA1, BETA2, EPSILON, Adam
from fullrank.models.training.batches import PairBatch, Pairs
from fullrank.models.training.state import Run
from fullrank.models.training.torch_use import load_torch

_WINDOW = 400  # steps after which what a first moment still adds is lost in rounding


class Table:
    """A table of vectors with its moments, rows of which lag behind."""

    def __init__(self, tensor: Any, first: Any, second: Any) -> None:
        self.values, self.first, self.second = (
            one.detach().numpy() for one in (tensor, first, second)
        )
        self.last = np.zeros(tensor.shape[0], np.int64)
        self._marks = np.full(tensor.shape[0], -1, np.int64)

    def numbered(self, *parts: Any) -> tuple[NDArray[np.int64], list[Any]]:
        """The rows in some tensors of row numbers, and the tensors with numbers among them."""
        torch = load_torch()
        index = torch.cat([part.reshape(-1) for part in parts]).numpy()
        rows, local = np.empty(index.size, np.int64), np.empty(index.size, np.int64)
        count = kernels.number_rows(index, self._marks, rows, local)
        found = torch.from_numpy(local).split([part.numel() for part in parts])
        return rows[:count], [a.reshape(b.shape) for a, b in zip(found, parts, strict=True)]


class RowEpochs:
    """Epochs over pairs of a learner whose loss can do with some rows of its two tables.

    Parameters
    ----------
    learner : one with the tensors "users" and "items", and a method `value(users, items, local,
        batch)`: the loss from some rows of both, whose numbers among these rows are in `local`
    source, adam, generator : as in the loop
    """

    def __init__(self, learner: Any, source: Pairs, adam: Adam, generator: Any) -> None:
        self._learner, self._source, self._adam = learner, source, adam
        self._generator = generator
        self._tables = [
            Table(adam.parameters[name], *adam.moments(name)) for name in ("users", "items")
        ]
        late = np.arange(_WINDOW, 0, -1)
        self._fade = BETA2 ** (late / 2)
        self._shrink = BETA1**late / self._fade
        powers = np.array([BETA1, BETA2]) ** np.arange(_WINDOW)[:, None]
        self._powers = powers.astype(np.float32)
        self._start, self._sums = 0, np.zeros((0, 2))

    def __call__(self, run: Run) -> float:
        """Go through an epoch; the sum of the losses."""
        self._start = step = run.step
        self._sums = np.zeros((self._source.n_batches + 1, 2))
        for table in self._tables:
            table.last[:] = step
        total = 0.0
        for batch in self._source.epoch(self._generator, step):
            step += 1
            total += self._step(batch, step, run.rate) * batch.users.shape[0]
        nowhere = np.empty((0, 0), np.float32)
        for table in self._tables:
            self._catch_up(table, np.arange(table.last.size), step, nowhere)
        self._adam.set_step(step)
        run.step = step
        return total

    def _step(self, batch: PairBatch, step: int, rate: float) -> float:
        torch = load_torch()
        users, items, local = self._numbered(batch)
        parts = []
        for table, rows in zip(self._tables, (users, items), strict=True):
            part = torch.empty(rows.size, table.values.shape[1])
            self._catch_up(table, rows, step - 1, part.numpy())
            parts.append(part.requires_grad_())
        loss = self._learner.value(*parts, local, batch)
        loss.backward()
        for table, rows, part in zip(self._tables, (users, items), parts, strict=True):
            slopes = part.grad.numpy()
            kernels.advance(
                rows, slopes, table.values, table.first, table.second, table.last, step, rate
            )
        self._remember(step, rate)
        return float(loss.detach())

    def _numbered(self, batch: PairBatch) -> tuple[Any, Any, PairBatch]:
        """The rows of users and of items in a batch, and the batch with numbers among them."""
        users, (own,) = self._tables[0].numbered(batch.users)
        names = [
            name for name in ("items", "negatives", "positives") if getattr(batch, name) is not None
        ]
        items, found = self._tables[1].numbered(*(getattr(batch, name) for name in names))
        return users, items, batch._replace(users=own, **dict(zip(names, found, strict=True)))

    def _remember(self, step: int, rate: float) -> None:
        """Add a step to the sums of those that may lag behind it.

        A row that was last up to date after step l is moved in step s = l + j, if it has no
        gradient, by a·(β₁/√β₂)^j · m/(√v + ε·b/√β₂^j), where b = √(1 − β₂^s) and
        a = rate·b/(1 − β₁^s).
        """
        root = (1 - BETA2**step) ** 0.5
        here = step - self._start  # sums[here - 1] belongs to rows that lack this step alone
        first = max(0, here - _WINDOW)
        moved = rate * root / (1 - BETA1**step) * self._shrink[first - here :]
        self._sums[first:here, 0] += moved
        self._sums[first:here, 1] += moved * EPSILON * root / self._fade[first - here :]

    def _catch_up(
        self, table: Table, rows: NDArray[np.int64], step: int, out: NDArray[np.float32]
    ) -> None:
        kernels.catch_up(
            rows, table.values, table.first, table.second, table.last, step, self._sums,
            self._start, self._powers, out,
        )  # fmt: skip
