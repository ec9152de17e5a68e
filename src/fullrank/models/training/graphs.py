"""Steps as a CUDA graph: recorded once, replayed for every full batch of pairs.

A step on a GPU is dozens of small kernels, and launching them one by one takes longer than their
work. Replayed as a graph they are one launch, and nothing of an epoch but its last, smaller batch
passes through Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullrank.models.training.adam import Adam
from fullrank.models.training.batches import Pairs
from fullrank.models.training.learner import Learner
from fullrank.models.training.state import Run
from fullrank.models.training.torch_use import load_torch

Step = Callable[[], Any]
_WARM = 3  # steps before the recording: kernels are compiled and workspaces made in them


class ReplayedEpochs:
    """Epochs over pairs by a step that reads its place in the epoch from the device.

    Parameters
    ----------
    learner, source, adam, generator : as in the loop
    record : function of the step
        Gives what does the step again; by default a CUDA graph of it.
    """

    def __init__(
        self,
        learner: Learner,
        source: Pairs,
        adam: Adam,
        generator: Any,
        *,
        record: Callable[[Step], Step] | None = None,
    ) -> None:
        torch, device = load_torch(), generator.device
        self._learner, self._source, self._adam = learner, source, adam
        self._generator = generator
        self._record = self._graph if record is None else record
        self._users, self._items = source.users.clone(), source.items.clone()
        self._places = torch.arange(source.batch_size, device=device)
        self._at = torch.zeros((), dtype=torch.int64, device=device)
        self._total = torch.zeros((), dtype=torch.float64, device=device)
        self._done = 0
        self._replay: Step | None = None
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def __call__(self, run: Run) -> Any:
        """Go through an epoch; the sum of the losses, on the device."""
        if self._stream is None:
            return self._epoch(run)
        torch = load_torch()
        outside = torch.cuda.current_stream()
        self._stream.wait_stream(outside)
        with torch.cuda.stream(self._stream):  # graphs are not recorded on the default one
            total = self._epoch(run)
        outside.wait_stream(self._stream)
        return total

    def _epoch(self, run: Run) -> Any:
        size = self._source.batch_size
        users, items = self._source.shuffled(self._generator)
        self._users.copy_(users)
        self._items.copy_(items)
        self._at.zero_()
        self._total.zero_()
        whole = self._source.n_rows // size
        for _ in range(whole):
            if self._replay is None and self._done >= _WARM:
                self._replay = self._record(self._step)
            (self._replay or self._step)()
            self._done += 1
        if whole * size < self._source.n_rows:
            self._advance(users[whole * size :], items[whole * size :])
        run.step += self._source.n_batches
        return self._total

    def _step(self) -> None:
        places = self._at + self._places
        self._advance(self._users[places], self._items[places])
        self._at += self._source.batch_size

    def _advance(self, users: Any, items: Any) -> None:
        batch = self._source.batch(users, items, self._generator, 0)
        loss = self._learner.loss(batch, self._generator)
        self._adam.step(loss)
        self._total += loss.detach() * users.shape[0]

    def _graph(self, step: Step) -> Step:
        torch = load_torch()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        with torch.cuda.graph(graph, stream=self._stream):
            step()
        return graph.replay  # type: ignore[no-any-return]
