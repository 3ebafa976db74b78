"""The loops in vector registers, against the same in plain numba."""

import numpy as np
import pytest

from lbg_recsys.core.compiling import kernel
from lbg_recsys.core.gibbs.vectors import (
    LANES,
    TILE,
    add_line,
    add_line_plain,
    add_squares,
    add_squares_plain,
    subtract_products,
    subtract_products_plain,
)


@kernel()
def _squares(left, left_at, right, right_at, out, row, column):
    add_squares(left, left_at, right, right_at, out, row, column)


@kernel()
def _line(left, left_at, right, right_at, out, row, column):
    add_line(left, left_at, right, right_at, out, row, column)


@kernel()
def _subtract(a, target, one, one_step, other, other_step, n, scale):
    subtract_products(a, target, one, one_step, other, other_step, n, scale)


@pytest.mark.parametrize(("vectors", "plain"), [(_squares, add_squares_plain), (_line, add_line_plain)])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_sums_over_entries(vectors, plain, n):
    rng = np.random.default_rng(n)
    left, right = (rng.normal(size=(20, 2 * TILE)).astype(np.float32) for _ in range(2))
    left_at, right_at = (rng.integers(0, 20, n).astype(np.int32) for _ in range(2))
    found, expected = (np.full((2 * TILE, 2 * TILE), 7.0, np.float32) for _ in range(2))
    for out, function in ((found, vectors), (expected, plain)):
        function(left, left_at, right, right_at, out, TILE, 0)
        function(left, left_at, right, right_at, out, 0, TILE)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert (found[0, :TILE] == 7.0).all()


def test_products_are_subtracted_in_each_lane():
    rng = np.random.default_rng(0)
    found = rng.normal(size=(40, LANES))
    expected = found.copy()
    for target, one, one_step, other, other_step, n, scale in ((30, 2, 3, 1, 2, 9, 31), (31, 0, 1, 0, 1, 0, 32)):
        _subtract(found, target, one, one_step, other, other_step, n, scale)
        subtract_products_plain(expected, target, one, one_step, other, other_step, n, scale)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[:30] == expected[:30]).all()
