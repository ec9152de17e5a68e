"""Exact ranks: what was counted for each target, and the ranks and metrics that follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints
from fullrank.errors import InputError
from fullrank.metrics import Metric, parse_all
from fullrank.samples.sample import RankSample

_SHOWN = ("recall@10", "ndcg@10", "ap@10", "auc")


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactRanks:
    """Exact ranks, one for each target in the order given.

    Attributes
    ----------
    ranks : from 1, by the tie policy; float64 for "mean", int64 otherwise
    n_greater, n_equal : other candidates with a higher and with exactly the same score
    n_candidates : candidates of the target's user, the target included
    user_rows, item_rows : the targets
    n_targets : targets of the same user
    offset : other targets of the same user that rank above
    weight : of the target's user
    ties, precision, seed : the settings; `seed` is that of ties="random", None otherwise
    pool : "all", or "unseen" where items were excluded
    n_undecided : on a GPU, how many comparisons of a factor model's scores were closer than the
        error bound of what was multiplied, each target's with itself included. With precision
        "exact" they were decided again; with "fast" they were not, and the number is projected
        from some of the items. None where nothing was counted so.
    """

    ranks: NDArray[Any]
    n_greater: Ints
    n_equal: Ints
    n_candidates: Ints
    user_rows: Ints
    item_rows: Ints
    n_targets: Ints
    offset: Ints
    weight: NDArray[np.float64]
    ties: str
    precision: str
    pool: str
    seed: int | None = None
    n_undecided: int | None = None

    @property
    def n_users(self) -> int:
        return int(np.unique(self.user_rows).size)

    def metrics(self, *metrics: str | Metric | Iterable[str | Metric]) -> dict[str, float]:
        """Weighted means over users, such as `result.metrics("recall@10", "ndcg@10")`."""
        wanted = [metric for given in metrics for metric in parse_all(given)]
        total = float((self.weight / self.n_targets).sum())  # of users, each counted once
        return {metric.name: float(self.gains(metric) @ self.weight) / total for metric in wanted}

    def gains(self, metric: str | Metric) -> NDArray[np.float64]:
        """What each target adds to its user's metric."""
        (parsed,) = parse_all(metric)
        return parsed.gains(
            self.ranks, self.n_candidates, n_targets=self.n_targets, offset=self.offset
        )

    def sample(self) -> RankSample:
        """The ranks as a sample that happens to hold every item: n = N, without replacement."""
        if self.ties == "mean":
            raise InputError(
                '`ties` must be "best", "worst" or "random" for a sample, whose ranks are whole '
                'numbers; these ranks were made with "mean".'
            )
        several = bool((self.n_targets > 1).any())
        return RankSample.from_ranks(
            self.ranks - self.offset,
            sample_size=self.n_candidates - self.n_targets + 1,
            n_items=self.n_candidates,
            replacement=False,
            pool=self.pool,
            ties=self.ties,
            user=self.user_rows,
            weight=self.weight,
            n_targets=self.n_targets if several else 1,
            offset=self.offset if several else 0,
        )

    def to_dict(self) -> dict[str, Any]:
        """One list for each column, and the settings."""
        columns = {name: array.tolist() for name, array in self._columns().items()}
        return columns | {
            "ties": self.ties,
            "precision": self.precision,
            "seed": self.seed,
            "n_undecided": self.n_undecided,
        }

    def to_arrow(self) -> Any:
        """A pyarrow table with one row for each target."""
        import pyarrow

        return pyarrow.table(self._columns())

    def to_frame(self) -> Any:
        """Return the ranks as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = ("user_rows", "item_rows", "ranks", "n_greater", "n_equal", "n_candidates",
                 "n_targets", "offset", "weight")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        low, high = int(self.n_candidates.min()), int(self.n_candidates.max())
        sizes = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        values = self.metrics(_SHOWN)
        head = (
            f"exact ranks of {self.ranks.size:,} targets of {self.n_users:,} users among {sizes} "
            f"items (ties: {self.ties})"
        )
        lines = [f"{'median rank':<12}{np.median(self.ranks):>10,.1f}"]
        lines += [f"{name:<12}{value:>10.4f}" for name, value in values.items()]
        return "\n".join([head, *lines])
