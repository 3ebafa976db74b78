"""Tempered EM of `GaussianPLSAModel` over blocks of users."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lbg_recsys.core.blocks import Blocks, generator_at, random_states
from lbg_recsys.core.em.bernoulli_gauss import gather, m_step
from lbg_recsys.core.em.gaussian_plsa import entry_evidence, entry_step
from lbg_recsys.core.em.loop import EMResult, run_em
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import STARTING, Progress
from lbg_recsys.ratings.lbg_fit import draw_posteriors, prior_of
from lbg_recsys.ratings.settings import GaussianPLSASettings

# Pseudo-ratings in a user's own mean and spread, as in Hofmann's paper.
_USER_SMOOTHING = 5.0
# The factor of beta when the held-out likelihood stops rising, and the beta at which annealing ends.
_COOLING, _COOLEST = 0.85, 0.3
# The likelihood rises if it gains more than this share of its size.
_RISE = 1e-4
# Iterations between two copies of the mixing weights: a cluster that loses a worker repeats at most this many.
_FETCH_EVERY = 10

# Where the mixing weights of each block are, as of `Blocks.map`.
Mixing = Sequence[Any]


class Annealing:
    """Tempered EM's schedule: beta falls whenever the likelihood stops rising; the best parameters are kept."""

    parameters: Parameters
    best: float
    best_beta: float
    beta = 1.0

    def is_over(self, fitted: tuple[Parameters, Mixing], history: Sequence[float]) -> bool:
        """Take an iteration into account; True when beta is as low as it goes."""
        if len(history) == 1 or history[-1] > self.best + _RISE * abs(self.best):
            self.parameters, self.best, self.best_beta = fitted[0], history[-1], self.beta
        else:
            self.beta *= _COOLING
        return self.beta < _COOLEST


def anneal(
    rows: Blocks, settings: GaussianPLSASettings, floor: float, progress: Progress
) -> tuple[Annealing, EMResult[Any, Any]]:
    """EM over the Gaussians and the users' mixing weights, which here are a parameter as well as a statistic.

    ``rows`` are standardised ratings, of which a share is held out.
    """
    progress(0, settings.max_iter, STARTING)
    generator = np.random.default_rng(settings.random_state)
    sizes = list(rows.fetch(rows.map(_n_entries)))
    states = random_states(generator, sizes, np.random.Generator.random)
    train, held = (rows.mapped(partial(_split, share=settings.holdout, held=held), states) for held in (False, True))
    draw = partial(draw_posteriors, n_topics=settings.n_topics)
    lam = train.map(partial(_first_mixing, n_topics=settings.n_topics), random_states(generator, rows.n_rows, draw))
    statistics = train.total(gather, lam)
    prior = prior_of(statistics, settings.prior_strength, floor)
    annealing, evaluated = Annealing(), held if settings.holdout else train
    n_evaluated = max(sum(evaluated.fetch(evaluated.map(_n_entries))), 1)
    done = 0

    def e_step(fitted: tuple[Parameters, Mixing]) -> tuple[SufficientStatistics, Mixing]:
        nonlocal done
        parameters, lam = fitted
        found, new = train.advance(partial(entry_step, parameters=parameters, beta=annealing.beta), lam)
        done += 1
        return found, list(train.fetch(new)) if done % _FETCH_EVERY == 0 else new

    def likelihood(fitted: tuple[Parameters, Mixing], gathered: tuple[SufficientStatistics, Mixing]) -> float:
        if not settings.holdout:
            return float(gathered[0].evidence / n_evaluated)
        return float(held.total(partial(entry_evidence, parameters=fitted[0]), gathered[1]) / n_evaluated)

    result = run_em(
        (statistics, lam),
        lambda gathered: (m_step(gathered[0], prior, settings.n_jobs), gathered[1]),
        e_step,
        likelihood,
        max_iter=settings.max_iter,
        stop=annealing.is_over,
        measure="log-likelihood",
        progress=progress,
    )
    progress(settings.max_iter, settings.max_iter, f"{result.n_iter} iterations")
    return annealing, result


def overall_moments(ratings: Blocks) -> tuple[float, float]:
    """Mean and standard deviation of all ratings; a deviation of 0 is 1."""
    n = sum(ratings.fetch(ratings.map(_n_entries)))
    mean = ratings.total(partial(_squares, centre=0.0, power=1)) / n
    return mean, float(np.sqrt(ratings.total(partial(_squares, centre=mean, power=2)) / n)) or 1.0


def user_moments(ratings: SparseRows, centre: float, spread: float) -> tuple[Floats, Floats]:
    """Each user's smoothed mean and standard deviation; ``centre`` and ``spread`` are those of all ratings."""
    users, weight = ratings.row_of_entry(), ratings.lengths + _USER_SMOOTHING
    total = np.bincount(users, ratings.values, minlength=len(ratings))
    mean = (total + _USER_SMOOTHING * centre) / weight
    square = np.bincount(users, (ratings.values - mean[users]) ** 2, minlength=len(ratings))
    return mean, np.sqrt((square + _USER_SMOOTHING * spread**2) / weight)


def standardised(ratings: SparseRows, centre: float, spread: float) -> SparseRows:
    """The ratings less their users' means, in units of their users' standard deviations."""
    mean, deviation = user_moments(ratings, centre, spread)
    users = ratings.row_of_entry()
    return ratings.with_values((ratings.values - mean[users]) / deviation[users])


def _squares(ratings: SparseRows, centre: float, power: int) -> float:
    return float(((ratings.values - centre) ** power).sum())


def _n_entries(rows: SparseRows) -> int:
    return len(rows.values)


def _split(rows: SparseRows, state: Mapping[str, Any], share: float, held: bool) -> SparseRows:
    """The entries to fit, or those to stop by."""
    return rows.filtered((generator_at(state).random(len(rows.values)) < share) == held)


def _first_mixing(rows: SparseRows, state: Mapping[str, Any], n_topics: int) -> Floats:
    return draw_posteriors(generator_at(state), len(rows), n_topics)
