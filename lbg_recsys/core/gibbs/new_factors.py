"""The factors of one new row or column under kept sweeps."""

from typing import Any, NamedTuple

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.gibbs.factors import NearFactors, add_product, draw_factor, weighted_squares
from lbg_recsys.core.types import Array


class KeptFactors(NamedTuple):
    """What the factors of a new row (column) depend on: those of the columns (rows), and what is expected of them."""

    others: Array  # (S, columns, R) int8
    step: Array  # (S, R) float32: their unit
    mean: Array  # (S, R) float32
    precision: Array  # (S, R) float32


@kernel(fastmath=FAST)
def come_near(factors: KeptFactors, sweep: int, partners: Array, weight: Array, others: Array) -> NearFactors:
    """What the factors of a new row depend on in one sweep; ``others`` (n, R) is written to.

    ``partners`` (n,) are the columns of its entries, ``weight`` (n,) the noise weights of these.
    """
    n, rank = others.shape
    squares = np.empty((rank, rank), np.float32)
    for e in range(n):
        for r in range(rank):
            others[e, r] = factors.step[sweep, r] * np.float32(factors.others[sweep, partners[e], r])
    weighted_squares(others, weight, squares)
    return NearFactors(others, weight, squares, factors.mean[sweep], factors.precision[sweep])


@kernel()
def begin_factor(near: NearFactors, factor: Array, res: Array) -> None:
    """Begin with the expected factors; ``res`` (n,), of a row without factors, follows."""
    # number by number: to assign an array to a slice, numba compiles its functions of strings as well
    for r in range(factor.shape[0]):
        factor[r] = near.mean[r]
    add_product(factor, near.others, -1.0, res)


@kernel()
def redraw_factor(rng: np.random.Generator, near: NearFactors, weight: float, factor: Array, res: Array) -> None:
    """Redraw the factors (R,) of one row, whose noise weight is ``weight``; ``res`` (n,) follows."""
    if not factor.shape[0]:
        return
    noise = np.empty(factor.shape[0], np.float32)
    for r in range(noise.shape[0]):
        noise[r] = rng.standard_normal()
    draw_factor(near, weight, noise, res, factor)


@kernel(fastmath=FAST)
def expect_factor(rng: np.random.Generator, near: NearFactors, weight: float, factor: Array, res: Array) -> Any:
    """Replace the factors of one row by their conditional means, as `keep` does; the noise weight to go with them.

    It includes the variance of the factors, estimated by one draw, for columns like those that the row has entries
    with.
    """
    rank = factor.shape[0]
    if not rank or not res.shape[0]:
        return weight
    draw_factor(near, weight, np.zeros(rank, np.float32), res, factor)
    drawn = factor.copy()
    redraw_factor(rng, near, weight, drawn, res.copy())
    total = 0.0
    for r in range(rank):
        drawn[r] -= factor[r]
        for t in range(r):
            total += 2.0 * near.squares[r, t] * drawn[r] * drawn[t]
        total += near.squares[r, r] * drawn[r] * drawn[r]
    return weight / (1.0 + weight * total / res.shape[0])  # squares have the columns' part of the precision
