"""Run an epoch: batch by batch, as a recorded graph, or only on the rows of each batch.

Each way is a function of the run, which it counts steps in, and gives the sum of the losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullrank.models.training.adam import Adam
from fullrank.models.training.batches import Pairs, Source
from fullrank.models.training.learner import Learner
from fullrank.models.training.state import Run
from fullrank.models.training.torch_use import load_torch


def way_through(
    learner: Learner, source: Source, adam: Adam, generator: Any
) -> Callable[[Run], Any]:
    """What goes through an epoch of the source in the way that suits the device."""
    if adam.capturable and isinstance(source, Pairs):
        from fullrank.models.training.graphs import ReplayedEpochs

        return ReplayedEpochs(learner, source, adam, generator)
    if hasattr(learner, "value") and isinstance(source, Pairs) and few_rows(source, adam):
        from fullrank.models.training.row_steps import RowEpochs

        return RowEpochs(learner, source, adam, generator)
    return eager(learner, source, adam, generator)


def eager(learner: Learner, source: Source, adam: Adam, generator: Any) -> Callable[[Run], Any]:
    """Epochs batch by batch: gives a function of the run, for the sum of the losses."""
    torch = load_torch()

    def epoch(run: Run) -> Any:
        total = torch.zeros((), dtype=torch.float64, device=generator.device)
        for batch in source.epoch(generator, run.step):
            loss = learner.loss(batch, generator)
            adam.step(loss)
            total += loss.detach() * batch.users.shape[0]
            run.step += 1
        return total

    return epoch


def few_rows(source: Pairs, adam: Adam) -> bool:
    """Whether most rows of the tables have no gradient in most steps, on a CPU."""
    tensors = adam.parameters.values()
    if adam.weight_decay or source.draws is None or any(one.is_cuda for one in tensors):
        return False
    drawn = source.n_negatives * (1 if source.shared else source.batch_size)
    touched = source.batch_size * (2 + source.n_positives) + drawn
    return bool(2 * touched < sum(one.shape[0] for one in tensors))
