"""What tensor cores do to a score, bounded rigorously.

The operands are rounded to bf16 or tf32 before they get there, so that the hardware rounds nothing
more: û = u + δu with |δu| measured, not assumed. Then, with |·| the Euclidean length,

    |u·v - û·v̂| ≤ |δu|·|v| + |û|·|δv|                                   (Cauchy and Schwarz)

and the product of two rounded entries is exact in float32 (8 + 8 or 11 + 11 bits). The sum is
float32, but not IEEE's: tensor cores align the terms of a step to the largest of them and cut off
what is below its last bits (Fasi et al., PeerJ CS 2021). Every partial sum and every term is at
most Σ|û_k v̂_k| ≤ |û||v̂|, so each of the d terms, and each of the at most d/4 sums that are
carried on, loses at most 2^-22 of that, twice the last bit of a float32 of that size, and so

    |computed - û·v̂| ≤ (5/4·d + 8)·2^-22·|û||v̂|,

where 8 covers the bias and what is converted. Underflow adds a tiny absolute term. Where that does
not decide, the remainders are rounded too, u = û + û₂ + δ₂u, and û·v̂₂ + û₂·v̂ is added from a sum of
its own; what is left out is û₂·v̂₂ + δ₂u·v + (û + û₂)·δ₂v.
"""

from __future__ import annotations

from typing import Any


def rate(d: int) -> float:
    """The factor of |û||v| that the accumulation may add."""
    return (1.25 * d + 8.0) * 2.0**-22


def tiny(d: int, room: float) -> float:
    """What underflow may add: flushed products and sums, times what multiplies them."""
    return (4 * d + 8) * 2.0**-126 * room


def rounded(torch: Any, values: Any, precision: str) -> Any:
    """Float32 values as the nearest ones of the precision: bf16, or float32 with 10 bits."""
    if precision == "bf16":
        return values.to(torch.bfloat16)
    bits = values.view(torch.int32)
    odd = (bits >> 13) & 1
    return ((bits + 0xFFF + odd) & ~0x1FFF).view(torch.float32)


def lengths(torch: Any, values: Any) -> Any:
    """Euclidean lengths of the rows, from float64 sums, rounded up a little; float32."""
    out = torch.empty(values.shape[0], dtype=torch.float32, device=values.device)
    step = max(1, (1 << 26) // values.shape[1])
    for start in range(0, values.shape[0], step):
        part = values[start : start + step].double()
        out[start : start + step] = part.square().sum(1).sqrt().mul(1 + 2.0**-20).float()
    return out.mul_(1 + 2.0**-20)
