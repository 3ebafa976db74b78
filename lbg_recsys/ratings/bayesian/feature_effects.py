"""What features of items do to the expected ratings of a user, and those of users to the expected ratings of an item.

Before anything is known of its ratings, an item i with the features f_i is expected to be rated by user u

    (f_i - f) . g_u

higher than an item with the features f. The regressions of the chains do not give g_u: they compare items with the
same number of ratings and the same raters, which are unknown for a new item. So the biases, class means and factors
of the items in each kept sweep are regressed on the features alone. The penalties are learned, one per group
of features, from the regression of what the items are for the average user.
"""

from collections.abc import Mapping

import numpy as np

from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.gibbs.tastes import features as parts
from lbg_recsys.core.relevance import learn_penalties, regress
from lbg_recsys.core.types import Array, Floats, Ints
from lbg_recsys.ratings.features import FeatureTable
from lbg_recsys.ratings.ids import UNKNOWN

_ONE = np.ones(1, np.float32)  # the unit of all factors


class FeatureEffects:
    """The effects of the features of a ``side`` in kept sweeps.

    Parameters
    ----------
    draws : mapping of Side to Draws
        Kept sweeps, by the side that is their rows.
    side : Side
        Whose features they are.
    table : FeatureTable
        The features.
    known : array of shape (n, E)
        Those of the members of the side, of which the sweeps are; none if they are left out of the model.
    amount : array of shape (n,)
        How many ratings each of them has.
    """

    def __init__(
        self, draws: Mapping[Side, Draws], side: Side, table: FeatureTable, known: Array, amount: Ints
    ) -> None:
        self._side = side
        self._sweeps = {rows: _gaussian(one) for rows, one in draws.items()}
        if not len(known):
            self._coefficients = {
                rows: [_sampled(draws[rows], s, rows is side, len(table.names)) for s in sweeps]
                for rows, sweeps in self._sweeps.items()
            }
            return
        # between equal weights, and weights proportional to the number of ratings
        weight = np.sqrt(amount)
        weight *= weight.sum() / (weight @ weight)
        share = weight / weight.sum()
        x = known - share @ known.astype(np.float64)
        members = {rows: [self._members(draws[rows], s, rows) for s in at] for rows, at in self._sweeps.items()}
        usual = np.zeros(len(known))
        for rows, some in members.items():
            for s, one in zip(self._sweeps[rows], some, strict=True):
                usual += one @ self._partners(draws[rows], s, rows, np.array([UNKNOWN]))[0]
        penalty = learn_penalties(x, usual - share @ usual, weight, table.groups)
        self._coefficients = {
            rows: [regress(x, one, weight, penalty) for one in some] for rows, some in members.items()
        }

    def of(self, draws: Mapping[Side, Draws], partners: Ints) -> Floats:
        """The effect of each feature for some partners, (n, E), in standardised ratings.

        ``draws`` are the same sweeps, perhaps with other partners. Partners are codes of the other side, -1 is an
        unknown one. Of Gaussian sweeps if there are any: their utilities are ratings.
        """
        found = []
        for rows, coefficients in self._coefficients.items():
            for s, one in zip(self._sweeps[rows], coefficients, strict=True):
                found.append(self._partners(draws[rows], s, rows, partners) @ one.T)
        return np.asarray(sum(found) / len(found))

    def _members(self, draws: Draws, s: int, rows: Side) -> Floats:
        """The members of the side in a sweep, (n, 1 + D): their biases, then what `parts` has of them."""
        bias = draws.row_bias if rows is self._side else draws.col_bias
        return np.column_stack([bias[s, :-1], parts(draws, s, rows is self._side, _ONE)])

    def _partners(self, draws: Draws, s: int, rows: Side, which: Ints) -> Floats:
        """Their partners: products with the members are the means of ratings, less the biases of the partners."""
        return np.column_stack([np.ones(len(which)), parts(draws, s, rows is not self._side, _ONE, which)])


def _sampled(draws: Draws, s: int, of_rows: bool, width: int) -> Floats:
    """The coefficients of the chains' own regressions, (E, 1 + D), where there are no members to regress."""
    _, n_components, k = draws.lam.shape
    if of_rows:
        bias, classes = draws.beta[s], np.zeros((n_components * k, width))
        factors = draws.row_factor_beta[s]
    else:
        bias, classes = draws.omega[s, -width:], draws.eta[s, :, :, -width:].reshape(n_components * k, width)
        factors = draws.col_factor_beta[s]
    return np.vstack([bias, classes, factors]).astype(np.float64).T


def _gaussian(draws: Draws) -> Ints:
    """The sweeps with a Gaussian likelihood, or all if there are none."""
    return np.arange(len(draws)) if draws.ordinal.all() else np.flatnonzero(~draws.ordinal)
