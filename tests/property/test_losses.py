"""What must hold between the losses, whatever the scores: the bounds of 003, equations 87 to 91."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullrank import losses

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(1, 4))


def scores(size: float) -> Any:
    """Positives, negatives and extra positives, real numbers within ±size."""
    numbers = st.floats(-size, size)
    return SHAPES.flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape[:1], elements=numbers),
            arrays(np.float64, shape[:2], elements=numbers),
            arrays(np.float64, (shape[0], shape[2]), elements=numbers),
        )
    )


DOTS, COSINES = scores(50.0), scores(1.0)


@pytest.fixture(scope="module")
def torch(need: Callable[[str], ModuleType]) -> ModuleType:
    return need("torch")


def value(torch: Any, function: Any, *given: Any, **settings: Any) -> Any:
    tensors = [torch.tensor(one) for one in given]
    return function(*tensors, reduction="none", **settings).numpy()


def at_least(larger: Any, smaller: Any) -> None:
    """Up to rounding, relative to their size."""
    assert (larger >= smaller - 1e-12 * (1 + np.abs(smaller))).all()


@given(DOTS)
def test_info_nce_is_above_mine_and_mine_above_the_mean_gap(torch: Any, drawn: Any) -> None:
    """Equation 87, by Jensen's inequality."""
    positive, negatives, _ = drawn
    gaps = negatives - positive[:, None]
    mine = value(torch, losses.mine, positive, negatives)
    at_least(value(torch, losses.info_nce, positive, negatives), mine)
    at_least(mine, gaps.mean(axis=1) + math.log(gaps.shape[1]))


@given(DOTS)
def test_both_follow_the_largest_gap(torch: Any, drawn: Any) -> None:
    """Equation 88, by the bounds of a log-sum-exp; the upper one holds for InfoNCE and MINE."""
    positive, negatives, _ = drawn
    gaps = negatives - positive[:, None]
    n = gaps.shape[1]
    info = value(torch, losses.info_nce, positive, negatives)
    mine = value(torch, losses.mine, positive, negatives)
    at_least(mine, gaps.max(axis=1))
    at_least(info, np.maximum(gaps.max(axis=1), 0))
    at_least(np.maximum(gaps.max(axis=1), 0) + math.log(n + 1), info)
    at_least(gaps.max(axis=1) + math.log(n), mine)


@given(DOTS)
def test_info_nce_is_above_a_mean_of_pairs(torch: Any, drawn: Any) -> None:
    """Equation 90: log(1 + Σ e^gap) ≥ mean log(1 + n·e^gap) when the mean is inside the sum."""
    positive, negatives, _ = drawn
    gaps = negatives - positive[:, None]
    n = gaps.shape[1]
    pairs = np.logaddexp(0.0, gaps + math.log(n)).mean(axis=1)
    at_least(value(torch, losses.info_nce, positive, negatives), pairs)
    at_least(pairs, gaps.mean(axis=1) + math.log(n))


@given(DOTS)
def test_bpr_is_above_its_hinge_and_above_info_nce(torch: Any, drawn: Any) -> None:
    """Equation 91; and Π(1 + e^gap) ≥ 1 + Σ e^gap, so that BPR's sum is above InfoNCE."""
    positive, negatives, _ = drawn
    hinge = np.maximum(negatives - positive[:, None], 0)
    bpr = value(torch, losses.bpr, positive, negatives)
    at_least(bpr, hinge.sum(axis=1))
    at_least(hinge.sum(axis=1), hinge.mean(axis=1))
    at_least(bpr, value(torch, losses.info_nce, positive, negatives))


@given(DOTS)
def test_with_one_negative_bpr_is_info_nce(torch: Any, drawn: Any) -> None:
    positive, negatives, _ = drawn
    np.testing.assert_allclose(
        value(torch, losses.bpr, positive, negatives[:, :1]),
        value(torch, losses.info_nce, positive, negatives[:, :1]),
        atol=1e-12,
    )


