"""Has the sampler run long enough? The Monte Carlo error of its averages, and the split R-hat.

Both compare the halves of chains (Gelman et al., Bayesian Data Analysis, 3rd edition, section 11.4).
"""

import numpy as np

from lbg_recsys.core.types import Floats

# Above it, a quantity varies by a fifth more (1.1 squared) over all halves than within one: it has not settled.
RHAT_LIMIT = 1.1
# Sweeps per chain that R-hat needs: two for the variance of each half.
FEWEST_SWEEPS = 4


def split_rhat(traces: Floats) -> Floats:
    """R-hat of each quantity from traces (chains, sweeps, quantities), every chain cut into halves.

    1 when all halves look alike; sqrt of (variance over all halves) / (variance within one) in general.
    NaN with fewer than `FEWEST_SWEEPS` sweeps.

    >>> rng = np.random.default_rng(0)
    >>> bool(split_rhat(rng.normal(size=(2, 1000, 1)))[0] < 1.01)
    True
    """
    if traces.shape[1] < FEWEST_SWEEPS:
        return np.full(traces.shape[2], np.nan)
    halves = _halves(traces)
    half = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    # a quantity that never moves has converged to a point
    ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0)
    return np.asarray(np.sqrt((half - 1) / half + ratio))


def monte_carlo_variance(traces: Floats) -> Floats:
    """The variance of the average over all traces (chains, sweeps, quantities), by how much their halves differ.

    NaN with fewer than `FEWEST_SWEEPS` sweeps.

    >>> rng = np.random.default_rng(0)
    >>> float(monte_carlo_variance(rng.normal(size=(2, 1000, 500))).mean().round(4))  # 1 / 2000
    0.0005
    """
    if traces.shape[1] < FEWEST_SWEEPS:
        return np.full(traces.shape[2], np.nan)
    means = _halves(traces).mean(axis=1)
    return np.asarray(means.var(axis=0, ddof=1) / len(means))


def _halves(traces: Floats) -> Floats:
    """Every chain cut into halves, (2 chains, half of the sweeps, quantities)."""
    half = traces.shape[1] // 2
    return np.concatenate([traces[:, :half], traces[:, half : 2 * half]]).astype(np.float64)


def median_and_share(rhat: Floats) -> tuple[float, float]:
    """The median R-hat, and the share of the quantities above the limit; NaN if there were too few sweeps.

    >>> median_and_share(np.array([1.0, 1.0, 1.02, 1.3]))
    (1.01, 0.25)
    """
    if np.isnan(rhat).any():
        return np.nan, np.nan
    return float(np.median(rhat)), float(np.mean(rhat > RHAT_LIMIT))
