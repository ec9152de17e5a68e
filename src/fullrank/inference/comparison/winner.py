"""Which model is best, and how sure is that?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.types import Floats
from fullrank.inference.comparison import validity
from fullrank.inference.comparison.aligned import Aligned, align, is_naive
from fullrank.inference.comparison.winner_result import Winner
from fullrank.inference.estimation.doubts import size_doubts
from fullrank.inference.statistics.normal import mean_and_covariance
from fullrank.inference.statistics.resampled_means import bootstrap_means
from fullrank.metrics import Metric

METRICS = ("ndcg@10", "recall@10")
_DRAWS = {"normal": 100_000, "bootstrap": 2000}
_CONFIDENCE = 0.95  # of the order of sampled recall curves, in the notes
_TIE = 1e-9  # in standard errors, or relative to the values: differences below this are none


def winner(
    results: Mapping[str, Any],
    metrics: str | Metric | Iterable[str | Metric] = METRICS,
    *,
    method: str = "auto",
    how: str = "normal",
    paired: bool | None = None,
    n_draws: int | None = None,
    rng: RandomState = None,
    **settings: Any,
) -> Winner:
    """The probability that each model is the best, for users like these.

    Parameters
    ----------
    results : name to ExactRanks, RankSample (with its rows), or a mapping from metrics to the
        values of users (with "user" for their ids, if they have any), two models or more
    metrics : names such as ``"ndcg@10"``
    method : the estimator for samples, as in `estimate`; "naive" takes sampled metrics as they are,
        and the notes say what that is worth
    how : "normal": draws from the normal distribution that the estimates and their covariance
        over users give; "bootstrap": users drawn again with replacement
    paired : None pairs models by user where they share users; True insists; False does not
    n_draws : 100,000 for "normal", 2,000 for "bootstrap"
    rng : None, int, SeedSequence or Generator
    settings : of the estimator

    Notes
    -----
    With K models the share of draws in which a model has the largest value; equal values share
    the draw. The estimates of models on the same users vary together, and it is their
    differences that decide, so that a small lead can be a sure one.

    The figure is the posterior probability under a flat prior on the true values. It is right on
    average where these are spread over several standard errors, and overconfident among models that
    are nearly the same, where a lead is often luck: with three models and 300 users, spreads
    of 10, 3, 1 and 0.3 standard errors, the named model was given 95, 86, 71 and 65 % and was the
    best in 96, 82, 62 and 42 %. It allows for the bias of smoothing, and not for that of other
    estimators.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> base = random.random(2000)
    >>> found = winner(
    ...     {"a": {"ndcg@10": base}, "b": {"ndcg@10": base + random.normal(0.002, 0.1, 2000)}},
    ...     "ndcg@10",
    ...     paired=True,
    ...     rng=0,
    ... )
    >>> {name: round(p, 1) for name, p in found["ndcg@10"].items()}
    {'a': 0.2, 'b': 0.8}
    """
    checks.choice("how", how, _DRAWS)
    n_draws = _DRAWS[how] if n_draws is None else checks.integer("n_draws", n_draws, low=1)
    aligned = align(results, metrics, method=method, paired=paired, settings=settings)
    as_sampled = is_naive(method)
    if as_sampled:
        validity.check_designs(aligned)
    random = generator(rng)
    estimate, error, probability = best(aligned, how=how, n_draws=n_draws, rng=random)
    notes = (*size_doubts(results), *aligned.notes)
    if as_sampled:
        pairs = list(combinations(range(len(aligned.models)), 2))
        notes += validity.licence(aligned, validity.curves(aligned, pairs, _CONFIDENCE, random))
    return Winner(
        models=aligned.models,
        metrics=aligned.metrics,
        probability=checks.frozen(probability),
        estimate=checks.frozen(estimate),
        standard_error=checks.frozen(error),
        how=how,
        n_draws=n_draws,
        methods=aligned.methods,
        paired=aligned.paired,
        n_users=aligned.n_users,
        notes=notes,
    )


def best(
    aligned: Aligned, *, how: str, n_draws: int, rng: np.random.Generator
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
        if how == "normal":
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
        if how == "bootstrap" and bias.any():  # users drawn again do not show it
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
