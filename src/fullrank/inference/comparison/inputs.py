"""What a comparison can be given: exact ranks, samples, users' values; and what it reads there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Floats
from fullrank.errors import InputError
from fullrank.inference.comparison.pairing import Names
from fullrank.inference.estimation.influence import PseudoValues, pseudo_values
from fullrank.inference.estimation.seeded import averaged
from fullrank.metrics import Metric, parse_all
from fullrank.samples import RankSample
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.seeds import Seeds


def unseeded(
    results: Mapping[str, Any],
    metrics: tuple[Metric, ...],
    method: str,
    settings: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Several seeds of a model as the values of its users; and how much the seeds differ."""
    notes: list[str] = []
    found = dict(results)
    for name, result in results.items():
        if not isinstance(result, Seeds):
            continue
        each = {
            seed: values_of(name, read(name, one, metrics), metrics, method, settings)
            for seed, one in result.items()
        }
        found[name] = averaged(each.values())
        spread = np.std([one.estimate for one in each.values()], axis=0, ddof=1)
        parts = ", ".join(f"{m.name} {sd:.4f}" for m, sd in zip(metrics, spread, strict=True))
        notes += [f"{name}: {note}" for note in result.notes]
        notes.append(
            f"{name}: averaged over {len(each)} seeds within users; standard deviation over seeds: "
            f"{parts}."
        )
    return found, tuple(notes)


def read(name: str, result: Any, metrics: tuple[Metric, ...]) -> Any:
    """A result that the rest knows; a mapping from metrics to users' values becomes one."""
    if isinstance(result, PseudoValues):
        return result
    if isinstance(result, ExactRanks | RankSample):
        bare = result.rows is None if isinstance(result, RankSample) else result.count is not None
        if bare:
            raise InputError(
                f"`results` must have the ranks of {name} target by target; it holds counts alone, "
                "which cannot be compared user by user."
            )
    if isinstance(result, ExactRanks):
        return result
    if isinstance(result, RankSample):
        return result
    if isinstance(result, Mapping):
        return _plain(name, result, metrics)
    raise InputError(
        f"`results` must hold ExactRanks, RankSample or a mapping from metrics to users' values; "
        f"{name} is a {type(result).__name__}."
    )


def _plain(name: str, columns: Mapping[str, Any], metrics: tuple[Metric, ...]) -> PseudoValues:
    by_name = {parse_all(key)[0].name: key for key in columns if key not in ("user", "weight")}
    arrays: list[Floats] = []
    for metric in metrics:
        if metric.name not in by_name:
            raise InputError(
                f"`results` must have {metric} of every model; {name} has "
                f"{', '.join(by_name) or 'no metric'}."
            )
        size = arrays[0].size if arrays else None
        label = f"results[{name!r}][{by_name[metric.name]!r}]"
        arrays.append(checks.reals(label, columns[by_name[metric.name]], size=size))
    n = arrays[0].size
    user = columns.get("user")
    if user is not None:
        user = checks.ids(f"results[{name!r}]['user']", user, n)
    weight = columns.get("weight")
    weight = np.ones(n) if weight is None else checks.reals("weight", weight, size=n, low=0.0)
    if n == 0:
        raise InputError(f"`results[{name!r}]` must hold at least one user; it is empty.")
    if not weight.sum() > 0.0:
        raise InputError(f"`results[{name!r}]['weight']` must have a positive sum; all are 0.")
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
    """The result without users of weight 0, who count for nothing but would be counted."""
    weight = weight_of(result)
    if weight.size and not weight.any():
        raise InputError(f"`results` must weigh users above 0; all weights of {name} are 0.")
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
    """Who each row of a result is about."""
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
    method: str,
    settings: Mapping[str, Any],
) -> PseudoValues:
    """Per-user values of one model's result, estimated where it is a sample."""
    if isinstance(result, PseudoValues):
        wanted = [metric.name for metric in metrics]
        missing = [metric for metric in wanted if metric not in result.metrics]
        if missing:
            raise InputError(
                f"`results` must have {missing[0]} of every model; {name} has "
                f"{', '.join(result.metrics)}."
            )
        at = [result.metrics.index(metric) for metric in wanted]
        return replace(
            result, metrics=tuple(wanted), values=result.values[:, at],
            estimate=result.estimate[at], bias_square=bias_square(result)[at],
        )  # fmt: skip
    if isinstance(result, ExactRanks):  # nothing to estimate, whatever the method for samples
        return pseudo_values(result, metrics)
    if is_naive(method):
        for key in settings:
            raise InputError(f'`{key}` must not be given with method="naive", which fits nothing.')
        return _naive(name, result, metrics)
    return pseudo_values(result, metrics, method=method, **settings)


def bias_square(found: PseudoValues) -> Floats:
    """The squared smoothing bias that the variance of each estimate is to hold as well."""
    given = np.asarray(found.bias_square, dtype=np.float64)
    return np.broadcast_to(given, (len(found.metrics),))


def _naive(name: str, sample: RankSample, metrics: tuple[Metric, ...]) -> PseudoValues:
    """The sampled metric of each user as it is."""
    if sample.design.adaptive or sample.several:
        kind = "adaptive" if sample.design.adaptive else "of several targets for a user"
        raise InputError(
            f'`method` must not be "naive" for {name}, whose sample is {kind}: it has no sampled '
            "metric."
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
