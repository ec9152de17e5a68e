"""The bound on what tensor cores do to a score, on inputs rounded as they round them.

Their sum is imitated at its worst: terms are aligned to the largest of a step and cut off towards
zero (or away from it) at twice the last bit of a float32, and every sum that is carried on as well.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.ranking.cuda import rounding
from fullrank.ranking.cuda.operands import Operand, tile_for

PRECISIONS = pytest.mark.parametrize("operands", ["bf16", "tf32"])
BITS = {"bf16": 8, "tf32": 11}


def cut(value: np.ndarray, size: np.ndarray, outwards: bool) -> np.ndarray:
    """Values in steps of 2^-22 of the power of two at or below `size`."""
    step = np.ldexp(1.0, np.frexp(size)[1] - 1 - 22)
    whole = np.ceil(np.abs(value) / step) if outwards else np.floor(np.abs(value) / step)
    return np.sign(value) * whole * step


def worst_sum(u: np.ndarray, v: np.ndarray, width: int, outwards: bool) -> float:
    total = 0.0
    for start in range(0, u.size, width):
        terms = np.append(u[start : start + width] * v[start : start + width], total)
        largest = np.maximum(np.abs(terms).max(), 1e-300)
        total = float(cut(cut(terms, largest, outwards).sum(), largest, outwards))
    return total


@pytest.mark.breadth
@PRECISIONS
def test_rounding_is_to_the_nearest_and_leaves_what_has_few_bits(operands):
    values = torch.from_numpy(np.random.default_rng(0).normal(size=1000).astype(np.float32))
    rounded = rounding.rounded(torch, values, operands).float()
    assert (rounded - values).abs().le(values.abs() * 2.0 ** -BITS[operands]).all()
    assert torch.equal(rounding.rounded(torch, rounded, operands).float(), rounded)
    few = torch.arange(-128.0, 129.0)
    assert torch.equal(rounding.rounded(torch, few, operands).float(), few)


def test_a_tf32_number_that_lies_half_way_goes_to_the_even_one():
    half = torch.tensor([1 + 2.0**-11, 1 + 3 * 2.0**-11])
    assert rounding.rounded(torch, half, "tf32").tolist() == [1.0, 1 + 2 * 2.0**-10]


def test_lengths_are_never_too_short():
    values = np.random.default_rng(1).normal(size=(2000, 33)).astype(np.float32) * 1e-3
    true = np.sqrt((values.astype(np.longdouble) ** 2).sum(1))
    found = rounding.lengths(torch, torch.from_numpy(values)).double().numpy()
    assert (found >= true).all()
    assert (found <= true * (1 + 1e-5)).all()


@pytest.mark.breadth
@PRECISIONS
def test_the_parts_of_an_operand_add_up_to_the_vector(operands):
    values = torch.from_numpy(np.random.default_rng(2).normal(size=(50, 20)))
    _, width = tile_for(20, operands)
    parts = Operand.rounded(torch, values, 0.5, operands, width)
    high, low = (x.double()[:, :20] for x in (parts.high, parts.low))
    left = values * 0.5 - high
    for size, vectors in ((parts.rest, left), (parts.low_rest, left - low)):
        assert (size.double() >= vectors.square().sum(1).sqrt()).all()
    # two roundings keep twice the bits
    assert (parts.low_rest <= parts.length * 2.0 ** (1 - 2 * BITS[operands])).all()
    assert not parts.high[:, 20:].any()


@pytest.mark.breadth
@PRECISIONS
@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 200),
    width=st.sampled_from([4, 8, 16, 32]),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    cancel=st.booleans(),
    outwards=st.booleans(),
)
def test_the_worst_sum_stays_within_the_bound(operands, seed, d, width, spread, cancel, outwards):
    rng = np.random.default_rng(seed)
    u, v = (rng.normal(size=d) * np.exp(rng.normal(0, spread, d)) for _ in range(2))
    if cancel:  # terms in pairs that all but cancel: the sum is far smaller than its terms
        half = d // 2
        u[half : 2 * half], v[half : 2 * half] = u[:half], -v[:half] * (1 + 1e-6)
    u, v = u.astype(np.float32), v.astype(np.float32)
    a, b = (Operand.rounded(torch, torch.from_numpy(x)[None], 1.0, operands, d) for x in (u, v))
    found = worst_sum(a.high[0].double().numpy(), b.high[0].double().numpy(), width, outwards)
    true = float((u.astype(np.longdouble) * v.astype(np.longdouble)).sum())
    # margins() of count_kernels.py, but for what covers the rounding of the mark
    length, reach, rate = float(a.length), float(b.length), rounding.rate(d)
    allowed = 1.01 * (float(a.rest) * reach + length * float(b.rest) + rate * length * reach)
    assert abs(found - true) <= allowed + rounding.tiny(d, 1.0)
    # with the remainders, as count_again adds them
    fine = worst_sum(
        np.append(a.high[0].double().numpy(), a.low[0].double().numpy()),
        np.append(b.low[0].double().numpy(), b.high[0].double().numpy()), width, outwards,
    )  # fmt: skip
    low_u, low_v = float(a.low_length), float(b.low_length)
    cut_off = float(a.low_rest) * reach + length * float(b.low_rest) + rate * length * reach
    allowed = 1.01 * (cut_off + low_u * low_v) + 3 * rate * (length * low_v + low_u * reach)
    assert abs(found + fine - true) <= allowed + rounding.tiny(d, 1.0)
