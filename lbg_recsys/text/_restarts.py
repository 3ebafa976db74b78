"""Restarts of a topic model: keep the best, or average them."""

import warnings
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lbg_recsys.core.consensus import consensus
from lbg_recsys.core.rows import Floats


class Fit(Protocol):
    """What every fit has: the posteriors of its documents and the objective it reached."""

    @property
    def mu(self) -> Floats: ...
    @property
    def lower_bound(self) -> float: ...


F = TypeVar("F", bound=Fit)


def fit_restarts(
    start: Callable[[np.random.RandomState], Floats],
    train: Callable[[Floats], F],
    *,
    n_init: int,
    combine: str,
    random_state: int | np.random.RandomState | None,
) -> F:
    """``n_init`` fits from different starts, then the best of them, or one more from their consensus.

    Each restart has a generator of its own, so that the first ones are the same however many follow.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_init)
    fits = [train(start(np.random.RandomState(seed))) for seed in seeds]
    best = int(np.argmax([fit.lower_bound for fit in fits]))
    if combine == "best" or n_init == 1:
        return fits[best]
    return train(consensus([fit.mu for fit in fits], best))


def warn_unsettled(converged: bool, max_iter: int) -> None:
    """scikit-learn's own warning where EM ran out of iterations."""
    if not converged:
        warnings.warn(
            f"EM had not settled after max_iter={max_iter} iterations; allow more, or a larger tol",
            ConvergenceWarning,
            stacklevel=4,
        )
