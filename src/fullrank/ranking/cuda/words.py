"""The keyed words of draws.py in Triton: the same few lines, the same words, bit for bit."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def philox(c0, c1, c2, c3, key_low, key_high):
    """Ten rounds of Philox-4x32, the words of draws.philox4x32."""
    k0 = key_low.to(tl.uint32) + tl.zeros_like(c0)
    k1 = key_high.to(tl.uint32) + tl.zeros_like(c0)
    for _ in tl.static_range(10):
        high0, low0 = tl.umulhi(c0, 0xD2511F53 + tl.zeros_like(c0)), c0 * 0xD2511F53
        high1, low1 = tl.umulhi(c2, 0xCD9E8D57 + tl.zeros_like(c0)), c2 * 0xCD9E8D57
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 = k0 + 0x9E3779B9
        k1 = k1 + 0xBB67AE85
    return c0, c1, c2, c3


@triton.jit
def tie_words(item, user, key_low, key_high):
    """The two words of an item's place among the user's equal scores (_draw_kernels.tie_word)."""
    u = user.to(tl.uint64)
    c0 = item.to(tl.uint32)
    c1 = (u & 0xFFFFFFFF).to(tl.uint32) + tl.zeros_like(c0)
    c2 = (u >> 32).to(tl.uint32) + tl.zeros_like(c0)
    w0, w1, _, _ = philox(c0, c1, c2, tl.zeros_like(c0) + 2, key_low, key_high)
    return (w0.to(tl.uint64) << 32) | w1.to(tl.uint64)
