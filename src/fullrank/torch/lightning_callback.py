"""A Lightning callback that logs full-catalogue metrics of validation and test steps.

This file imports Lightning, so that `fullrank.torch` reads it when `RankCallback` is first used.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fullrank._lib import checks
from fullrank.errors import InputError, MissingExtraError, NotFittedError
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.torch.rank_metric import RankMetric
from fullrank.torch.rows import NoTargetsError

Key = str | int | Callable[[Any, Any], Any]

_ABSENT = object()
_OPTIONAL = ("user", "item", "exclude")
_HINTS = {
    "scores": " Return the scores of all items from the step.",
    "target": "",
    "user": " Pass `user=None` if every row is a different user.",
    "item": "",
    "exclude": "",
}


def _callback() -> Any:
    """The Callback of the package in use, `lightning` or `pytorch_lightning`."""
    packages = ["lightning.pytorch", "pytorch_lightning"]
    packages.sort(key=lambda name: name not in sys.modules)  # one that is loaded comes first
    for package in packages:
        if importlib.util.find_spec(package.partition(".")[0]) is not None:
            return importlib.import_module(package).Callback
    raise MissingExtraError("RankCallback needs Lightning: pip install lightning")


class RankCallback(_callback()):  # type: ignore[misc]
    """Rank the targets of every validation and test batch, and log the metrics of all of them.

    The step returns scores of all items, and the batch (or the step) holds the target and the user
    of each row. The callback keeps a few numbers per target; it neither copies nor keeps scores.
    Metrics are logged once per epoch as "val/ndcg@10" and "test/ndcg@10", so that `ModelCheckpoint`
    and `EarlyStopping` can monitor them. With several processes, each logs the metric of all users,
    without the repeats that samplers add. Batches of the sanity check are counted and then dropped,
    so that a wrong key is reported before training.

    Parameters
    ----------
    metrics : such as "recall@10, ndcg@10"
    scores, target, user : where to find them
        A key, attribute or index of the step's output or, if it is not there, of the batch; or a
        function ``f(outputs, batch)``. If the step returns one tensor of two or three axes, it is
        the scores. With `user=None` every row is a different user, which works in a single process
        only.
    item : likewise, the ids of the targets, if columns are not items (sampled candidates)
    exclude : likewise, the items that are not candidates, in a form that `counts` takes
    prefix : prefix of the names of all metrics; ``{stage}`` is "val" or "test"
    prog_bar : whether to show the metrics in the progress bar
    user_ids, item_ids : the id of each user and item number, for `exact` and `sample`
    settings : passed on to `RankMetric`: `ties`, `n_items`, `design`

    Attributes
    ----------
    metric : the `RankMetric` of the first data loader in the last epoch
    metrics : the metrics of all data loaders in the last epoch

    Examples
    --------
    >>> RankCallback("recall@10, ndcg@10", scores="logits", target="next_item", user="user_id")
    RankCallback('recall@10, ndcg@10')
    """

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
        *,
        scores: Key = "scores",
        target: Key = "target",
        user: Key | None = "user",
        item: Key | None = None,
        exclude: Key | None = None,
        prefix: str = "{stage}/",
        prog_bar: bool = False,
        user_ids: Any = None,
        item_ids: Any = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self._keys: dict[str, Key | None] = {
            "scores": scores, "target": target, "user": user, "item": item, "exclude": exclude,
        }  # fmt: skip
        for name, key in self._keys.items():
            if not (
                isinstance(key, str | int) or callable(key) or (key is None and name in _OPTIONAL)
            ):
                raise InputError(
                    f"`{name}` must be a key, an attribute name, an index or a function of "
                    f"(outputs, batch), not {key!r}."
                )
        try:
            self._prefix = {stage: prefix.format(stage=stage) for stage in ("val", "test")}
        except (AttributeError, KeyError, IndexError, ValueError):
            raise InputError(
                f"`prefix` must be text with no field but {{stage}}, not {prefix!r}."
            ) from None
        self._prog_bar = checks.flag("prog_bar", prog_bar)
        self._metrics, self._settings = parse_all(metrics), settings
        self._new()  # wrong metrics and settings are refused here, not after an epoch
        self._ids = {"user_ids": user_ids, "item_ids": item_ids}
        self.metrics: list[Any] = []
        self._results: list[ExactRanks | RankSample] = []
        self._counted: set[int] = set()  # data loaders that had a batch here

    @property
    def metric(self) -> Any:
        """The metric of the first data loader, or of the only one."""
        return self.metrics[self._loader(0)]

    def exact(self, dataloader_idx: int = 0) -> ExactRanks:
        """Return the exact ranks of the last epoch, over all processes."""
        result = self._results[self._loader(dataloader_idx)]
        if isinstance(result, RankSample):
            raise InputError(
                f"`design` must be exact for exact ranks; it is {result.design}. `sample()` "
                "returns the ranks among sampled candidates."
            )
        return result

    def sample(self, dataloader_idx: int = 0) -> RankSample:
        """Return the ranks of the last epoch as a sample, for `fullrank.estimate`."""
        result = self._results[self._loader(dataloader_idx)]
        return result if isinstance(result, RankSample) else result.whole_sample()

    def __repr__(self) -> str:
        return f"RankCallback({', '.join(one.name for one in self._metrics)!r})"

    # ---- hooks: Lightning calls them in this order ----

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Refuse a name that another callback logs too: Lightning would make one value of both."""
        for other in trainer.callbacks:
            if other is self or not isinstance(other, RankCallback):
                continue
            if shared := [name for name in self._names() if name in other._names()]:
                raise InputError(
                    "`prefix` must differ between callbacks that log the same metric; two of them "
                    f"log {shared[0]!r}."
                )

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(trainer.num_val_batches, pl_module)

    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self._count("validation_step", outputs, batch, dataloader_idx)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.sanity_checking:
            self.metrics = []  # nothing is kept of it
        else:
            self._log("val", pl_module)

    def on_test_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(trainer.num_test_batches, pl_module)

    def on_test_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self._count("test_step", outputs, batch, dataloader_idx)

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._log("test", pl_module)

    # ---- what they share ----

    def _names(self) -> list[str]:
        return [f"{start}{one.name}" for start in self._prefix.values() for one in self._metrics]

    def _new(self) -> Any:
        return RankMetric(self._metrics, **self._settings)

    def _loader(self, number: int) -> int:
        """The number of a data loader of the last epoch."""
        if not self._results:
            raise NotFittedError(
                "Ranks are not available before a validation or test epoch has ended."
            )
        last = len(self._results) - 1
        return checks.integer("dataloader_idx", number, low=0, high=last)

    def _begin(self, loaders: list[Any], pl_module: Any) -> None:
        self._results, self._counted = [], set()
        self.metrics = [self._new().to(pl_module.device) for _ in loaders]

    def _count(self, step: str, outputs: Any, batch: Any, dataloader_idx: int) -> None:
        found = {
            name: None if key is None else _found(name, key, outputs, batch, step)
            for name, key in self._keys.items()
        }
        scores, target, user = (found.pop(name) for name in ("scores", "target", "user"))
        self._counted.add(dataloader_idx)
        self.metrics[dataloader_idx].update(scores, target, user, **found)

    def _log(self, stage: str, pl_module: Any) -> None:
        """Log the metrics of each data loader, and keep its ranks for later.

        Here every process takes part in gathering them; afterwards one may ask alone. Lightning
        wants to reduce what several processes log. The largest of equal values is that value to the
        last bit, which their mean need not be.
        """
        import torch

        # Apple's GPUs have no float64
        dtype = torch.float32 if pl_module.device.type == "mps" else torch.float64
        found = [self._result(metric) for metric in self.metrics]
        if found[0] is not None and not any(found[1:]) and self._counted <= {0}:
            # a CombinedLoader that is not sequential has several loaders and batches of them all
            found, self.metrics = found[:1], self.metrics[:1]
        for number, values in enumerate(found):
            if values is None:
                raise InputError(
                    "`target` must hold at least one target that is not padding; data loader "
                    f"{number} had none."
                )
            suffix = f"/dataloader_idx_{number}" if len(found) > 1 else ""
            for name, value in values.items():
                pl_module.log(
                    f"{self._prefix[stage]}{name}{suffix}",
                    torch.tensor(value, dtype=dtype, device=pl_module.device),
                    prog_bar=self._prog_bar,
                    sync_dist=True,
                    reduce_fx="max",
                    batch_size=1,
                    add_dataloader_idx=False,
                )

    def _result(self, metric: Any) -> dict[str, float] | None:
        """The metrics of a data loader, whose ranks are kept; None if no process had a target."""
        exact = metric.design is None
        try:
            ranks = (metric.exact if exact else metric.sample)(**self._ids)
        except NoTargetsError:
            return None
        self._results.append(ranks)
        return dict(ranks.metrics(metric.metrics) if exact else metric.compute())


