"""Algorithm 1 of the paper on ranked documents, from given first posteriors to fitted parameters."""

import warnings
from dataclasses import dataclass

import numpy as np

from lbg_recsys.core.em.bernoulli_gauss import (
    Prior,
    column_moments,
    e_step,
    gather,
    log_joint,
    log_prior,
    m_step,
    posterior,
)
from lbg_recsys.core.em.keywords import (
    CrossGaussians,
    Totals,
    cross_evidence,
    cross_gaussians,
    expected_lengths,
    keyword_counts,
    q_fixed_point,
    with_keywords,
)
from lbg_recsys.core.em.loop import EMResult, gain_below, run_em
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.em.telling import telling
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import Progress, shifted, silent

_FIRST_BETA = 0.05
_SHRINK = 1.0  # one pseudo-entry: the corpus variance of a word that is a keyword once would be zero
_AS_GOOD_AS_INFINITE = 1e9  # pseudo-entries: an infinite prior would be 0 * infinity somewhere
_NO_TOPIC = 0.05  # nats a word: a topic closer to the average of all has no words of its own
_UNSEEN = 0.5  # pseudo-documents with and without a word: a word never seen is rare, not impossible


@dataclass(frozen=True)
class Background:
    """A prior and cross-Gaussians from more documents than those of a fit, shared by the models of all classes."""

    prior: Prior
    cross: CrossGaussians


@dataclass(frozen=True)
class Recipe:
    """The settings of `LBGMixture` that training needs, resolved to numbers. ``n_keywords`` None is the paper's q."""

    n_keywords: int | None
    length_temper: float | None
    given_count: bool
    prior_p: float | None  # None: the rule of `default_prior_p`
    prior_gauss: float
    var_floor: float
    anneal: int | None
    max_iter: int
    tol: float
    background: Background | None = None


@dataclass(frozen=True)
class Trained:
    """Fitted parameters, what they were fitted from, and how it went."""

    parameters: Parameters
    q: Ints
    cross: CrossGaussians
    statistics: SufficientStatistics
    totals: Totals
    mu: Floats
    lower_bound: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


def temper(keywords: SparseRows, length_temper: float | None) -> float | Floats:
    """beta_j = min(1, L / g_j): beyond L keywords, more words make a document no more certain."""
    if length_temper is None:
        return 1.0
    return np.minimum(1.0, length_temper / np.maximum(keyword_counts(keywords), 1))


def default_prior_p(rate: Floats) -> float:
    """Pseudo-documents in which the average word would be a keyword half a time: n / (2 sum of the rates)."""
    return 0.5 * len(rate) / max(float(rate.sum()), 1e-300)


def prior_of(statistics: SufficientStatistics, recipe: Recipe) -> Prior:
    """The corpus rate, mean and variance of every word as a keyword, with the strengths asked for."""
    if recipe.background is not None:
        return recipe.background.prior
    floor = recipe.var_floor * (float(statistics.second.sum()) / max(float(statistics.count.sum()), 1e-300) or 1.0)
    rate, mean, var = column_moments(statistics, floor, _SHRINK)
    rate = (rate * statistics.n_rows + _UNSEEN) / (statistics.n_rows + 2.0 * _UNSEEN)
    strength = default_prior_p(rate) if recipe.prior_p is None else recipe.prior_p
    return Prior(rate, mean, var, strength, min(recipe.prior_gauss, _AS_GOOD_AS_INFINITE), floor)


def cross_of(totals: Totals, statistics: SufficientStatistics, recipe: Recipe, floor: float) -> CrossGaussians:
    """The cross-Gaussians, shrunk to the words' moments over all documents as the topics' are to theirs."""
    if recipe.background is not None:
        return recipe.background.cross
    return cross_gaussians(totals, statistics, floor, min(recipe.prior_gauss, _AS_GOOD_AS_INFINITE))


def background_of(rows: SparseRows, recipe: Recipe, weight: Floats | None = None) -> Background:
    """What words do in these documents whatever the topic. Needs a fixed number of keywords."""
    keywords = with_keywords(rows, recipe.n_keywords or 1)
    statistics = gather(keywords, np.ones((len(rows), 1)), weight=weight)
    return background_from(statistics, Totals.of(rows, weight), recipe)


def background_from(statistics: SufficientStatistics, totals: Totals, recipe: Recipe) -> Background:
    """The background of documents that were summed up already."""
    prior = prior_of(statistics, recipe)
    return Background(prior, cross_of(totals, statistics, recipe, prior.floor))


