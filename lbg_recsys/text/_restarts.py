"""Restarts of a topic model: keep the best, or average them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from lbg_recsys.core.em.consensus import consensus
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import STARTING, Progress, at_once, parts, shifted
from lbg_recsys.text._warning import warn_user


class Fit(Protocol):
    """What every fit has: the posteriors of its documents, the objective it reached, and in how many iterations."""

    @property
    def mu(self) -> Floats: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def n_iter(self) -> int: ...


F = TypeVar("F", bound=Fit)
T = TypeVar("T")


def run_jobs(jobs: Sequence[Callable[[], T]], n_jobs: int | None) -> list[T]:
    """The results of all jobs in their order; ``n_jobs`` run at a time, in threads.

    Kernels and NumPy release the interpreter's lock, so threads suffice. Jobs share no random generator: the results
    are the same for any ``n_jobs``.
    """
    if n_jobs in (None, 1) or len(jobs) < 2:
        return [job() for job in jobs]
    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(job)() for job in jobs))


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
    n_jobs: int | None = None,
) -> F:
    """``n_init`` fits from different starts, then the best of them, or one more from their consensus.

    Each restart has a generator of its own, so that the first ones are the same however many follow. ``start``
    reports at most ``start_steps`` steps, ``train`` at most ``train_steps``.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_init)
    again = combine == "consensus" and n_init > 1
    steps, reports = start_steps + train_steps, (parts if n_jobs in (None, 1) else at_once)(progress, n_init + again)
    reports[0](0, steps, STARTING)

    def run(begin: Callable[[Progress], Floats], report: Progress) -> F:
        mu = begin(shifted(report, 0, steps))
        fit = train(mu, shifted(report, start_steps, steps))
        report(steps, steps, f"{fit.n_iter} iterations")
        return fit

    beginnings = [partial(start, np.random.RandomState(seed)) for seed in seeds]
    jobs = [partial(run, begin, report) for begin, report in zip(beginnings, reports, strict=False)]
    fits = run_jobs(jobs, n_jobs)
    best = int(np.argmax([fit.lower_bound for fit in fits]))
    return run(lambda _: consensus([fit.mu for fit in fits], best), reports[-1]) if again else fits[best]


def warn_unsettled(converged: bool, max_iter: int) -> None:
    """scikit-learn's own warning where EM ran out of iterations."""
    if not converged:
        warn_user(
            f"EM has not converged after max_iter={max_iter} iterations; raise max_iter (--param "
            f"max_iter={2 * max_iter}) or tol",
            ConvergenceWarning,
        )
