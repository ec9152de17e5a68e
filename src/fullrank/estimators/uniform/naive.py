"""The naive metric and the unbiased rank, for comparison only.

Both are for fixed designs: under adaptive stopping ranks of different sizes would be mixed,
and 1 + (N - 1)(r - 1)/(n - 1) is biased.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.estimators.system import check_sample
from fullrank.metrics import Metric, parse
from fullrank.samples import RankSample


def unbiased_ranks(sample: RankSample) -> Floats:
    """The unbiased estimate of each outcome's true rank, 1 + (N - 1)(r - 1)/(n - 1).

    Unbiased for the rank, and so for AUC; not for any metric that bends (Krichene and Rendle
    2020). One for each of the sample's distinct outcomes.
    """
    check_sample(sample)
    if sample.design.adaptive:
        raise InputError(
            "`sample` must have a fixed design; under adaptive stopping, this rank estimate is "
            "biased."
        )
    if (sample.sample_size < 2).any():
        raise InputError("`sample` must have at least two candidates for each target.")
    steps = (sample.rank - 1.0) / (sample.sample_size - 1.0)
    return np.asarray(1.0 + (sample.pool - 1.0) * steps)


def unbiased_rank_metric(sample: RankSample, metric: str | Metric) -> float:
    """The metric of the unbiased ranks: what plugging them in gives, bias and all."""
    parsed = parse(metric)
    values = parsed.weights(unbiased_ranks(sample), sample.pool)
    return float(np.average(values, weights=sample.weight))
