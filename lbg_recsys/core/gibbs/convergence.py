"""Have the chains met? The split R-hat of Gelman et al. (Bayesian Data Analysis, 3rd edition, section 11.4)."""

import numpy as np

from lbg_recsys.core.types import Floats

# Above it, a quantity varies by a fifth more (1.1 squared) over all halves than within one: it has not settled.
RHAT_LIMIT = 1.1


def split_rhat(traces: Floats) -> Floats:
    """R-hat of each quantity from traces (chains, sweeps, quantities), every chain cut into halves.

    1 when all halves look alike; sqrt of (variance over all halves) / (variance within one) in general.

    >>> rng = np.random.default_rng(0)
    >>> bool(split_rhat(rng.normal(size=(2, 1000, 1)))[0] < 1.01)
    True
    """
    half = traces.shape[1] // 2
    if half < 2:
        return np.full(traces.shape[2], np.nan)
    halves = np.concatenate([traces[:, :half], traces[:, half : 2 * half]]).astype(np.float64)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    # a quantity that never moves has converged to a point
    ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0)
    return np.asarray(np.sqrt((half - 1) / half + ratio))


def median_and_share(rhat: Floats) -> tuple[float, float]:
    """The median R-hat, and the share of the quantities above the limit (or too short a trace to say).

    >>> median_and_share(np.array([1.0, 1.0, 1.02, 1.3]))
    (1.01, 0.25)
    """
    return float(np.median(rhat)), float(np.mean(~(rhat <= RHAT_LIMIT)))
