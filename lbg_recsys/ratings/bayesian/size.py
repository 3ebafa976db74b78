"""The default size and noise of Bayesian LBG, which follow the numbers of ratings per user and item.

The rules were found on inner splits of several data sets: see "The size" and "The shapes of the noise" in
docs/bayesian-settings.md.
"""

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from lbg_recsys.core.gibbs.kinds import Likelihood
from lbg_recsys.core.gibbs.noise_shapes import USUAL_SHAPE
from lbg_recsys.errors import ParameterError
from lbg_recsys.settings import AUTO

# Ratings per user up to which the shapes of noise are learned.
_FEW_RATINGS = 45.0
# The shapes of noise of Gaussian chains that are not asked for distributions.
_ALIKE = 30.0


class Size(NamedTuple):
    """How many components, classes and factors the chains of a fit have."""

    n_components: int
    n_classes: int
    n_factors: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any], n_ratings: int, n_ids: int) -> "Size":
        """The size by the parameters, with "auto" resolved for these numbers of ratings, users and items.

        >>> Size.of({"n_components": "auto", "n_classes": 5, "n_factors": "auto"}, 900_000, 9_746)
        Size(n_components=4, n_classes=5, n_factors=40)
        """
        given = [parameters[name] for name in cls._fields]
        usual = [0, 3, factors_for(n_ratings / max(n_ids, 1))]
        components, classes, factors = (u if g == AUTO else g for g, u in zip(given, usual, strict=True))
        return cls(components or (4 if factors else 16), classes, factors)


def factors_for(ratings_per_id: float) -> int:
    """4.2 times the square root of the number of ratings per user and item, in steps of 8, from 8 to 64.

    >>> [factors_for(n) for n in (1.0, 8.0, 15.0, 35.0, 90.0, 1000.0)]
    [8, 8, 16, 24, 40, 64]
    """
    return 8 * min(max(round(4.2 * math.sqrt(ratings_per_id) / 8.0), 1), 8)


def noise_of(likelihood: Likelihood, kinds: Collection[Likelihood], ratings_per_user: float) -> dict[str, Any]:
    """How alike users and items are in the noise of a chain with this likelihood, one of the ``kinds`` of a fit.

    Beside ordinal chains, Gaussian chains are used for the means: users who look precise, because they give few
    different ratings, must not get too much weight in them. Ordinal chains learn the shapes if users have few
    ratings; with many ratings, learned shapes make distributions worse.

    >>> both = tuple(Likelihood)
    >>> noise_of(Likelihood.GAUSSIAN, both, 20.0)
    {'user_noise_shape': 30.0, 'item_noise_shape': 30.0, 'learn_noise_shapes': False}
    >>> [noise_of(Likelihood.ORDINAL, both, n)["learn_noise_shapes"] for n in (20.0, 100.0)]
    [True, False]
    """
    is_ordinal = likelihood is Likelihood.ORDINAL
    shape = _ALIKE if not is_ordinal and Likelihood.ORDINAL in kinds else USUAL_SHAPE
    learned = is_ordinal and ratings_per_user < _FEW_RATINGS
    return {"user_noise_shape": shape, "item_noise_shape": shape, "learn_noise_shapes": learned}


def burn_in_of(parameters: Mapping[str, Any]) -> int:
    """The number of sweeps at the start of each chain that are not used; `ParameterError` if none would remain.

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
