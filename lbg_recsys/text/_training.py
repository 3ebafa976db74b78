"""Algorithm 1 of the paper on ranked documents, from given first posteriors to fitted parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lbg_recsys.core.blocks import Blocks
from lbg_recsys.core.em.bernoulli_gauss import (
    Prior,
    column_moments,
    e_step,
    e_step_by,
    evidence_tables,
    gather,
    log_joint,
    log_prior,
    m_step,
    posterior,
    posterior_by,
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
from lbg_recsys.text._warning import warn_user

_FIRST_BETA = 0.05
_SHRINK = 1.0  # one pseudo-entry: otherwise the corpus variance of a word that is a keyword once is zero
_AS_GOOD_AS_INFINITE = 1e9  # pseudo-entries, instead of infinity: 0 * infinity is NaN
TEMPERS = (5.0, 10.0, 20.0)  # of a fit, and of those that follow where topics die out
_NO_TOPIC = 0.05  # nats per word: a topic closer than this to the average topic has no words of its own
_UNSEEN = 0.5  # pseudo-documents with and without a word: a word never seen is rare, not impossible


# One array per block of documents (or None), here or where the block is.
Parts = Sequence[Any]


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
    """The statistics of words in these documents, whatever the topic. Needs a fixed number of keywords."""
    keywords = with_keywords(rows, recipe.n_keywords or 1)
    statistics = gather(keywords, np.ones((len(rows), 1)), weight=weight)
    return background_from(statistics, Totals.of(rows, weight), recipe)


def background_from(statistics: SufficientStatistics, totals: Totals, recipe: Recipe) -> Background:
    """The background from sums over documents."""
    prior = prior_of(statistics, recipe)
    return Background(prior, cross_of(totals, statistics, recipe, prior.floor))


def train(
    rows: Blocks, mu: Parts, recipe: Recipe, progress: Progress = silent, weight: Parts | None = None
) -> Trained:
    """EM with the keywords held fixed or, for the paper's q, chosen again after each step until they stay the same.

    While x changes, the paper takes one EM step at a time; once x stays the same, EM runs to its end, and training is
    over if x does not change after that. ``progress`` is called after every iteration, first those of annealing.
    ``mu`` has the first posteriors of each block of documents (arrays), ``weight`` how often each document counts.
    """
    weight = [None] * len(rows.n_rows) if weight is None else weight
    n_topics, n_annealing = mu[0].shape[1], recipe.anneal or 0
    n_steps = n_annealing + recipe.max_iter
    moving = recipe.n_keywords is None
    first_q = recipe.n_keywords or max(1, round(rows.total(_n_entries) / rows.n_rows.sum() / 2))
    q = np.full(n_topics, first_q, dtype=np.int64)
    keywords = rows.mapped(partial(_chosen, q=q), mu)
    statistics = keywords.total(_gathered, mu, weight)
    mu, statistics = _annealed(keywords, mu, statistics, recipe, shifted(progress, 0, n_steps), weight)
    history: tuple[float, ...] = ()
    used, resting = 0, not moving
    while True:
        budget = recipe.max_iter - used
        iterating = shifted(progress, n_annealing + used, n_steps)
        result = _em_given_keywords(keywords, statistics, recipe, budget if resting else 1, iterating, weight)
        used, history = used + result.n_iter, history + result.history
        mu = keywords.map(partial(posteriors_given, parameters=result.parameters, recipe=recipe))
        if not moving:
            converged = result.converged
            break
        new_q = q_fixed_point(result.parameters.p)
        chosen = rows.mapped(partial(_chosen, q=new_q), mu)
        rested, resting = resting, not chosen.total(_n_moved, keywords.map(_stops))
        converged = rested and resting and result.converged
        if converged or used >= recipe.max_iter:
            break
        q, keywords = new_q, chosen
        statistics = result.statistics if resting else keywords.total(_gathered, mu, weight)
    totals = rows.total(Totals.of, weight)
    cross = cross_of(totals, result.statistics, recipe, prior_of(result.statistics, recipe).floor)
    others = rows.total(partial(_cross_sum, cross=cross), keywords.map(_stops), weight)
    bound = result.lower_bound + float(others / totals.n_rows)
    whole = np.concatenate(list(keywords.fetch(mu)))
    return Trained(result.parameters, q, cross, result.statistics, totals, whole, bound, used, converged, history)


def _n_entries(rows: SparseRows) -> int:
    return int(keyword_counts(rows).sum())


def _chosen(rows: SparseRows, mu: Floats, q: Ints) -> SparseRows:
    return with_keywords(rows, expected_lengths(mu, q))


def _gathered(keywords: SparseRows, mu: Floats, weight: Floats | None) -> SufficientStatistics:
    return gather(keywords, mu, weight=weight)


def _stops(keywords: SparseRows) -> Ints:
    return keywords.stop


def _n_moved(keywords: SparseRows, stops: Ints) -> int:
    return int((keywords.stop != stops).sum())


def _cross_sum(rows: SparseRows, stops: Ints, weight: Floats | None, cross: CrossGaussians) -> float:
    evidence = cross_evidence(rows, replace(rows, ends=stops), cross)
    return float(evidence.sum() if weight is None else np.multiply(evidence, weight).sum())


def divergences(parameters: Parameters) -> Floats:
    """How far the words of each topic are from the average of all topics: Kullback-Leibler, nats per word, (k,)."""
    return np.asarray(telling(parameters.lam, parameters.p / parameters.p.sum(axis=0)).sum(axis=0))


def died_out(parameters: Parameters) -> int:
    """The number of topics that are copies of the average: prior and temper outweighed their differences."""
    return int((divergences(parameters) < _NO_TOPIC).sum()) if parameters.n_topics > 1 else 0


def fit_alive(
    fit: Callable[[Recipe, Progress], Trained], recipes: Sequence[Recipe], progress: Progress
) -> tuple[Trained, Recipe]:
    """The fit by the first recipe with which no topic dies out.

    If there is none, the fit with the fewest such topics; among equal ones, that with the largest differences between
    topics. Most data need the first recipe only, so it has all steps of the progress; later ones change the note.
    """
    fits: list[tuple[int, float, Trained, Recipe]] = []
    for recipe in recipes:
        trained = fit(recipe, partial(_more, progress, recipe.length_temper) if fits else progress)
        dead = died_out(trained.parameters)
        if not dead:
            return trained, recipe
        said = float(trained.parameters.lam @ divergences(trained.parameters))
        fits.append((dead, -said, trained, recipe))
    _, _, trained, recipe = min(fits, key=lambda one: one[:2])
    return trained, recipe


def _more(progress: Progress, temper: float | None, done: int, total: int, note: str) -> None:
    """Report steps beyond the announced total."""
    progress(total, total, f"topics died out, again with length_temper={temper}, {note}")


def warn_died_out(parameters: Parameters, statistics: SufficientStatistics, recipe: Recipe) -> None:
    """Warn if topics are copies of the average."""
    copies = died_out(parameters)
    if copies:
        strength = prior_of(statistics, recipe).strength_p
        warn_user(
            f"{copies} of {parameters.n_topics} topics are hardly more than the average of all; lower prior_p (it is "
            f"{strength:.3g}), raise length_temper (it is {recipe.length_temper:g}), or ask for fewer topics"
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
    keywords: Blocks,
    statistics: SufficientStatistics,
    recipe: Recipe,
    max_iter: int,
    progress: Progress,
    weight: Parts,
) -> EMResult[Parameters, SufficientStatistics]:
    prior = prior_of(statistics, recipe)  # sums over topics, so the same in every iteration while x is held

    def e_step(parameters: Parameters) -> SufficientStatistics:
        tables = evidence_tables(parameters, given_count=recipe.given_count)
        return keywords.total(partial(_e_step, tables=tables, length_temper=recipe.length_temper), weight)

    return run_em(
        statistics,
        lambda statistics: m_step(statistics, prior),
        e_step,
        lambda parameters, statistics: (
            (statistics.evidence + log_prior(parameters, prior, given_count=recipe.given_count)) / statistics.n_rows
        ),
        max_iter=max_iter,
        stop=gain_below(recipe.tol),
        progress=progress,
    )


def _e_step(
    keywords: SparseRows, weight: Floats | None, tables: tuple[Floats, Floats], length_temper: float | None
) -> SufficientStatistics:
    return e_step_by(keywords, tables, temper(keywords, length_temper), weight)


def _annealed(
    keywords: Blocks,
    mu: Parts,
    statistics: SufficientStatistics,
    recipe: Recipe,
    progress: Progress,
    weight: Parts,
) -> tuple[Parts, SufficientStatistics]:
    """Deterministic annealing: EM steps with beta rising from 0.05 to 1."""
    if not recipe.anneal:
        return mu, statistics
    prior = prior_of(statistics, recipe)
    for step, hardness in enumerate(np.geomspace(_FIRST_BETA, 1.0, recipe.anneal), start=1):
        tables = evidence_tables(m_step(statistics, prior), given_count=recipe.given_count)
        softly = partial(_soft_step, tables=tables, hardness=hardness, length_temper=recipe.length_temper)
        statistics, mu = keywords.advance(softly, weight)
        progress(step, recipe.anneal, "annealing")
    return mu, statistics


def _soft_step(
    keywords: SparseRows,
    weight: Floats | None,
    tables: tuple[Floats, Floats],
    hardness: float,
    length_temper: float | None,
) -> tuple[SufficientStatistics, Floats]:
    mu = posterior_by(keywords, tables, hardness * np.asarray(temper(keywords, length_temper)))
    return gather(keywords, mu, weight=weight), mu
