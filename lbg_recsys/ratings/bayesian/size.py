"""The size of Bayesian LBG where nobody gives one: it follows the number of ratings.

The rule was found on inner splits of five data sets (docs/bayesian-lbg.md, "The size").
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from lbg_recsys.settings import AUTO


class Size(NamedTuple):
    """How many components, classes and factors the chains of a fit have."""

    n_components: int
    n_classes: int
    n_factors: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any], n_ratings: int) -> "Size":
        """The size that parameters give, "auto" resolved for so many ratings.

        >>> Size.of({"n_components": "auto", "n_classes": 5, "n_factors": "auto"}, 1_000_000)
        Size(n_components=4, n_classes=5, n_factors=40)
        """
        given = [parameters[name] for name in cls._fields]
        usual = [0, 3, factors_for(n_ratings)]
        components, classes, factors = (u if g == AUTO else g for g, u in zip(given, usual, strict=True))
        return cls(components or (4 if factors else 16), classes, factors)


def factors_for(n_ratings: int) -> int:
    """8 factors for 10,000 ratings and 8 more for each factor of sqrt(10), from 8 to 64.

    >>> [factors_for(n) for n in (500, 10_000, 100_000, 1_000_000, 10_000_000)]
    [8, 8, 24, 40, 56]
    """
    return 8 * min(max(round(2 * math.log10(max(n_ratings, 1))) - 7, 1), 8)
