"""The size of Bayesian LBG where nobody gives one: it follows the number of ratings, users and items.

The rules were found on inner splits of data sets (docs/bayesian-lbg.md, "The size").
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from lbg_recsys.errors import ParameterError
from lbg_recsys.settings import AUTO

# Ratings per user up to which the shapes of noise are learned (docs/bayesian-lbg.md, "The shapes of the noise").
_FEW_RATINGS = 45.0
# Numbers of ratings for which two chains of each kind are better than one at a cost that is still small, and how many
# ratings users and items then have (docs/bayesian-lbg.md, "The size").
_TWO_CHAINS, _PER_ID = range(20_000, 75_000), 10.0


class Size(NamedTuple):
    """How many components, classes and factors a chain has, and how many chains there are of each kind."""

    n_components: int
    n_classes: int
    n_factors: int
    n_chains: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any], n_ratings: int, n_ids: int) -> "Size":
        """The size that parameters give, "auto" resolved for so many ratings and so many users and items.

        >>> parameters = {"n_components": "auto", "n_classes": 5, "n_factors": "auto", "n_chains": "auto"}
        >>> Size.of(parameters, 900_000, 9_746)
        Size(n_components=4, n_classes=5, n_factors=40, n_chains=1)
        """
        given = [parameters[name] for name in cls._fields]
        per_id = n_ratings / max(n_ids, 1)
        usual = [0, 3, factors_for(per_id), chains_for(n_ratings, per_id)]
        components, classes, factors, chains = (u if g == AUTO else g for g, u in zip(given, usual, strict=True))
        return cls(components or (4 if factors else 16), classes, factors, chains)


def factors_for(ratings_per_id: float) -> int:
    """8 factors for up to 18 ratings per user and item, about 14 more for each doubling, at most 64.

    >>> [factors_for(n) for n in (1.0, 10.0, 20.0, 35.0, 90.0, 1000.0)]
    [8, 8, 16, 24, 40, 64]
    """
    return 8 * min(max(round(1.7 * math.log2(max(ratings_per_id, 1.0) / 10.0)), 1), 8)


def chains_for(n_ratings: int, ratings_per_id: float) -> int:
    """Two chains of each kind for 20,000 to 75,000 ratings of users and items with ten or more each, otherwise one.

    The average of more chains is better, because chains differ. With fewer ratings no gain was found; with more of
    them, and where most users and items have few, a chain costs so much that two are left to who asks for them.

    >>> [chains_for(n, 20.0) for n in (10_000, 50_000, 100_000)], chains_for(50_000, 5.0)
    ([1, 2, 1], 1)
    """
    return 2 if n_ratings in _TWO_CHAINS and ratings_per_id >= _PER_ID else 1


def learns_noise_shapes(ratings_per_user: float) -> bool:
    """Whether ordinal chains learn how alike users and items are in their noise: below 45 ratings per user.

    On inner splits of three data sets with 3 to 18 ratings per user, distributions gain by it and means do not
    change. On MovieLens-100K, with 76, both lose: users who look precise get too much weight.

    >>> learns_noise_shapes(20.0), learns_noise_shapes(100.0)
    (True, False)
    """
    return ratings_per_user < _FEW_RATINGS


def burn_in_of(parameters: Mapping[str, Any]) -> int:
    """How many sweeps at the start of each chain are not used; `ParameterError` where that leaves none.

    >>> burn_in_of({"n_sweeps": 70, "burn_in": "auto"})
    23
    """
    n_sweeps, burn_in = parameters["n_sweeps"], parameters["burn_in"]
    burn_in = n_sweeps // 3 if burn_in == AUTO else burn_in
    if burn_in >= n_sweeps:
        raise ParameterError(
            f"burn_in is {burn_in!r} of n_sweeps={n_sweeps}: it must leave sweeps to keep, "
            "so give an integer from 0 to n_sweeps - 1"
        )
    return int(burn_in)
