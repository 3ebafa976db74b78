"""Two loops of linear algebra in vector registers, which numba does not find by itself: LLVM's vectors, by hand.

`add_squares` keeps 8 x 8 sums in registers while it goes over the entries of a row; `add_line` is the same for one
line of sums. `subtract_products` is the step of a Cholesky factorisation, of sixteen matrices at once, one in each
lane of a vector. The functions whose names end in ``_plain`` are the same in plain numba: these are tested and
measured against them (benchmarks/bench_simd.py).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.types import Array

TILE = 8  # rows and columns of a block of sums: ranks are padded to multiples of it
LANES = 16  # matrices that are factorised together

_WORD, _INDEX = ir.IntType(64), ir.IntType(32)


def _lowered(kinds: Sequence[Any], n_arrays: int, build: Callable[..., None]) -> Any:
    """Type and code of a function of contiguous arrays and then integers; ``build(builder, ...)`` writes its body."""
    signature = types.void(*kinds[:n_arrays], *[types.int64] * (len(kinds) - n_arrays))

    def generate(context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> Any:
        arrays = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:n_arrays], values[:n_arrays], strict=True)
        )
        build(builder, *arrays, *values[n_arrays:])
        return context.get_dummy_value()

    return signature, generate


def _at(builder: Any, data: Any, number: Any, vector: Any) -> Any:
    """The pointer to a vector that begins with this number of an array."""
    return builder.bitcast(builder.gep(data, [number]), vector.as_pointer())


def _add_product(builder: Any, total: Any, x: Any, y: Any) -> None:
    """Add x y to what is stored in ``total``, in one instruction where the processor has one."""
    fused = ("contract",)
    builder.store(builder.fadd(builder.load(total), builder.fmul(x, y, flags=fused), flags=fused), total)


def _tile(n_rows: int) -> Callable[..., None]:
    """The body of `add_squares` (8 rows) and `add_line` (1 row)."""

    def build(
        builder: Any, left: Any, left_at: Any, right: Any, right_at: Any, out: Any, row: Any, column: Any
    ) -> None:
        vector = ir.VectorType(ir.FloatType(), TILE)
        nothing, first = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(_INDEX, TILE), [0] * TILE)
        zero = vector([0.0] * TILE)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(n_rows)]  # type: ignore[no-untyped-call]

        def start(table: Any, at: Any, entry: Any, offset: Any) -> Any:
            line = builder.zext(builder.load(builder.gep(at.data, [entry])), _WORD)
            return builder.add(builder.mul(line, builder.extract_value(table.shape, 1)), offset)

        with cgutils.for_range(builder, builder.extract_value(right_at.shape, 0)) as loop:
            line = builder.load(_at(builder, right.data, start(right, right_at, loop.index, column), vector), align=4)
            place = start(left, left_at, loop.index, row)
            for a, total in enumerate(sums):
                number = builder.load(builder.gep(left.data, [builder.add(place, _WORD(a))]))
                repeated = builder.shuffle_vector(builder.insert_element(nothing, number, _INDEX(0)), nothing, first)
                _add_product(builder, total, repeated, line)
        for a, total in enumerate(sums):
            place = builder.mul(builder.add(row, _WORD(a)), builder.extract_value(out.shape, 1))
            place = _at(builder, out.data, builder.add(place, column), vector)
            builder.store(builder.load(total), place, align=4)

    return build


def _subtraction(
    builder: Any, a: Any, target: Any, one: Any, one_step: Any, other: Any, other_step: Any, n: Any, scale: Any
) -> None:
    """The body of `subtract_products`."""
    vector = ir.VectorType(ir.DoubleType(), LANES)

    def at(line: Any) -> Any:
        return _at(builder, a.data, builder.mul(line, _WORD(LANES)), vector)

    total = cgutils.alloca_once_value(builder, vector([0.0] * LANES))  # type: ignore[no-untyped-call]
    with cgutils.for_range(builder, n) as loop:
        x = builder.load(at(builder.add(one, builder.mul(loop.index, one_step))), align=8)
        y = builder.load(at(builder.add(other, builder.mul(loop.index, other_step))), align=8)
        _add_product(builder, total, x, y)
    rest = builder.fsub(builder.load(at(target), align=8), builder.load(total))
    builder.store(builder.fmul(rest, builder.load(at(scale), align=8)), at(target), align=8)


def _add_squares(
    typing_context: Any, left: Any, left_at: Any, right: Any, right_at: Any, out: Any, row: Any, column: Any
) -> Any:
    """out[row + a, column + b] = sum_e left[left_at[e], row + a] right[right_at[e], column + b], a, b = 0..7.

    ``left``, ``right`` and ``out`` are tables in single precision, ``left_at`` and ``right_at`` numbers of their
    lines, none of them negative; all are contiguous.
    """
    return _lowered((left, left_at, right, right_at, out, row, column), 5, _tile(TILE))


def _add_line(
    typing_context: Any, left: Any, left_at: Any, right: Any, right_at: Any, out: Any, row: Any, column: Any
) -> Any:
    """out[row, column + b] = sum_e left[left_at[e], row] right[right_at[e], column + b], b = 0..7; see above."""
    return _lowered((left, left_at, right, right_at, out, row, column), 5, _tile(1))


def _subtract_products(
    typing_context: Any, a: Any, target: Any, one: Any, one_step: Any, other: Any, other_step: Any, n: Any, scale: Any
) -> Any:
    """a[target] = (a[target] - sum_k a[one + k one_step] a[other + k other_step]) a[scale], k = 0..n-1.

    ``a`` (lines, LANES) is contiguous and in double precision: everything is done in each lane.
    """
    return _lowered((a, target, one, one_step, other, other_step, n, scale), 1, _subtraction)


# Any: callers give no typing context
add_squares: Any = intrinsic(_add_squares)
add_line: Any = intrinsic(_add_line)
subtract_products: Any = intrinsic(_subtract_products)


@kernel()
def add_squares_plain(
    left: Array, left_at: Array, right: Array, right_at: Array, out: Array, row: int, column: int
) -> None:
    """What `add_squares` does, in plain numba."""
    for a in range(TILE):
        add_line_plain(left, left_at, right, right_at, out, row + a, column)


@kernel()
def add_line_plain(
    left: Array, left_at: Array, right: Array, right_at: Array, out: Array, row: int, column: int
) -> None:
    """What `add_line` does, in plain numba."""
    for b in range(TILE):
        total = np.float32(0.0)
        for e in range(right_at.shape[0]):
            total += left[left_at[e], row] * right[right_at[e], column + b]
        out[row, column + b] = total


@kernel()
def subtract_products_plain(
    a: Array, target: int, one: int, one_step: int, other: int, other_step: int, n: int, scale: int
) -> None:
    """What `subtract_products` does, in plain numba."""
    for lane in range(LANES):
        total = 0.0
        for k in range(n):
            total += a[one + k * one_step, lane] * a[other + k * other_step, lane]
        a[target, lane] = (a[target, lane] - total) * a[scale, lane]
