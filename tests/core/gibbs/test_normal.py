"""Truncated normal draws: inside their bounds, of the right distribution, and always an end."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm

from lbg_recsys.core.gibbs.normal import truncated_normal


@pytest.mark.parametrize(
    ("low", "high"), [(-np.inf, np.inf), (-1, 2), (-0.2, 0.3), (0.5, 0.9), (3, np.inf), (-9, -8), (6, 6.01), (0.1, 9)]
)
def test_draws_have_the_truncated_distribution(low, high):
    rng = np.random.default_rng(0)
    draws = np.array([truncated_normal(rng, float(low), float(high)) for _ in range(2000)])
    assert (low <= draws).all() and (draws <= high).all()
    assert kstest(draws, truncnorm(low, high).cdf).pvalue > 0.001


def test_bounds_that_are_none_end_too():
    """In a process of its own: a compiled loop cannot be interrupted."""
    code = """
import numpy as np
from lbg_recsys.core.gibbs.normal import truncated_normal
rng = np.random.default_rng(0)
odd = [np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 1e19, -1e19, 3e38, -3e38, 1e308, -1e308, 5e-324]
for low in odd:
    for high in odd:
        assert np.isfinite(truncated_normal(rng, low, high)), (low, high)
assert truncated_normal(rng, 2.0, 2.0) == 2.0 and truncated_normal(rng, -2.0, -2.0) == -2.0
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n", done.stderr
