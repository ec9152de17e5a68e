"""Compare models on the same users: differences, intervals, tests and the best model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.text import counted
from fullrank._lib.types import Floats
from fullrank.designs import Design
from fullrank.errors import InputError
from fullrank.estimators.methods import Named
from fullrank.estimators.system import resolution
from fullrank.inference.comparison import validity
from fullrank.inference.comparison.aligned import (
    Aligned,
    align,
    disagreements,
    is_naive,
    naive_best,
)
from fullrank.inference.comparison.result import Comparison, Difference
from fullrank.inference.estimation.diagnosis import below
from fullrank.inference.estimation.doubts import size_doubts, training_notes
from fullrank.inference.estimation.remarks import described
from fullrank.inference.statistics.hypothesis_tests import CORRECTIONS, TESTS, corrected, run_paired
from fullrank.inference.statistics.means import FEW_HITS
from fullrank.inference.statistics.normal import Interval, level, mean_and_covariance, spread
from fullrank.inference.statistics.proportions import two_proportions
from fullrank.inference.statistics.resampled_means import bootstrap_means
from fullrank.inference.statistics.two_samples import TwoSampleTest, welch
from fullrank.metrics import DEFAULT, ByMetric, Metric, parse
from fullrank.samples import RankSample, Seeds

_DRAWS = 100_000
_UNPAIRED = ("t", "z")
_TIE = 1e-9  # in standard errors, or relative to the values: differences below this are none


def compare(
    ranks: Mapping[str, Any],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    n_items: int | None = None,
    design: str | Design | None = None,
    baseline: str | None = None,
    paired: bool | None = None,
    test: str = "t",
    correction: str | None = "holm",
    method: Named = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: RandomState = None,
    **settings: Any,
) -> Comparison:
    """Compare two or more models user by user.

    Parameters
    ----------
    ranks : mapping from names of models to their ranks
        Each value is ExactRanks, a RankSample with rows, `Seeds` of one model, an array, series or
        tensor of ranks, or a mapping from metrics to the values of users (with their ids under
        "user", if they have ids). The kinds can be mixed.
    metrics : one or more names such as ``"ndcg@10"``
    n_items, design : for arrays of ranks only, as in `estimate`
    baseline : compare every model with this one only; None compares all pairs
    paired : None, True or False
        None pairs rows of the same user and item and leaves the others out; models that share no
        users, or have no user ids, are compared without pairing. True requires pairing; arrays
        without ids are paired by row. False does not pair.
    test : "t", "z", "bootstrap", "randomization", "sign" or "wilcoxon" (see `paired_test`); without
        pairing, the two-sample "t" or "z"
    correction : "holm", "bonferroni", "bh" or None
        Corrects the p values for the number of differences tested, over all models, metrics and
        cut-offs. Intervals are not corrected.
    method : the estimator for samples, as in `estimate`; "naive" compares sampled metrics and
        notes whether that comparison is valid
    confidence_level : level of the intervals; a model is called better if the corrected p value
        is below 1 - confidence_level and, with "sign" and "wilcoxon", the means agree
    n_resamples : number of resamples of "bootstrap" and "randomization"
    rng : None, int, SeedSequence or Generator
    settings : settings of the estimator

    Returns
    -------
    Comparison
        Differences are first minus second in the order of `ranks`, or model minus baseline.

    Notes
    -----
    A metric of exact ranks is a mean of users' values, and the differences are tested user by user.
    An estimate from a sample is not a mean, but to first order it is the mean of the estimate plus
    each user's influence on it. These values replace the users' values, so the same tests apply to
    both. The interval is for the population of users and allows for the sampling of items. The
    variance of a difference includes the bound on the smoothing bias that the two models do not
    share (models of the same users and design share most of it). No test allows for the bias of
    other estimators; read the diagnosis of coarse samples first.

    Sampled metrics need not order models as exact metrics do (Rendle 2019). They do if one model's
    recall on the full catalogue is higher at every K (Li et al. 2020, Theorem 2.1); see
    `dominance`. With ``method="naive"`` the notes say whether this can hold.

    `Comparison.p_best` is the share of draws in which a model has the largest value; equal values
    share the draw. Draws are from the normal distribution of the estimates with their covariance
    over users or, with ``test="bootstrap"``, over resampled users. It is the posterior probability
    under a flat prior on the true values. It is calibrated if the true values are spread over
    several standard errors, and overconfident among models that are nearly equal, where a lead is
    often luck. With three models, 300 users and spreads of 10, 3, 1 and 0.3 standard errors, the
    named model was given 95, 86, 71 and 65 % and was the best in 96, 82, 62 and 42 % of cases. It
    allows for the bias of smoothing, but not for that of other estimators.

    Effect sizes are Cohen's d_z, the mean difference over the standard deviation of the users'
    differences; without pairing, Cohen's d with the pooled standard deviation of users' values.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> base = random.random(2000)
    >>> better = base + random.normal(0.01, 0.1, 2000)
    >>> values = {
    ...     name: {"user": range(2000), "ndcg@10": one}
    ...     for name, one in (("new", better), ("old", base))
    ... }
    >>> print(compare(values, "ndcg@10", rng=0))
    2,000 users in common, paired t test
    <BLANKLINE>
         ndcg@10
    new  0.5087 (SE 0.0069)   P(best) > 0.99
    old  0.4989 (SE 0.0065)           < 0.01
    <BLANKLINE>
    new − old  ndcg@10  +0.0097 [+0.0054, +0.0141]  p < 0.001
    """
    checks.no_slips(settings, compare)
    checks.choice("test", test, TESTS)
    if correction is not None:
        checks.choice("correction", correction, CORRECTIONS)
    paired = None if paired is None else checks.flag("paired", paired)
    confidence = level(confidence_level)
    n_resamples = checks.integer("n_resamples", n_resamples, low=1)
    random = generator(rng)
    if isinstance(ranks, Mapping) and baseline is not None:
        baseline = checks.printable(checks.choice("baseline", baseline, tuple(ranks)))
    drawn = {"n_items": n_items, "design": design}
    if is_naive(method):
        validity.check_seeds(ranks)
    aligned = align(ranks, metrics, method=method, paired=paired, drawn=drawn, settings=settings)
    as_sampled = is_naive(method)
    sampled = {} if as_sampled else _sampled(aligned, ranks)
    unresolved = tuple(_unresolved(aligned, sampled))
    if as_sampled:
        validity.check_designs(aligned)
    _check_test(aligned, test)
    pairs = _pairs(aligned.models, baseline)
    found = (
        paired_rows(aligned, pairs, test, confidence, n_resamples, random)
        if aligned.paired
        else unpaired_rows(aligned, pairs, test, confidence)
    )
    differences = _packed(found, correction, confidence)
    resampled = test == "bootstrap"
    n_draws = n_resamples if resampled else _DRAWS
    estimate, error, p_best = best(aligned, resampled=resampled, n_draws=n_draws, rng=random)
    naive = naive_best(aligned)
    curves = validity.curves(aligned, pairs, confidence, random) if as_sampled else {}
    spoken = (
        validity.licence(aligned, curves) if as_sampled else disagreements(aligned, estimate, naive)
    )
    return Comparison(
        models=aligned.models,
        metrics=aligned.metrics,
        estimate=checks.frozen(estimate),
        standard_error=checks.frozen(error),
        p_best=checks.frozen(p_best),
        differences=differences,
        test=test,
        correction=correction,
        confidence_level=confidence,
        baseline=baseline,
        methods=aligned.methods,
        paired=aligned.paired,
        n_users=aligned.n_users,
        naive_best=ByMetric(naive),
        dominance=MappingProxyType(curves),
        notes=(
            *size_doubts(ranks),
            *aligned.notes,
            *_cautions(aligned, test, n_resamples, len(differences)),
            *unresolved,
            *spoken,
        ),
        assumed=training_notes(aligned.results, method),
        estimated_from=_estimated_from(sampled, len(aligned.models)),
        unresolved=unresolved,
    )


Sampled = dict[str, RankSample | Seeds]


def _sampled(aligned: Aligned, ranks: Mapping[str, Any]) -> Sampled:
    """The models that are estimated, with their samples limited to the users compared."""
    found: Sampled = {}
    for model, given, result in zip(aligned.models, ranks.values(), aligned.results, strict=True):
        one = given if isinstance(given, Seeds) else result
        if isinstance(sample := _first(one), RankSample) and not sample.exhausted:
            found[model] = one
    return found


def _first(one: Any) -> Any:
    return one.first if isinstance(one, Seeds) else one


def _estimated_from(sampled: Sampled, n_models: int) -> tuple[str, ...]:
    """What was ranked among what, with the names of the models where others are exact."""
    lines = described(sampled)
    if len(lines) == 1 and len(sampled) < n_models:
        return (f"{', '.join(sampled)}: {lines[0]}",)
    return tuple(lines)


def _unresolved(aligned: Aligned, sampled: Sampled) -> list[str]:
    """The metrics that look above the first rank that some sample resolves."""
    asked = tuple(map(parse, aligned.metrics))
    lines: dict[str, list[str]] = {}
    for model, one in sampled.items():
        sample = _first(one)
        if names := below(sample, asked):
            ranks = round(resolution(sample))
            says = (
                f"▲ The sample hardly distinguishes true ranks 1–{ranks:,}: {', '.join(names)} and "
                "the differences depend on the smoothness assumption."
            )
            lines.setdefault(says, []).append(model)
    every = len(aligned.models)
    return [
        says if len(models) == every else f"{', '.join(models)}: {says}"
        for says, models in lines.items()
    ]


Pairs = list[tuple[int, int]]
_Row = dict[str, Any]  # the arguments of a Difference, short of its corrected p


def _pairs(models: tuple[str, ...], baseline: str | None) -> Pairs:
    if baseline is None:
        return list(combinations(range(len(models)), 2))
    base = models.index(baseline)
    return [(i, base) for i in range(len(models)) if i != base]


def _check_test(aligned: Aligned, test: str) -> None:
    if not aligned.paired and test not in _UNPAIRED:
        raise InputError(
            f'`test` must be "t" or "z" for models measured on different users, not "{test}". '
            f"{aligned.notes[0]}"
        )
    if not TESTS[test].of_means and not aligned.exact:
        raise InputError(
            f'`test` must not be "{test}" for sampled ranks; use "t", "z", "bootstrap" or '
            '"randomization".'
        )


def paired_rows(
    aligned: Aligned,
    pairs: Pairs,
    test: str,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[_Row]:
    """One test of all columns, so that all pairs and metrics meet the same resamples."""
    columns = np.concatenate([aligned.values[i] - aligned.values[j] for i, j in pairs], axis=1)
    out = run_paired(
        columns,
        aligned.weight[0],
        np.concatenate([aligned.bias_of_difference(i, j) for i, j in pairs]),
        test=test,
        confidence=confidence,
        n_resamples=n_resamples,
        rng=rng,
    )
    favours = TESTS[test].favours
    sides = out.estimate if favours is None else favours(columns)
    cells = [(i, j, metric) for i, j in pairs for metric in aligned.metrics]
    return [
        {
            "first": aligned.models[i],
            "second": aligned.models[j],
            "metric": metric,
            "estimate": float(out.estimate[c]),
            "standard_error": float(out.standard_error[c]),
            "confidence_interval": Interval(float(out.low[c]), float(out.high[c])),
            "p_value": float(out.p_value[c]),
            "effect_size": float(out.effect_size[c]),
            "agrees": float(sides[c]) * float(out.estimate[c]) >= 0.0,
        }
        for c, (i, j, metric) in enumerate(cells)
    ]


def unpaired_rows(aligned: Aligned, pairs: Pairs, test: str, confidence: float) -> list[_Row]:
    """One test for each pair and metric, of two models measured on different users."""
    rows = []
    for i, j in pairs:
        for c, metric in enumerate(aligned.metrics):
            values = [aligned.values[m][:, c] for m in (i, j)]
            weights = [aligned.weight[m] for m in (i, j)]
            bias = [float(aligned.bias_square[m, c]) for m in (i, j)]
            out = _two_samples(values, weights, bias, test, confidence)
            spreads = [
                float(spread(x[:, None], w)[0]) for x, w in zip(values, weights, strict=True)
            ]
            pooled = math.hypot(*spreads) / math.sqrt(2.0)
            rows.append(
                {
                    "first": aligned.models[i],
                    "second": aligned.models[j],
                    "metric": metric,
                    "estimate": out.difference,
                    "standard_error": out.standard_error,
                    "confidence_interval": out.confidence_interval,
                    "p_value": out.p_value,
                    "effect_size": out.difference / pooled if pooled > 0.0 else 0.0,
                }
            )
    return rows


def _two_samples(
    values: list[Floats], weights: list[Floats], bias: list[float], test: str, confidence: float
) -> TwoSampleTest:
    hits = all(((x == 0.0) | (x == 1.0)).all() for x in values)
    if (
        test == "z" and hits and not any(bias) and all((w == w[0]).all() for w in weights)
    ):  # Li, dissertation, equation 53
        (a, m), (b, n) = ((float(x.sum()), x.size) for x in values)
        return two_proportions(a, m, b, n, confidence_level=confidence)
    moments = [mean_and_covariance(x[:, None], w) for x, w in zip(values, weights, strict=True)]
    (first, v1), (second, v2) = ((float(mean[0]), float(v[0, 0])) for mean, v in moments)
    if all((x == x[0]).all() for x in values):  # but for rounding of the moments
        first, second, v1, v2 = float(values[0][0]), float(values[1][0]), 0.0, 0.0
        if first != second and not any(bias):
            raise InputError(
                "`ranks` must vary between users in at least one of the two models: without "
                "variance an unpaired difference cannot be tested."
            )
    dfs = tuple(np.inf if test == "z" else x.size - 1.0 for x in values)
    return welch(first - second, (v1 + bias[0], v2 + bias[1]), dfs, confidence)


def _packed(rows: list[_Row], correction: str | None, confidence: float) -> tuple[Difference, ...]:
    p = corrected([row["p_value"] for row in rows], correction)
    out = []
    for row, one in zip(rows, p.tolist(), strict=True):
        ahead = row["first"] if row["estimate"] > 0.0 else row["second"]
        agrees = row.pop("agrees", True)  # what a sign test finds can be against the means
        told = one < 1.0 - confidence and row["estimate"] != 0.0 and agrees
        out.append(Difference(**row, corrected_p=one, better=ahead if told else None))
    return tuple(out)


def _cautions(aligned: Aligned, test: str, n_resamples: int, n_tests: int) -> list[str]:
    notes = []
    kinds = dict(zip(aligned.models, aligned.methods, strict=True))
    if len(set(kinds.values())) > 1:
        notes.append(
            "The estimator differs between the models: "
            + ", ".join(f"{m} ({k})" for m, k in kinds.items())
            + "."
        )
    if not TESTS[test].of_means:
        notes.append(
            f"The {test} test does not test the mean. It tests whether "
            + ("more users gain than lose" if test == "sign" else "differences are symmetric")
            + ", and with thousands of users it can reject even if the means are equal."
        )
    if TESTS[test].resamples and n_tests / (n_resamples + 1) > 0.01:
        notes.append(
            f"With {n_resamples:,} resamples, no p value can be below {1 / (n_resamples + 1):.1g}, "
            f"which is too coarse for {counted(n_tests, 'test')}. Increase `n_resamples`."
        )
    if aligned.exact:
        few = [
            f"{metric} of {model}"
            for model, values in zip(aligned.models, aligned.values, strict=True)
            for metric, column in zip(aligned.metrics, values.T, strict=True)
            if np.count_nonzero(column) < FEW_HITS
        ]
        if few:
            notes.append(
                f"Fewer than {FEW_HITS} users have a value above 0 ({', '.join(few)}); the "
                "intervals may be too narrow."
            )
    return notes


def best(
    aligned: Aligned, *, resampled: bool, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Estimates, their standard errors and P(best), each (n_models, n_metrics)."""
    estimate = aligned.estimate
    error, probability = (np.empty(estimate.shape) for _ in range(2))
    for j, mean in enumerate(estimate.T):
        columns = [values[:, j] for values in aligned.values]
        covariance = _joint(columns, aligned.weight, aligned.paired)
        bias = aligned.bias_covariance(j)
        covariance = covariance + bias
        error[:, j] = np.sqrt(np.diagonal(covariance))
        if not resampled:
            draws = mean + _correlated(covariance, n_draws, rng)
        elif aligned.paired:
            draws = bootstrap_means(np.column_stack(columns), aligned.weight[0], n_draws, rng)
        else:
            draws = np.column_stack(
                [
                    bootstrap_means(column[:, None], weight, n_draws, rng)[:, 0]
                    for column, weight in zip(columns, aligned.weight, strict=True)
                ]
            )
        if resampled and bias.any():  # resampled users do not show it
            draws = draws + _correlated(bias, n_draws, rng)
        probability[:, j] = shares(draws, _TIE * max(float(error[:, j].max()), 1e-300))
    return estimate, error, probability


def shares(draws: Floats, tie: float) -> Floats:
    """The share of rows in which each column is the largest; columns within `tie` of it share."""
    largest = draws >= draws.max(axis=1, keepdims=True) - tie
    return np.asarray((largest / largest.sum(axis=1, keepdims=True)).mean(axis=0))


def _joint(columns: list[Floats], weights: tuple[Floats, ...], paired: bool) -> Floats:
    """The covariance of the models' means."""
    if paired:
        return mean_and_covariance(np.column_stack(columns), weights[0])[1]
    each = [mean_and_covariance(c[:, None], w)[1] for c, w in zip(columns, weights, strict=True)]
    return np.diag([variance[0, 0] for variance in each])


def _correlated(covariance: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Normal draws of this covariance, which may be singular: models can be the same."""
    values, vectors = np.linalg.eigh(covariance)
    # what rounding leaves of an eigenvalue 0 would part models that are the same
    values = np.where(values > 1e-12 * values.max(), values, 0.0)
    root = vectors * np.sqrt(values)
    return np.asarray(rng.standard_normal((n_draws, values.size)) @ root.T)
