"""Tastes in a kept sweep: what remains of its means when the biases and all that is shared are taken away.

A sweep's mean of a pair is its biases + T_ji with T_ji = sum_h c[h, i, z_jh] + f_j . g_i: the product of the row's
classes, one-hot over (h, class), and factors with the column's class means and factors. Classes are numbered
differently in every chain and may change places from sweep to sweep, and factors turn; T does not depend on that. A
taste is T less what all rows, and all columns, have in common and what goes with being rated often: a line in the
logarithm of the number of ratings is taken away from the features of both. Without that, all rarely rated
items would look alike.
"""

import numpy as np

from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.types import Array

# Pseudo-entries that shrink the slope of the line to zero: a line through two points would leave no residual.
_RIDGE = 10.0
# Squared tastes, in squared spreads of the ratings, below which there is only rounding.
_NO_TASTE = 1e-9
_KNOWN = slice(None, -1)  # the last row and the last column are the unknown ones


def features(draws: Draws, sweep: int, rows: bool, unit: Array, which: Array | slice = _KNOWN) -> Array:
    """Rows as their classes and factors, or columns as their class means and factors, (n, D): known ones, or some.

    The product of the two is T. ``unit`` (R,) is that of the columns' factors, the same for both.
    """
    classes: Array
    if rows:
        classes = draws.z[sweep, which, :, np.newaxis] == np.arange(draws.lam.shape[2], dtype=np.int8)
        factor = draws.row_factor[sweep, which] * (draws.steps.row_factor[sweep] * unit)
    else:
        classes = draws.c[sweep, which] * draws.c_step[sweep, :, np.newaxis]
        factor = draws.col_factor[sweep, which] * (draws.steps.col_factor[sweep] / unit)
    return np.hstack([classes.reshape(len(classes), -1).astype(np.float64), factor])


def common_line(x: Array, amount: Array) -> Array:
    """Intercept and slope of features over a standardised ``amount`` (n, 2: a constant and it), (2, D)."""
    return np.asarray(amount.T @ x / (len(x) + np.array([[0.0], [_RIDGE]])))


def gram(x: Array, weight: Array) -> Array:
    """The weighted products of features, (D, D): what makes a product of tastes of one of features."""
    return np.asarray((x * weight[:, np.newaxis]).T @ x)


def correlation(product: Array, square: Array, own: int) -> Array:
    """The correlation of tastes of all with one, from their products with it and their squares; 0 without taste."""
    norm = np.sqrt(square * square[own])
    has_taste = np.minimum(square, square[own]) > _NO_TASTE
    return np.where(has_taste, np.clip(product / np.where(has_taste, norm, 1.0), -1.0, 1.0), 0.0)
