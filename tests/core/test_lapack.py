"""Inverses by LAPACK."""

import numpy as np
import pytest

from lbg_recsys.core.lapack import invert


def test_the_lower_triangle_is_the_inverse():
    root = np.random.default_rng(0).normal(size=(5, 5))
    square = root @ root.T + np.eye(5)
    found = np.asfortranarray(square)
    assert invert(found)
    np.testing.assert_allclose(np.tril(found), np.tril(np.linalg.inv(square)), rtol=1e-10)
    assert not invert(np.asfortranarray(-np.eye(3)))


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 2), order="F"), np.arange(4.0).reshape(2, 2), np.eye(2, dtype=np.float32, order="F")]
)
def test_other_arrays_are_refused_before_lapack_reads_beyond_them(matrix):
    with pytest.raises(ValueError, match="a square matrix of float64"):
        invert(matrix)
