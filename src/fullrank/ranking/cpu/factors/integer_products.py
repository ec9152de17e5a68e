"""Products of vectors of 16-bit integers, the fastest that a processor multiplies and adds exactly.

`dot_strip` multiplies ROWS rows with LANES columns and keeps the sums in registers. It is written
in LLVM's own operations on vectors (widen, multiply, add neighbours), so it runs on every
processor; on x86 each step becomes one instruction, pmaddwd or vpdpwssd, which multiplies up to 32
pairs and adds them two by two. `IS_FAST` says whether this processor has such an instruction.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from fullrank._lib.jit import jit, jit_any_order
from fullrank._lib.types import Array

ROWS, LANES = 4, 64  # with 64 lanes there are enough sums under way to hide how long one takes
IS_FAST = platform.machine().lower() in ("x86_64", "amd64")

_VECTOR = 16  # 32-bit sums in a vector of 512 bits


@intrinsic
def dot_strip(
    typing_context: Any, x: Any, y: Any, out: Any, row: Any, strip: Any, column: Any
) -> Any:
    """out[row + a, column + j] = x[row + a]·(item j of y[strip]) for a < ROWS and j < LANES.

    `x` is (rows, 2h) and `y` (strips, h, 2·LANES) of int16: y[s, p, 2j] and y[s, p, 2j + 1] are the
    entries 2p and 2p + 1 of item j. `out` is int32 and all three are contiguous.
    """
    signature = types.void(x, y, out, types.intp, types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _generate(context, builder, signature.args, arguments)
        return context.get_dummy_value()

    return signature, generate


def _generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
    i16, i32, i64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
    sums = ir.VectorType(i32, _VECTOR)
    pairs, wide = (ir.VectorType(kind, 2 * _VECTOR) for kind in (i16, i32))
    x, y, out = (
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(kinds[:3], arguments[:3], strict=True)
    )
    row, strip, column = arguments[3:]
    half = builder.extract_value(y.shape, 1)
    stride = builder.extract_value(out.shape, 1)
    n_vectors = LANES // _VECTOR

    def number(value: int) -> Any:
        return ir.Constant(i64, value)

    def mask(values: Any) -> Any:
        return ir.Constant(sums, list(values))

    left = builder.bitcast(x.data, i32.as_pointer())  # pairs of entries
    right = builder.bitcast(y.data, pairs.as_pointer())
    starts = [
        builder.gep(left, [builder.mul(builder.add(row, number(a)), half)]) for a in range(ROWS)
    ]
    first = builder.mul(strip, half)
    entry = builder.block
    loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
    builder.branch(loop)

    builder.position_at_end(loop)
    p = builder.phi(i64)
    p.add_incoming(number(0), entry)
    totals = [builder.phi(sums) for _ in range(ROWS * n_vectors)]
    base = builder.mul(builder.add(first, p), number(n_vectors))
    columns = []
    for v in range(n_vectors):
        loaded = builder.load(builder.gep(right, [builder.add(base, number(v))]))
        loaded.align = 2
        columns.append(builder.sext(loaded, wide))
    added = []
    for a in range(ROWS):
        pair = builder.load(builder.gep(starts[a], [p]))
        pair.align = 2
        spread = builder.insert_element(ir.Constant(sums, ir.Undefined), pair, ir.Constant(i32, 0))
        spread = builder.shuffle_vector(spread, spread, mask([0] * _VECTOR))
        spread = builder.sext(builder.bitcast(spread, pairs), wide)
        for v in range(n_vectors):
            products = builder.mul(spread, columns[v], flags=("nsw",))
            two = [
                builder.shuffle_vector(products, products, mask(range(k, 2 * _VECTOR, 2)))
                for k in (0, 1)
            ]
            added.append(builder.add(totals[a * n_vectors + v], builder.add(*two)))
    following = builder.add(p, number(1))
    p.add_incoming(following, loop)
    for total, new in zip(totals, added, strict=True):
        total.add_incoming(ir.Constant(sums, [0] * _VECTOR), entry)
        total.add_incoming(new, loop)
    builder.cbranch(builder.icmp_signed("<", following, half), loop, done)

    builder.position_at_end(done)
    for a in range(ROWS):
        at = builder.add(builder.mul(builder.add(row, number(a)), stride), column)
        for v in range(n_vectors):
            place = builder.gep(out.data, [builder.add(at, number(_VECTOR * v))])
            stored = builder.store(
                added[a * n_vectors + v], builder.bitcast(place, sums.as_pointer())
            )
            stored.align = 4


@jit
def multiply(x: Array, n: int, y: Array, strip: int, out: Array) -> None:
    """The products of the first n rows of `x`, or a few more, with the strips from `strip` on.

    As many strips as `out` has room for in a row.
    """
    for s in range(out.shape[1] // LANES):
        for a in range(0, n, ROWS):
            dot_strip(x, y, out, a, strip + s, s * LANES)  # type: ignore[call-arg]


@jit_any_order
def round_row(
    factors: Array, row: int, scale: float, last: float, out: Array, out_row: int
) -> float:
    """Round a row of factors times `scale`, and `last` behind it, into a row of integers.

    Returns the length of what is lost. `out` may be longer than the factors and is 0 there.
    """
    d = factors.shape[1]
    lost = 0.0
    for k in range(d):
        exact = np.float64(factors[row, k]) * scale
        whole = np.rint(exact)
        lost += (exact - whole) * (exact - whole)
        out[out_row, k] = np.int16(whole)
    for k in range(d, out.shape[1]):
        out[out_row, k] = 0
    if out.shape[1] > d:
        whole = np.rint(last)
        lost += (last - whole) * (last - whole)
        out[out_row, d] = np.int16(whole)
    return np.sqrt(lost)  # type: ignore[no-any-return]
