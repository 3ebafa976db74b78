"""EM of `LBGModel` over blocks of users: restarts, checkpoints, and steps on a stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from lbg_recsys.core.blocks import Blocks, generator_at, random_states
from lbg_recsys.core.em.bernoulli_gauss import (
    Prior,
    column_moments,
    e_step_by,
    evidence_tables,
    gather,
    log_prior,
    m_step,
)
from lbg_recsys.core.em.loop import EMResult, gain_below, run_em
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import STARTING, Progress, parts
from lbg_recsys.ratings.settings import LBGSettings

Result = EMResult[Parameters, SufficientStatistics]


@dataclass(frozen=True)
class Resumable:
    """Where a fit is between two iterations: in which restart, with which statistics, and what came before."""

    number: int
    statistics: SufficientStatistics
    history: tuple[float, ...]
    best: Result | None = None  # of the restarts before


@runtime_checkable
class Checkpoint(Protocol):
    """Keeps a fit for a later process; see `lbg_recsys.persistence.checkpoint`."""

    every: int

    def load(self, facts: dict[str, object]) -> Resumable | None:
        """What was kept of a fit with these facts, or None."""

    def save(self, state: Resumable, facts: dict[str, object]) -> None:
        """Keep the state of a fit."""


def prior_of(statistics: SufficientStatistics, strength: float, floor: float) -> Prior:
    """The moments of the columns over all topics, with the pseudo-rows that are added to every topic."""
    return Prior(*column_moments(statistics, floor, strength), strength, strength, floor)


def fit_blocks(
    rows: Blocks,
    settings: LBGSettings,
    floor: float,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
    facts: dict[str, object] | None = None,
) -> Result:
    """The best of ``n_init`` runs of EM.

    ``facts`` are what a checkpoint must agree with. Runs before the one that a checkpoint was made in are not made
    again; only their random numbers are drawn.
    """
    generator = np.random.default_rng(settings.random_state)
    state = checkpoint.load(facts or {}) if checkpoint is not None else None
    best = state.best if state is not None else None
    starts = parts(progress, settings.n_init)
    starts[0](0, settings.max_iter, STARTING)
    for number, report in enumerate(starts):
        states = random_states(generator, rows.n_rows.tolist(), partial(draw_posteriors, n_topics=settings.n_topics))
        if state is not None and number < state.number:
            report(settings.max_iter, settings.max_iter, "before the checkpoint")
            continue
        start = rows.total(partial(_at_random, n_topics=settings.n_topics), states)

        def keep(
            statistics: SufficientStatistics,
            history: Sequence[float],
            number: int = number,
            best: Result | None = best,
        ) -> None:
            if checkpoint is not None and history and len(history) % checkpoint.every == 0:
                checkpoint.save(Resumable(number, statistics, tuple(history), best), facts or {})

        begin = (start, ()) if state is None or number != state.number else (state.statistics, state.history)
        result = _one_run(rows, settings, prior_of(start, settings.prior_strength, floor), *begin, keep, report)
        if best is None or result.lower_bound > best.lower_bound:
            best = result
    assert best is not None  # noqa: S101  # n_init is at least 1
    return best


def _one_run(
    rows: Blocks,
    settings: LBGSettings,
    prior: Prior,
    statistics: SufficientStatistics,
    history: Sequence[float],
    before: Callable[[SufficientStatistics, Sequence[float]], None],
    progress: Progress,
) -> Result:
    n_rows = int(rows.n_rows.sum())

    def e_step(parameters: Parameters) -> SufficientStatistics:
        tables = evidence_tables(parameters, settings.indicator_weight)
        return rows.total(partial(e_step_by, tables=tables, beta=settings.temperature))

    result = run_em(
        statistics,
        lambda statistics: m_step(statistics, prior, settings.n_jobs),
        e_step,
        lambda parameters, statistics: (
            (statistics.evidence + log_prior(parameters, prior, settings.indicator_weight)) / n_rows
        ),
        max_iter=settings.max_iter,
        stop=gain_below(settings.tol),
        progress=progress,
        history=history,
        before=before,
    )
    progress(settings.max_iter, settings.max_iter, f"{result.n_iter} iterations")
    return result


def draw_posteriors(generator: np.random.Generator, n_rows: int, n_topics: int) -> Floats:
    """Posteriors that are drawn at random, (n_rows, n_topics)."""
    return generator.dirichlet(np.ones(n_topics), n_rows)


def _at_random(rows: SparseRows, state: Mapping[str, object], n_topics: int) -> SufficientStatistics:
    return gather(rows, draw_posteriors(generator_at(state), len(rows), n_topics))
