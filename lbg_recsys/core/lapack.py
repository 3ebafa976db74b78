"""The inverse of a positive definite matrix by LAPACK, which Ctrl-C can interrupt."""

import ctypes
from typing import Any

import numba.extending
import numpy as np

from lbg_recsys.core.interrupts import interruptible
from lbg_recsys.core.types import Floats


def invert(sigma: Floats) -> bool:
    """Replace the lower triangle of a matrix by that of its inverse; whether it was positive definite.

    The matrix is in Fortran's order, and LAPACK works in it without a copy. One thread: bits do not depend on the
    number of them. The functions are those behind ``scipy.linalg.lapack``, called so that Python's lock is released.
    """
    from threadpoolctl import threadpool_limits

    if not (sigma.flags.f_contiguous and sigma.dtype == np.float64 and sigma.shape[0] == sigma.shape[1]):
        raise ValueError("a square matrix of float64 in Fortran's order is needed")
    if not len(sigma):
        return True
    with threadpool_limits(1):
        return all(interruptible(_call, _function(name), sigma) for name in ("dpotrf", "dpotri"))


def _call(function: Any, matrix: Floats) -> bool:
    """Whether LAPACK succeeded. A call that was interrupted keeps using the matrix until it ends."""
    size, failed = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    function(b"L", ctypes.byref(size), matrix.ctypes.data, ctypes.byref(size), ctypes.byref(failed))
    return not failed.value


def _function(name: str) -> Any:
    address = numba.extending.get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, ctypes.c_char_p, *(ctypes.c_void_p,) * 4)(address)
