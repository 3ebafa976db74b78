"""What a new user's few items alone predict.

The scores of `lbg_recsys.core.choice` take every item that a user did not take as refused. That is right for the
users of the training, whose rows are complete, and wrong for a new user, who may not know the other
items. Here nothing is concluded from them. With H the user's items,

    Sigma_.H Sigma_HH^-1 x_H

is the best linear prediction of all cells from these alone. A new user with n items is scored n^-1/2 by this and the
rest by the other scores. The power was chosen on training users that were held out and known by 1 to 35 of their
ratings (``benchmarks/tune_choice.py``).
"""

from dataclasses import dataclass

import numpy as np

from lbg_recsys.core.cholesky import solve
from lbg_recsys.core.together import Together
from lbg_recsys.core.types import Floats, Ints

# A new user with more items is scored as the users of the training are: the work grows with the square of n.
MANY = 100


def weight_of_few(n_items: int) -> float:
    """The weight of `FewItems` for a new user with n items: n^-1/2; 0 for no items and for more than `MANY`."""
    return float(n_items) ** -0.5 if 0 < n_items <= MANY else 0.0


@dataclass(frozen=True)
class FewItems:
    """The prediction of all cells of a user from its own items H.

    Attributes
    ----------
    items : int array of shape (n,)
        The codes H.
    cells : array of shape (n,)
        x_H.
    together : Together
        Y'Y with Y = diag(w)^1/2 X.
    diagonal : array of shape (n,)
        The diagonal of Sigma_HH.
    """

    items: Ints
    cells: Floats
    together: Together
    diagonal: Floats

    def scores(self) -> Floats:
        """The prediction of every item, (n_items,); the user's own items are among them."""
        return self.together.times(self.items, solve(self._sigma(), self.cells))

    def contributions(self, item: int) -> Floats:
        """What each of the user's items adds to the prediction of another item, (n,)."""
        met = self.together.between(self.items, np.array([item]))[:, 0]
        return np.asarray(self.cells * solve(self._sigma(), met))

    def _sigma(self) -> Floats:
        """Sigma_HH."""
        sigma = self.together.block(self.items)
        sigma[np.diag_indices(len(sigma))] = self.diagonal
        return sigma
