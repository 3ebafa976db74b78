"""What a new user's few items alone predict.

The scores of `lbg_recsys.core.choice` take every item that a user did not take as refused. That is right for the
users of the training, whose rows are complete, and wrong for somebody who has only begun: the other items may not
have been met. Here nothing is concluded from them. With H the user's items,

    Sigma_.H Sigma_HH^-1 x_H

is the best linear prediction of all cells from these alone. A new user with n items is scored n^-1/2 by this and the
rest by the other scores. The power was chosen on training users that were held out and known by 1 to 35 of their
ratings (``benchmarks/tune_choice.py``).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lbg_recsys.core.choice import gram
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
    y : csc_array of shape (n_users, n_items)
        diag(w)^1/2 X.
    diagonal : array of shape (n,)
        The diagonal of Sigma_HH.
    """

    items: Ints
    cells: Floats
    y: sp.csc_array
    diagonal: Floats

    def scores(self) -> Floats:
        """The prediction of every item, (n_items,); the user's own items are among them."""
        own = self.y[:, self.items]
        return np.asarray(self.y.T @ (own @ np.linalg.solve(self._sigma(own), self.cells)))

    def contributions(self, item: int) -> Floats:
        """What each of the user's items adds to the prediction of another item, (n,)."""
        own = self.y[:, self.items]
        met = np.asarray((own.T @ self.y[:, [item]]).toarray()[:, 0], dtype=np.float64)
        return np.asarray(self.cells * np.linalg.solve(self._sigma(own), met))

    def _sigma(self, own: sp.csc_array) -> Floats:
        """Sigma_HH, ``own`` being the user's columns of y."""
        rows = own.tocsr()
        upper = np.zeros((len(self.items),) * 2)
        gram(rows.indptr, rows.indices, rows.data.astype(np.float64), upper)
        sigma = upper + upper.T
        sigma[np.diag_indices(len(sigma))] = self.diagonal
        return sigma
