import numpy as np
import pytest
from scipy import stats

from fullrank.inference.statistics.normal import biased_quantile, quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_the_quantile_of_a_biased_estimate_is_that_of_a_folded_normal(level: float) -> None:
    shift = np.array([0.0, 1e-3, 0.3, 1.0, 2.5, 7.99, 8.01, 50.0])
    found = biased_quantile(level, shift)
    held = stats.norm.cdf(found - shift) - stats.norm.cdf(-found - shift)
    assert held == pytest.approx(np.full(shift.size, level), abs=1e-9)
    assert found[0] == pytest.approx(float(quantile(level)))
    assert (np.diff(found) > 0.0).all()
    assert biased_quantile(level, -shift) == pytest.approx(found)
