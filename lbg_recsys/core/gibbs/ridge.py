"""Draws from the posterior of a Bayesian linear regression, in loops whose sums have a fixed order.

BLAS would do the same, but its bits depend on its number of threads.
"""

import numpy as np

from lbg_recsys.core.cholesky import cholesky
from lbg_recsys.core.compiling import FAST, kernel
from lbg_recsys.core.types import Array

# The prior precision of a coefficient of a profile. Some fifty of them predict class means well below one
# standardised rating: where columns are few, a prior as wide as N(0, 1) would let a new column's means run off
# the scale.
SHRINKAGE = 10.0


@kernel(fastmath=FAST)
def cross_product(features: Array, targets: Array, out: Array) -> None:
    """out[s, d] = sum_i targets[s, i] * features[d, i], in double precision.

    In single precision a Gram matrix of many columns i would not be positive definite after rounding.
    """
    last = features.shape[0] - 1
    for s in range(targets.shape[0]):
        y = targets[s].astype(np.float64)
        for d in range(0, last + 1, 4):  # four at a time, so that y is loaded once for them; the last may repeat
            e, f, g = min(d + 1, last), min(d + 2, last), min(d + 3, last)
            one, two, three, four = features[d], features[e], features[f], features[g]
            a = b = c = x = 0.0
            for i in range(y.shape[0]):
                a += y[i] * np.float64(one[i])
                b += y[i] * np.float64(two[i])
                c += y[i] * np.float64(three[i])
                x += y[i] * np.float64(four[i])
            out[s, d], out[s, e], out[s, f], out[s, g] = a, b, c, x


@kernel(fastmath=FAST)
def predict(features: Array, coefficients: Array, out: Array) -> None:
    """out[i] = sum_d coefficients[d] * features[d, i], in single precision."""
    d = features.shape[0]
    out[:] = 0.0
    for e in range(0, d - 1, 2):  # two at a time, so that ``out`` goes through the registers half as often
        a, b = coefficients[e], coefficients[e + 1]
        one, two = features[e], features[e + 1]
        for i in range(out.shape[0]):
            out[i] += a * one[i] + b * two[i]
    if d % 2:
        for i in range(out.shape[0]):
            out[i] += coefficients[d - 1] * features[d - 1, i]


@kernel(fastmath=FAST)
def ridge_draw(
    rng: np.random.Generator, gram: Array, cross: Array, precision: float, shrinkage: Array, out: Array
) -> None:
    """Draw coefficients of ``out.shape[0]`` regressions that share their features.

    Targets ~ N(features . coefficients, 1/``precision``), coefficients ~ N(0, 1/``shrinkage``), so that their
    posterior is N(P^-1 b, P^-1) with P = diag(shrinkage) + precision * gram and b = precision * cross.
    ``gram`` (d, d) is features' features, ``cross`` (s, d) as `cross_product` makes it.
    """
    d = gram.shape[0]
    factor = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            factor[i, j] = precision * gram[i, j]
        factor[i, i] += shrinkage[i]
    cholesky(factor)
    x = np.empty(d)
    for s in range(out.shape[0]):
        for i in range(d):
            v = precision * cross[s, i]
            for k in range(i):
                v -= factor[i, k] * x[k]
            x[i] = v / factor[i, i]
        for i in range(d):  # L'(eta - mean) ~ N(0, I): noise joins between the two triangular solves
            x[i] += rng.standard_normal()
        for i in range(d - 1, -1, -1):
            v = x[i] / factor[i, i]
            x[i] = v
            for k in range(i):
                x[k] -= factor[i, k] * v
        for i in range(d):
            out[s, i] = x[i]
