"""Truncated normal and gamma draws: inside their bounds, of the right distribution, and always an end."""

import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm

from lbg_recsys.core.gibbs.normal import draw_gamma, truncated_normal


@pytest.mark.parametrize(
    ("low", "high"), [(-np.inf, np.inf), (-1, 2), (-0.2, 0.3), (0.5, 0.9), (3, np.inf), (-9, -8), (6, 6.01), (0.1, 9)]
)
def test_draws_have_the_truncated_distribution(low, high):
    rng = np.random.default_rng(0)
    draws = np.array([truncated_normal(rng, float(low), float(high)) for _ in range(2000)])
    assert (low <= draws).all() and (draws <= high).all()
    assert kstest(draws, truncnorm(low, high).cdf).pvalue > 0.001


@pytest.mark.parametrize("shape", [5e-324, 0.3, 1.0, 2.5, 1e6])
def test_gamma_draws_are_those_of_the_generator(shape):
    drawn, own = np.random.default_rng(0), np.random.default_rng(0)
    draws = np.array([draw_gamma(drawn, shape) for _ in range(1000)])
    np.testing.assert_allclose(draws, own.standard_gamma(shape, 1000), rtol=1e-12)
    assert drawn.random() == own.random()


@pytest.mark.parametrize("module", ["components", "effects", "factor_priors", "occasions"])
def test_no_compiled_loop_draws_a_gamma_without_a_bound(module):
    """numba's own ``standard_gamma`` does not end for NaN; only what is not compiled may call NumPy's."""
    code = inspect.getsource(importlib.import_module(f"lbg_recsys.core.gibbs.{module}"))
    compiled = [part for part in code.split("\n\n\n") if "@kernel(" in part]
    assert compiled and not [part for part in compiled if ".standard_gamma(" in part]


def test_odd_bounds_and_shapes_end_too():
    """In a process of its own: a compiled loop cannot be interrupted."""
    code = """
import numpy as np
from lbg_recsys.core.gibbs.normal import draw_gamma, truncated_normal
rng = np.random.default_rng(0)
odd = [np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 1e19, -1e19, 3e38, -3e38, 1e308, -1e308, 5e-324]
for low in odd:
    for high in odd:
        assert np.isfinite(truncated_normal(rng, low, high)), (low, high)
for shape in [np.nan, np.inf, -np.inf, 0.0, -1.0, -5e-324]:
    assert np.isnan(draw_gamma(rng, shape)), shape
assert truncated_normal(rng, 2.0, 2.0) == 2.0 and truncated_normal(rng, -2.0, -2.0) == -2.0
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n", done.stderr