@given(DOTS, st.floats(0, 10))
def test_debiased_by_nothing_is_plain(torch: Any, drawn: Any, weight: float) -> None:
    cosines = [np.tanh(one) for one in drawn]
    for debiased, plain, settings in (
        (losses.debiased_mse, losses.mse, {"negative_weight": weight}),
        (losses.debiased_ccl, losses.ccl, {"negative_weight": weight, "margin": 0.3}),
    ):
        np.testing.assert_array_equal(
            value(torch, debiased, *drawn, positive_share=0.0, **settings),
            value(torch, plain, *drawn[:2], **settings),
        )
    for given_scores, settings in ((cosines, {}), (drawn, {"lowest_score": -math.inf})):
        np.testing.assert_allclose(
            value(torch, losses.debiased_info_nce, *given_scores, positive_share=0.0, **settings),
            value(torch, losses.info_nce, *given_scores[:2]),
            rtol=1e-12,
        )


@given(COSINES, st.floats(0.01, 0.4), st.floats(0.01, 0.5))
def test_the_more_is_taken_away_the_less_is_left(
    torch: Any, drawn: Any, share: float, more: float
) -> None:
    """Of squares and of what is above a margin; InfoNCE renormalises, and need not obey."""
    for debiased in (losses.debiased_mse, losses.debiased_ccl):
        at_least(
            value(torch, debiased, *drawn, positive_share=share),
            value(torch, debiased, *drawn, positive_share=share + more),
        )


@given(COSINES, st.floats(0.0, 0.9), st.floats(0.05, 2.0))
def test_debiased_info_nce_stays_within_its_ends(
    torch: Any, drawn: Any, share: float, heat: float
) -> None:
    positive, negatives, extra = drawn
    found = value(
        torch, losses.debiased_info_nce, positive, negatives, extra,
        positive_share=share, temperature=heat,
    )  # fmt: skip
    n = negatives.shape[1]
    lowest = np.logaddexp(0.0, math.log(n) + (-1.0 - positive) / heat)
    at_least(found, lowest)
    weight = n / (1 - share)  # nothing taken away, and renormalised all the same
    at_least(
        value(torch, losses.info_nce, positive, negatives, temperature=heat,
              negative_weight=weight),
        np.where(found > lowest + 1e-9, found, -np.inf),
    )  # fmt: skip


@given(DOTS)
def test_mine_plus_at_one_is_mine(torch: Any, drawn: Any) -> None:
    positive, negatives, _ = drawn
    settings = {"temperature": 1.0, "negative_weight": 1.0}
    gap = value(torch, losses.mine_plus, positive, negatives, **settings) - value(
        torch, losses.mine, positive, negatives
    )
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)  # the constant is 0: both are sums


@given(DOTS, st.floats(-100, 100))
def test_losses_of_differences_do_not_feel_a_shift(torch: Any, drawn: Any, shift: float) -> None:
    positive, negatives, _ = drawn
    for function in (losses.bpr, losses.info_nce, losses.mine, losses.softmax):
        np.testing.assert_allclose(
            value(torch, function, positive + shift, negatives + shift),
            value(torch, function, positive, negatives),
            atol=1e-10,
        )


@given(DOTS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_of_negatives_does_not_matter(
    torch: Any, drawn: Any, random: Any
) -> None:
    positive, negatives, extra = drawn
    rows = random.sample(range(positive.size), positive.size)
    columns = random.sample(range(negatives.shape[1]), negatives.shape[1])
    for loss in losses.LOSSES.values():
        settings: dict[str, Any] = {"positive_share": 0.2} if loss.extra_positives else {}
        if loss.log_probability:
            settings["log_probability"] = torch.zeros(1)
        more = [extra] if loss.extra_positives else []
        moved = [extra[rows]] if loss.extra_positives else []
        np.testing.assert_allclose(
            value(torch, loss.function, positive[rows], negatives[rows][:, columns], *moved,
                  **settings),
            value(torch, loss.function, positive, negatives, *more, **settings)[rows],
            rtol=1e-9, atol=1e-9,
        )  # fmt: skip


@given(COSINES, st.floats(0.1, 3))
def test_temperature_divides_the_scores(torch: Any, drawn: Any, heat: float) -> None:
    positive, negatives, _ = drawn
    for function in (losses.info_nce, losses.softmax, losses.mine_plus):
        np.testing.assert_allclose(
            value(torch, function, positive, negatives, temperature=heat),
            value(torch, function, positive / heat, negatives / heat, temperature=1.0),
            atol=1e-9,
        )
