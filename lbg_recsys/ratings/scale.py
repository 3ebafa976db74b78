"""Rating scales: where they begin and end, and which levels they have."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lbg_recsys.errors import DataError

# Steps that rating scales use; the coarsest that fits all ratings wins.
_STEPS = (1.0, 0.5, 0.25, 0.2, 0.1)
MAX_LEVELS = 101
CONTINUOUS_LEVELS = 41


@dataclass(frozen=True)
class RatingScale:
    """The ``levels`` in ascending order; ``discrete`` says whether ratings take just these values.

    A scale with too many values to count as levels (jokes rated -10.00 .. 10.00) is continuous: its levels are
    a grid on which distributions are reported.
    """

    levels: npt.NDArray[np.float64]
    discrete: bool = True

    @property
    def lower(self) -> float:
        """The lowest level."""
        return float(self.levels[0])

    @property
    def upper(self) -> float:
        """The highest level."""
        return float(self.levels[-1])

    @property
    def step(self) -> float:
        """The smallest distance between two levels (1 where there is only one)."""
        return float(np.diff(self.levels).min()) if len(self.levels) > 1 else 1.0

    @property
    def rounding_variance(self) -> float:
        """The variance of rounding to the scale, step^2 / 12: no rating is known more exactly than that."""
        return self.step**2 / 12.0

    @property
    def liked(self) -> float:
        """Where "liked" begins unless said otherwise: the upper quarter, 4 stars of 1..5."""
        return self.lower + 0.75 * (self.upper - self.lower)

    @classmethod
    def find(
        cls,
        ratings: npt.NDArray[np.float64],
        bounds: tuple[float, float] | None = None,
        levels: npt.ArrayLike | None = None,
    ) -> "RatingScale":
        """The scale of these ratings: given levels, or found within the given or observed bounds.

        >>> RatingScale.find(np.array([1.0, 2.0, 5.0])).levels.tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0]
        """
        if levels is not None:
            given = np.unique(np.asarray(levels, dtype=np.float64))
            if not np.isfinite(given).all() or not len(given):
                raise DataError(f"the levels {levels!r} are not all finite numbers: give at least one number")
            return cls(given)
        lower, upper = bounds if bounds is not None else (float(ratings.min()), float(ratings.max()))
        if not (np.isfinite(lower) and np.isfinite(upper) and lower <= upper):
            raise DataError(f"the rating scale ({lower}, {upper}) is not one: give (lowest, highest)")
        if lower == upper:
            return cls(np.array([lower]))
        inside = np.unique(ratings[(ratings >= lower) & (ratings <= upper)])
        for step in _STEPS:
            count = round((upper - lower) / step) + 1
            places = (inside - lower) / step
            if count <= MAX_LEVELS and np.allclose([*places, (upper - lower) / step], np.rint([*places, count - 1])):
                return cls(np.asarray(lower + step * np.arange(count), dtype=np.float64))
        if len(inside) <= CONTINUOUS_LEVELS:
            return cls(np.unique([lower, *inside, upper]))
        return cls(np.linspace(lower, upper, CONTINUOUS_LEVELS, dtype=np.float64), discrete=False)

    def nearest(self, ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The index of the level nearest to each rating (ties to the lower level)."""
        middles = (self.levels[1:] + self.levels[:-1]) / 2.0
        return np.searchsorted(middles, ratings, side="left")

    def refuse_outsiders(self, ratings: npt.NDArray[np.float64], name_of_row: Callable[[int], str]) -> None:
        """Raise where a rating lies off the scale (``name_of_row`` says whose): never clip, never drop."""
        off = np.flatnonzero((ratings < self.lower) | (ratings > self.upper))
        if not len(off) and self.discrete:
            off = np.flatnonzero(np.abs(self.levels[self.nearest(ratings)] - ratings) > 1e-6)
        if len(off):
            raise DataError(
                f"the rating {ratings[off[0]]:g} {name_of_row(int(off[0]))} is off the scale "
                f"{self.lower:g}..{self.upper:g} ({len(self.levels)} levels; {len(off)} such ratings): "
                "give the right rating scale or mend the rating"
            )
