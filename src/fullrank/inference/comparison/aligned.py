"""Results of several models side by side: the same users in order, or compared as different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fullrank._lib.checks import printable
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.inference.comparison import inputs
from fullrank.inference.comparison.pairing import pair
from fullrank.inference.estimation.influence import SHARED_BIAS, PseudoValues
from fullrank.metrics import Metric, parse_all


@dataclass(frozen=True, kw_only=True, eq=False)
class Aligned:
    """What each user adds to each model's metrics.

    Attributes
    ----------
    models, metrics : names
    results : what was given, limited to the users compared
    values : for each model (n_users, n_metrics): the metric of the user, or for samples the
        estimate plus the user's influence on it
    estimate : (n_models, n_metrics), what `estimate` gives, and the mean of the values
    bias_square : (n_models, n_metrics), squared smoothing bias, for the estimates' variance
    shared_bias : the correlation of these biases; 0 where designs differ, or users
    weight : for each model, of its users
    paired : whether rows of different models are the same users
    methods : the estimator of each model; "exact" for exact ranks
    exact : whether every model's values are metrics of exact ranks (or given as they are)
    notes : what was found on the way
    """

    models: tuple[str, ...]
    metrics: tuple[str, ...]
    results: tuple[Any, ...]
    values: tuple[Floats, ...]
    estimate: Floats
    bias_square: Floats
    shared_bias: float
    weight: tuple[Floats, ...]
    paired: bool
    methods: tuple[str, ...]
    exact: bool
    notes: tuple[str, ...]

    @property
    def n_users(self) -> tuple[int, ...]:
        return tuple(weight.size for weight in self.weight)

    def bias_of_difference(self, first: int, second: int) -> Floats:
        """The squared bias of a difference of two models in each metric."""
        a, b = self.bias_square[first], self.bias_square[second]
        return np.asarray(a + b - 2.0 * self.shared_bias * np.sqrt(a * b))

    def bias_covariance(self, metric: int) -> Floats:
        """The biases of all models in a metric, as a covariance matrix."""
        bias = np.sqrt(self.bias_square[:, metric])
        alike = np.full((bias.size, bias.size), self.shared_bias)
        np.fill_diagonal(alike, 1.0)
        return np.asarray(alike * np.outer(bias, bias))


def align(
    results: Mapping[str, Any],
    metrics: str | Metric | Iterable[str | Metric],
    *,
    method: str,
    paired: bool | None,
    settings: Mapping[str, Any],
) -> Aligned:
    """Limit the results to their common users, and take the users' values."""
    wanted = parse_all(metrics)
    results = _named(results)
    models = tuple(results)
    results, spread = inputs.unseeded(results, wanted, method, settings)
    given = {name: inputs.read(name, results[name], wanted) for name in models}
    given = _weighted(given, paired)
    plain = any(isinstance(one, PseudoValues) for one in given.values())
    _once(given)
    pairing = pair({name: inputs.named(one) for name, one in given.items()}, paired, plain=plain)
    paired, notes = pairing.paired, (*pairing.notes, *spread)
    given = {
        name: inputs.kept(one, pairing.keep[name]) if name in pairing.keep else one
        for name, one in given.items()
    }
    notes += _catalogues(given, paired)
    found = {
        name: inputs.values_of(name, one, wanted, method, settings) for name, one in given.items()
    }
    if pairing.by_name:
        found = {name: inputs.by_user(one) for name, one in found.items()}
    weights = [np.asarray(one.weight, dtype=np.float64) for one in found.values()]
    if paired:
        for name, weight in zip(models[1:], weights[1:], strict=True):
            if not np.allclose(weight, weights[0]):
                raise _unlike(models[0], name)
    return Aligned(
        models=models,
        metrics=tuple(metric.name for metric in wanted),
        results=tuple(given.values()),
        values=tuple(np.asarray(one.values, dtype=np.float64) for one in found.values()),
        estimate=np.array([one.estimate for one in found.values()], dtype=np.float64),
        bias_square=np.array([inputs.bias_square(one) for one in found.values()]),
        shared_bias=SHARED_BIAS if paired and inputs.of_one_design(given.values()) else 0.0,
        weight=tuple(weights),
        paired=paired,
        methods=tuple(one.method for one in found.values()),
        exact=all(one.exact for one in found.values()),
        notes=notes,
    )


def _named(results: Any) -> dict[str, Any]:
    """Results by names that can stand in a table: what cannot be printed is written out."""
    if not isinstance(results, Mapping) or len(results) < 2:
        raise InputError("`results` must map the names of two models or more to their ranks.")
    for name in results:
        if not isinstance(name, str):
            raise InputError(f"`results` must name its models by text, not {name!r}.")
    shown = {printable(name): result for name, result in results.items()}
    if len(shown) < len(results):
        raise InputError("`results` must name its models so that they differ when printed.")
    return shown


def _unlike(first: str, second: str) -> InputError:
    return InputError(
        f"`results` must weigh a user alike in every model; {first} and {second} do not."
    )


def _weighted(given: Mapping[str, Any], paired: bool | None) -> dict[str, Any]:
    """The results without users of weight 0; unnamed ones must be the same rows, to stay paired."""
    names = list(given)
    zero = [inputs.weight_of(one) == 0.0 for one in given.values()]
    unnamed = all(inputs.named(one).user is None for one in given.values())
    if paired is not False and unnamed and len({one.size for one in zero}) == 1:
        for name, one in zip(names[1:], zero[1:], strict=True):
            if (one != zero[0]).any():
                raise _unlike(names[0], name)
    return {name: inputs.weighted(name, one) for name, one in given.items()}


def _once(given: Mapping[str, Any]) -> None:
    """Users' values as given hold each user once."""
    for name, one in given.items():
        user = one.user if isinstance(one, PseudoValues) else None
        if user is not None and np.unique(user).size != len(user):
            raise InputError(f"`results` must have each user once; {name} has some twice.")


def _catalogues(given: Mapping[str, Any], paired: bool) -> tuple[str, ...]:
    """Say so where models ranked the same users, or all of theirs, among different numbers."""
    known = [(name, one) for name in given if (one := inputs.catalogue_of(given[name])) is not None]
    for (a, (users, first)), (b, (_, second)) in combinations(known, 2):
        if inputs.pool_of(given[a]) != inputs.pool_of(given[b]):
            continue  # one counts the items that a user has seen, and the other does not
        if not paired:  # unless users' catalogues vary, which the users may account for
            if np.ptp(first) == np.ptp(second) == 0 and first[0] != second[0]:
                sizes = f"{first[0]:,} and {second[0]:,}"
                return (f"{a} and {b} were ranked among different candidates ({sizes}).",)
            continue
        differ = np.flatnonzero(first != second)
        if differ.size:
            at = differ[0]
            who = f"row {at}" if users is None else f"user {users[at]}"
            note = (
                f"{a} and {b}: {differ.size:,} of {first.size:,} users were ranked among different "
                f"candidates ({who} among {first[at]:,} and {second[at]:,})."
            )
            return (note,)
    return ()
