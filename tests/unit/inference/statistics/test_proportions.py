import math

import numpy as np
import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.statistics.proportions import (
    hoeffding,
    hoeffding_confidence,
    two_proportions,
    wald,
    wilson,
)


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (1, 12), (15, 50), (50, 50), (3, 10_000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_wilson_is_that_of_scipy(hits: int, n: int, level: float) -> None:
    expected = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    assert wilson(hits, n, confidence_level=level) == pytest.approx(
        (expected.low, expected.high), abs=1e-14
    )


def test_wilson_holds_the_shares_that_a_z_test_does_not_reject() -> None:
    z = stats.norm.ppf(0.975)
    for end in wilson(7, 40):
        assert abs(7 / 40 - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 40))


def test_wald_is_the_share_with_its_standard_error() -> None:
    assert wald(15, 50) == pytest.approx((0.3 - 0.12702, 0.3 + 0.12702), abs=5e-6)
    assert wald(0, 50) == (0.0, 0.0)


def test_hoeffding_inverts_its_own_confidence() -> None:
    low, high = hoeffding(0.4, 2500, confidence_level=0.9)
    assert high - 0.4 == pytest.approx(0.4 - low)
    assert hoeffding_confidence(high - 0.4, 2500) == pytest.approx(0.9)
    assert hoeffding(0.001, 100).low == 0.0
    assert hoeffding(0.999, 100).high == 1.0
    assert hoeffding_confidence(0.001, 10) == 0.0


def test_two_proportions_pool_for_the_test_and_not_for_the_interval() -> None:
    found = two_proportions(60, 200, 40, 250)
    pooled = 100 / 450
    z = (0.3 - 0.16) / math.sqrt(pooled * (1 - pooled) * (1 / 200 + 1 / 250))
    assert found.statistic == pytest.approx(z)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z))
    error = math.sqrt(0.3 * 0.7 / 200 + 0.16 * 0.84 / 250)
    assert found.standard_error == pytest.approx(error)
    half = 1.959964 * error
    assert found.confidence_interval == pytest.approx((0.14 - half, 0.14 + half))
    # the square of a pooled z is Pearson's χ² of the two by two table
    table = np.array([[60, 140], [40, 210]])
    assert z**2 == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)


def test_two_shares_without_spread_do_not_differ() -> None:
    assert two_proportions(0, 10, 0, 20).p_value == 1.0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: wilson(5, 0), r"`n`.*not 0\b"),
        (lambda: wilson(-1, 4), r"`hits`.*-1\b"),
        (lambda: wald(5, 4), r"`hits`.*`n`.*\b4\b.*\b5\b"),
        (
            lambda: wilson(1, 4, confidence_level=95),
            r"`confidence_level`.*not 95\b",
        ),
        (lambda: hoeffding(1.5, 10), r"`mean`.*\b1\.5\b"),
        (lambda: hoeffding_confidence(-0.1, 10), r"`margin`.*-0\.1\b"),
    ],
)
def test_errors_say_what_is_wrong(call, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()
