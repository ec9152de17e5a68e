"""Gradients by finite differences, scores of any size, and scores in few bits."""

import math

import numpy as np
import pytest

from fullrank import losses

CASES = [(name, share) for name in losses.LOSSES for share in (0.0, 0.2)]
CASES = [(name, share) for name, share in CASES if share == 0 or "debiased" in name]


@pytest.fixture
def torch(need):
    return need("torch")


def called(torch, name, scores, share=0.1, **settings):
    loss = losses.LOSSES[name]
    if loss.extra_positives:
        settings["positive_share"] = share
    if loss.log_probability:
        settings["log_probability"] = torch.full((scores[1].shape[-1],), -3.0)
    return loss.function(*scores[: 3 if loss.extra_positives else 2], **settings)


def drawn(torch, seed=0, shape=(5, 6, 3), scale=1.0, dtype=None):
    random = np.random.default_rng(seed)
    rows, n, m = shape
    sizes = ((rows,), (rows, n), (rows, m))
    return [torch.tensor(scale * random.uniform(-1, 1, size), dtype=dtype) for size in sizes]


@pytest.mark.parametrize(("name", "share"), CASES)
def test_gradients_are_those_of_finite_differences(torch, name, share):
    scores = [one.requires_grad_() for one in drawn(torch)]
    used = scores[: 3 if losses.LOSSES[name].extra_positives else 2]
    settings = {"margin": 0.1} if "ccl" in name else {}

    def loss(*given):
        return called(torch, name, given, share, reduction="none", **settings)

    assert torch.autograd.gradcheck(loss, used, eps=1e-7, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("name", "share"), CASES)
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, 1, -1), (-1, -1, -1), (-1, -1, 1)])
def test_huge_scores_in_float32_are_those_in_float64(torch, name, share, signs):
    bare = [abs(one) for one in drawn(torch, scale=1e4, dtype=torch.float32)]
    found, exact = [], []
    for dtype, out in ((torch.float32, found), (torch.float64, exact)):
        scores = [(s * one).to(dtype).requires_grad_() for s, one in zip(signs, bare, strict=True)]
        value = called(torch, name, scores, share)
        value.backward()
        out += [value.detach(), *(one.grad for one in scores if one.grad is not None)]
    assert len(found) == len(exact) >= 3
    for single, double in zip(found, exact, strict=True):
        assert torch.isfinite(single).all()
        size = max(double.abs().max().item(), 1e-3)
        np.testing.assert_allclose(single.double(), double, atol=2e-3 * size)


@pytest.mark.parametrize(("name", "share"), CASES)
def test_sixteen_bits_are_computed_in_float32(torch, name, share):
    narrow = [one.requires_grad_() for one in drawn(torch, dtype=torch.bfloat16, scale=8)]
    wide = [one.detach().float().requires_grad_() for one in narrow]
    low, high = (called(torch, name, given, share) for given in (narrow, wide))
    assert low.dtype == torch.float32
    assert low.item() == high.item()
    low.backward()
    high.backward()
    for one, other in zip(narrow, wide, strict=True):
        if other.grad is None:
            continue
        assert one.grad.dtype == torch.bfloat16
        np.testing.assert_array_equal(one.grad.float(), other.grad.bfloat16().float())


@pytest.mark.parametrize("name", losses.LOSSES)
def test_many_rows_in_bfloat16_lose_nothing_in_the_mean(torch, name):
    """10,000 equal rows: a mean taken in bfloat16 would be off by percents."""
    one = drawn(torch, shape=(1, 6, 3), dtype=torch.bfloat16)
    many = [scores.expand(10_000, *scores.shape[1:]) for scores in one]
    single = called(torch, name, one).item()
    assert called(torch, name, many).item() == pytest.approx(single, rel=1e-5)


@pytest.mark.parametrize("name", losses.LOSSES)
def test_more_leading_axes_are_more_rows(torch, name):
    scores = drawn(torch, shape=(6, 4, 3))
    folded = [one.reshape(2, 3, *one.shape[1:]) for one in scores]
    found = called(torch, name, folded, reduction="none")
    assert found.shape == (2, 3)
    expected = called(torch, name, scores, reduction="none")
    np.testing.assert_array_equal(found.reshape(6), expected)


@pytest.mark.parametrize("name", losses.LOSSES)
def test_inputs_are_left_alone(torch, name):
    scores = drawn(torch)
    before = [one.clone() for one in scores]
    called(torch, name, scores)
    for one, other in zip(scores, before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_gradient_is_lost_where_a_gap_is_large(torch):
    """Torch's softplus is linear beyond 20: its slope there is off by 2e-9."""
    positive = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)
    negatives = torch.tensor([[22.0]], dtype=torch.float64)
    losses.bpr(positive, negatives).backward()
    slope = 1 / (1 + math.exp(-22.0))
    assert abs(positive.grad.item() + slope) < 1e-15


def test_gradients_are_finite_where_next_to_nothing_is_left(torch):
    """Less than the rounding of 1: the corrected mean is e^whole · 1e-9 / (1 − τ)."""
    positive = torch.tensor([0.5], requires_grad=True)
    negatives = torch.tensor([[1e-9]], requires_grad=True)
    extra = torch.tensor([[math.log(2)]], requires_grad=True)  # its half is all of e^0
    loss = losses.debiased_info_nce(
        positive, negatives, extra, positive_share=0.5, lowest_score=-math.inf
    )
    loss.backward()
    left = 1e-9 / 0.5 * math.exp(-0.5)
    assert loss.item() == pytest.approx(left, rel=1e-5)
    assert positive.grad.item() == pytest.approx(-left, rel=1e-5)
    assert negatives.grad.item() == pytest.approx(math.exp(-0.5) / 0.5, rel=1e-5)
    assert extra.grad.item() == pytest.approx(-math.exp(-0.5) / 0.5, rel=1e-5)
