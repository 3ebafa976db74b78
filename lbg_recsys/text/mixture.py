"""The Latent Bernoulli-Gauss mixture of documents."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from lbg_recsys.core.blocks import Blocks, LocalBlocks
from lbg_recsys.core.em.bernoulli_gauss import m_step
from lbg_recsys.core.em.keywords import CrossGaussians, Totals, q_fixed_point
from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, bar, both, silent
from lbg_recsys.text._documents import (
    checked_documents,
    checked_weight,
    filled_blocks,
    ranked_documents,
    training_documents,
)
from lbg_recsys.text._fitted_mixture import FittedMixture
from lbg_recsys.text._restarts import fit_restarts, warn_unsettled
from lbg_recsys.text._start import STEPS, first_posteriors
from lbg_recsys.text._training import (
    TEMPERS,
    Background,
    Recipe,
    Trained,
    absorbed,
    cross_of,
    fit_alive,
    prior_of,
    train,
    warn_died_out,
)

_ALL_WORDS = np.iinfo(np.int32).max
_KEYWORDS = 60


class LBGMixture(FittedMixture):
    """Documents as a mixture of topics, each with keywords of its own (Algorithm 1 of the paper).

    In a document d = (m_1, ..., m_n) of topic s, with x_i = 1 where word i is one of its keywords (Eq. 1),

        Pr(d | s) = prod_i [p_si N(m_i; c_si, var_si)]^x_i [(1 - p_si) N(m_i; c_i, var_i)]^(1 - x_i):

    how often a keyword occurs depends on the topic, how often any other word occurs only on the word. The
    keywords of a document are its most frequent words (highest tf-idf). Work per iteration is
    O(keywords * topics); memory is O(entries + words * topics).

    The defaults depart from the paper where it fails on real text (``docs/text.md`` says how, with figures).
    The literal algorithm is ``LBGMixture(k, n_keywords="paper", length_temper=None, prior_p=0, prior_gauss=0,
    init="random")``.

    Parameters
    ----------
    n_components : int, default=8
        Number of topics, k.
    n_keywords : int, None, "auto" or "paper", default="auto"
        Number of keywords per document: its largest values (fewer if it has fewer words). None: all of its words.
        "auto": 60, or all words if `length_temper` had to be raised. "paper": the number of Eq. (6), with q by the
        rule of Eq. (9) damped to its fixed point.
    length_temper : float, None or "auto", default="auto"
        Limit the effect of document length: a document counts as at most this many keywords,
        mu ~ (lam_s Pr(d | s))^min(1, length_temper / g). None: as in the paper. "auto": 5; if topics die out with 5
        (film reviews, many topics of few documents), the fit is repeated with 10, then with 20.
    evidence : {"auto", "bernoulli", "draws"}, default="auto"
        The evidence of the keywords about the topic. "bernoulli": that of Eq. (1), in which the number of keywords
        counts too, so that short documents are assigned to topics with few keywords. "draws": the number is taken as
        given, prod over keywords of p_si / sum_l p_sl. "auto": "draws" with a `length_temper`, else "bernoulli".
        Both give the same p, and `score_samples` is always Eq. (1).
    prior_p : float or "auto", default="auto"
        Number of pseudo-documents of the whole corpus that are added to every topic. They shrink p_si to the word's
        corpus rate. 0: maximum likelihood, as in the paper. "auto": n_words / (2 * mean keywords per document),
        with which the average word is a keyword in half a pseudo-document.
    prior_gauss : float, default=1000
        Number of pseudo-keywords that shrink c_si and var_si to the word's corpus mean and variance. 0: as in the
        paper; infinity: all topics share the word's Gaussian, and only the choice of keywords distinguishes topics.
    init : {"kmeans", "random"}, default="kmeans"
        Start of EM: spherical k-means, or random posteriors.
    anneal : int or None, default=None
        Number of first iterations in which the posteriors are tempered (beta rises from 0.05 to 1).
    n_init : int, default=1
        Number of starts.
    combine : {"best", "consensus"}, default="best"
        "best" keeps the start with the highest bound. "consensus" matches the topics of all starts, averages their
        posteriors and runs EM once more from there; it costs one more fit, and is recommended for clustering.
    max_iter : int, default=100
        Maximum number of EM iterations per start.
    tol : float, default=1e-3
        EM stops when the bound gains less than this per document.
    var_floor : float, default=1e-6
        Lowest variance, as a share of the mean square of the keywords' values.
    random_state : int, RandomState or None, default=None
        The same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of starts that are fitted at a time, in threads; None is one, -1 all processors.
    verbose : int, default=0
        Above 0: show a progress bar with the bound on standard error, or ten lines if it is not a terminal.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Weights of the topics, lam_s.
    keyword_prob_, means_, variances_ : array of shape (n_components, n_words)
        p_si, c_si and var_si.
    n_keywords_ : array of shape (n_components,)
        Number of keywords per topic, q_s.
    length_temper_ : float or None
        The temper of the fit.
    cross_means_, cross_variances_ : array of shape (n_words,)
        The cross-Gaussians, c_i and var_i.
    labels_ : array of shape (n_documents,)
        The most probable topic of each training document.
    lower_bound_ : float
        The objective per document.
    n_iter_ : int
        Number of EM iterations.
    converged_ : bool
        Whether EM converged.
    history_ : tuple of float
        The objective per document after each iteration, of the keywords alone.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar"]
    >>> vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    >>> model = LBGMixture(2, random_state=0).fit(vectorizer.fit_transform(texts))
    >>> labels = model.labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    >>> sorted(model.top_keywords(vectorizer.get_feature_names_out(), 1)[labels[2]] + ["oven"])
    ['oven', 'oven']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_keywords": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto", "paper"}), None],
        "length_temper": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "evidence": [StrOptions({"auto", "bernoulli", "draws"})],
        "prior_p": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "prior_gauss": [Interval(Real, 0, None, closed="both")],
        "init": [StrOptions({"kmeans", "random"})],
        "anneal": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"best", "consensus"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "var_floor": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_keywords: int | str | None = "auto",
        length_temper: float | str | None = "auto",
        evidence: str = "auto",
        prior_p: float | str = "auto",
        prior_gauss: float = 1000.0,
        init: str = "kmeans",
        anneal: int | None = None,
        n_init: int = 1,
        combine: str = "best",
        max_iter: int = 100,
        tol: float = 1e-3,
        var_floor: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_keywords = n_keywords
        self.length_temper = length_temper
        self.evidence = evidence
        self.prior_p = prior_p
        self.prior_gauss = prior_gauss
        self.init = init
        self.anneal = anneal
        self.n_init = n_init
        self.combine = combine
        self.max_iter = max_iter
        self.tol = tol
        self.var_floor = var_floor
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent) -> "LBGMixture":
        """Fit to documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, without negative values; usually tf-idf. Or blocks of documents on a cluster, see
            `lbg_recsys.distributed.documents_on_dask`.
        y : ignored
            There for the pipelines of scikit-learn.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default. Not for blocks.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every iteration of k-means, annealing and EM. A start
            that settles before ``max_iter`` ends with one call for the remaining iterations.

        Returns
        -------
        LBGMixture
            The fitted mixture itself.

        Raises
        ------
        DataError
            If blocks of documents come with a ``sample_weight``.
        ValueError
            If the documents have negative or missing values, or a parameter is not allowed.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> model.keyword_prob_.shape, len(model.labels_)
        ((2, 4), 4)
        """
        self.fit_transform(X, sample_weight=sample_weight, progress=progress)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent
    ) -> Floats:
        """Fit to documents, and compute the posterior probabilities of their topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, or blocks of documents on a cluster, as in `fit`.
        y : ignored
            There for the pipelines of scikit-learn.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default. Not for blocks.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step, as in `fit`.

        Returns
        -------
        float array of shape (n_documents, n_components)
            The posteriors, in the precision of ``X``; rows sum to 1.

        Raises
        ------
        DataError
            If ``sample_weight`` is given for blocks of documents.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> LBGMixture(2, random_state=0).fit_transform(X).shape
        (4, 2)
        """
        if hasattr(X, "advance"):
            if sample_weight is not None:
                raise DataError("blocks of documents take no sample_weight: give all documents as one matrix")
            dtype, posteriors = self._fit_blocks(X, progress)
        else:
            documents = checked_documents(self, X, reset=True)
            dtype = documents.dtype
            posteriors = self._fit_checked(documents, checked_weight(sample_weight, documents), progress)
        self._warn_died_out()
        return posteriors.astype(dtype, copy=False)

    def _warn_died_out(self) -> None:
        if self.length_temper_ is not None:
            warn_died_out(self._parameters(), self._statistics, self._recipe())

    def _fit_checked(
        self,
        documents: sp.csr_array,
        weight: Floats | None = None,
        progress: Progress = silent,
        background: Background | None = None,
        rows: SparseRows | None = None,
    ) -> Floats:
        """Fit to checked documents and return their posteriors.

        ``background`` has the word statistics of a larger collection; ``rows`` are the documents if already ranked.
        """
        rows = ranked_documents(documents) if rows is None else rows
        training = training_documents(documents, self.n_components, weight)
        used = rows if training.all_used else rows.take(np.flatnonzero(training.used))
        ranked = LocalBlocks.single(used, training.documents.shape)
        trained = self._trained(training.block, ranked, [training.weight], background, progress)
        return self._fitted_to(LocalBlocks.single(rows, documents.shape), trained, documents.dtype)

    def _fit_blocks(self, documents: Blocks, progress: Progress) -> tuple[np.dtype, Floats]:
        """Fit to blocks of checked documents; return their dtype and their posteriors."""
        self.n_features_in_ = documents.n_columns
        used = filled_blocks(documents, self.n_components)
        rows = documents.mapped(ranked_documents)
        ranked = rows if used is documents else used.mapped(ranked_documents)
        trained = self._trained(used, ranked, [None] * len(used.n_rows), None, progress)
        dtype = np.result_type(*documents.fetch(documents.map(attrgetter("dtype"))))
        return dtype, self._fitted_to(rows, trained, dtype)

    def _fitted_to(self, rows: Blocks, trained: Trained, dtype: np.dtype) -> Floats:
        """Take the fitted parameters; the posteriors of all documents."""
        warn_unsettled(trained.converged, self.max_iter)
        self._keep(trained, dtype)
        posteriors = np.concatenate(list(rows.fetch(rows.map(self._posteriors_of))))
        self.labels_ = posteriors.argmax(axis=1)
        return posteriors

    def _trained(
        self,
        documents: Blocks,
        rows: Blocks,
        weight: Sequence[Floats | None],
        background: Background | None,
        progress: Progress,
    ) -> Trained:
        """The best of all starts; ``rows`` are the same documents with their words ranked."""
        ends = np.cumsum(rows.n_rows)[:-1]

        def fit(recipe: Recipe, progress: Progress) -> Trained:
            return fit_restarts(
                lambda random_state, progress: first_posteriors(
                    documents, self.n_components, self.init, random_state, progress, weight
                ),
                lambda mu, progress: train(rows, np.split(mu, ends), recipe, progress, weight),
                n_init=self.n_init,
                combine=self.combine,
                random_state=self.random_state,
                start_steps=STEPS[self.init],
                train_steps=(self.anneal or 0) + self.max_iter,
                progress=progress,
                n_jobs=self.n_jobs,
            )

        recipes = self._recipes() if background is None else [replace(self._recipe(), background=background)]
        with bar("fitting LBGMixture", quiet=not self.verbose, or_lines=True) as shown:
            trained, recipe = fit_alive(fit, recipes, both(shown, progress))
        self.length_temper_ = recipe.length_temper
        return trained

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent
    ) -> "LBGMixture":
        """Learn from a further batch; the first call (or none after ``fit``) is a `fit`.

        Incremental EM: one E-step of the documents of the batch and one M-step. ``labels_`` are those of the batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents with the words of the batches before, without negative values.
        y : ignored
            There for the pipelines of scikit-learn.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default.
        progress : callable, default=silent
            Called as ``progress(done, total, note)``: as in `fit` by a first call, and once by a later one.

        Returns
        -------
        LBGMixture
            The mixture itself.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> topic = model.labels_[0]
        >>> bool(model.partial_fit([[2, 2, 0, 0]]).labels_[0] == topic)
        True
        """
        if not hasattr(self, "weights_"):
            return self.fit(X, sample_weight=sample_weight, progress=progress)
        documents = checked_documents(self, X, reset=False)
        rows, recipe = ranked_documents(documents), self._recipe()
        statistics, totals = self._absorbed(rows, checked_weight(sample_weight, documents))
        if statistics is not self._statistics:
            self._keep_statistics(statistics, totals, recipe, documents.dtype)
        self.labels_ = self._posteriors_of(rows).argmax(axis=1)
        progress(1, 1, f"{len(rows):,} documents")
        return self

    def _absorbed(self, rows: SparseRows, weight: Floats | None) -> tuple[SufficientStatistics, Totals]:
        """The statistics and totals so far and those of further documents; the same where none has words."""
        used = np.diff(rows.indptr) > 0
        if not used.any():
            return self._statistics, self._totals
        if not used.all():
            rows, weight = rows.take(np.flatnonzero(used)), weight if weight is None else weight[used]
        keywords = self._choose_keywords(rows)
        statistics = absorbed(self._statistics, keywords, self._parameters(), self._recipe(), weight)
        return statistics, self._totals + Totals.of(rows, weight)

    def _recipe(self) -> Recipe:
        """The settings as numbers: those of the fit, where there was one and they are automatic."""
        temper, n_keywords = self.length_temper, self.n_keywords
        if isinstance(temper, str):
            temper = getattr(self, "length_temper_", TEMPERS[0])
        if n_keywords == "auto":
            n_keywords = int(self.n_keywords_[0]) if hasattr(self, "n_keywords_") else _KEYWORDS
        elif n_keywords is None:
            n_keywords = _ALL_WORDS
        draws = self.evidence == "draws" or (self.evidence == "auto" and temper is not None)
        return Recipe(
            n_keywords=None if isinstance(n_keywords, str) else n_keywords,
            length_temper=None if temper is None else float(temper),
            given_count=draws,
            prior_p=None if isinstance(self.prior_p, str) else self.prior_p,
            prior_gauss=self.prior_gauss,
            var_floor=self.var_floor,
            anneal=self.anneal,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _recipes(self) -> list[Recipe]:
        """The settings to fit with, and those to try next if topics die out."""
        first = replace(self._recipe(), n_keywords=_KEYWORDS) if self.n_keywords == "auto" else self._recipe()
        if self.length_temper != "auto":
            return [first]
        cooler = replace(first, n_keywords=_ALL_WORDS) if self.n_keywords == "auto" else first
        return [replace(one, length_temper=t) for one, t in zip((first, cooler, cooler), TEMPERS, strict=True)]

    def _keep(self, trained: Trained, dtype: np.dtype) -> None:
        self._set_parameters(trained.parameters, trained.q, trained.cross, dtype)
        self._statistics, self._totals = trained.statistics, trained.totals
        self.lower_bound_ = trained.lower_bound
        self.n_iter_ = trained.n_iter
        self.converged_ = trained.converged
        self.history_ = trained.history

    def _keep_nothing(self, background: Background, dtype: np.dtype) -> None:
        """The model of a class without any words: one topic that is the background."""
        k, n = self.n_components, len(background.prior.rate)
        recipe = replace(self._recipe(), background=background)
        zero = np.zeros(n)
        self.n_keywords_ = np.full(k, min(recipe.n_keywords or n, n))
        self._keep_statistics(SufficientStatistics.zeros(n, k), Totals(0.0, zero, zero), recipe, dtype)
        self.weights_ = np.full(k, 1.0 / k, dtype=dtype)
        self.lower_bound_, self.n_iter_, self.converged_, self.history_ = 0.0, 0, True, ()
        self.length_temper_ = recipe.length_temper
        self.labels_ = np.zeros(0, dtype=np.int64)

    def _keep_statistics(
        self, statistics: SufficientStatistics, totals: Totals, recipe: Recipe, dtype: np.dtype
    ) -> None:
        prior = prior_of(statistics, recipe)
        parameters = m_step(statistics, prior)
        q = q_fixed_point(parameters.p) if recipe.n_keywords is None else self._q()
        self._set_parameters(parameters, q, cross_of(totals, statistics, recipe, prior.floor), dtype)
        self._statistics, self._totals = statistics, totals

    def _set_parameters(self, parameters: Parameters, q: Ints, cross: CrossGaussians, dtype: np.dtype) -> None:
        self.weights_ = parameters.lam.astype(dtype)
        self.keyword_prob_ = parameters.p.T.astype(dtype)
        self.means_ = parameters.c.T.astype(dtype)
        self.variances_ = parameters.var.T.astype(dtype)
        self.n_keywords_ = np.minimum(q, self.n_features_in_)
        self.cross_means_ = cross.mean.astype(dtype)
        self.cross_variances_ = cross.var.astype(dtype)
