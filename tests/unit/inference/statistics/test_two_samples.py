import numpy as np
import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.statistics.two_samples import two_means


def test_two_means_is_welch_from_summaries() -> None:
    random = np.random.default_rng(0)
    a, b = random.random(30), 0.1 + 2 * random.random(50)
    found = two_means(a.mean(), a.std(ddof=1), 30, b.mean(), b.std(ddof=1), 50)
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.df == pytest.approx(expected.df)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.confidence_interval == pytest.approx(expected.confidence_interval(0.95))


def test_what_it_shows() -> None:
    found = two_means(0.5, 0.2, 100, 0.4, 0.2, 100)
    assert str(found) == "+0.1000 [+0.0442, +0.1558]  t = 3.536, p = 0.000507"
    content = found.to_dict()
    assert content["format"] == 1
    assert content["df"] == pytest.approx(198)
    assert (content["low"], content["high"]) == found.confidence_interval


def test_equal_means_without_spread_do_not_differ() -> None:
    assert two_means(0.5, 0, 10, 0.5, 0, 10).p_value == 1.0
    with pytest.raises(InputError, match=r"_sd`.*\b0\b"):
        two_means(0.5, 0, 10, 0.4, 0, 10)


def test_a_mean_needs_two_users() -> None:
    with pytest.raises(InputError, match=r"`second_n`.*\b1\b"):
        two_means(0.5, 1, 10, 0.4, 1, 1)
