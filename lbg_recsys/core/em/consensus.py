"""Several fits of one mixture, averaged: restarts disagree on the hard rows and agree on the easy ones."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from lbg_recsys.core.types import Floats

_ROUNDS = 5


def aligned(mu: Floats, reference: Floats) -> Floats:
    """``mu`` (m, k) with its topics renumbered to agree as much as they can with those of ``reference``."""
    _, order = linear_sum_assignment(-(reference.T @ mu))
    return np.ascontiguousarray(mu[:, order])


def consensus(posteriors: Sequence[Floats], first: int = 0) -> Floats:
    """The mean of the fits' posteriors once their topics are matched, (m, k).

    Topics are matched one to one by how many rows they share: first with fit number ``first``, then with the
    mean so far. The mean is a point to start EM from, better than any of the starts that led to it.

    >>> a = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> consensus([a, a[:, ::-1]]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    reference = posteriors[first]
    for _ in range(_ROUNDS):
        reference = np.mean([aligned(mu, reference) for mu in posteriors], axis=0)
    return np.asarray(reference)
