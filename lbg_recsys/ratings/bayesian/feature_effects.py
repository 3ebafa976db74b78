"""What features of items do to the expected ratings of a user, and those of users to the expected ratings of an item.

Before anything is known of its ratings, an item i with the features f_i is expected to be rated by user u

    (f_i - f) . g_u,   g_u = omega + sum_h eta[h, z_uh]   (the coefficients of features in them)

higher than an item with the features f. This is the mean over kept sweeps that have the users as rows; where there
are none, g_u is the mean of the coefficients of items' biases, the same for all users.
"""

from collections.abc import Mapping

import numpy as np

from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.bayesian.standardise import Standard


def feature_effects(
    draws: Mapping[Side, Draws], standard: Standard, side: Side, partners: Ints, width: int
) -> Floats:
    """The effect of each of the ``width`` features of a ``side`` for some partners, (n, width), in units of ratings.

    Partners are codes of the other side, -1 is an unknown one. Of Gaussian sweeps if there are any: their utilities
    are ratings.
    """
    if side.other in draws:
        of_partners = draws[side.other]
        sweeps = _gaussian(of_partners)
        effects = np.repeat(
            of_partners.omega[sweeps, -width:].astype(np.float64).mean(axis=0)[None], len(partners), 0
        )
        rows = np.where(partners < 0, of_partners.z.shape[1] - 1, partners)
        for s in sweeps:
            eta = of_partners.eta[s, :, :, -width:].astype(np.float64)
            for h, classes in enumerate(of_partners.z[s, rows].T):
                effects += eta[h, classes] / len(sweeps)
    else:
        own = draws[side]
        effects = np.repeat(own.beta[_gaussian(own)].astype(np.float64).mean(axis=0)[None], len(partners), 0)
    return standard.spread * effects


def _gaussian(draws: Draws) -> Ints:
    """The sweeps with a Gaussian likelihood, or all if there are none."""
    return np.arange(len(draws)) if draws.ordinal.all() else np.flatnonzero(~draws.ordinal)