def _found(name: str, key: Key, outputs: Any, batch: Any, step: str) -> Any:
    """What a key names in the outputs or, where they lack it, in the batch."""
    if callable(key):
        value = key(outputs, batch)
    else:
        value = _looked_up(outputs, key)
        if value is _ABSENT and name == "scores" and getattr(outputs, "ndim", 0) > 1:
            return outputs
        if value is _ABSENT:
            value = _looked_up(batch, key)
    if value is _ABSENT:
        raise InputError(
            f"`{name}` must name a part of what {step} returns or of the batch; {key!r} is in "
            f"neither: {step} returned {_described(outputs)}, and the batch is "
            f"{_described(batch)}.{_HINTS[name]}"
        )
    if value is None and name != "exclude":
        raise InputError(
            f"`{name}` must name a tensor; its value is None in what {step} returned or in the "
            f"batch.{_HINTS[name]}"
        )
    return value


def _looked_up(place: Any, key: str | int) -> Any:
    if isinstance(key, int):
        inside = isinstance(place, list | tuple) and -len(place) <= key < len(place)
        return place[key] if inside else _ABSENT
    if isinstance(place, Mapping):
        return place.get(key, _ABSENT)
    if place is None or checks.is_tensor(place):
        return _ABSENT
    if hasattr(place, key):
        return getattr(place, key)
    try:  # classes with columns, such as RecBole's Interaction
        return place[key]
    except (KeyError, IndexError, TypeError, ValueError):
        return _ABSENT


def _described(place: Any) -> str:
    if isinstance(place, Mapping):
        keys = ", ".join(repr(key) for key in place)
        named = "the key" if len(place) == 1 else "the keys"
        return f"a dict with {named} {keys}" if keys else "an empty dict"
    if isinstance(place, list | tuple):
        return f"a {type(place).__name__} of length {len(place)}"
    if checks.is_tensor(place):
        return f"a tensor of shape {tuple(place.shape)}"
    return "None" if place is None else f"an object of type {type(place).__name__}"
