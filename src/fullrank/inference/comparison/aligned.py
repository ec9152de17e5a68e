"""Results of several models, with the values of their users in one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Floats
from fullrank.errors import InputError
from fullrank.estimators.methods import Named
from fullrank.inference.comparison.pairing import Names, pair
from fullrank.inference.estimation.influence import SHARED_BIAS, PseudoValues, pseudo_values
from fullrank.inference.estimation.seeded import averaged
from fullrank.metrics import Metric, parse, parse_all
from fullrank.samples import ExactRanks, RankSample, Seeds, as_ranks
from fullrank.samples.as_ranks import within_reach


def unseeded(
    results: Mapping[str, Any],
    metrics: tuple[Metric, ...],
    method: Named,
    settings: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Several seeds of a model as the values of its users; and how much the seeds differ."""
    notes: list[str] = []
    found = dict(results)
    for name, result in results.items():
        if not isinstance(result, Seeds):
            continue
        each = {
            seed: values_of(name, read(name, one, metrics, {}), metrics, method, settings)
            for seed, one in result.samples.items()
        }
        found[name] = averaged(each.values())
        spread = np.std([one.estimate for one in each.values()], axis=0, ddof=1)
        parts = ", ".join(f"{sd:.4f} for {m.name}" for m, sd in zip(metrics, spread, strict=True))
        notes += [f"{name}: {note}" for note in result.notes]
        notes.append(
            f"{name}: values are averaged over {len(each)} seeds within users. The standard "
            f"deviation over seeds is {parts}."
        )
    return found, tuple(notes)


def read(name: str, result: Any, metrics: tuple[Metric, ...], drawn: Mapping[str, Any]) -> Any:
    """Convert users' values by metric, or plain ranks, to a result."""
    if isinstance(result, PseudoValues):
        return result
    if isinstance(result, Mapping):
        return _plain(name, result, metrics)
    if not isinstance(result, ExactRanks | RankSample):
        result = as_ranks(result, **drawn, name=f"ranks[{name!r}]")
    bare = result.rows is None if isinstance(result, RankSample) else result.count is not None
    if bare:
        raise InputError(
            f"`ranks` must have one row for each target of {name}; it has only counts, which "
            "cannot be compared user by user."
        )
    return result


def _plain(name: str, columns: Mapping[str, Any], metrics: tuple[Metric, ...]) -> PseudoValues:
    by_name = {parse(key): key for key in columns if key not in ("user", "weight")}
    arrays: list[Floats] = []
    for metric in metrics:
        if metric not in by_name:
            raise InputError(
                f"`ranks` must have {metric} for every model; {name} has "
                f"{', '.join(by_name.values()) or 'no metric'}."
            )
        size = arrays[0].size if arrays else None
        label = f"ranks[{name!r}][{by_name[metric]!r}]"
        arrays.append(checks.reals(label, columns[by_name[metric]], size=size))
    n = arrays[0].size
    user = columns.get("user")
    if user is not None:
        user = checks.ids(f"ranks[{name!r}]['user']", user, n)
    weight = columns.get("weight")
    weight = np.ones(n) if weight is None else checks.reals("weight", weight, size=n, low=0.0)
    if n == 0:
        raise InputError(f"`ranks[{name!r}]` must hold at least one user; it is empty.")
    if not weight.sum() > 0.0:
        raise InputError(f"`ranks[{name!r}]['weight']` must have a positive sum; all are 0.")
    values = np.column_stack(arrays)
    return PseudoValues(
        metrics=tuple(metric.name for metric in metrics),
        user=user,
        values=values,
        estimate=np.average(values, axis=0, weights=weight),
        weight=weight,
        method="as given",
        exact=True,
    )


def weight_of(result: Any) -> Floats:
    """The weight of each row."""
    kept: Any = result.rows if isinstance(result, RankSample) else result
    return np.asarray(kept.weight)


def weighted(name: str, result: Any) -> Any:
    """The result without users of weight 0, who would otherwise be counted as users."""
    weight = weight_of(result)
    if weight.size and not weight.any():
        raise InputError(
            f"`ranks` must have users of positive weight; all weights of {name} are 0."
        )
    if (weight > 0.0).all():
        return result
    user = named(result).user
    # a user's targets stay together
    return kept(result, weight > 0.0 if user is None else np.isin(user, user[weight > 0.0]))


def catalogue_of(result: Any) -> tuple[Array | None, Array] | None:
    """The users and how many candidates each has; None where that is not known."""
    if isinstance(result, ExactRanks):
        user, size = result.user, result.candidates
    elif isinstance(result, RankSample):
        assert result.rows is not None  # checked when it was read
        user, size = result.rows.user, result.rows.n_items
    else:
        return None
    if user is None:
        return None, size
    users, first = np.unique(user, return_index=True)
    return users, size[first]


