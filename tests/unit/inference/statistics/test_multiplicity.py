import numpy as np
import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.statistics.hypothesis_tests import (
    CORRECTIONS,
    benjamini_hochberg,
    bonferroni,
    corrected,
    holm,
)

P = np.array([0.012, 0.0004, 0.3, 0.012, 0.91, 0.048])


def test_worked_by_hand() -> None:
    assert bonferroni(P) == pytest.approx([0.072, 0.0024, 1, 0.072, 1, 0.288])
    # sorted 0.0004, 0.012, 0.012, 0.048, 0.3, 0.91 times 6, 5, 4, 3, 2, 1, never falling
    assert holm(P) == pytest.approx([0.06, 0.0024, 0.6, 0.06, 0.91, 0.144])
    # times 6/1, 6/2, 6/3, 6/4, 6/5, 6/6, never rising from the right
    assert benjamini_hochberg(P) == pytest.approx([0.024, 0.0024, 0.36, 0.024, 0.91, 0.072])


def test_bh_is_that_of_scipy() -> None:
    p = np.random.default_rng(0).random(200) ** 3
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


def test_holm_rejects_what_its_steps_reject() -> None:
    # step down: compare the i-th smallest with α/(m - i + 1), stop at the first that is larger
    random = np.random.default_rng(1)
    for _ in range(50):
        p = random.random(8) ** 4
        rejected = np.zeros(8, bool)
        for i, where in enumerate(np.argsort(p)):
            if p[where] > 0.05 / (8 - i):
                break
            rejected[where] = True
        assert ((holm(p) <= 0.05) == rejected).all()


@pytest.mark.parametrize("correction", [None, *CORRECTIONS])
def test_one_test_needs_no_correction(correction: str | None) -> None:
    assert corrected([0.03], correction) == pytest.approx([0.03])


def test_none_leaves_them() -> None:
    assert (corrected(P, None) == P).all()


@pytest.mark.parametrize(
    ("p", "correction", "says"),
    [
        ([], "holm", r"`p_values`.*empty"),
        (
            [0.5, 1.2],
            "bh",
            r"`p_values`.*1 of 2.*p_values\[1\] = 1\.2\b",
        ),
        (
            [0.5],
            "sidak",
            r"`correction`.*'holm', 'bonferroni', 'bh'.*'sidak'",
        ),
    ],
)
def test_errors_say_what_is_wrong(p: list[float], correction: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        corrected(p, correction)
