"""Sums over a row's entries of eight numbers a column, in one vector register.

numba vectorises loops only along themselves: it would gather each of the eight numbers of several entries apart. Here
the eight are one vector, which is one load and one addition an entry. LLVM makes of it what the processor has.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8


def _sum_lanes(typing_context: Any, col: Any, res: Any, table: Any, first: Any) -> Any:
    """sum_e table[col[e], first + l] for l = 0..7, the first two lanes multiplied by res[e].

    ``col`` has no negative number; ``res`` and ``table`` are in single precision, and all three contiguous. Even and
    odd entries are summed apart: an addition need not wait for the one before.
    """
    signature = types.UniTuple(types.float32, LANES)(col, res, table, types.int64)  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cols, values, rows = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        word, small = ir.IntType(64), ir.IntType(32)
        vector = ir.VectorType(ir.FloatType(), LANES)
        one = word(1)
        n = builder.extract_value(cols.shape, 0)
        width = builder.extract_value(rows.shape, 1)
        zero = vector([0.0] * LANES)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(2)]  # type: ignore[no-untyped-call]

        def add(e: Any, total: Any) -> None:
            i = builder.zext(builder.load(builder.gep(cols.data, [e])), word)
            factor = vector([1.0] * LANES)
            for lane in range(2):
                factor = builder.insert_element(factor, builder.load(builder.gep(values.data, [e])), small(lane))
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
        lanes = [builder.extract_element(total, small(lane)) for lane in range(LANES)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return signature, generate


sum_lanes: Any = intrinsic(_sum_lanes)  # for mypy: callers give no typing context
