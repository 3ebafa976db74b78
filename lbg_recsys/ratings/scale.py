"""Rating scales: where they begin and end, and which levels they have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.core.levels import LARGEST_LEVEL, MOST_LEVELS, SMALLEST_STEP
from lbg_recsys.errors import DataError, OffScaleError, ParameterError

# Steps that rating scales use; the coarsest that fits all ratings wins.
_STEPS = (1.0, 0.5, 0.25, 0.2, 0.1)
MAX_LEVELS = 101
CONTINUOUS_LEVELS = 41
# The distance from a level, in steps, within which a rating counts as this level: the rounding of single precision.
_AT_A_LEVEL = 1e-5
# A scale that begins or ends within this many of its own widths of 0 is computed with as it is: sums of squares then
# lose at most three digits.
_NEAR = 16.0


@dataclass(frozen=True)
class RatingScale:
    """The levels that ratings can take.

    A scale with too many values to count as levels (jokes rated -10.00 .. 10.00) is continuous: its levels are
    a grid on which distributions are reported.

    Attributes
    ----------
    levels : float array of shape (n_levels,)
        The levels in ascending order.
    discrete : bool
        Whether ratings take no other values.
    low, high : float
        The lowest and the highest level.
    step : float
        The smallest distance between two levels; 1 if there is only one.
    liked : float
        The lowest rating that counts as liked by default: the start of the upper quarter, 4 of 1..5.

    Examples
    --------
    >>> scale = RatingScale(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> scale.low, scale.high, scale.step
    (1.0, 5.0, 1.0)
    """

    levels: npt.NDArray[np.float64]
    discrete: bool = True

    @property
    def low(self) -> float:
        """The lowest level."""
        return float(self.levels[0])

    @property
    def high(self) -> float:
        """The highest level."""
        return float(self.levels[-1])

    @property
    def step(self) -> float:
        """The smallest distance between two levels (1 where there is only one)."""
        return float(np.diff(self.levels).min()) if len(self.levels) > 1 else 1.0

    @property
    def tolerance(self) -> float:
        """How far from a level a rating may be and still count as being at it."""
        return _tolerance(self.step, self.low, self.high)

    @property
    def rounding_variance(self) -> float:
        """The variance of rounding to the scale, step^2 / 12: no rating is known more exactly than that."""
        return self.step**2 / 12.0

    @property
    def origin(self) -> float:
        """What is subtracted before ratings are squared: 0, or the middle level of a scale that is far from 0."""
        width = max(self.high - self.low, self.step)
        near = max(self.low, -self.high) <= _NEAR * width
        return 0.0 if near else float(self.levels[len(self.levels) // 2])

    @property
    def liked(self) -> float:
        """Where "liked" begins unless said otherwise: the upper quarter, 4 stars of 1..5."""
        return self.low + 0.75 * (self.high - self.low)

    @classmethod
    def find(
        cls,
        ratings: npt.NDArray[np.float64],
        bounds: tuple[float, float] | None = None,
        levels: npt.ArrayLike | None = None,
    ) -> "RatingScale":
        """Find the scale of ratings: given levels, or found within the given or observed bounds.

        Parameters
        ----------
        ratings : float array
            The ratings.
        bounds : tuple of (float, float), default=None
            Lowest and highest level; found in the ratings by default.
        levels : array-like, default=None
            All levels of the scale, where they are known.

        Returns
        -------
        RatingScale
            The coarsest scale that the ratings fit; of ratings -1 and 1 these two levels. It is not discrete if there
            are too many values to count as levels.

        Raises
        ------
        DataError
            If levels are not finite numbers or too many, or the scale is too large or too fine to compute with.
        ParameterError
            If the bounds are not two numbers, the lowest first, or levels do not end at the bounds.

        Examples
        --------
        >>> RatingScale.find(np.array([1.0, 2.0, 5.0])).levels.tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0]
        """
        if levels is not None:
            found = cls(_as_levels(levels))
            ends = (found.low, found.high)
            if bounds is not None and not np.allclose(_as_bounds(bounds), ends, rtol=0, atol=found.tolerance):
                raise ParameterError(
                    f"levels go from {found.low:g} to {found.high:g}, and scale is {bounds!r}: leave out one of them"
                )
        else:
            lower, upper = _as_bounds(bounds) if bounds is not None else (float(ratings.min()), float(ratings.max()))
            found = cls._within(ratings, lower, upper)
        if max(-found.low, found.high) > LARGEST_LEVEL or found.step < SMALLEST_STEP:
            raise DataError(
                f"a rating scale from {found.low:g} to {found.high:g} in steps of {found.step:g} is beyond what "
                "can be computed with: multiply the ratings by a constant"
            )
        return found

    @classmethod
    def _within(cls, ratings: npt.NDArray[np.float64], lower: float, upper: float) -> "RatingScale":
        """The coarsest levels from ``lower`` to ``upper`` that the ratings between them take."""
        if lower == upper:
            return cls(np.array([lower], dtype=np.float64))
        inside = np.unique(np.append(ratings[(ratings >= lower) & (ratings <= upper)], [lower, upper]))
        if inside.tolist() == [-1.0, 1.0]:  # thumbs down and up: nothing lies between
            return cls(inside)
        for step in _STEPS:
            count = np.rint((upper - lower) / step) + 1
            if 1 < count <= MAX_LEVELS:
                levels = np.asarray(lower + step * np.arange(count), dtype=np.float64)
                off = np.abs(levels[np.rint((inside - lower) / step).astype(np.int64)] - inside)
                if (off <= _tolerance(step, lower, upper)).all():
                    return cls(levels)
        if len(inside) <= CONTINUOUS_LEVELS:
            return cls(inside)
        return cls(np.linspace(lower, upper, CONTINUOUS_LEVELS, dtype=np.float64), discrete=False)

    def nearest(self, ratings: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Find the level nearest to each rating.

        Parameters
        ----------
        ratings : float array
            The ratings.

        Returns
        -------
        int array
            The index of the level of each rating; the lower level if two are equally near.

        Examples
        --------
        >>> RatingScale(np.array([1.0, 2.0, 3.0])).nearest(np.array([1.2, 1.5, 9.0])).tolist()
        [0, 0, 2]
        """
        middles = (self.levels[1:] + self.levels[:-1]) / 2.0
        return np.searchsorted(middles, ratings, side="left")

    def refuse_outsiders(self, ratings: npt.NDArray[np.float64], name_of_row: Callable[[int], str]) -> None:
        """Raise where a rating lies off the scale (``name_of_row`` says whose): never clip, never drop."""
        allowed = self.levels[self.nearest(ratings)] if self.discrete else ratings.clip(self.low, self.high)
        off = np.flatnonzero(np.abs(allowed - ratings) > self.tolerance)
        if len(off):
            levels, such = f"{len(self.levels)} level", f"{len(off):,} such rating"
            raise OffScaleError(
                f"the rating {ratings[off[0]]:g} {name_of_row(int(off[0]))} is off the scale {self.low:g}.."
                f"{self.high:g} ({levels}{'s' * (len(self.levels) > 1)}; {such}{'s' * (len(off) > 1)})",
                "fix the rating, or fit with the right scale (levels=[...] names all levels, "
                "scale=(lowest, highest) the ends; rating_scale of Surprise's Reader)",
            )


