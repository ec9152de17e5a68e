import numpy as np
import pytest

from fullrank.designs import RankGrid
from fullrank.estimators import METHODS, mle
from fullrank.samples import RankDistribution, RankSample
from fullrank.testing import check_estimator

GRID = RankGrid(np.array([*range(21), 40, 80, 149, 150]))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "exact"])
def test_every_estimator_keeps_the_contract(name: str) -> None:
    check_estimator(lambda sample: METHODS[name].fit(sample, grid=GRID))


def by_order(sample: RankSample) -> RankDistribution:
    first = sample.rows.rank[0] if sample.rows is not None else 1
    return RankDistribution.from_ranks([first], n_items=150)


def by_weight(sample: RankSample) -> RankDistribution:
    return RankDistribution.from_ranks([1 + int(sample.weight.sum() > 300)], n_items=150)


def by_rows(sample: RankSample) -> RankDistribution:
    return RankDistribution.from_ranks([1 + (sample.rows is None)], n_items=150)


class Fickle:
    calls = 0

    def __call__(self, sample: RankSample) -> RankDistribution:
        self.calls += 1
        return RankDistribution.from_ranks([self.calls], n_items=150)


@pytest.mark.parametrize(
    ("fit", "promise"),
    [
        (lambda sample: mle(sample).mass, "RankDistribution"),
        (Fickle(), "same sample"),
        (by_order, "order"),
        (by_weight, "weights"),
        (by_rows, "counts alone"),
    ],
)
def test_the_contract_notices(fit, promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_estimator(fit)
