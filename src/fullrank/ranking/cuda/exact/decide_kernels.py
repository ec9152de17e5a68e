"""Triton kernels that decide in float64, as scores are defined."""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.words import tie_words


@triton.jit
def true_scores(users, items, bias, user, item, there, d, HAS_BIAS: tl.constexpr):
    """Scores as they are defined: float64, products added in index order, then the bias."""
    total = tl.zeros(item.shape, tl.float64)
    for k in range(d):
        x = tl.load(users + user * d + k).to(tl.float64)
        y = tl.load(items + item * d + k, mask=there, other=0.0).to(tl.float64)
        total += x * y
    if HAS_BIAS:
        total += tl.load(bias + item, mask=there, other=0.0)
    return total


@triton.jit
def mark_scores(
    users, items, bias, user_rows, item_rows, out, n, d,
    BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    """The true score of each pair."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = at < n
    user = tl.load(user_rows + at, mask=here, other=0)
    item = tl.load(item_rows + at, mask=here, other=0)
    total = tl.zeros((BLOCK,), tl.float64)
    for k in range(d):
        x = tl.load(users + user * d + k, mask=here, other=0.0).to(tl.float64)
        y = tl.load(items + item * d + k, mask=here, other=0.0).to(tl.float64)
        total += x * y
    if HAS_BIAS:
        total += tl.load(bias + item, mask=here, other=0.0)
    tl.store(out + at, total, mask=here)


@triton.jit(do_not_specialize=["key_low", "key_high", "sign"])
def decide(
    users, items, bias, marks, own_places, user_rows, tie_users, tie_items, lists, starts, ends,
    order, names, greater, equal, before, key_low, key_high, d, sign,
    BL: tl.constexpr, BK: tl.constexpr, HAS_BIAS: tl.constexpr, RANDOM: tl.constexpr,
    MAPPED: tl.constexpr,
):  # fmt: skip
    """Greater, equal and before among the items listed for each target, times `sign`.

    A float64 sum in any order decides but for scores within its rounding of the mark, and those
    are added up as defined. Entries are rows of `items`, or places in `order` where MAPPED, -1 for
    none; `own_places` is where the target itself stands there, and `names` are the items' rows.
    """
    t = tl.program_id(0)
    first, last = tl.load(starts + t), tl.load(ends + t)
    if first < last:
        user, own = tl.load(user_rows + t), tl.load(own_places + t)
        mark = tl.load(marks + t)
        n_greater = tl.zeros((BL,), tl.int64)
        n_equal = tl.zeros((BL,), tl.int64)
        n_before = tl.zeros((BL,), tl.int64)
        for start in range(first, last, BL):
            at = start + tl.arange(0, BL)
            there = at < last
            item = tl.load(lists + at, mask=there, other=0).to(tl.int64)
            if MAPPED:
                item = tl.load(order + item, mask=there & (item >= 0), other=-1)
            there = there & (item != own) & (item >= 0)
            item = tl.where(there, item, 0)
            total = tl.zeros((BL,), tl.float64)
            size = tl.zeros((BL,), tl.float64)
            for chunk in range(0, d, BK):
                k = chunk + tl.arange(0, BK)
                x = tl.load(users + user * d + k, mask=k < d, other=0.0).to(tl.float64)
                y = tl.load(
                    items + item[:, None] * d + k[None, :],
                    mask=there[:, None] & (k < d)[None, :], other=0.0,
                ).to(tl.float64)  # fmt: skip
                product = y * x[None, :]
                total += tl.sum(product, axis=1)
                size += tl.sum(tl.abs(product), axis=1)
            if HAS_BIAS:
                added = tl.load(bias + item, mask=there, other=0.0)
                total += added
                size += tl.where(tl.abs(added) < float("inf"), tl.abs(added), 0.0)
            margin = size * ((d + 4) * 4.5e-16) + 1e-290
            near = there & (tl.abs(total - mark) <= margin)
            n_greater += (there & (total > mark) & (near == 0)).to(tl.int64)
            # infinite scores differ by NaN, which is not near
            n_equal += (there & (total == mark) & (near == 0)).to(tl.int64)
            if tl.sum(near.to(tl.int32)) > 0:
                total = true_scores(users, items, bias, user, item, near, d, HAS_BIAS)
                same = near & (total == mark)
                n_greater += (near & (total > mark)).to(tl.int64)
                n_equal += same.to(tl.int64)
                if RANDOM:
                    who, mine = tl.load(tie_users + t), tl.load(tie_items + t)
                    other = tl.load(names + item, mask=same, other=0)
                    a = tie_words(other, who, key_low, key_high)
                    b = tie_words(mine + tl.zeros_like(other), who, key_low, key_high)
                    n_before += (same & ((a > b) | ((a == b) & (other > mine)))).to(tl.int64)
        tl.store(greater + t, sign * tl.sum(n_greater))
        tl.store(equal + t, sign * tl.sum(n_equal))
        if RANDOM:
            tl.store(before + t, sign * tl.sum(n_before))
