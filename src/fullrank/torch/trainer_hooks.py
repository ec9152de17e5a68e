"""The two hooks of the Hugging Face Trainer: counts instead of logits, and metrics of the counts.

The Trainer keeps what `preprocess_logits_for_metrics` returns until the evaluation ends: with these
hooks three whole numbers per target, instead of one logit per target and item. Where batches or
processes have sequences of different lengths it pads with -100, counts among them. Padded
positions have no label and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError, NotFittedError
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks
from fullrank.torch.counting import NAN, OUTSIDE, counts

_HOOK = "preprocess_logits_for_metrics=fullrank.torch.preprocess_logits"


def preprocess_logits(logits: Any, labels: Any, *, shift: bool = False) -> Any:
    """Return the counts of each label; pass this function as `preprocess_logits_for_metrics`.

    A logit of -inf is not counted. To exclude items that the user has seen, set their logits to
    -inf in the model.

    Parameters
    ----------
    logits : tensor (B, N) or (B, L, N), or a tuple that holds one, as the Trainer passes them
        Of several in a tuple the first are the logits; one that is wider is refused.
    labels : tensor (B,) or (B, L)
        Columns of the logits; -100 or another negative number is padding. With several
        `label_names` they are a tuple, whose first element has the labels.
    shift : whether the logits of a position predict the label of the next one, as in causal
        language models; pass ``functools.partial(preprocess_logits, shift=True)``

    Returns
    -------
    tensor (B, 3) or (B, L, 3) of int64: `above`, `equal` and `candidates`, as `counts` returns them

    Examples
    --------
    >>> import torch
    >>> preprocess_logits(torch.tensor([[0.1, 0.9, 0.5]]), torch.tensor([2]))
    tensor([[1, 0, 3]])
    """
    target = labels[0] if isinstance(labels, list | tuple) else labels
    if target is None:
        raise InputError(
            "`labels` must be a tensor; it is None. Name the labels of the data set in "
            "TrainingArguments(label_names=[…])."
        )
    scores = _scores(logits, target)
    if not checks.flag("shift", shift):
        return counts(scores, target)
    if target.ndim != 2:
        raise InputError(
            f"`labels` must have shape (B, L) when `shift` is True, not {tuple(target.shape)}."
        )
    found = counts(scores[:, :-1], target[:, 1:])
    return _zeros_first(found, target)


def compute_metrics(
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT, *, ties: str = "mean"
) -> TrainerMetrics:
    """Return the function to pass to the Trainer as `compute_metrics`.

    Every label is ranked by its own row of logits, and metrics are means over labels. The Trainer
    puts "eval_" before the names, so that `metric_for_best_model` is "eval_ndcg@10".

    Parameters
    ----------
    metrics : such as "recall@10, ndcg@10"
    ties : "mean", "best" or "worst"

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> metrics = compute_metrics("recall@1, rr")
    >>> evaluated = SimpleNamespace(predictions=[[0, 0, 9], [3, 0, 9]], label_ids=[4, 8])
    >>> metrics(evaluated)
    {'recall@1': 0.5, 'rr': 0.625}
    >>> metrics.exact().ranks
    array([1., 4.])
    """
    return TrainerMetrics(metrics, ties=ties)


class TrainerMetrics:
    """The result of `compute_metrics`: a function that keeps the ranks of its last call."""

    def __init__(
        self, metrics: str | Metric | Iterable[str | Metric] = DEFAULT, *, ties: str = "mean"
    ) -> None:
        self.metrics = parse_all(metrics)
        self.ties = checks.choice("ties", ties, ("mean", "best", "worst"))
        self._parts: list[tuple[Ints, Ints, Array | None]] = []
        self._ranks: ExactRanks | None = None

    def __call__(self, prediction: Any, compute_result: bool | None = None) -> dict[str, float]:
        """Return metrics of the counts; with `batch_eval_metrics`, after the last batch."""
        if compute_result is None:
            self._parts = []
        self._parts += [_known(*part) for part in _batches(prediction)]
        if compute_result is False:
            return {}
        parts, self._parts = self._parts, []
        self._ranks = _ranks(parts, self.ties)
        return self._ranks.metrics(self.metrics)

    def reset(self) -> None:
        """Forget the batches of an evaluation with `batch_eval_metrics` that was interrupted."""
        self._parts = []

    def exact(self) -> ExactRanks:
        """Return the ranks of the last evaluation.

        `item` holds the labels. `user` numbers them from 0 in the order of the data set, or holds
        the second of the Trainer's `label_names`, as in
        ``TrainingArguments(label_names=["labels", "user"])``.
        """
        if self._ranks is None:
            raise NotFittedError(
                "Ranks are not available before the Trainer has evaluated the model."
            )
        return self._ranks

    def __repr__(self) -> str:
        return f"compute_metrics({', '.join(metric.name for metric in self.metrics)!r})"


def _scores(logits: Any, target: Any) -> Any:
    """The logits among the model's outputs: the first with an axis more than the labels.

    None may be wider: hidden states are narrower than logits of all items, and the Trainer does not
    pass the names that would tell them apart.
    """
    given = logits if isinstance(logits, list | tuple) else (logits,)
    fitting = [one for one in given if getattr(one, "ndim", None) == target.ndim + 1]
    if not fitting:
        raise InputError(
            f"`logits` must hold a tensor with {target.ndim + 1} axes, one more than `labels`; "
            f"found {', '.join(_shape(one) for one in given) or 'none'}."
        )
    alike = [one for one in fitting if one.shape[:-1] == target.shape] or fitting
    if any(one.shape[-1] > alike[0].shape[-1] for one in alike):
        raise InputError(
            f"`logits` must begin with the logits of all items if it holds several tensors; found "
            f"{', '.join(_shape(one) for one in alike)}. Give the Trainer "
            "preprocess_logits_for_metrics=lambda logits, labels: "
            "fullrank.torch.preprocess_logits(logits[…], labels)."
        )
    return alike[0]


def _shape(value: Any) -> str:
    return str(tuple(value.shape)) if hasattr(value, "shape") else type(value).__name__


def _zeros_first(found: Any, target: Any) -> Any:
    """Counts of positions from 1 on, with the first position as padding."""
    aligned = found.new_zeros((*target.shape, 3))
    aligned[:, 1:] = found
    return aligned


def _batches(prediction: Any) -> Iterator[tuple[Any, Any]]:
    """The evaluation as a whole, or batch by batch with `eval_do_concat_batches=False`."""
    counted, labels = prediction.predictions, prediction.label_ids
    # a nested list of numbers is one array; the Trainer's list holds an array per batch
    if isinstance(counted, list) and counted and hasattr(counted[0], "shape"):
        if not isinstance(labels, list) or len(labels) != len(counted):
            got = len(labels) if isinstance(labels, list) else type(labels).__name__
            raise InputError(
                "`label_ids` must be a list with one entry for each batch of `predictions`, "
                f"{len(counted)} in all, not {got}."
            )
        yield from zip(counted, labels, strict=True)
    else:
        yield counted, labels


def _known(counted: Any, labels: Any) -> tuple[Ints, Ints, Array | None]:
    """Counts, item and user of every label that is not padding."""
    user = None
    if isinstance(labels, tuple):
        if not labels:
            raise InputError("`label_ids` must hold labels; it is an empty tuple.")
        labels, user = labels[0], checks.as_array("label_ids", labels[1]) if labels[1:] else None
    item = checks.as_array("label_ids", labels)
    if item.dtype.kind not in "iu":
        raise InputError(f"`label_ids` must hold whole numbers, not {item.dtype}.")
    table = np.empty(()) if isinstance(counted, tuple) else checks.as_array("predictions", counted)
    if table.dtype.kind not in "iu" or table.shape != (*item.shape, 3):
        got = "a tuple" if isinstance(counted, tuple) else f"{table.dtype} of shape {table.shape}"
        raise InputError(
            "`predictions` must hold three whole numbers per label, in an array of shape "
            f"{(*item.shape, 3)}, not {got}. Pass {_HOOK} to the Trainer as well."
        )
    here = (item >= 0) & (table[..., 2] != 0)
    if user is not None:
        if user.shape not in (item.shape[:1], item.shape):
            raise InputError(
                "`label_ids` must have a user for each row of labels when users are the second of "
                f"the Trainer's `label_names`, in shape {item.shape[:1]} or {item.shape}, not "
                f"{user.shape}."
            )
        rows = user.reshape(*user.shape, *[1] * (item.ndim - user.ndim))
        user = np.broadcast_to(rows, item.shape)[here]
    return table[here].astype(np.int64), item[here].astype(np.int64), user


def _ranks(parts: list[tuple[Ints, Ints, Array | None]], ties: str) -> ExactRanks:
    table = np.concatenate([part[0] for part in parts]) if parts else np.empty((0, 3), np.int64)
    if len(table) == 0:
        raise InputError(
            "`label_ids` must have at least one label that is not padding; all are negative."
        )
    item = np.concatenate([part[1] for part in parts])
    user = np.arange(len(item))
    if parts[0][2] is not None:
        user = checks.ids("label_ids", np.concatenate([part[2] for part in parts]), len(item))
        n_repeats = user.size - np.unique(user).size
        if n_repeats:
            raise InputError(
                "`label_ids` must name each user once when users are the second of the Trainer's "
                f"`label_names`; {n_repeats} of {user.size} "
                f"{'is a repeat' if n_repeats == 1 else 'are repeats'}."
            )
    _check(table[:, 2], item)
    return ExactRanks(
        above=checks.frozen(table[:, 0]),
        equal=checks.frozen(table[:, 1]),
        candidates=checks.frozen(table[:, 2]),
        n_targets=checks.frozen(np.ones(len(table), np.int64)),
        offset=checks.frozen(np.zeros(len(table), np.int64)),
        weight=checks.frozen(np.ones(len(table))),
        user=checks.frozen(user),
        item=checks.frozen(item),
        ties=ties,
        pool="all" if (table[:, 2] == table[0, 2]).all() else "unseen",
    )


def _check(candidates: Ints, item: Ints) -> None:
    """Refuse what `counts` could not count, which it says in the counts themselves."""
    if (missing := candidates == NAN).any():
        raise InputError(
            f"`logits` must not be NaN; they are NaN for {missing.sum()} of {len(item)} labels, "
            f"first for label {item[missing.argmax()]}."
        )
    checks.reject("labels", item, candidates == OUTSIDE, "be columns of the logits")
