"""The summary: which model is best, how sure that is, by how much, what the sample cannot show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fullrank._lib.text import decimals, enumerated
from fullrank.inference import Comparison
from fullrank.inference.comparison.numbers import CORRECTIONS, decimals_of, shown_p
from fullrank.inference.comparison.result import Difference
from fullrank.metrics import Metric, parse, spelled
from fullrank.metrics import named as named_in
from fullrank.reporting.escaping import interval, number, outward, percent
from fullrank.reporting.figures.comparison_figures import first_of, rivals_of
from fullrank.reporting.measurement import Measurement
from fullrank.samples import ExactRanks, RankSample

_COUNTS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
           "Eleven", "Twelve")  # fmt: skip


def summary(
    models: Sequence[Measurement], comparison: Comparison | None, metric: str, level: float
) -> tuple[str, ...]:
    """The answer in two sentences, what limits it in a few, and last what was measured."""
    named = leading(models, comparison, metric)
    best = foremost(models, comparison, metric) if named is None else named
    sentences = [_winner(models, comparison, metric, level, best, named)]
    sentences += _lead(models, comparison, metric, level, best, named is not None)
    sentences += _unseen(models, models[best], metric)
    if comparison is not None and metric in comparison.naive_best:
        naive = comparison.models.index(comparison.naive_best[metric])
        if naive != best:
            sentences.append(f"The naive {metric} would have picked {models[naive].name}.")
    sentences += _checked(models, metric, best)
    return (*sentences, _measured(models, apart=comparison is not None and not comparison.paired))


def leading(
    models: Sequence[Measurement], comparison: Comparison | None, metric: str
) -> int | None:
    """The row of the model that may be named the best at a metric: bold, and in the summary."""
    if comparison is None or spelled(metric, comparison.metrics) is None:
        return None
    name = comparison.leader(metric).named
    named = None if name is None else comparison.models.index(name)
    highest = int(np.argmax([model.values[metric].estimate for model in models]))
    return named if named == highest else None


def foremost(models: Sequence[Measurement], comparison: Comparison | None, metric: str) -> int:
    """The row of the model with the highest value, whether or not it may be named the best."""
    if comparison is not None:
        return first_of(comparison, metric)
    return int(np.argmax([model.values[metric].estimate for model in models]))


def _measured(models: Sequence[Measurement], apart: bool = False) -> str:
    """What was measured; the users of models that are `apart` may be different ones."""
    count = f"A total of {len(models):,}" if len(models) >= len(_COUNTS) else _COUNTS[len(models)]
    what = f"{count} models were" if len(models) > 1 else f"{models[0].name} was"
    ways = {ranked_among(model.given): None for model in models}
    sizes = {_users(model.given): None for model in models}
    users = enumerated(list(sizes)) if len(sizes) < 3 else "different numbers of users"
    users += " each" if apart and len(sizes) == 1 else ""
    how = (
        next(iter(ways)) if len(ways) == 1 else "in more than one way (see the notes on each model)"
    )
    costs = [model.given.average_size for model in models
             if isinstance(model.given, RankSample) and model.given.design.adaptive]  # fmt: skip
    cost = ""
    if costs and len(ways) == 1:
        low, high = f"{min(costs):,.0f}", f"{max(costs):,.0f}"
        cost = (
            f" ({low} candidates on average)"
            if low == high
            else f" ({low} to {high} candidates on average, depending on the model)"
        )
    return f"{what} evaluated on {users}. Each held-out item (target) was ranked {how}{cost}."


def _users(given: RankSample | ExactRanks) -> str:
    users = int(given.n_users or 0)
    targets = given.ranks.size if isinstance(given, ExactRanks) else given.n_targets
    who = f"{users:,} user{'s' if users != 1 else ''}"
    return who if targets == users else f"{who} with {targets:,} held-out items"


def ranked_among(given: RankSample | ExactRanks) -> str:
    """Which candidates each held-out item was ranked among, in words."""
    if isinstance(given, ExactRanks):
        low, high = int(given.candidates.min()), int(given.candidates.max())
        unseen = " items that the user had not seen" if given.pool == "unseen" else " items"
        span = f"{high:,}" if low == high else f"{low:,} to {high:,}"
        known = "" if given.max_rank is None else f", up to rank {given.max_rank:,}"
        return f"among all{unseen} ({span}){known}"
    if given.n_items is not None:
        items = f"{given.n_items:,} items"
    else:
        items = "the items that the user had not seen"
    if given.exhausted:
        return f"among all of {items}" if given.n_items is None else f"among all {items}"
    sizes = np.unique(given.sample_size)
    if given.design.adaptive:
        return (
            f"among {sizes[0]:,} to {sizes[-1]:,} of {items}, with more candidates for items near "
            "the top"
        )
    drawn = f"{sizes[0]:,}" if sizes.size == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return f"among {drawn} of {items}, drawn at random"


def asked(model: Measurement) -> str:
    """Whom a model's intervals are for."""
    return "population" if model.estimate is None else model.estimate.interval_for


