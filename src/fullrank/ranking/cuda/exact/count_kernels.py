"""Triton kernels that count by tensor cores.

Rows are users, or parts of users, with GROUP targets each. All arrays are on the device. The same
code runs without a GPU in Triton's interpreter, which is how the tests run it. Sums are relaxed:
without that word every one of them waits for all memory to be in order, and nothing reads them
before the kernel ends.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.words import tie_words


@triton.jit
def margins(mark, length, rest, longest, residual, bias_size, rate, tiny):
    """How far a score of the tensor cores may be from the true one, for a block of items.

    |u·v - û·v̂| ≤ |u - û||v| + |û||v - v̂|, and the accumulation adds rate·|û||v| (bounds.py);
    the factor covers the rounding of this sum and of the bounds to float32.
    """
    spread = rest * longest + length * residual + rate * (length * longest + bias_size)
    return 1.01 * spread + tl.abs(mark) * 2.4e-7 + tiny


@triton.jit
def product(u, v, total, UPCAST: tl.constexpr):
    """u·vᵀ added to `total`; the interpreter's own product of bf16 is wrong, float32's is not."""
    if UPCAST:
        return tl.dot(u.to(tl.float32), tl.trans(v.to(tl.float32)), total, input_precision="ieee")
    return tl.dot(u, tl.trans(v), total)


@triton.jit
def above_and_within(s, high, low, UPCAST: tl.constexpr):
    """1 where a score is above `high`, and 1024 more where it is at least `low`; float32.

    The comparison that gives a float is one instruction, and adding it up another; through truth
    values and integers they are five, which doubles the time of the whole count.
    """
    high = tl.broadcast_to(high[:, None], s.shape)
    low = tl.broadcast_to(low[:, None], s.shape)
    if UPCAST:
        return (s > high).to(tl.float32) + 1024.0 * (s >= low).to(tl.float32)
    over = tl.inline_asm_elementwise(
        "set.gt.f32.f32 $0, $1, $2;", "=f,f,f", [s, high], dtype=tl.float32, is_pure=True, pack=1
    )
    least = tl.inline_asm_elementwise(
        "set.ge.f32.f32 $0, $1, $2;", "=f,f,f", [s, low], dtype=tl.float32, is_pure=True, pack=1
    )
    return over + 1024.0 * least


@triton.jit
def column(table, group, g: tl.constexpr, GROUP: tl.constexpr):
    """One column of a (rows, GROUP) table as a vector."""
    if GROUP == 1:
        return tl.reshape(table, (table.shape[0],))
    return tl.sum(tl.where(group[None, :] == g, table, 0.0), axis=1)


@triton.jit
def tied_before(s, m, rows, item, n_items, names, tie_users, tie_items, key_low, key_high):
    """How many items of a block have the target's score and precede it by their words."""
    tied = (s == m[:, None]) & (item < n_items)[None, :]
    before = tl.zeros((s.shape[0],), tl.int32)
    if tl.sum(tied.to(tl.int32)) > 0:
        name = tl.load(names + item, mask=item < n_items, other=0)
        who, mine = tl.load(tie_users + rows), tl.load(tie_items + rows)
        name, who = tl.broadcast(name[None, :], who[:, None])
        mine = tl.broadcast_to(mine[:, None], s.shape)
        a = tie_words(name, who, key_low, key_high)
        b = tie_words(mine, who, key_low, key_high)
        first = (a > b) | ((a == b) & (name > mine))
        before = tl.sum((tied & (name != mine) & first).to(tl.int32), axis=1)
    return before