def pool_of(result: Any) -> str:
    """Whether the items that a user has seen are counted among the candidates: "all"."""
    pool: str = result.pool if isinstance(result, ExactRanks) else result.design.pool
    return pool


def named(result: Any) -> Names:
    """The user and item ids of the rows of a result."""
    found: Any = result.rows if isinstance(result, RankSample) else result
    return Names(
        user=found.user, item=getattr(found, "item", None), size=int(np.size(found.weight))
    )


def kept(result: Any, keep: NDArray[np.bool_]) -> Any:
    """The result of these rows; as it is if they are all."""
    if keep.all():
        return result
    if not isinstance(result, PseudoValues):
        return result.take(keep)
    user = None if result.user is None else result.user[keep]
    values, weight = result.values[keep], result.weight[keep]
    estimate = result.estimate
    if result.weight[~keep].any():
        estimate = np.average(values, axis=0, weights=weight)
    return replace(result, user=user, values=values, weight=weight, estimate=estimate)


def of_one_design(results: Iterable[Any]) -> bool:
    """Whether all samples among the results were drawn in the same way from as many items."""
    kinds = {
        (one.n_items, one.design.bare)
        + (() if one.design.adaptive else tuple(np.unique(one.sample_size).tolist()))
        for one in results
        if isinstance(one, RankSample)
    }
    return len(kinds) == 1


def is_naive(method: Any) -> bool:
    """Whether sampled metrics are to be taken as they are."""
    return isinstance(method, str) and method.lower() == "naive"


def values_of(
    name: str,
    result: Any,
    metrics: tuple[Metric, ...],
    method: Named,
    settings: Mapping[str, Any],
) -> PseudoValues:
    """Per-user values of one model's result, estimated where it is a sample."""
    if isinstance(result, PseudoValues):
        wanted = [metric.name for metric in metrics]
        there = [parse(metric) for metric in result.metrics]
        missing = [metric for metric in metrics if metric not in there]
        if missing:
            raise InputError(
                f"`ranks` must have {missing[0]} for every model; {name} has "
                f"{', '.join(result.metrics)}."
            )
        at = [there.index(metric) for metric in metrics]
        return replace(
            result, metrics=tuple(wanted), values=result.values[:, at],
            estimate=result.estimate[at], bias_square=bias_square(result)[at],
        )  # fmt: skip
    if isinstance(result, ExactRanks):  # nothing to estimate, whatever the method for samples
        result.check_metrics(metrics, of=name)
        return pseudo_values(result, metrics)
    if is_naive(method):
        for key in settings:
            raise InputError(
                f'`{key}` must not be given with method="naive", which takes no settings.'
            )
        return _naive(name, result, metrics)
    return pseudo_values(result, metrics, method=method, **settings)


def bias_square(found: PseudoValues) -> Floats:
    """The squared smoothing bias that the variance of each estimate must include."""
    given = np.asarray(found.bias_square, dtype=np.float64)
    return np.broadcast_to(given, (len(found.metrics),))


def _naive(name: str, sample: RankSample, metrics: tuple[Metric, ...]) -> PseudoValues:
    """The sampled metric of each user as it is."""
    if sample.design.adaptive or sample.several:
        kind = "an adaptive sample" if sample.design.adaptive else "a sample of multi-target users"
        raise InputError(
            f'`method` must not be "naive" for {name}, because {kind} has no sampled metrics.'
        )
    rows = sample.rows
    assert rows is not None  # checked when it was read
    values = np.column_stack([metric.weights(rows.rank, rows.sample_size) for metric in metrics])
    return PseudoValues(
        metrics=tuple(metric.name for metric in metrics),
        user=rows.user,
        values=values,
        estimate=np.average(values, axis=0, weights=rows.weight),
        weight=np.asarray(rows.weight),
        method="naive",
        exact=False,
    )


def by_user(found: PseudoValues) -> PseudoValues:
    """By user, so that rows of different models meet."""
    assert found.user is not None
    order = np.argsort(found.user, kind="stable")
    return replace(
        found, user=found.user[order], values=found.values[order], weight=found.weight[order]
    )


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
    method: Named,
    paired: bool | None,
    settings: Mapping[str, Any],
    drawn: Mapping[str, Any] | None = None,
) -> Aligned:
    """Limit the results to their common users, and take the users' values."""
    results = _named(results)
    wanted = parse_all(within_reach(metrics, results.values()))
    models = tuple(results)
    results, spread = unseeded(results, wanted, method, settings)
    given = {name: read(name, results[name], wanted, drawn or {}) for name in models}
    given = _weighted(given, paired)
    plain = not all(isinstance(one, RankSample | ExactRanks) for one in results.values())
    _once(given)
    pairing = pair({name: named(one) for name, one in given.items()}, paired, plain=plain)
    paired, notes = pairing.paired, (*pairing.notes, *spread)
    given = {
        name: kept(one, pairing.keep[name]) if name in pairing.keep else one
        for name, one in given.items()
    }
    notes += _catalogues(given, paired)
    found = {name: values_of(name, one, wanted, method, settings) for name, one in given.items()}
    if pairing.by_name:
        found = {name: by_user(one) for name, one in found.items()}
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
        bias_square=np.array([bias_square(one) for one in found.values()]),
        shared_bias=SHARED_BIAS if paired and of_one_design(given.values()) else 0.0,
        weight=tuple(weights),
        paired=paired,
        methods=tuple(one.method for one in found.values()),
        exact=all(one.exact for one in found.values()),
        notes=notes,
    )


