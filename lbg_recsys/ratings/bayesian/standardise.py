"""Ratings standardised for the chains, and the weight of the evidence that an item is rated."""

from dataclasses import dataclass

import numpy as np

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.matrix import RatingMatrix

# The weight of the indicator evidence (who rated what) for a row's classes, by who the rows are; from inner splits.
INDICATOR_WEIGHT = {Side.USERS: 0.01, Side.ITEMS: 0.02}
# The farthest level from the mean, in standard deviations of the ratings.
_FARTHEST = 1e9


@dataclass(frozen=True)
class Standard:
    """Ratings with mean 0 and spread 1, on which the priors of the chains are made."""

    centre: float
    spread: float
    levels: Floats  # standardised

    @classmethod
    def of(cls, matrix: RatingMatrix) -> "Standard":
        """From the mean and standard deviation of the ratings (the step of the scale where all are equal).

        Raises
        ------
        DataError
            If a level is so far from the ratings that its square could not be computed with in single precision.
        """
        centre = matrix.crowd.mean
        spread = matrix.crowd.spread
        if spread <= 1e-9 * matrix.scale.step:
            spread = matrix.scale.step
        levels = (matrix.scale.levels - centre) / spread
        if np.abs(levels).max() > _FARTHEST:
            raise DataError(
                f"the rating scale reaches from {matrix.scale.low:g} to {matrix.scale.high:g}, which is more than "
                f"{_FARTHEST:g} standard deviations ({spread:g}) from the mean of the ratings ({centre:g}): name the "
                "levels that ratings can have with levels= or scale="
            )
        return cls(centre, spread, levels)

    @property
    def middles(self) -> Floats:
        """Half-way between neighbouring levels."""
        return (self.levels[1:] + self.levels[:-1]) / 2.0

    def values(self, ratings: Floats) -> Floats:
        """Ratings, standardised."""
        return (ratings - self.centre) / self.spread

    def raw(self, values: Floats) -> Floats:
        """Standardised ratings on their own scale again."""
        return values * self.spread + self.centre
