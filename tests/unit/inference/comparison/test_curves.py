import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.inference.comparison.curves import dominance

RANDOM = np.random.default_rng(0)
RANKS = RANDOM.integers(1, 201, 3000)


def test_the_difference_is_that_of_the_recall_curves() -> None:
    other = RANDOM.integers(1, 201, 3000)
    weight = RANDOM.random(3000)
    found = dominance(RANKS, other, depth=200, weight=weight, rng=0)
    share = weight / weight.sum()
    for k in (1, 10, 150, 199):
        each = np.less_equal(RANKS, k).astype(float) - np.less_equal(other, k)
        assert found.difference[k - 1] == pytest.approx(share @ each)
        error = np.sqrt(((share * (each - share @ each)) ** 2).sum())
        assert found.standard_error[k - 1] == pytest.approx(error)


def test_users_without_weight_count_for_nothing() -> None:
    other = RANDOM.integers(1, 201, 3000)
    weight = np.where(np.arange(3000) < 2000, 0.0, 1.0)
    found = dominance(RANKS, other, depth=200, weight=weight, rng=0)
    alone = dominance(RANKS[2000:], other[2000:], depth=200, rng=0)
    assert found.critical == alone.critical
    assert (found.standard_error == alone.standard_error).all()


def test_a_curve_above_everywhere_dominates() -> None:
    better = np.maximum(1, RANKS - RANDOM.integers(0, 12, 3000))
    found = dominance(better, RANKS, depth=200, rng=0)
    assert found.verdict == "first"
    assert found.below.size == 0
    assert str(found) == (
        "first: the first curve is significantly above the second at "
        f"{found.above.size} and below it at 0 of 199 cut-offs"
    )
    assert dominance(RANKS, better, depth=200, rng=0).verdict == "second"


def test_curves_that_cross_are_found() -> None:
    wide = np.where(RANDOM.random(3000) < 0.5, 1 + RANKS // 10, 180 + RANKS // 10)
    found = dominance(np.minimum(wide, 200), RANKS, depth=200, rng=0)
    assert found.verdict == "crossing"
    assert found.above.min() < found.below.max()


def test_two_draws_of_the_same_curve_are_undecided() -> None:
    # the band is wrong in 5 of 100 at most: 2 of 40, seldom more than 7
    verdicts = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        a, b = random.integers(1, 101, (2, 400))
        verdicts.append(dominance(a, b, depth=100, rng=seed).verdict)
    assert sum(verdict != "undecided" for verdict in verdicts) <= 7


def test_too_few_users_show_nothing() -> None:
    found = dominance([1, 1, 1], [5, 6, 7], depth=10, rng=0)
    assert found.verdict == "undecided"
    assert np.isinf(found.critical)


def test_the_picture_shows_the_curve(need) -> None:
    need("matplotlib")
    better = np.maximum(1, RANKS - 5)
    axes = dominance(better, RANKS, depth=200, rng=0).plot()
    assert axes.lines[0].get_ydata().size == 199


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"first": [1, 2], "second": [1, 2, 3], "depth": 5},
            r"`first`.*`second`.*2 and 3",
        ),
        (
            {"first": [1, 9], "second": [1, 2], "depth": 5},
            r"`first`.*1 of 2.*first\[1\] = 9\b",
        ),
        (
            {"first": [1, 2], "second": [1, 2], "depth": 5, "weight": [0.0, 0.0]},
            r"`weight`.*sum.*\b0\b",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        dominance(**arguments)
