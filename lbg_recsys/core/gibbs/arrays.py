"""Groups of arrays and numbers that several kernels take together; numba passes them like separate arguments."""

from typing import NamedTuple

from lbg_recsys.core.types import Array


class Gamma(NamedTuple):
    """A Gamma distribution with density proportional to x^(shape - 1) exp(-rate x)."""

    shape: float
    rate: float


class Residuals(NamedTuple):
    """Entries sorted by row: row j has the entries ``indptr[j]:indptr[j + 1]``.

    ``res`` is the utility of each entry less all that the current draw explains of it; kernels update it in place.
    """

    indptr: Array  # (rows + 1,) int64
    columns: Array  # (entries,) int32
    res: Array  # (entries,) float32


class Weights(NamedTuple):
    """Factors of the noise precision: that of entry (j, i) is row[j] * col[i]."""

    row: Array  # (rows,) float32
    col: Array  # (columns,) float32


class Intervals(NamedTuple):
    """The interval of the utility of every entry, by its level and the user whose cut points it has.

    Cut point b of user u is ``cuts[b] + added[b, u]``, and level l lies between the cut points l and l + 1. The first
    and the last cut point are infinite, and users add nothing to them.
    """

    level: Array  # (entries,) int16
    owner: Array  # (entries,) int32: the user
    cuts: Array  # (levels + 1,) float64
    added: Array  # (levels + 1, users) float32


class RatedLevels(NamedTuple):
    """Levels of entries, and all that their likelihood given the users' own cut points depends on."""

    entries: Residuals
    intervals: Intervals
    weights: Weights
    owner_weight: Array  # (users,) float32: the users' part of ``weights``
    utility: Array  # (entries,) float32
    neighbours: Array  # (levels + 1, users) int32: from `count_neighbours`
