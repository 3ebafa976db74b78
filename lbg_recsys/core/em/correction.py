"""A linear correction of class scores: what a model of independent words misses, learned from the labels.

Scores of the classes e (m, h) from generative models become

    z_l = scale e_l + offset_l + bias_l + w_l . f,

with f the features of a document, by the softmax loss of the known classes and a quadratic penalty around the values
to start from. With a penalty per parameter, the curvature that earlier documents left behind (`curvature`), the same
function learns from batch after batch: the Laplace approximation with a diagonal precision.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax

from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import Progress, silent

_MEMORY = 5  # pairs that L-BFGS keeps: each is as large as the weights
_FREE = 1e-3  # penalty of scale and biases: hardly any


@dataclass(frozen=True)
class Correction:
    """``scale``, ``bias`` (h,) and ``weights`` (n_features, h), and for each the penalty of moving it further."""

    scale: float
    bias: Floats
    weights: Floats
    precision: Floats  # (1 + h + n_features * h,)

    @classmethod
    def none(cls, bias: Floats, n_features: int, ridge: float) -> "Correction":
        """No correction yet: the scores with the given biases."""
        h = len(bias)
        precision = np.full(1 + h + n_features * h, ridge)
        precision[: 1 + h] = _FREE
        return cls(1.0, bias, np.zeros((n_features, h)), precision)

    def apply(self, e: Floats, features: sp.csr_array) -> Floats:
        """scale e + bias + f W, (m, h)."""
        z = self.scale * e + self.bias
        return np.asarray(z + features @ self.weights) if len(self.weights) else z

    @property
    def untaught(self) -> bool:
        """Whether no labels were used yet."""
        return self.scale == 1.0 and not self.bias.any() and not self.weights.any()

    def vector(self) -> Floats:
        """All parameters in one row."""
        return np.concatenate([[self.scale], self.bias, self.weights.ravel()])


def fit_correction(
    start: Correction,
    e: Floats,
    offset: Floats,
    features: sp.csr_array,
    codes: Ints,
    weight: Floats,
    max_iter: int,
    progress: Progress = silent,
) -> Correction:
    """The correction that gives the known classes the highest penalised probability, by L-BFGS from ``start``.

    ``offset`` (h,) are the logs of the class priors, ``codes`` (m,) the classes, ``weight`` (m,) of the documents.
    """
    m, h = e.shape
    transposed = sp.csr_array(features.T)
    anchor, precision = start.vector(), start.precision

    def scores(theta: Floats) -> Floats:
        z = theta[0] * e + (offset + theta[1 : 1 + h])
        return np.asarray(z + features @ theta[1 + h :].reshape(-1, h) if features.shape[1] else z)

    def loss(theta: Floats) -> tuple[float, Floats]:
        log_proba = log_softmax(scores(theta), axis=1)
        wrong = np.exp(log_proba)
        wrong[np.arange(m), codes] -= 1.0
        wrong *= weight[:, None]
        moved = theta - anchor
        slope = precision * moved
        value = -float(weight @ log_proba[np.arange(m), codes]) + 0.5 * float(moved @ slope)
        slope[0] += float((wrong * e).sum())
        slope[1 : 1 + h] += wrong.sum(axis=0)
        slope[1 + h :] += np.asarray(transposed @ wrong).ravel()
        return value, slope

    steps = itertools.count(1)
    best = minimize(
        loss,
        anchor,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": _MEMORY},
        callback=lambda _: progress(next(steps), max_iter, "correction"),
    ).x
    proba = np.exp(log_softmax(scores(best), axis=1))
    doubt = proba * (1.0 - proba) * weight[:, None]
    squares = sp.csr_array((transposed.data**2, transposed.indices, transposed.indptr), shape=transposed.shape)
    curvature = np.concatenate(
        [[float((doubt * e**2).sum())], doubt.sum(axis=0), np.asarray(squares @ doubt).ravel()]
    )
    return Correction(float(best[0]), best[1 : 1 + h], best[1 + h :].reshape(-1, h), precision + curvature)
