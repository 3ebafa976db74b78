"""The hand-written vector sums against their twin in plain numba."""

import numpy as np
import pytest
from numba import njit

from lbg_recsys.core.compiling import FAST
from lbg_recsys.core.gibbs.simd import USED, WIDTH, sum_blocks, sum_blocks_plain


@njit(fastmath=FAST)  # the flags of `draw_class`, which calls it
def by_vectors(col, res, table, first):
    return sum_blocks(col, res, table, first)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 101])
@pytest.mark.parametrize("block", [0, 1])
def test_vector_sums_have_the_bits_of_plain_numba(n, block):
    rng = np.random.default_rng(n)
    table = rng.normal(size=(40, 2 * WIDTH)).astype(np.float32)
    col, res = rng.integers(0, 40, n).astype(np.int32), rng.normal(size=n).astype(np.float32)
    found, plain = (f(col, res, table, WIDTH * block) for f in (by_vectors, sum_blocks_plain))
    np.testing.assert_array_equal(found, plain)
    factor = np.ones((n, USED))
    factor[:, :2] = res[:, None]
    exact = (factor * table[col, WIDTH * block : WIDTH * block + USED].astype(float)).sum(axis=0)
    np.testing.assert_allclose(found, exact, atol=2e-5)
