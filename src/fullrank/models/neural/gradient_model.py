"""The base of models that are trained by gradients: settings and `fit`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from fullrank._lib import checks
from fullrank._lib import memory as _memory
from fullrank._lib.device import on_gpu, open_device
from fullrank._lib.files import PathLike
from fullrank._lib.progress import Progress
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.metrics import parse_all
from fullrank.models.base import Saved, to_learn_from
from fullrank.models.saving import settings
from fullrank.models.training.batches import Source
from fullrank.models.training.checkpoints import Checkpoint, fingerprint
from fullrank.models.training.history import History
from fullrank.models.training.learner import Learner
from fullrank.models.training.loop import Plan, train
from fullrank.models.training.progress_line import announcer
from fullrank.models.training.torch_use import as_usual, load_torch
from fullrank.models.training.validation import Validation, validation

_VALIDATED = 8.0  # bytes of a number that is learned: a copy of the best, and one to rank with


@dataclass(kw_only=True, eq=False)
class NeuralModel(Saved):
    """The base of models trained by Adam; subclasses define the parameters and the batches.

    A subclass has four methods: `_learner(data, device)` makes the tensors, drawn from
    `initial_generator()` on the CPU and moved to the device, so that they are the same on every
    device; `_source(data, device)` makes the batches; `_keep(learner)` sets the learned fields
    from the tensors; `_sizes(data)` says how much memory that takes.

    Parameters
    ----------
    epochs : int
        The maximum number of passes over the training data.
    learning_rate : float
    min_learning_rate : float
        With a validation part, training stops when the learning rate would fall below it.
    patience : int
        The number of validations in a row without improvement after which the rate is halved.
    batch_size : int
    weight_decay : float
        λ of λ/2·‖·‖² over all tensors, whose gradient is added in every step.
    metric : str
        The metric on the validation part after every epoch.
    seed : int
        Random seed. On a CPU it reproduces a run bit for bit; on a GPU up to rounding, because sums
        are added in any order.
    device : str or None
        "cpu", "cuda" or "cuda:1"; None is "cpu".
    """

    # bytes of a number that is learned: itself, its slope, two moments and what is kept of it
    _bytes_learned: ClassVar[float] = 20.0

    epochs: int = 20
    learning_rate: float = 0.001
    min_learning_rate: float = 0.00001
    patience: int = 5
    batch_size: int = 1024
    weight_decay: float = 0.0
    metric: str = "ndcg@20"
    seed: int = 0
    device: str | None = field(default=None, repr=False)
    history_: History = field(init=False, repr=False, metadata={"record": History})
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.epochs = checks.integer("epochs", self.epochs, low=0)
        self.patience = checks.integer("patience", self.patience, low=1)
        self.batch_size = checks.integer("batch_size", self.batch_size, low=1)
        self.seed = checks.integer("seed", self.seed, low=0)
        self.weight_decay = checks.real("weight_decay", self.weight_decay, low=0)
        self.learning_rate = checks.positive("learning_rate", self.learning_rate)
        self.min_learning_rate = checks.positive("min_learning_rate", self.min_learning_rate)
        metrics = parse_all(self.metric)
        if len(metrics) != 1:
            raise InputError(f"`metric` must be one metric, not {len(metrics)}.")
        self.metric = metrics[0].name
        on_gpu(self.device)

    def fit(
        self,
        interactions: Interactions,
        *,
        valid: Interactions | None = None,
        valid_history: Interactions | None = None,
        exclude: bool = True,
        rates: Sequence[float] | None = None,
        checkpoint: PathLike | None = None,
        progress: bool | Progress | None = None,
    ) -> Self:
        """Train on the interactions, each of which counts 1.

        Without a validation part, all epochs have the same learning rate, and the last epoch is
        kept. With one, the metric is computed from exact ranks after every epoch, the rate is
        halved on a plateau, training may stop early, and the best epoch is kept.

        Parameters
        ----------
        interactions : Interactions
        valid : Interactions, optional
            Held-out items of the same users, such as `split.valid`.
        valid_history : Interactions, optional
            The interactions that the users of `valid` are scored from if they are not training
            users, such as `split.valid_history` of a strong split. Not all models support it.
        exclude : bool
            Whether to exclude the items that a user is scored from as candidates in validation.
        rates : learning rates, one for each epoch, optional
            They replace `epochs` and the halving: ``found.history_.rates`` trains on all data for
            the number of epochs that was best on a part.
        checkpoint : path, optional
            A file to which the run is written after every epoch. An interrupted run resumes from
            it, on a CPU bit for bit with the same number of threads. The file is not deleted, so
            that a finished run can continue with more `epochs`.
        progress : True for a line on stderr, or a function of (epochs done, epochs planned)
        """
        data = to_learn_from(interactions)
        if not data.n_interactions:
            raise InputError("`interactions` must hold at least one interaction; it is empty.")
        if rates is not None:
            if not isinstance(rates, Iterable):
                raise InputError(
                    f"`rates` must be a list of learning rates, not {checks.shown(rates)}."
                )
            rates = [checks.positive(f"rates[{at}]", rate) for at, rate in enumerate(rates)]
        validate = validation(
            data,
            valid,
            history=valid_history,
            exclude=exclude,
            metric=self.metric,
            device=self.device,
        )
        if not on_gpu(self.device):  # a GPU has memory of its own
            self._ask_memory(data, validate is not None)
        with as_usual():
            device = torch_device(self.device)
            learner, source = self._learner(data, device), self._source(data, device)
            if validate is not None and validate.history is not None:
                learner.scorer(validate.history)  # a model that cannot says so before it is trained
            run = train(
                learner,
                source,
                self._plan(device, rates),
                validate=validate,
                checkpoint=self._checkpoint(checkpoint, data, validate, rates),
                announce=announcer(
                    progress,
                    label=type(self).__name__,
                    epochs=self.epochs if rates is None else len(rates),
                    metric=self.metric,
                ),
            )
        self.history_ = History.from_columns(
            run.columns,
            metric_name=None if validate is None else self.metric,
            n_rows=source.n_rows,
        )
        self._keep(learner)
        self.interactions_ = data
        return self

    def initial_generator(self) -> Any:
        """A `torch.Generator` on the CPU from which the first values of the tensors are drawn."""
        return load_torch().Generator().manual_seed(self.seed)

    def memory(self, interactions: Interactions, *, validated: bool = False) -> float:
        """Return about how many bytes :meth:`fit` needs.

        Parameters
        ----------
        interactions : Interactions
        validated : bool
            Whether there is a validation part.

        Examples
        --------
        >>> from fullrank.data import simulate
        >>> from fullrank.models import MultiDAE
        >>> round(MultiDAE().memory(simulate(n_users=5000, n_items=2000)) / 2**20)
        38
        """
        return sum(self._bytes(to_learn_from(interactions), validated))

    def _bytes(self, data: Interactions, validated: bool) -> tuple[float, float]:
        """Of what is learned, and of a step besides."""
        n_learned, step = self._sizes(data)
        return n_learned * (self._bytes_learned + _VALIDATED * validated), step

    def _ask_memory(self, data: Interactions, validated: bool) -> None:
        """Raise where training would not fit, before anything is made."""
        learned, step = self._bytes(data, validated)
        name = "n_factors" if learned >= step else "batch_size"
        what = f"{type(self).__name__} of {data.n_users:,} users and {data.n_items:,} items"
        _memory.ask(name, learned + step, what)

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        """How many numbers are learned, and the bytes that a step takes besides."""
        return 0, 0.0

    def _learner(self, data: Interactions, device: Any) -> Learner:
        raise NotImplementedError

    def _source(self, data: Interactions, device: Any) -> Source:
        raise NotImplementedError

    def _keep(self, learner: Any) -> None:
        raise NotImplementedError

    def _plan(self, device: Any, rates: Sequence[float] | None) -> Plan:
        return Plan(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            min_learning_rate=self.min_learning_rate,
            patience=self.patience,
            weight_decay=self.weight_decay,
            seed=self.seed,
            device=device,
            rates=rates,
        )

    def _checkpoint(
        self,
        path: PathLike | None,
        data: Interactions,
        validate: Validation | None,
        rates: Sequence[float] | None,
    ) -> Checkpoint | None:
        if path is None:
            return None
        own = settings(self)
        del own["epochs"]  # a run that is done goes on with more of them
        identity = {
            "model": type(self).__name__,
            **own,
            "interactions": fingerprint(data),
            "valid": None if validate is None else validate.fingerprint(),
            "rates": rates,
        }
        return Checkpoint(path, identity)


def torch_device(device: str | None) -> Any:
    """The torch device that a setting names, which must be there."""
    return open_device(device)[1] if on_gpu(device) else load_torch().device("cpu")
