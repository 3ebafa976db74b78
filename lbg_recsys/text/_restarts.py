"""Restarts of a topic model: keep the best, or average them."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lbg_recsys.core.em.consensus import consensus
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, parts


class Fit(Protocol):
    """What every fit has: the posteriors of its documents, the objective it reached, and in how many iterations."""

    @property
    def mu(self) -> Floats: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def n_iter(self) -> int: ...


F = TypeVar("F", bound=Fit)
Told = Callable[[int, str], None]  # the step that was made, and a word on it


def fit_restarts(
    start: Callable[[np.random.RandomState, Told], Floats],
    train: Callable[[Floats, Told], F],
    *,
    n_init: int,
    combine: str,
    random_state: int | np.random.RandomState | None,
    start_steps: int,
    train_steps: int,
    progress: Progress,
) -> F:
    """``n_init`` fits from different starts, then the best of them, or one more from their consensus.

    Each restart has a generator of its own, so that the first ones are the same however many follow. ``start`` and
    ``train`` tell of their steps, of which they make at most so many.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_init)
    again = combine == "consensus" and n_init > 1
    steps, runs = start_steps + train_steps, iter(parts(progress, n_init + again))

    def run(begin: Callable[[Told], Floats]) -> F:
        report = next(runs)
        mu = begin(lambda step, note: report(step, steps, note))
        fit = train(mu, lambda step, note: report(start_steps + step, steps, note))
        report(steps, steps, f"{fit.n_iter} iterations")
        return fit

    fits = [run(partial(start, np.random.RandomState(seed))) for seed in seeds]
    best = int(np.argmax([fit.lower_bound for fit in fits]))
    return run(lambda _: consensus([fit.mu for fit in fits], best)) if again else fits[best]


def warn_unsettled(converged: bool, max_iter: int) -> None:
    """scikit-learn's own warning where EM ran out of iterations."""
    if not converged:
        warnings.warn(
            f"EM had not settled after max_iter={max_iter} iterations; allow more, or a larger tol",
            ConvergenceWarning,
            stacklevel=4,
        )