def _winner(
    models: Sequence[Measurement],
    comparison: Comparison | None,
    metric: str,
    level: float,
    best: int,
    named: int | None,
) -> str:
    value = models[best].values[metric]
    digits = decimals(value.estimate)
    shown = number(value.estimate, digits)
    if np.isfinite(value.low):
        shown += f" ({100 * level:g} % CI {interval(value.low, value.high, digits)})"
    if len(models) == 1:
        return f"On the full catalogue, the {metric} of {models[0].name} is {shown}."
    name = models[best].name
    if comparison is None:
        tied = sum(one.values[metric].estimate == value.estimate for one in models)
        if tied > 1:
            return f"No model can be named best by {metric}: {tied} models share the highest value."
        return (
            f"{name} has the highest {metric} on the full catalogue, {shown}, but the models could "
            "not be compared, so its lead cannot be tested."
        )
    if named is None:
        # the names as they are printed here
        label = dict(zip(comparison.models, (model.name for model in models), strict=True))
        one = comparison.leader(metric)
        told = replace(one, highest=label[one.highest], likeliest=label[one.likeliest])
        if told.says is not None:
            common = comparison.n_users[0]
            fewer = comparison.paired and common < max(
                int(one.given.n_users or 0) for one in models
            )
            return f"{told.says[:-1]} (among {common:,} common users)." if fewer else told.says
        return (  # only where a comparison was given that is not of these estimates
            f"No model can be named best by {metric}: {told.highest} leads in the comparison but "
            "does not have the highest value in this report."
        )
    column = comparison.metrics.index(named_in(metric, comparison.metrics))
    chance = percent(float(comparison.p_best[best, column]))
    if any(one.estimate is not None and one.estimate.diagnosis.marks(metric) for one in models):
        chance += " under the smoothness assumption"
    return (
        f"{name} is most likely the best by {metric} on the full catalogue (probability {chance}), "
        f"at {shown}."
    )


def _lead(
    models: Sequence[Measurement],
    comparison: Comparison | None,
    metric: str,
    level: float,
    best: int,
    named: bool,
) -> list[str]:
    """By how much the highest model leads the next, and whether that could be chance."""
    if comparison is None or spelled(metric, comparison.metrics) is None:
        return []
    known = named_in(metric, comparison.metrics)
    second = rivals_of(comparison, known, best)[0]
    first = comparison.models[best]
    lead = comparison.between(first, comparison.models[second], known)
    if lead.estimate == 0.0:
        return []  # no lead
    digits = decimals_of(lead.standard_error)
    ends = interval(*lead.confidence_interval, digits)
    sure, more = "is more than chance would explain", ""
    if lead.better != first:
        sure = "could be due to chance"
        if lead.confidence_interval.low > 0.0 and lead.p_value < 1.0 - level:
            sure, more = _unsure(comparison, lead, named)
    shown = f"{lead.estimate:.{digits}f}".replace("-", "−")
    over = f"The lead of {models[best].name} over {models[second].name}"
    return [f"{over}, {shown} ({100 * level:g} % CI {ends}), {sure}.{more}"]


