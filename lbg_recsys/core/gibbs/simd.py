"""Sums over the entries of a row of six neighbouring numbers of a table, in one vector register of eight.

numba vectorises a loop along its own index: it would gather each of the numbers of several entries separately. Here
the numbers, with two more that are not used, are one vector, which takes one load and one addition per entry; LLVM
translates it to the instructions of the processor. `sum_blocks_plain` is the same in plain numba, with the same bits,
and more than twice as slow (benchmarks/bench_simd.py measures how much, and what that is of a sweep).
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.types import Array

WIDTH = 8  # of a block of the table
USED = 6  # of the numbers of a block


def _sum_blocks(typing_context: Any, col: Any, res: Any, table: Any, first: Any) -> Any:
    """sum_e table[col[e], first + l] for l = 0..5, of which the first two are multiplied by res[e].

    ``col`` (n,) has no negative number; ``res`` (n,) and ``table`` are in single precision, and all three contiguous.
    Even and odd entries are summed separately: an addition need not wait for the one before.
    """
    signature = types.UniTuple(types.float32, USED)(col, res, table, types.int64)  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cols, values, rows = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        word, small = ir.IntType(64), ir.IntType(32)
        vector = ir.VectorType(ir.FloatType(), WIDTH)
        one = word(1)
        n = builder.extract_value(cols.shape, 0)
        width = builder.extract_value(rows.shape, 1)
        zero = vector([0.0] * WIDTH)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(2)]  # type: ignore[no-untyped-call]

        def add(e: Any, total: Any) -> None:
            i = builder.zext(builder.load(builder.gep(cols.data, [e])), word)
            factor = vector([1.0] * WIDTH)
            for number in range(2):
                factor = builder.insert_element(factor, builder.load(builder.gep(values.data, [e])), small(number))
            at = builder.gep(rows.data, [builder.add(builder.mul(i, width), arguments[3])])
            entry = builder.load(builder.bitcast(at, vector.as_pointer()), align=4)
            builder.store(builder.fadd(builder.load(total), builder.fmul(factor, entry)), total)

        with cgutils.for_range(builder, builder.lshr(n, one)) as loop:
            even = builder.shl(loop.index, one)
            add(even, totals[0])
            add(builder.add(even, one), totals[1])
        with builder.if_then(builder.trunc(n, ir.IntType(1))):
            add(builder.sub(n, one), totals[0])
        total = builder.fadd(builder.load(totals[0]), builder.load(totals[1]))
        numbers = [builder.extract_element(total, small(number)) for number in range(USED)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return signature, generate


sum_blocks: Any = intrinsic(_sum_blocks)  # for mypy: callers give no typing context


Six = tuple[Any, Any, Any, Any, Any, Any]  # float32


@kernel(fastmath={"contract"})
def _plus(total: Six, r: float, row: Array, first: int) -> Six:
    return (
        total[0] + r * row[first],
        total[1] + r * row[first + 1],
        total[2] + row[first + 2],
        total[3] + row[first + 3],
        total[4] + row[first + 4],
        total[5] + row[first + 5],
    )


@kernel(fastmath={"contract"})
def sum_blocks_plain(col: Array, res: Array, table: Array, first: int) -> Six:
    """What `sum_blocks` returns, in plain numba: the reference that it is tested and measured against."""
    zero = np.float32(0.0)
    even = odd = (zero, zero, zero, zero, zero, zero)
    n = col.shape[0]
    for e in range(0, n - 1, 2):
        even = _plus(even, res[e], table[np.uint32(col[e])], first)
        odd = _plus(odd, res[e + 1], table[np.uint32(col[e + 1])], first)
    if n % 2:
        even = _plus(even, res[n - 1], table[np.uint32(col[n - 1])], first)
    a, b, c, d, x, y = even
    return a + odd[0], b + odd[1], c + odd[2], d + odd[3], x + odd[4], y + odd[5]
