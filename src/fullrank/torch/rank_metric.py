"""Ranks inside a training loop, over batches and processes: `RankMetric`."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np

from fullrank._lib import checks, extras
from fullrank.designs import Design, Exact
from fullrank.errors import InputError
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.torch import rows
from fullrank.torch.library import torch
from fullrank.torch.local_metric import LocalMetric, gather, processes

POLICIES = ("mean", "best", "worst")


def _base() -> Any:
    if importlib.util.find_spec("torchmetrics") is None:
        return LocalMetric
    return extras.load("torchmetrics", extra="torch", purpose="`RankMetric`").Metric


class RankMetric(_base()):  # type: ignore[misc]
    """Compute exact ranks and their metrics from the scores of a training loop.

    Each `update` counts a block of scores on its device (`counts`) and keeps seven whole numbers
    per target. The result equals that of `fullrank.rank` on the same scores, for any batches and
    any number of processes: rows of all processes are gathered, and targets that a sampler repeated
    to fill its shards are dropped. Here a score of -inf means that an item is not a candidate; for
    `fullrank.rank` it is a score like any other. It is a ``torchmetrics.Metric`` if torchmetrics is
    installed, and has the same methods otherwise.

    Parameters
    ----------
    metrics : str, Metric or several, default "recall@10, ndcg@10"
        The metrics that `compute` returns, such as ``"recall@10, ndcg@10"``.
    ties : {"mean", "best", "worst"}
        How to rank a target among candidates with the same score.
    n_items : int, optional
        The number of items N, only checked if the scores are those of all items. Required for
        sampled candidates: the number of items that they were drawn from, including the target.
        That is the catalogue or, if the user's training items were never drawn, the catalogue less
        these items (their mean number, as an approximation).
    design : str or Design, default "exact"
        With "exact", blocks have a column for each item. With ``"sampled:100"``, blocks have a
        column for each of 100 candidates, including the target, and `compute` estimates the
        full-catalogue metrics (`fullrank.estimate`). The candidates must not include the other
        targets of the same user: metrics would be too low.
    **settings : of ``torchmetrics.Metric``, such as `process_group` and `sync_on_compute`

    Examples
    --------
    >>> import torch
    >>> from fullrank.torch import RankMetric
    >>> metric = RankMetric("recall@1, ndcg@10")
    >>> scores = torch.tensor([[0.9, 0.1, 0.5, 0.3], [0.2, 0.2, 0.8, 0.0]])
    >>> metric.update(scores, torch.tensor([2, 2]), user=torch.tensor([17, 4]))
    >>> metric.compute()
    {'recall@1': 0.5, 'ndcg@10': 0.8154648767857288}
    >>> metric.exact().user, metric.exact().ranks
    (array([ 4, 17]), array([1., 2.]))
    """

    is_differentiable: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None
    full_state_update: ClassVar[bool] = False

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
        *,
        ties: str = "mean",
        n_items: int | None = None,
        design: str | Design = "exact",
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.metrics = parse_all(metrics)
        self.ties = checks.choice("ties", ties, POLICIES)
        self.n_items = None if n_items is None else checks.integer("n_items", n_items, low=1)
        drawn = Design.of(design)
        if drawn.adaptive or (isinstance(drawn, Exact) and drawn.max_rank is not None):
            raise InputError(
                '`design` must be "exact" or draw a fixed number of candidates, as in '
                f'"sampled:100"; it is {str(design)!r}.'
            )
        self.design = None if isinstance(drawn, Exact) else drawn
        if self.design is not None and self.n_items is None:
            raise InputError(
                "`n_items` must be given for sampled candidates. It is the number of items from "
                "which they were drawn, including the target."
            )
        self._n_lists = 0  # numbers for lists of scores without a user
        self.rows: Any
        self.add_state("rows", default=[], dist_reduce_fx="cat")

    def update(
        self, scores: Any, target: Any, user: Any = None, *, exclude: Any = None, item: Any = None
    ) -> None:
        """Count the targets of a block of scores.

        Parameters
        ----------
        scores, target, exclude : see `counts`
        user : whole numbers (B,), optional
            The number of each row's list of scores; (B, L) for scores (B, L, N). Rows of the same
            user are targets of the same list of scores, in one update or several; different lists
            need different numbers. The rows of a user must also exclude the same items: do not
            exclude the user's other targets, because their effect is removed from the counts
            afterwards. By default each row is a different user. Several processes need
            `user`, because otherwise repeats of a sampler cannot be found.
        item : whole numbers of the target's shape, optional
            Ids of the targets, if columns are not items, as in blocks of sampled candidates.
        """
        if user is None and self.sync_on_compute and processes(self.process_group):
            raise InputError(
                "`user` must be given when several processes evaluate: samplers repeat rows to "
                "fill their shards, and repeats are identified by user and item."
            )
        found = rows.make_rows(scores, target, user, exclude, item, numbered_from=self._n_lists)
        self._check_block(scores, target)
        if user is None:
            self._n_lists += scores.shape[:-1].numel()
        if found.device.type == "cpu":  # elsewhere the device would have to be waited for
            rows.check_counted(found.numpy())
            found = found[found[:, rows.CANDIDATES] != 0]
        self.rows.append(found)

    def _check_block(self, scores: Any, target: Any) -> None:
        width = scores.shape[-1]
        if self.design is None:
            if self.n_items not in (None, width):
                raise InputError(
                    f"`scores` must have a column for each item, {self.n_items} in all, not "
                    f'{width}. Sampled candidates need a design, such as design="sampled:100".'
                )
        elif scores.ndim == 2 and len(np.shape(target)) > 1:
            raise InputError(
                "`target` must hold one column for each row of sampled candidates. Give further "
                "targets of a user in separate rows."
            )

    def forward(
        self, scores: Any, target: Any, user: Any = None, *, exclude: Any = None, item: Any = None
    ) -> dict[str, float]:
        """Update, and return the metrics of this batch alone; NaN where it has no target.

        Metrics of torchmetrics forget all batches for a while to do so, and would lose them if this
        one raised.
        """
        if getattr(self, "_is_synced", False):
            raise InputError("`unsync` must be called before a synced metric is updated.")
        self.rows = list(self.rows)  # which the metrics of a collection share
        before = len(self.rows)
        self.update(scores, target, user, exclude=exclude, item=item)
        here = torch.cat(self.rows[before:])
        if getattr(self, "dist_sync_on_step", False) and processes(self.process_group):
            here = torch.cat(gather(here, self.process_group))
        table = here.cpu().numpy()
        if not (table[:, rows.CANDIDATES] != 0).any():
            return dict.fromkeys((metric.name for metric in self.metrics), math.nan)
        return self._values(table)

    def compute(self) -> dict[str, float]:
        """Return the metrics by name, over all updates and processes since the last reset.

        They are equal to the last bit to ``exact().metrics(...)`` or, for sampled candidates, to
        the values of ``fullrank.estimate(sample(), ...)``.
        """
        with getattr(self, "computing", nullcontext)():
            table = self._table()
        return self._values(table)

    def _values(self, table: Any) -> dict[str, float]:
        if self.design is None:
            return rows.exact_ranks(table, self.ties).metrics(self.metrics)
        from fullrank.inference import estimate

        sample = rows.rank_sample(table, self.ties, self.design, self._size())
        return dict(estimate(sample, self.metrics, confidence_level=None).values)

    def exact(self, user_ids: Any = None, item_ids: Any = None) -> ExactRanks:
        """Return exact ranks of all targets, by user and item; every process must call it.

        Parameters
        ----------
        user_ids, item_ids : optional
            The id of each user or item number, if these are rows of a table of ids.
        """
        if self.design is not None:
            raise InputError(
                "`design` must be exact for exact ranks; these candidates were sampled. "
                "`sample()` returns the ranks among them."
            )
        return rows.exact_ranks(self._all(), self.ties, user_ids=user_ids, item_ids=item_ids)

    def sample(self, user_ids: Any = None, item_ids: Any = None) -> RankSample:
        """Return the ranks as a sample, for `fullrank.estimate`; every process must call it.

        With ``ties="mean"`` half ranks are rounded up, because ranks of a sample are whole numbers.
        The parameters are those of `exact`.
        """
        if self.design is None:
            return self.exact(user_ids, item_ids).whole_sample()
        return rows.rank_sample(
            self._all(), self.ties, self.design, self._size(), user_ids=user_ids, item_ids=item_ids
        )

    def _size(self) -> int:
        assert self.n_items is not None
        return self.n_items

    def _all(self) -> Any:
        """The rows of all processes."""
        if getattr(self, "_is_synced", False):
            return self._table()
        with self.sync_context(should_sync=self.sync_on_compute):
            return self._table()

    def _table(self) -> Any:
        """The rows that are here, as an array."""
        if isinstance(self.rows, torch.Tensor):
            return self.rows.cpu().numpy()
        here = [part.cpu() for part in self.rows]
        return torch.cat(here or [torch.empty((0, rows.WIDTH), dtype=torch.int64)]).numpy()

    @contextmanager
    def sync_context(self, *args: Any, **kwargs: Any) -> Iterator[None]:
        """The rows of all processes, while the context lasts, however it ends."""
        was_synced = getattr(self, "_is_synced", False)
        try:
            with super().sync_context(*args, **kwargs):
                yield
        except BaseException:  # torchmetrics would keep the rows of all processes as this one's
            if getattr(self, "_is_synced", False) and not was_synced:
                self.unsync()
            raise

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Gather the rows of all processes; some may have none."""
        if processes(kwargs.get("process_group") or self.process_group):
            self.rows = [self._joined(kwargs.get("process_group") or self.process_group)]
        super().sync(*args, **kwargs)

    def _joined(self, group: Any) -> Any:
        """The rows of this process in one tensor, where the processes can exchange it."""
        parts = [self.rows] if isinstance(self.rows, torch.Tensor) else list(self.rows)
        place = parts[-1].device if parts else self.device
        if torch.distributed.get_backend(group) == "nccl" and place.type != "cuda":
            place = torch.device("cuda", torch.cuda.current_device())
        empty = torch.empty((0, rows.WIDTH), dtype=torch.int64, device=place)
        return torch.cat([empty, *(part.to(place) for part in parts)])

    def reset(self) -> None:
        """Forget all updates."""
        super().reset()
        self._n_lists = 0

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        """Load the rows, and go on with the number after theirs where users were not given."""
        super()._load_from_state_dict(*args, **kwargs)
        if not isinstance(self.rows, torch.Tensor):
            self.rows = list(self.rows)  # the caller's list stays as it is
        parts = [self.rows] if isinstance(self.rows, torch.Tensor) else self.rows
        numbers = [int(part[:, rows.USER].max()) for part in parts if len(part)]
        self._n_lists = 1 + max(numbers, default=-1)

    def merge_state(self, incoming_state: Any) -> None:
        """Add the targets of another metric, or of its states by name."""
        if isinstance(incoming_state, type(self)):
            own, other = (str(one.design or "exact") for one in (self, incoming_state))
            if own != other:
                raise InputError(
                    f"`incoming_state` must have the design of this metric, {own!r}, not {other!r}."
                )
            incoming_state = {"rows": incoming_state.rows}
        if not isinstance(incoming_state, Mapping) or "rows" not in incoming_state:
            raise InputError(
                "`incoming_state` must be another RankMetric or a mapping with its `rows`, not "
                f"{checks.shown(incoming_state)}."
            )
        given = incoming_state["rows"]
        parts = [*([given] if isinstance(given, torch.Tensor) else given), *self.rows]
        if any((part[..., rows.FLAGS] & rows.NUMBERED).any() for part in parts):
            raise InputError(
                "`user` must be given in every update of metrics that are merged: without it, "
                "rows of both metrics have the same numbers."
            )
        self.rows = [part.reshape(-1, rows.WIDTH) for part in parts]
        self._computed = None  # what torchmetrics keeps of the last result

    def set_dtype(self, dst_type: Any) -> RankMetric:
        """Return the metric as it is: its state is whole numbers."""
        return self

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"RankMetric({names!r}, design={str(self.design or 'exact')!r}, ties={self.ties!r})"