def _unsure(comparison: Comparison, lead: Difference, named: bool) -> tuple[str, str]:
    """Why a lead whose interval excludes zero is not significant, and what that is not said of."""
    if lead.corrected_p < 1.0 - comparison.confidence_level:
        return f"is not confirmed by the {comparison.test} test", ""
    says = (
        f"would be significant on its own ({shown_p(lead.p_value)}), but is not after correction "
        f"for {len(comparison.differences):,} comparisons "
        f"({CORRECTIONS[comparison.correction or 'holm']} {shown_p(lead.corrected_p)})"
    )
    return says, " The probability of being the best is not corrected." if named else ""


def _unseen(models: Sequence[Measurement], model: Measurement, metric: str) -> list[str]:
    """What the sample could not tell, of the model named."""
    if model.estimate is None or not model.sampled:
        who = "" if not any(one.sampled for one in models) else f" for {model.name}"
        told = ""
        if np.isfinite(model.values[metric].low) and asked(model) == "population":
            told = " The interval shows how much the value may differ in the population of users."
        return [f"{_in_full(model.given)}{who}, so nothing had to be estimated.{told}"]
    value, found = model.values[metric], []
    allowed = ""
    if value.least is not None and value.most is not None:
        allowed = (
            " Without any assumption about the ranks, the confidence bounds on the value are "
            f"{' to '.join(outward(value.least, value.most))}."
        )
    if spelled(metric, model.estimate.diagnosis.blind) is None:
        found.append(f"{_seen(model, parse(metric))}{allowed}")
    else:
        share = f"{100 * model.estimate.diagnosis.blind_share:.0f} %"
        found.append(
            f"The sample hardly distinguishes ranks 1 to {model.resolution:,.0f} ({share} of the "
            f"held-out items rank first in it), so the value depends on the smoothness assumption."
            f"{allowed}"
        )
    if value.naive is not None:
        found.append(
            f"Among the sampled candidates, the {metric} of {model.name} is "
            f"{number(value.naive, 3)}, which is not the full-catalogue value."
        )
    return found


def _in_full(given: RankSample | ExactRanks) -> str:
    """Which ranks are exact."""
    if isinstance(given, ExactRanks) and given.max_rank is not None:
        return f"Ranks up to {given.max_rank:,} are exact"
    unseen = given.pool == "unseen" if isinstance(given, ExactRanks) else given.n_items is None
    return f"Every item{' that the user had not seen' if unseen else ''} was ranked"


def _seen(model: Measurement, metric: Metric) -> str:
    ranks = model.resolution
    if model.first_exact:
        return "At its largest size, the sample distinguishes rank 1 from the others."
    if ranks < 1.5:
        return f"Rank 1 of the sample covers about {ranks:.1f} ranks of the catalogue."
    if metric.k is None:
        return (
            "This metric hardly depends on the first ranks, which the sample does not distinguish."
        )
    return (
        f"Rank 1 of the sample covers about {ranks:,.0f} ranks of the catalogue, no more than the "
        f"cut-off of {metric.k:,}."
    )


def _checked(models: Sequence[Measurement], metric: str, best: int) -> list[str]:
    """How the estimates did, where exact ranks are known beside them."""
    known = {
        place: model.values[metric]
        for place, model in enumerate(models)
        if model.sampled and model.values[metric].exact is not None
    }
    value = known.get(best)
    if value is None or value.exact is None:
        return []
    digits = decimals(value.estimate)
    said = f"The exact ranks are known here: the exact value is {number(value.exact, digits)}"
    if len(models) > 1:
        said = (
            f"The exact ranks are known here: {models[best].name} has {number(value.exact, digits)}"
        )
    if np.isfinite(value.low):
        where = "inside" if value.low <= value.exact <= value.high else "outside"
        said += f", {where} the interval"
    if len(models) > 1 and len(known) == len(models):
        exact = {place: float(one.exact or 0.0) for place, one in known.items()}
        said += _in_order(exact, models, best, digits)
    return [f"{said}."]


def _in_order(
    exact: Mapping[int, float], models: Sequence[Measurement], best: int, digits: int
) -> str:
    """Whether the model with the highest estimate has the highest exact value."""
    top = max(exact, key=exact.__getitem__)
    if exact[top] > exact[best]:
        return f", but the best is {models[top].name} with {number(exact[top], digits)}"
    alone = sum(one == exact[best] for one in exact.values()) == 1
    return ", and is the best" if alone else ", and no model has a higher value"