def _tolerance(step: float, lower: float, upper: float) -> float:
    """A small part of a step, and what rounding does to numbers of this size."""
    return _AT_A_LEVEL * step + 4.0 * float(np.spacing(max(abs(lower), abs(upper))))


def _as_levels(levels: Any) -> npt.NDArray[np.float64]:
    try:
        given = np.unique(np.asarray(levels, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        given = np.array([])
    if not len(given) or not np.isfinite(given).all():
        raise DataError(f"levels is {levels!r}: give finite numbers, at least one")
    if len(given) > MOST_LEVELS:
        raise DataError(f"there are {len(given):,} levels: give at most {MOST_LEVELS:,}, or none")
    return given


def _as_bounds(bounds: Any) -> tuple[float, float]:
    try:
        lower, upper = (float(bound) if not isinstance(bound, str) else np.nan for bound in bounds)
    except (TypeError, ValueError, OverflowError):
        lower = upper = np.nan
    if not (np.isfinite(lower) and np.isfinite(upper)):
        raise ParameterError(f"the rating scale {bounds!r} is not valid: give two numbers, (lowest, highest)")
    if lower > upper:
        raise ParameterError(f"the rating scale goes from {lower:g} to {upper:g}: give the lowest rating first")
    return lower, upper


def far_from_the_others(ratings: npt.NDArray[np.float64]) -> str | None:
    """A hint about a rating at an end of the scale that is far from all others, which are close to each other.

    >>> stars = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 9)
    >>> far_from_the_others(np.append(stars, 50.0))
    'the highest rating is 50, and all others are between 1 and 5: correct it if it is a mistake'
    >>> far_from_the_others(np.append(stars, 7.0)) is None
    True
    """
    values = np.unique(ratings)
    for end, far, others in (("highest", values[-1:], values[:-1]), ("lowest", values[:1], values[1:])):
        if len(others) > 2 and abs(far[0] - np.median(others)) > 3 * np.ptp(others):
            return (
                f"the {end} rating is {far[0]:g}, and all others are between {others[0]:g} and {others[-1]:g}: "
                "correct it if it is a mistake"
            )
    return None
