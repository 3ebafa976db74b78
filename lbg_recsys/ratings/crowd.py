"""What a model keeps when its users are left out: sums over all of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.core.gibbs.amounts import Amounts
from lbg_recsys.core.together import ByPairs
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError

if TYPE_CHECKING:
    from lbg_recsys.ratings.matrix import RatingMatrix


@dataclass(frozen=True)
class KeptChoices:
    """What choice scores of new users need of the users of the training; see `lbg_recsys.ratings.choice_scores`."""

    grade: float
    together: ByPairs
    penalty: Floats  # (items,)
    average: Floats  # (items,)


@dataclass(frozen=True)
class Crowd:
    """The ratings of a matrix as sums over all users.

    Attributes
    ----------
    n_users : int
        How many users there are.
    mean, spread : float
        Mean and standard deviation of all ratings.
    amounts : Amounts
        How the logarithm of the users' numbers of ratings is distributed.
    per_item : int array of shape (items,)
        The number of ratings of each item.
    total : array of shape (items,)
        The sum of the ratings of each item.
    per_level : int array of shape (levels,)
        The number of ratings of each level.
    choices : KeptChoices, default=None
        What choice scores need; only of a matrix without users.
    """

    n_users: int
    mean: float
    spread: float
    amounts: Amounts
    per_item: Ints
    total: Floats
    per_level: Ints
    choices: KeptChoices | None = None

    @classmethod
    def of(cls, matrix: "RatingMatrix") -> "Crowd":
        """The sums over the users of a matrix; it must have ratings."""
        values, scale = matrix.values, matrix.scale
        return cls(
            matrix.n_users,
            float(values.mean()),
            float(values.std()),
            Amounts.of(matrix.rows.lengths),
            matrix.rows.column_counts(),
            np.bincount(matrix.item_codes, values, minlength=matrix.n_items).astype(np.float64, copy=False),
            np.bincount(scale.nearest(values), minlength=len(scale.levels)),
        )

    @property
    def n_ratings(self) -> int:
        """How many ratings there are."""
        return int(self.per_item.sum())

    @property
    def means(self) -> Floats:
        """The mean rating of each item, (items,); 0 of one without ratings."""
        return np.asarray(self.total / np.maximum(self.per_item, 1))


def need_users(matrix: "RatingMatrix", what: str) -> None:
    """Raise `DataError` if the users of a matrix are left out, and ``what`` needs them."""
    if matrix.left_out is not None:
        raise DataError(
            f"{what} needs the users that the model was fitted to, and it was saved without them (fit "
            "--drop-users; in Python ratings=False): take a file that has them"
        )