@triton.jit(do_not_specialize=["key_low", "key_high", "begin"])
def count_scores(
    users, items, bias, marks, length, rest, longest, residual, bias_size, limit, above, within,
    near, flags, names, tie_users, tie_items, before, key_low, key_high, n_rows, n_items,
    begin, blocks_per_shard, rate, tiny,
    D: tl.constexpr, BK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr,
    HAS_BIAS: tl.constexpr, FAST: tl.constexpr, NEAR: tl.constexpr, STEP: tl.constexpr,
    RANDOM: tl.constexpr, UPCAST: tl.constexpr,
):  # fmt: skip
    """For each target how many scores are above m + ε, in blocks without one between m ± ε.

    The blocks are those from `begin` to the row's `limit`, cut into shards. One program takes BM
    rows through one shard of the items, block by block of BN; nothing of the
    scores is stored. Rows with a score between are left out of the block's count and flagged for
    `count_again`. With FAST the counts are of the scores above and at least m, or with NEAR of
    those within ε of it, projected from every STEP-th block; with RANDOM also of those equal to m
    that precede the target. Rows and items are padded to whole tiles.
    """
    block, shard = tl.program_id(0), tl.program_id(1)
    row = block * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    first = begin + shard * blocks_per_shard
    last = tl.minimum(first + blocks_per_shard, tl.load(limit + block))
    if first < last:
        u_length = tl.load(length + row)
        u_rest = tl.load(rest + row)
        at_user = row.to(tl.int64)[:, None] * D + k[None, :]
        if D == BK:
            u = tl.load(users + at_user)
        group = tl.arange(0, GROUP)
        target = row.to(tl.int64)[:, None] * GROUP + group[None, :]
        m_all = tl.load(marks + target)
        n_above = tl.zeros((BM, GROUP), tl.int32)
        n_within = tl.zeros((BM, GROUP), tl.int32)
        n_near = tl.zeros((BM, GROUP), tl.int32)
        n_before = tl.zeros((BM, GROUP), tl.int32)
        for b in range(first, last, STEP):
            item = b * BN + tl.arange(0, BN)
            at_item = item.to(tl.int64)[:, None] * D + k[None, :]
            s = tl.zeros((BM, BN), tl.float32)
            if D == BK:
                s = product(u, tl.load(items + at_item), s, UPCAST)
            else:
                for start in range(0, D, BK):
                    part = tl.load(users + at_user + start)
                    s = product(part, tl.load(items + at_item + start), s, UPCAST)
            if HAS_BIAS:
                s += tl.load(bias + item)[None, :]
            if (b + 1) * BN > n_items:
                s = tl.where((item < n_items)[None, :], s, float("-inf"))
            size = tl.load(bias_size + b)
            reach, off = tl.load(longest + b), tl.load(residual + b)
            t_above = tl.zeros((BM, GROUP), tl.int32)
            undecided = tl.zeros((BM,), tl.int32)
            for g in tl.static_range(GROUP):
                m = column(m_all, group, g, GROUP)
                mine = group[None, :] == g
                margin = margins(m, u_length, u_rest, reach, off, size, rate, tiny)
                if FAST:
                    sums = tl.sum(above_and_within(s, m, m, UPCAST), axis=1).to(tl.int32)
                    n_within += tl.where(mine, (sums >> 10)[:, None], 0)
                    if RANDOM:
                        more = tied_before(
                            s, m, row * GROUP + g, item, n_items, names, tie_users, tie_items,
                            key_low, key_high,
                        )  # fmt: skip
                        n_before += tl.where(mine, more[:, None], 0)
                    if NEAR:
                        close = tl.abs(s - m[:, None]) <= margin[:, None]
                        n_near += tl.where(mine, tl.sum(close.to(tl.int32), axis=1)[:, None], 0)
                else:
                    sums = tl.sum(above_and_within(s, m + margin, m - margin, UPCAST), axis=1)
                    sums = sums.to(tl.int32)
                    undecided = undecided | ((sums >> 10) - (sums & 1023))
                t_above += tl.where(mine, (sums & 1023)[:, None], 0)
            if not FAST:
                t_above = tl.where((undecided > 0)[:, None], 0, t_above)
                at = tl.cast(b - begin, tl.int64) * n_rows + row
                tl.store(flags + at, tl.full((BM,), 1, tl.int8), mask=undecided > 0)
            n_above += t_above
        # a shard holds fewer than 2^31 items; the sums over shards may not
        if NEAR:  # what was found in some blocks, for all of them
            taken = tl.cdiv(last - first, STEP)
            tl.atomic_add(
                near + target, n_near.to(tl.int64) * (last - first) // taken, sem="relaxed"
            )
        else:
            tl.atomic_add(above + target, n_above.to(tl.int64), sem="relaxed")
        if FAST and not NEAR:
            tl.atomic_add(within + target, n_within.to(tl.int64), sem="relaxed")
        if RANDOM:
            tl.atomic_add(before + target, n_before.to(tl.int64), sem="relaxed")


