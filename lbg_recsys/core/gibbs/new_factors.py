"""The factors of one new row or column under kept sweeps."""

from typing import NamedTuple

import numpy as np

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.gibbs.factors import NearFactors, draw_factor, weighted_squares
from lbg_recsys.core.gibbs.ridge import FAST
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
def redraw_factor(rng: np.random.Generator, near: NearFactors, weight: float, factor: Array, res: Array) -> None:
    """Redraw the factors (R,) of one row, whose noise weight is ``weight``; ``res`` (n,) follows."""
    if not factor.shape[0]:
        return
    noise = np.empty(factor.shape[0], np.float32)
    for r in range(noise.shape[0]):
        noise[r] = rng.standard_normal()
    draw_factor(near, weight, noise, res, factor)
