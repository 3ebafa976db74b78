"""Ridge regression whose penalties are learned from the data: one for each group of features.

A target y_i ~ N(f_i . b, s / weight_i), b ~ N(0, s / penalty_g). The penalties are those of the largest evidence,
found by MacKay's fixed point: penalty_g = s (number of coefficients that the data determine) / (their squares).
The penalty of a group that does not help grows without end, and its coefficients are then zero.
"""

import numpy as np

from lbg_recsys.core.types import Array

_ROUNDS, _TOLERANCE = 100, 1e-3
_LEAST, _MOST = 1e-4, 1e9


def learn_penalties(features: Array, target: Array, weight: Array, groups: Array) -> Array:
    """The penalty of each feature, (E,).

    Parameters
    ----------
    features : ndarray of shape (n, E)
        With weighted means of 0.
    target : ndarray of shape (n,)
        The same.
    weight : ndarray of shape (n,)
        The precision of each target, up to a common factor.
    groups : ndarray of shape (E,)
        The group of each feature, from 0.

    Returns
    -------
    ndarray of shape (E,)
        Penalties, in units of the weights.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2))
    >>> x -= x.mean(axis=0)
    >>> useful, useless = learn_penalties(x, x[:, 0] + 0.1 * x[:, 0], np.ones(500), np.array([0, 1]))
    >>> bool(useful < 1 < useless)
    True
    """
    gram, cross = _products(features, weight, features), _products(features, weight, target)
    square, n, size = float(weight @ target**2), float(weight.sum()), np.bincount(groups)
    least = max(_LEAST, 1e-12 * float(np.trace(gram)))  # with less, collinear features make the sum singular
    penalty = np.full(len(size), max(least, 1.0))
    for _ in range(_ROUNDS):
        spread = np.linalg.inv(gram + np.diag(penalty[groups]))
        b = spread @ cross
        variance = max((square - 2.0 * b @ cross + b @ gram @ b) / n, np.finfo(float).tiny)
        determined = size - penalty * np.bincount(groups, np.diag(spread))
        amount = np.bincount(groups, b**2) / variance
        new = np.clip(np.maximum(determined, 1e-9) / np.maximum(amount, 1e-12), least, max(least, _MOST))
        change = np.abs(np.log(new / penalty)).max(initial=0.0)
        penalty = new
        if change < _TOLERANCE:
            break
    return np.asarray(penalty[groups])


def regress(features: Array, targets: Array, weight: Array, penalty: Array) -> Array:
    """The coefficients (E, T) of ridge regressions of ``targets`` (n, T) on ``features`` (n, E)."""
    gram = _products(features, weight, features) + np.diag(penalty)
    return np.asarray(np.linalg.solve(gram, _products(features, weight, targets)))


def _products(one: Array, weight: Array, other: Array) -> Array:
    return np.asarray((one * weight[:, np.newaxis]).T @ other)
