"""Numbers that the papers print about samples of users, and about dominance.

003: Li, dissertation, section 2.7. 001: Li et al., KDD 2020, section 2.3.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.designs import Uniform, expected_metric
from fullrank.inference.statistics.proportions import hoeffding_confidence, two_proportions
from fullrank.inference.statistics.sample_size import users_needed


@pytest.mark.parametrize(
    ("margin", "before", "users"), [(0.03, 1067.07, 1068), (0.01, 9603.65, 9604)]
)
def test_equation_51(margin: float, before: float, users: int) -> None:
    found = users_needed(margin, proportion=0.5, confidence_level=0.95)
    assert round(found.exact, 2) == before
    assert found.n_users == users


def test_equation_51_with_the_printed_quantile() -> None:
    # z = 1.96, as it is printed, is that of 95.0004 %
    level = 0.950004209703559
    assert users_needed(0.01, confidence_level=level).exact == pytest.approx(9604.0, abs=1e-6)
    assert users_needed(0.03, confidence_level=level).exact == pytest.approx(1067.11, abs=5e-3)


def test_equation_52_at_ten_thousand_users() -> None:
    assert hoeffding_confidence(0.02, 10_000) > 0.999


def test_hoeffding_of_the_first_paper() -> None:
    # 001 after equation 8: 30,000 users, t = 0.01, a risk of at most 0.005
    assert 1.0 - hoeffding_confidence(0.01, 30_000) == pytest.approx(0.005, abs=5e-5)


def test_equation_53_and_55() -> None:
    # m = 1,000 users each, shares 0.30 and 0.26: pooled 0.28
    found = two_proportions(300, 1000, 260, 1000)
    assert found.statistic == pytest.approx(0.04 / np.sqrt(2 * 0.28 * 0.72 / 1000))
    half = 1.959964 * np.sqrt((0.3 * 0.7 + 0.26 * 0.74) / 1000)
    assert found.confidence_interval == pytest.approx((0.04 - half, 0.04 + half))


def test_equation_56_is_twice_equation_50() -> None:
    one, two = users_needed(0.03), users_needed(0.03, compare=True)
    assert two.exact == pytest.approx(2 * one.exact)
    assert two.n_users == 2135


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.lists(st.integers(0, 59), min_size=12, max_size=12),
    st.integers(2, 59),
    st.booleans(),
    st.sampled_from(["recall@1", "recall@3", "ndcg@5", "ap", "ndcg", "rr@2", "auc"]),
)
def test_theorem_2_1(
    ranks: list[int], worse_by: list[int], size: int, replacement: bool, metric: str
) -> None:
    """A recall curve above another stays above it in the sample, at every k and n."""
    first = np.array(ranks)
    second = np.minimum(60, first + np.array(worse_by[: first.size]))
    a, b = (
        expected_metric(
            one, metric, n_items=60, design=Uniform(size, replacement=replacement)
        ).mean()
        for one in (first, second)
    )
    assert a >= b - 1e-12


def test_theorem_2_1_does_not_go_back() -> None:
    """Sampled curves can be in order at every k though the full ones cross."""
    first, second = np.array([2, 5, 40]), np.array([1, 30, 60])
    recalls = [
        [
            expected_metric(one, f"recall@{k}", n_items=60, design="sampled:10").mean()
            for k in range(1, 10)
        ]
        for one in (first, second)
    ]
    assert np.less_equal(recalls[1], recalls[0]).all()
    assert (first <= 1).sum() < (second <= 1).sum()
