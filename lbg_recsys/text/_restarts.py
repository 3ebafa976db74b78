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
from lbg_recsys.progress import STARTING, Progress, parts, shifted


class Fit(Protocol):
    """What every fit has: the posteriors of its documents, the objective it reached, and in how many iterations."""

    @property
    def mu(self) -> Floats: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def n_iter(self) -> int: ...


F = TypeVar("F", bound=Fit)


def fit_restarts(
    start: Callable[[np.random.RandomState, Progress], Floats],
    train: Callable[[Floats, Progress], F],
    *,
    n_init: int,
    combine: str,
    random_state: int | np.random.RandomState | None,
    start_steps: int,
    train_steps: int,
    progress: Progress,
) -> F:
    """``n_init`` fits from different starts, then the best of them, or one more from their consensus.

    Each restart has a generator of its own, so that the first ones are the same however many follow. ``start``
    reports at most ``start_steps`` steps, ``train`` at most ``train_steps``.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_init)
    again = combine == "consensus" and n_init > 1
    steps, jobs = start_steps + train_steps, parts(progress, n_init + again)
    jobs[0](0, steps, STARTING)
    waiting = iter(jobs)

    def run(begin: Callable[[Progress], Floats]) -> F:
        report = next(waiting)
        mu = begin(shifted(report, 0, steps))
        fit = train(mu, shifted(report, start_steps, steps))
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
