"""Names of array types, once: what a signature says of dtype, the docstring says of shape."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]  # of compiled kernels, which take several dtypes
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
