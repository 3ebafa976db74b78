"""What a fit asks of ratings, wherever they are: in memory, on disk or on a cluster."""

import warnings
from typing import TYPE_CHECKING, Any, Protocol

from lbg_recsys.core.blocks import Blocks
from lbg_recsys.ratings.scale import RatingScale

if TYPE_CHECKING:
    from lbg_recsys.ratings.matrix import RatingMatrix

Bounds = tuple[float, float]


class RatingSource(Protocol):
    """Ratings wherever they are, of which a fit sees blocks of users: a `RatingMatrix`, a store, a cluster."""

    @property
    def scale(self) -> RatingScale:
        """The rating scale."""

    @property
    def n_ratings(self) -> int:
        """How many ratings there are, duplicates counted once."""

    @property
    def extremes(self) -> Bounds:
        """The lowest and the highest rating that was given."""

    def blocks(self, n_jobs: int = 1) -> Blocks:
        """The users as rows, in blocks; ``n_jobs`` threads may read them where they are in this process."""

    def whole(self) -> "RatingMatrix":
        """All ratings in one matrix."""


def is_source(ratings: Any) -> bool:
    """Whether this is a `RatingSource`."""
    return hasattr(ratings, "blocks") and hasattr(ratings, "whole")


def warn_if_constant(source: RatingSource) -> None:
    """Warn of ratings that say only who took what."""
    low, high = source.extremes
    if source.n_ratings > 1 and low == high:
        warnings.warn(
            f"all ratings are equal: {source.n_ratings} times {low:g}, so that every prediction is {low:g}; "
            "ChoiceModel makes lists from who took what",
            UserWarning,
            stacklevel=4,
        )
