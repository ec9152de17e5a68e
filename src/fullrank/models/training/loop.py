"""The one training loop: Adam, a rate that is halved on a plateau, validation, checkpoints.

It trains a :class:`Learner`: tensors by name, a loss of a batch, and a scorer of the current
tensors. The training data come from a source of batches (`batches.Pairs` or `batches.Histories`),
which shuffles and draws on the device. Nothing inside an epoch waits for the device.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.errors import DivergedError, InputError
from fullrank.models.training import epochs as ways
from fullrank.models.training.adam import Adam
from fullrank.models.training.batches import Source
from fullrank.models.training.checkpoints import Checkpoint
from fullrank.models.training.learner import Learner
from fullrank.models.training.state import Run
from fullrank.models.training.torch_use import load_torch

Validate = Callable[["Learner"], float]
Announce = Callable[[Run], Any]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The settings of a training run.

    Attributes
    ----------
    epochs : int
    learning_rate, min_learning_rate : float
    patience : int
        The number of validations in a row without improvement after which the rate is halved;
        training stops when it would fall below `min_learning_rate`.
    weight_decay : float
        λ of λ/2·‖·‖² over all tensors, whose gradient is added in every step.
    seed : int
    device : torch.device
    rates : learning rates, one for each epoch, instead of all that
    """

    epochs: int
    learning_rate: float
    min_learning_rate: float
    patience: int
    weight_decay: float
    seed: int
    device: Any
    rates: Sequence[float] | None = None


def train(
    learner: Learner,
    source: Source,
    plan: Plan,
    *,
    validate: Validate | None = None,
    checkpoint: Checkpoint | None = None,
    announce: Announce | None = None,
) -> Run:
    """Train the learner's tensors in place; they end with the values of the best epoch.

    Without `validate`, every epoch has the same rate, and the last epoch is kept.

    Parameters
    ----------
    learner : Learner
    source : Source
    plan : Plan
    validate : function of the learner, optional
        Higher values are better. It must not draw from torch's generators, and an epoch must not
        depend on whether it is called.
    checkpoint : Checkpoint, optional
        Read if its file is there, and written after every epoch.
    announce : function of the run, optional
        Called after every epoch.

    Notes
    -----
    The random numbers of an epoch depend only on the seed and the epoch's number, so a checkpoint
    does not need states of generators, and the order of an epoch does not depend on earlier draws.
    """
    with _on(plan.device):
        return _train(learner, source, plan, validate, checkpoint, announce)


def _train(
    learner: Learner,
    source: Source,
    plan: Plan,
    validate: Validate | None,
    checkpoint: Checkpoint | None,
    announce: Announce | None,
) -> Run:
    epochs, floor = plan.epochs, plan.min_learning_rate
    if plan.rates is not None:
        epochs, floor = len(plan.rates), 0.0
    graphs = plan.device.type == "cuda" and getattr(learner, "capturable", False)
    adam = Adam(learner.parameters(), weight_decay=plan.weight_decay, capturable=graphs)
    run, best = Run(rate=plan.learning_rate), dict[str, Any]()
    found = None if checkpoint is None else checkpoint.resume(adam)
    if found is not None:
        run, best = found
        if run.epoch > epochs:
            raise InputError(
                f"`epochs` must be at least {run.epoch}, the number of epochs in `checkpoint`, "
                f"not {epochs}."
            )
    generator = load_torch().Generator(plan.device)
    one_epoch = ways.way_through(learner, source, adam, generator)
    while run.epoch < epochs and not run.stopped:
        if plan.rates is not None:
            run.rate = plan.rates[run.epoch]
        adam.set_rate(run.rate)
        generator.manual_seed(_epoch_seed(plan.seed, run.epoch))
        start = time.perf_counter()
        loss = _mean(one_epoch(run), run, source.n_rows)
        seconds = time.perf_counter() - start
        _check_finite(adam, run)
        metric = None if validate is None else validate(learner)
        run.note(loss=loss, metric=metric, seconds=seconds)
        if metric is not None and run.judge(metric, plan.patience, floor):
            best = adam.copies()
        if checkpoint is not None:
            checkpoint.write(run, adam, best)
        if announce is not None:
            announce(run)
    adam.restore(best)
    return run


def _on(device: Any) -> AbstractContextManager[Any]:
    """Kernels of our own go to the current GPU, which may be another one than `device`."""
    if device.type != "cuda":
        return nullcontext()
    return load_torch().cuda.device(device)  # type: ignore[no-any-return]


def _mean(total: Any, run: Run, n_rows: int) -> float:
    """The mean loss of an epoch, for which the device is waited for, once."""
    mean = float(total) / n_rows
    if not np.isfinite(mean):
        raise DivergedError(
            f"`learning_rate` must keep the loss finite; at {run.rate:g}, it became {mean} in "
            f"epoch {run.epoch + 1}. Try a smaller learning rate."
        )
    return mean


def _check_finite(adam: Adam, run: Run) -> None:
    """Raise where the last step of the epoch went too far, which shows in no loss."""
    tensors = adam.parameters.values()
    # a sum takes no memory; a finite one has finite parts
    if not all(bool(one.sum().isfinite() or one.isfinite().all()) for one in tensors):
        raise DivergedError(
            f"`learning_rate` must keep the parameters finite; at {run.rate:g}, they were not "
            f"after epoch {run.epoch + 1}. Try a smaller learning rate."
        )


def _epoch_seed(seed: int, epoch: int) -> int:
    words = np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))  # as a signed number
