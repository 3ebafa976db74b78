"""The mixture of unigrams (Nigam et al.), which the paper compares with."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from lbg_recsys.core.em import unigrams as core
from lbg_recsys.core.em.bernoulli_gauss import posterior
from lbg_recsys.core.em.loop import gain_below, run_em
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import checked_documents, checked_weight, training_documents
from lbg_recsys.text._restarts import fit_restarts, warn_unsettled
from lbg_recsys.text._start import STEPS, first_posteriors
from lbg_recsys.text._topics import TextTopicModel
from lbg_recsys.text._training import default_prior_p

_UNSEEN = 0.5  # of an average entry: a word never seen is rare, not impossible


@dataclass(frozen=True)
class _Fit:
    parameters: core.Unigrams
    mu: Floats
    lower_bound: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


class MixtureOfUnigrams(TextTopicModel):
    """A mixture of multinomials: each topic has one word distribution, Pr(d) = sum_s lam_s prod_i beta_si^m_i.

    One topic and one model per class (`LBGClassifier` takes it) is naive Bayes as in SpamBayes. tf-idf weights may be
    used in place of counts.

    Parameters
    ----------
    n_components : int, default=8
        Number of topics.
    prior : float or "auto", default="auto"
        Number of pseudo-documents with the word profile of the corpus that are added to every topic. "auto", as in
        `LBGMixture`: the number with which the average word occurs in half a pseudo-document.
    length_temper : float or None, default=None
        A document counts as at most this many words (total weight), as in `LBGMixture`.
    init : {"kmeans", "random"}, default="kmeans"
        Start of EM: spherical k-means, or random posteriors.
    n_init : int, default=1
        Number of starts.
    combine : {"best", "consensus"}, default="best"
        "best" keeps the start with the highest bound, "consensus" averages all starts; see `LBGMixture`.
    max_iter : int, default=100
        Maximum number of EM iterations per start.
    tol : float, default=1e-3
        EM stops when the bound gains less than this per document.
    random_state : int, RandomState or None, default=None
        The same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of starts that are fitted at a time, in threads. None is one, -1 all processors.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Weights of the topics, lam_s.
    word_prob_ : array of shape (n_components, n_words)
        Word probabilities of the topics, beta_si.
    labels_ : array of shape (n_documents,)
        The most probable topic of each training document.
    lower_bound_ : float
        The objective per document.
    n_iter_ : int
        Number of EM iterations.
    converged_ : bool
        Whether EM converged.
    history_ : tuple of float
        The objective per document after each iteration.

    Examples
    --------
    >>> import numpy as np
    >>> model = MixtureOfUnigrams(2, random_state=0).fit(np.array([[3, 0], [2, 0], [0, 4], [0, 1]]))
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "prior": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "length_temper": [Interval(Real, 0, None, closed="neither"), None],
        "init": [StrOptions({"kmeans", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"best", "consensus"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        prior: float | str = "auto",
        length_temper: float | None = None,
        init: str = "kmeans",
        n_init: int = 1,
        combine: str = "best",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.prior = prior
        self.length_temper = length_temper
        self.init = init
        self.n_init = n_init
        self.combine = combine
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent
    ) -> "MixtureOfUnigrams":
        """Fit to documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, without negative values.
        y : ignored
            There for the pipelines of scikit-learn.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step, as in `LBGMixture.fit`.

        Returns
        -------
        MixtureOfUnigrams
            The fitted model itself.

        Raises
        ------
        ValueError
            If the documents have negative or missing values, or a parameter is not allowed.

        Examples
        --------
        >>> model = MixtureOfUnigrams(2, random_state=0).fit([[3, 2, 0], [2, 1, 0], [0, 0, 4], [0, 0, 1]])
        >>> model.word_prob_.shape
        (2, 3)
        """
        documents = checked_documents(self, X, reset=True)
        self._fit_checked(documents, checked_weight(sample_weight, documents), progress)
        return self

    def _fit_checked(self, documents: sp.csr_array, weight: Floats | None, progress: Progress) -> Floats:
        training = training_documents(documents, self.n_components, weight)
        words, counts = training.documents.astype(np.float64), training.weight
        fit = fit_restarts(
            lambda random_state, progress: first_posteriors(
                training.block, self.n_components, self.init, random_state, progress, [counts]
            ),
            lambda mu, progress: self._train(words, mu, progress, counts),
            n_init=self.n_init,
            combine=self.combine,
            random_state=self.random_state,
            start_steps=STEPS[self.init],
            train_steps=self.max_iter,
            progress=progress,
            n_jobs=self.n_jobs,
        )
        warn_unsettled(fit.converged, self.max_iter)
        self.weights_ = fit.parameters.lam.astype(documents.dtype)
        self.word_prob_ = np.exp(fit.parameters.log_beta.T).astype(documents.dtype)
        self.lower_bound_, self.n_iter_, self.converged_ = fit.lower_bound, fit.n_iter, fit.converged
        self.history_ = fit.history
        posteriors = self._posteriors(documents)
        self.labels_ = posteriors.argmax(axis=1)
        return posteriors

    def _train(self, words: sp.csr_array, mu: Floats, progress: Progress, weight: Floats | None) -> _Fit:
        by_entry = None if weight is None else np.repeat(weight, np.diff(words.indptr))
        n_documents = words.shape[0] if weight is None else float(weight.sum())
        sums = words.sum(axis=0) if weight is None else words.T @ weight
        profile = np.asarray(sums).ravel() + _UNSEEN * np.average(words.data, weights=by_entry)
        profile /= n_documents
        strength = self._strength(np.bincount(words.indices, by_entry, words.shape[1]) / n_documents)
        power = self._power(words)
        result = run_em(
            core.gather(words, mu, weight=weight),
            lambda statistics: core.m_step(statistics, profile, strength),
            lambda parameters: core.e_step(words, parameters, power, weight),
            lambda parameters, statistics: (
                (statistics.evidence + core.log_prior(parameters, profile, strength)) / n_documents
            ),
            max_iter=self.max_iter,
            stop=gain_below(self.tol),
            progress=progress,
        )
        mu = result.statistics.mu
        return _Fit(result.parameters, mu, result.lower_bound, result.n_iter, result.converged, result.history)

    def _strength(self, rate: Floats) -> float:
        return default_prior_p(rate) if isinstance(self.prior, str) else self.prior

    def _power(self, words: sp.csr_array) -> float | Floats:
        if self.length_temper is None:
            return 1.0
        return np.minimum(1.0, self.length_temper / np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1e-300))

    def _parameters(self) -> core.Unigrams:
        beta = np.ascontiguousarray(self.word_prob_.T, dtype=np.float64)
        return core.Unigrams(self.weights_.astype(np.float64), np.log(np.maximum(beta, 1e-300)))

    def _posteriors(self, documents: sp.csr_array) -> Floats:
        words = documents.astype(np.float64)
        return posterior(core.log_joint(words, self._parameters()), self._power(words))[0]

    def _log_likelihood(self, documents: sp.csr_array) -> Floats:
        return logsumexp(core.log_joint(documents.astype(np.float64), self._parameters()), axis=1)

    def _word_weights(self) -> Floats:
        return self.word_prob_
