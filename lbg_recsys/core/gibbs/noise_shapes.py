"""How alike users, and items, are in their noise: the shape of the Gamma distribution of their noise precisions.

    w_j ~ Gamma(shape, rate),   residuals of j ~ N(0, 1 / w_j),   log(shape) ~ N(log 10, 1)

The larger the shape, the more alike they are. A shape is redrawn by Metropolis steps with all w_j integrated out; the
caller redraws these before it uses them again.
"""

import math

import numpy as np
from scipy.special import gammaln

from lbg_recsys.core.gibbs.arrays import Gamma
from lbg_recsys.core.types import Array, Floats, Ints

# The median of a shape a priori, and the one of chains that do not learn it.
USUAL_SHAPE = 10.0
# The step of the logarithm of a shape, and the number of steps per sweep: from 10 to 2 takes about twenty sweeps.
_STEP, _TRIES = 0.2, 3


def log_evidence(noise: Gamma, n_entries: Ints, squares: Floats) -> float:
    """The log-likelihood of the residuals of all rows under the distribution of their precisions, up to a constant.

    A row has ``n_entries`` residuals with the sum of ``squares`` (n,): sum_j log of the integral over w of
    Gamma(w; noise) w^(n_j / 2) exp(-w squares_j / 2).
    """
    shape, rate = noise
    number, times = np.unique(n_entries, return_counts=True)
    above = float(times @ gammaln(shape + 0.5 * number)) - len(squares) * (
        math.lgamma(shape) - shape * math.log(rate)
    )
    return above - float((shape + 0.5 * n_entries) @ np.log(rate + 0.5 * squares))


def draw_noise_shape(
    rng: np.random.Generator, noise: Gamma, n_entries: Ints, squares: Floats, of_rate: Gamma | None = None
) -> Gamma:
    """Redraw the shape, and the rate in proportion to it, so that the mean precision stays.

    ``of_rate`` is the prior of the rate; without one the mean precision is fixed, which is that of items.
    """
    before = log_evidence(noise, n_entries, squares)
    for _ in range(_TRIES):
        factor = math.exp(_STEP * rng.standard_normal())
        tried = Gamma(noise.shape * factor, noise.rate * factor)
        after = log_evidence(tried, n_entries, squares)
        gain = after - before + _log_prior(tried.shape) - _log_prior(noise.shape)
        if of_rate is not None:
            gain += of_rate.shape * math.log(factor) - of_rate.rate * (tried.rate - noise.rate)
        if math.log1p(-rng.random()) < gain:
            noise, before = tried, after
    return noise


def _log_prior(shape: float) -> float:
    """Of the logarithm of a shape, which is what the steps are taken in."""
    return -0.5 * math.log(shape / USUAL_SHAPE) ** 2


def sums_of_rows(indptr: Array, values: Array) -> Floats:
    """The sum of the values of each row, one by one: the bits of `reduceat` differ between processors."""
    total = np.append(0.0, values.cumsum())
    return np.asarray(total[indptr[1:]] - total[indptr[:-1]])
