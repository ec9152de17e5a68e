"""The metrics of one model from a sample of users, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks, tabular
from fullrank.data.user_samples import UserSample
from fullrank.errors import InputError
from fullrank.inference.estimation.influence import pseudo_values
from fullrank.inference.statistics.means import UNCERTAINTIES, SampleMean, mean_interval
from fullrank.metrics import DEFAULT, ByMetric, Metric, named
from fullrank.samples import ExactRanks
from fullrank.tables import ids as _ids


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UserMeans(tabular.Tabular):
    """Metric names to their means over sampled users.

    Attributes
    ----------
    means : metric name to `SampleMean`
    """

    means: Mapping[str, SampleMean]

    def __getitem__(self, metric: str | Metric) -> SampleMean:
        return self.means[named(metric, self.means)]

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.means)

    def plot(self, ax: Any = None) -> Any:
        """Draw every mean with its interval. Returns the axes."""
        ax = tabular.axes(ax)
        ends = [one.confidence_interval for one in self.means.values()]
        tabular.whiskers(ax, list(self.means), [one.value for one in self.means.values()], ends)
        ax.set_xlabel("mean over users, with its interval")
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {"format": 1, "kind": "UserMeans", "metrics": self._records()}

    def __str__(self) -> str:
        width = max(map(len, self.means))
        return "\n".join(f"{name:<{width}}  {mean}" for name, mean in self.means.items())

    def _title(self) -> str:
        return "means over sampled users"

    def _records(self) -> list[dict[str, Any]]:
        skipped = ("format", "kind")
        return [
            {"metric": name} | {k: v for k, v in mean.to_dict().items() if k not in skipped}
            for name, mean in self.means.items()
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [name, *(f"{x:.4f}" for x in (one.value, one.standard_error, *one.confidence_interval))]
            for name, one in self.means.items()
        ]
        return ["metric", "mean", "standard error", "low", "high"], rows


def user_means(
    ranks: ExactRanks,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    uncertainty: str = "auto",
    users: UserSample | None = None,
    interval_for: str = "users",
    population: int | None = None,
    confidence_level: float = 0.95,
) -> UserMeans:
    """Average metrics of exact ranks over sampled users, with standard errors and intervals.

    Parameters
    ----------
    ranks : exact ranks of the sampled users
    metrics : names such as ``"ndcg@10"``
    uncertainty : "auto" takes Wilson's interval where every user's value is 0 or 1 (recall with one
        target, hit rate), and t elsewhere; or "t", "normal", "wilson", "hoeffding" for all
    users : the `UserSample` whose users were ranked, which brings strata and the population; the
        weights in `ranks` count without it
    interval_for : with `users`: the "users" that they were drawn from, or the "population"
    population : instead of `users`, the number of users from whom these were drawn at random
    confidence_level : between 0 and 1

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.scorers import FactorScorer
    >>> from fullrank.ranking import rank
    >>> from fullrank.data import sample_users
    >>> random = np.random.default_rng(0)
    >>> scorer = FactorScorer(random.normal(size=(2000, 8)), random.normal(size=(50, 8)))
    >>> chosen = sample_users(2000, 500, rng=0)
    >>> ranks = rank(scorer, (chosen.user_rows, chosen.user_rows % 50))
    >>> print(user_means(ranks, "recall@10, ndcg@10", users=chosen))
    recall@10  0.2020 (SE 0.0155) [0.1733, 0.2341] at 95 % (wilson, 500 of 2,000 users)
    ndcg@10    0.0911 (SE 0.0079) [0.0755, 0.1066] at 95 % (t, 500 of 2,000 users)
    """
    checks.choice("uncertainty", uncertainty, ("auto", *UNCERTAINTIES))
    if not isinstance(ranks, ExactRanks):
        raise InputError(f"`ranks` must be ExactRanks, not {type(ranks).__name__}.")
    found = pseudo_values(ranks, metrics)
    if users is not None and not _ids.same(found.user, np.unique(users.user)):
        raise InputError(
            f"`users` must be the {len(found.weight):,} users that were ranked; the "
            f"{users.user_rows.size:,} users that it holds differ from these."
        )
    means = {}
    for name, values in zip(found.metrics, found.values.T, strict=True):
        hits = bool(((values == 0.0) | (values == 1.0)).all())
        means[name] = mean_interval(
            values,
            uncertainty=("wilson" if hits else "t") if uncertainty == "auto" else uncertainty,
            users=users,
            interval_for=interval_for,
            weight=None if users is not None else found.weight,
            population=population,
            confidence_level=confidence_level,
        )
    return UserMeans(means=ByMetric(means))
