"""The tables of a comparison for a paper: the models, marked for significance, and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullrank._lib.results.markup import MARK, Best, Sheet
from fullrank._lib.text import decimals, enumerated
from fullrank.inference.comparison.aligned import is_naive
from fullrank.inference.comparison.numbers import CORRECTIONS, decimals_of, shown_chance, shown_p

if TYPE_CHECKING:
    from fullrank.inference.comparison.result import Comparison

# of tables that have a comparison, for at least one of their metrics
BOLD = "Where one model is best by both value and P(best), it is in bold."


def sheets(found: Comparison) -> list[Sheet]:
    """The table of the models, and for each metric that of their differences."""
    return [_models(found), *(_differences(found, metric) for metric in found.metrics)]


def best_by_metric(found: Comparison) -> dict[str, str]:
    """The model that may be called the best by each metric, where one may."""
    leaders = {metric: found.leader(metric).named for metric in found.metrics}
    return {metric: model for metric, model in leaders.items() if model is not None}


def better_by_metric(found: Comparison) -> dict[str, list[str]]:
    """The models significantly better than the baseline or, without one, than every other model."""
    better: dict[str, list[str]] = {}
    for metric in found.metrics:
        tests = [one for one in found.differences if one.metric == metric]
        for model in found.models:
            others = len(found.models) - 1 if found.baseline is None else 1
            won = sum(one.better == model for one in tests if model in (one.first, one.second))
            if won == others and model != found.baseline:
                better.setdefault(metric, []).append(model)
    return better


def significance(found: Comparison) -> str:
    """What the mark means, in a sentence."""
    than = "every other model" if found.baseline is None else found.baseline
    pairing = "paired" if found.paired else "two-sample"
    known = CORRECTIONS.get(found.correction or "")
    corrected = f" with {known} correction" if known and found.corrects else ""
    return (
        f"{MARK} significantly better than {than} ({pairing} {found.test} test{corrected}, "
        f"p < {1.0 - found.confidence_level:.3g})."
    )


def _who(found: Comparison) -> str:
    if found.paired:
        return f"{found.n_users[0]:,} users in common"
    sizes = enumerated([f"{n:,}" for n in found.n_users])
    return f"{sizes} users, not paired"


def _measured(found: Comparison) -> str:
    """What the values are: exact, estimated from samples, or metrics of the samples."""
    if any(map(is_naive, found.methods)):
        return f"Metrics among sampled candidates for {_who(found)}."
    if not found.estimated_from:
        return f"Full-catalogue metrics for {_who(found)}."
    methods = dict.fromkeys(one for one in found.methods if one != "exact")
    return (
        f"Full-catalogue metrics for {_who(found)}, estimated from "
        f"{'; '.join(found.estimated_from)}. Estimator: {'; '.join(methods)}."
    )


def _models(found: Comparison) -> Sheet:
    best, better = best_by_metric(found), better_by_metric(found)
    digits = [max(decimals(value) for value in column) for column in found.estimate.T]
    head = ["model", *(name for one in found.metrics for name in (one, "SE", "P(best)"))]
    rows = []
    for i in found.order():
        model, row = found.models[i], [found.models[i]]
        for j, metric in enumerate(found.metrics):
            d = digits[j]
            mark = MARK if model in better.get(metric, ()) else ""
            value = f"{found.estimate[i, j]:.{d}f}{mark}"
            error, chance = f"{found.standard_error[i, j]:.{d}f}", shown_chance(found.p_best[i, j])
            row += [Best(value) if best.get(metric) == model else value, error, chance]
        rows.append(row)
    sampled = ", which includes the variance from sampling candidates"
    over = sampled if found.estimated_from else " over users"
    caption = [
        _measured(found),
        f"SE: standard error{over}; P(best): probability that the model is the best.",
        BOLD if best else "",
        significance(found) if better else "",
        *(line.replace("▲ ", "") for line in found.unresolved),
    ]
    return Sheet(" ".join(line for line in caption if line), head, rows)


def _differences(found: Comparison, metric: str) -> Sheet:
    level = f"{100 * found.confidence_level:g} %"
    known = CORRECTIONS.get(found.correction or "")
    corrected = known is not None and found.corrects
    tests = [one for one in found.differences if one.metric == metric]
    digits = max(decimals_of(one.standard_error) for one in tests)
    rows = []
    for one in tests:
        low, high = (f"{end:+.{digits}f}" for end in one.confidence_interval)
        row = [one.pair, f"{one.estimate:+.{digits}f}", f"[{low}, {high}]"]
        row.append(shown_p(one.p_value, bare=True))
        row += [shown_p(one.corrected_p, bare=True)] if corrected else []
        rows.append([*row, f"{one.effect_size:+.3f}"])
    size = "paired: Cohen's d of the differences" if found.paired else "Cohen's d"
    test = f"{'paired' if found.paired else 'two-sample'} {found.test} test"
    caption = (
        f"Differences between models in {metric} (first minus second) for {_who(found)}, with "
        f"{level} confidence intervals (CI), p values of the {test} and effect sizes ({size})."
    )
    head = ["difference", "estimate", f"{level} CI", "p"]
    head += [f"p ({known})"] if corrected else []
    return Sheet(caption, [*head, "effect size"], rows)