def train(
    rows: SparseRows, mu: Floats, recipe: Recipe, progress: Progress = silent, weight: Floats | None = None
) -> Trained:
    """EM with the keywords held, and, for the paper's q, new keywords after each step until they rest.

    While x moves the paper takes one EM step at a time; once it rests EM runs to its end, and training is over
    when x does not move after that either. ``progress`` is called after every iteration, first those of annealing.
    ``weight`` (m,) is how often each document counts.
    """
    n_topics, n_annealing = mu.shape[1], recipe.anneal or 0
    n_steps = n_annealing + recipe.max_iter
    moving = recipe.n_keywords is None
    q = np.full(n_topics, recipe.n_keywords or max(1, round(keyword_counts(rows).mean() / 2)), dtype=np.int64)
    keywords = with_keywords(rows, expected_lengths(mu, q))
    statistics = gather(keywords, mu, weight=weight)
    mu, statistics = _annealed(keywords, mu, statistics, recipe, shifted(progress, 0, n_steps), weight)
    history: tuple[float, ...] = ()
    used, resting = 0, not moving
    while True:
        budget = recipe.max_iter - used
        iterating = shifted(progress, n_annealing + used, n_steps)
        result = _em_given_keywords(keywords, statistics, recipe, budget if resting else 1, iterating, weight)
        used, history = used + result.n_iter, history + result.history
        mu = posteriors_given(keywords, result.parameters, recipe)
        if not moving:
            converged = result.converged
            break
        new_q = q_fixed_point(result.parameters.p)
        chosen = with_keywords(rows, expected_lengths(mu, new_q))
        rested, resting = resting, np.array_equal(chosen.stop, keywords.stop)
        converged = rested and resting and result.converged
        if converged or used >= recipe.max_iter:
            break
        q, keywords = new_q, chosen
        statistics = result.statistics if resting else gather(keywords, mu, weight=weight)
    totals = Totals.of(rows, weight)
    cross = cross_of(totals, result.statistics, recipe, prior_of(result.statistics, recipe).floor)
    bound = result.lower_bound + float(np.average(cross_evidence(rows, keywords, cross), weights=weight))
    return Trained(result.parameters, q, cross, result.statistics, totals, mu, bound, used, converged, history)


def warn_died_out(parameters: Parameters, statistics: SufficientStatistics, recipe: Recipe) -> None:
    """Say so where topics are copies of the average: prior and temper were too much for what sets them apart."""
    draws = parameters.p / parameters.p.sum(axis=0)
    copies = int((telling(parameters.lam, draws).sum(axis=0) < _NO_TOPIC).sum())
    if parameters.n_topics > 1 and copies:
        strength = prior_of(statistics, recipe).strength_p
        warnings.warn(
            f"{copies} of {parameters.n_topics} topics are hardly more than the average of all; lower prior_p (it is "
            f"{strength:.3g}), raise length_temper (it is {recipe.length_temper:g}), or ask for fewer topics",
            UserWarning,
            stacklevel=4,
        )


def posteriors_given(keywords: SparseRows, parameters: Parameters, recipe: Recipe) -> Floats:
    """Posteriors (m, k) of documents with chosen keywords; one without any has the topics' weights."""
    joint = log_joint(keywords, parameters, given_count=recipe.given_count)
    joint[keyword_counts(keywords) == 0] = np.log(np.maximum(parameters.lam, 1e-300))
    return posterior(joint, temper(keywords, recipe.length_temper))[0]


def absorbed(
    trained_on: SufficientStatistics,
    batch: SparseRows,
    parameters: Parameters,
    recipe: Recipe,
    weight: Floats | None = None,
) -> SufficientStatistics:
    """The statistics so far and those of a batch of documents (their keywords) under the current parameters."""
    beta = temper(batch, recipe.length_temper)
    return trained_on + e_step(batch, parameters, beta, given_count=recipe.given_count, weight=weight)


def _em_given_keywords(
    keywords: SparseRows,
    statistics: SufficientStatistics,
    recipe: Recipe,
    max_iter: int,
    progress: Progress,
    weight: Floats | None,
) -> EMResult[Parameters, SufficientStatistics]:
    prior = prior_of(statistics, recipe)  # sums over topics, so the same in every iteration while x is held
    beta = temper(keywords, recipe.length_temper)
    return run_em(
        statistics,
        lambda statistics: m_step(statistics, prior),
        lambda parameters: e_step(keywords, parameters, beta, given_count=recipe.given_count, weight=weight),
        lambda parameters, statistics: (
            (statistics.evidence + log_prior(parameters, prior, given_count=recipe.given_count)) / statistics.n_rows
        ),
        max_iter=max_iter,
        stop=gain_below(recipe.tol),
        progress=progress,
    )


def _annealed(
    keywords: SparseRows,
    mu: Floats,
    statistics: SufficientStatistics,
    recipe: Recipe,
    progress: Progress,
    weight: Floats | None,
) -> tuple[Floats, SufficientStatistics]:
    """Deterministic annealing: EM steps with beta rising from 0.05 to 1."""
    if not recipe.anneal:
        return mu, statistics
    prior = prior_of(statistics, recipe)
    beta = temper(keywords, recipe.length_temper)
    for step, hardness in enumerate(np.geomspace(_FIRST_BETA, 1.0, recipe.anneal), start=1):
        parameters = m_step(statistics, prior)
        joint = log_joint(keywords, parameters, given_count=recipe.given_count)
        mu, _ = posterior(joint, hardness * np.asarray(beta))
        statistics = gather(keywords, mu, weight=weight)
        progress(step, recipe.anneal, "annealing")
    return mu, statistics
