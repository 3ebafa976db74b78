"""Small systems of equations in loops of our own.

BLAS is not faster for a hundred unknowns, and its bits depend on the number of threads. If other processes use the
cores, its threads wait for each other: a new user's list then took 130 ms instead of 15.
"""

import math

import numpy as np

from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.types import Array, Floats


@kernel(fastmath=FAST)
def cholesky(a: Array) -> None:
    """Overwrite the lower triangle of ``a`` (symmetric, positive definite) with its Cholesky factor."""
    for i in range(a.shape[0]):
        for j in range(i + 1):
            x = a[i, j]
            for k in range(j):
                x -= a[i, k] * a[j, k]
            a[i, j] = math.sqrt(x) if i == j else x / a[j, j]


@kernel(fastmath=FAST)
def _solve(a: Array, b: Array) -> None:
    """Overwrite ``b`` with a^-1 b, and ``a`` with its Cholesky factor."""
    cholesky(a)
    for i in range(len(b)):
        x = b[i]
        for k in range(i):
            x -= a[i, k] * b[k]
        b[i] = x / a[i, i]
    for i in range(len(b) - 1, -1, -1):
        x = b[i] / a[i, i]
        b[i] = x
        for k in range(i):
            b[k] -= a[i, k] * x


def solve(a: Floats, b: Floats) -> Floats:
    """a^-1 b for a symmetric, positive definite matrix.

    >>> solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([8.0, 8.0])).round(9).tolist()
    [1.0, 2.0]
    """
    factor, found = np.array(a, np.float64, order="C"), np.array(b, np.float64)
    _solve(factor, found)
    if not np.isfinite(found).all():
        raise np.linalg.LinAlgError(f"the {len(b)} x {len(b)} matrix is not positive definite")
    return found