def _named(results: Any) -> dict[str, Any]:
    """Results by names that can stand in a table: what cannot be printed is written out."""
    if not isinstance(results, Mapping) or len(results) < 2:
        raise InputError("`ranks` must map the names of at least two models to their ranks.")
    for name in results:
        if not isinstance(name, str):
            raise InputError(f"`ranks` must have text as names of models, not {name!r}.")
    if all(map(str.isprintable, results)):
        return dict(results)
    shown = {checks.printable(name): result for name, result in results.items()}
    if len(shown) < len(results):
        raise InputError("`ranks` must have model names that are still distinct when printed.")
    return shown


def _unlike(first: str, second: str) -> InputError:
    return InputError(
        f"`ranks` must give a user the same weight in every model; {first} and {second} differ."
    )


def _weighted(given: Mapping[str, Any], paired: bool | None) -> dict[str, Any]:
    """The results without users of weight 0; unnamed ones must be the same rows, to stay paired."""
    names = list(given)
    zero = [weight_of(one) == 0.0 for one in given.values()]
    unnamed = all(named(one).user is None for one in given.values())
    if paired is not False and unnamed and len({one.size for one in zero}) == 1:
        for name, one in zip(names[1:], zero[1:], strict=True):
            if (one != zero[0]).any():
                raise _unlike(names[0], name)
    return {name: weighted(name, one) for name, one in given.items()}


def _once(given: Mapping[str, Any]) -> None:
    """Users' values as given hold each user once."""
    for name, one in given.items():
        user = one.user if isinstance(one, PseudoValues) else None
        if user is not None and np.unique(user).size != len(user):
            raise InputError(
                f"`ranks` must list each user once; {name} lists some users more than once."
            )


def _catalogues(given: Mapping[str, Any], paired: bool) -> tuple[str, ...]:
    """Say so where models ranked the same users, or all of theirs, among different numbers."""
    known = [(name, one) for name in given if (one := catalogue_of(given[name])) is not None]
    for (a, (users, first)), (b, (_, second)) in combinations(known, 2):
        if pool_of(given[a]) != pool_of(given[b]):
            continue  # one counts the items that a user has seen, and the other does not
        if not paired:  # unless users' catalogues vary, which the users may account for
            if np.ptp(first) == np.ptp(second) == 0 and first[0] != second[0]:
                sizes = f"{first[0]:,} and {second[0]:,}"
                return (f"{a} and {b} have different numbers of candidates ({sizes}).",)
            continue
        differ = np.flatnonzero(first != second)
        if differ.size:
            at = differ[0]
            who = f"row {at}" if users is None else f"user {users[at]}"
            note = (
                f"{a} and {b} have different numbers of candidates for {differ.size:,} of "
                f"{first.size:,} users ({who}: {first[at]:,} and {second[at]:,})."
            )
            return (note,)
    return ()


def fixed(aligned: Aligned) -> list[RankSample]:
    """The samples, if all are of one fixed design that sampled metrics of models can share."""
    samples = [
        one
        for one in aligned.results
        if isinstance(one, RankSample) and not one.design.adaptive and not one.several
    ]
    if len(samples) < len(aligned.results):
        return []
    shapes = {(one.n_items, *np.unique(one.sample_size), one.design.bare) for one in samples}
    return samples if len(shapes) == 1 else []


def naive_best(aligned: Aligned) -> dict[str, str]:
    """The model that each sampled metric ranks first; none where models tie or do not compare."""
    samples = fixed(aligned)
    if not samples or samples[0].exhausted:  # what is exact is no sampled metric
        return {}
    found = {}
    for metric in aligned.metrics:
        values = np.array([one.naive(metric) for one in samples])
        highest = np.flatnonzero(np.isclose(values, values.max(), rtol=1e-9, atol=0.0))
        if highest.size == 1:
            found[metric] = aligned.models[int(highest[0])]
    return found


def disagreements(aligned: Aligned, estimate: Floats, naive: Mapping[str, str]) -> list[str]:
    """One sentence for each metric whose sampled value has another winner."""
    leaders = {m: aligned.models[int(np.argmax(estimate[:, j]))]
               for j, m in enumerate(aligned.metrics)}  # fmt: skip
    return [
        f"The naive {metric} would have picked {named}."
        for metric, named in naive.items()
        if named != leaders[metric]
    ]
