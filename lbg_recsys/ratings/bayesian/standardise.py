"""Ratings as the chains take them: standardised, and how much it counts that an item is rated at all."""

from dataclasses import dataclass

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.matrix import RatingMatrix

# The weight of the indicator evidence (who rated what) for a row's classes, by who the rows are; from inner splits.
INDICATOR_WEIGHT = {Side.USERS: 0.01, Side.ITEMS: 0.02}


@dataclass(frozen=True)
class Standard:
    """Ratings with mean 0 and spread 1, on which the priors of the chains are made."""

    centre: float
    spread: float
    levels: Floats  # standardised

    @classmethod
    def of(cls, matrix: RatingMatrix) -> "Standard":
        """From the mean and standard deviation of the ratings (the step of the scale where all are equal)."""
        centre = float(matrix.values.mean())
        spread = float(matrix.values.std())
        if spread <= 1e-9 * matrix.scale.step:
            spread = matrix.scale.step
        return cls(centre, spread, (matrix.scale.levels - centre) / spread)

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