@triton.jit
def count_again(
    users, users_low, items, items_low, bias, marks, length, low_length, low_rest, longest,
    low_longest, low_residual, bias_size, tile_blocks, tile_rows, above, listed, found, n_items,
    capacity, rate, tiny,
    D: tl.constexpr, BK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr,
    HAS_BIAS: tl.constexpr, UPCAST: tl.constexpr,
):  # fmt: skip
    """Flagged rows against their block of items, with what rounding cut off the operands added.

    That makes ε a hundred times smaller. What is still between is listed: `found` has `capacity`
    places for each target, and `listed` counts on beyond them. A program takes the rows
    tile_rows[tile * BM:][:BM] (-1 for none), all flagged for the same block.
    """
    tile = tl.program_id(0)
    b = tl.load(tile_blocks + tile)
    row = tl.load(tile_rows + tile * BM + tl.arange(0, BM))
    here = row >= 0
    row = tl.maximum(row, 0)
    item = b * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at_user = row.to(tl.int64)[:, None] * D + k[None, :]
    at_item = item.to(tl.int64)[:, None] * D + k[None, :]
    s = tl.zeros((BM, BN), tl.float32)
    fine = tl.zeros((BM, BN), tl.float32)
    for start in range(0, D, BK):
        u, v = tl.load(users + at_user + start), tl.load(items + at_item + start)
        s = product(u, v, s, UPCAST)
        fine = product(u, tl.load(items_low + at_item + start), fine, UPCAST)
        fine = product(tl.load(users_low + at_user + start), v, fine, UPCAST)
    s += fine
    if HAS_BIAS:
        s += tl.load(bias + item)[None, :]
    if (b + 1) * BN > n_items:
        s = tl.where((item < n_items)[None, :], s, float("-inf"))
    size, reach = tl.load(bias_size + b), tl.load(longest + b)
    v_low, v_cut = tl.load(low_longest + b), tl.load(low_residual + b)
    u_length = tl.load(length + row)
    u_low, u_cut = tl.load(low_length + row), tl.load(low_rest + row)
    # a loop that stays one: written out for each of eight targets it takes half as long again
    for g in range(GROUP):
        slot = row * GROUP + g
        m = tl.load(marks + slot, mask=here, other=3e38)
        # û₂·v̂₂ is left out as well, and the second sum rounds too
        margin = margins(m, u_length, u_cut, reach, v_cut, size, rate, tiny)
        margin += 1.01 * u_low * v_low + 3.0 * rate * (u_length * v_low + u_low * reach)
        high, low = m + margin, m - margin
        sums = tl.sum(above_and_within(s, high, low, UPCAST), axis=1).to(tl.int32)
        sure = sums & 1023
        tl.atomic_add(above + slot, sure.to(tl.int64), mask=here & (sure > 0), sem="relaxed")
        open_rows = here & ((sums >> 10) > sure)
        if tl.sum(open_rows.to(tl.int32)) > 0:
            between = (s >= low[:, None]) & (s <= high[:, None]) & open_rows[:, None]
            slots = tl.broadcast_to(slot[:, None], (BM, BN))
            place = tl.atomic_add(listed + slots, between.to(tl.int32), mask=between, sem="relaxed")
            tl.store(
                found + slots * capacity + place,
                tl.broadcast_to(item[None, :], (BM, BN)),
                mask=between & (place < capacity),
            )


@triton.jit
def own_scores(
    users, items, bias, out, n, D: tl.constexpr, BK: tl.constexpr, BM: tl.constexpr,
    HAS_BIAS: tl.constexpr, UPCAST: tl.constexpr,
):  # fmt: skip
    """Row by row the scores of `count_scores`: the diagonal of a product of the same kind."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    here = row < n
    at = row.to(tl.int64)[:, None] * D + tl.arange(0, BK)[None, :]
    s = tl.zeros((BM, BM), tl.float32)
    for start in range(0, D, BK):
        u = tl.load(users + at + start, mask=here[:, None], other=0.0)
        v = tl.load(items + at + start, mask=here[:, None], other=0.0)
        s = product(u, v, s, UPCAST)
    place = tl.arange(0, BM)
    own = tl.sum(tl.where(place[:, None] == place[None, :], s, 0.0), axis=1)
    if HAS_BIAS:
        own += tl.load(bias + row, mask=here, other=0.0)
    tl.store(out + row, own, mask=here)
