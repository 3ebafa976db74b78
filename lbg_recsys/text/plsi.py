"""Probabilistic latent semantic indexing (Hofmann), which the paper compares with."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from lbg_recsys.core.em.loop import gain_below, run_em
from lbg_recsys.core.em.plsi import em_pass, fold_in, log_likelihood
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import checked_documents, checked_weight, training_documents
from lbg_recsys.text._restarts import fit_restarts, warn_unsettled
from lbg_recsys.text._start import STEPS
from lbg_recsys.text._topics import TextTopicModel

# The largest number of iterations for a new document: without it, a model file could make a prediction endless.
_MOST_PASSES = 10_000


@dataclass(frozen=True)
class _Fit:
    mu: Floats  # Pr(s | d)
    words: Floats  # Pr(w | s), (n, k)
    lower_bound: float
    n_iter: int
    converged: bool
    history: tuple[float, ...]


class PLSI(TextTopicModel):
    """Probabilistic latent semantic indexing: each word has its own topic, Pr(w | d) = sum_s Pr(s | d) Pr(w | s).

    The model has no Pr(d) for a new document. As usual, its Pr(s | d) is found by EM with Pr(w | s) held fixed
    ("folding in"), and `score_samples` is the log-likelihood of its words with these. `predict` returns the topic
    with the largest share.

    Parameters
    ----------
    n_components : int, default=8
        Number of topics.
    temper : float, default=1.0
        beta of tempered EM, Pr(s | d, w) ~ (Pr(s | d) Pr(w | s))^beta; 1 is plain EM, and a smaller value guards
        against overfitting.
    fold_in_iter : int, default=20
        EM iterations for a new document, at most 10,000.
    n_init : int, default=1
        Number of starts, which are random; the one with the highest bound is kept.
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
        Weights of the topics, Pr(s).
    word_prob_ : array of shape (n_components, n_words)
        Word probabilities of the topics, Pr(w | s).
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
    >>> model = PLSI(2, random_state=0).fit(np.array([[3, 2, 0], [2, 1, 0], [0, 0, 4], [0, 0, 1]]))
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "temper": [Interval(Real, 0, 1, closed="right")],
        "fold_in_iter": [Interval(Integral, 1, _MOST_PASSES, closed="both")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_components: int = 8,
        *,
        temper: float = 1.0,
        fold_in_iter: int = 20,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.temper = temper
        self.fold_in_iter = fold_in_iter
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent) -> "PLSI":
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
        PLSI
            The fitted model itself.

        Raises
        ------
        ValueError
            If the documents have negative or missing values, or a parameter is not allowed.

        Examples
        --------
        >>> model = PLSI(2, random_state=0).fit([[3, 2, 0], [2, 1, 0], [0, 0, 4], [0, 0, 1]])
        >>> model.word_prob_.shape
        (2, 3)
        """
        documents = checked_documents(self, X, reset=True)
        self._fit_checked(documents, checked_weight(sample_weight, documents), progress)
        return self

    def _fit_checked(self, documents: sp.csr_array, weight: Floats | None, progress: Progress) -> Floats:
        training = training_documents(documents, self.n_components, weight)
        filled, n_documents = training.documents, float(training.documents.shape[0])
        if training.weight is not None:  # shares of topics do not depend on the scale of a document
            by_entry = np.repeat(training.weight, np.diff(filled.indptr))
            filled = sp.csr_array((filled.data * by_entry, filled.indices, filled.indptr), filled.shape)
            n_documents = float(training.weight.sum())
        rows = _rows(filled)
        fit = fit_restarts(
            lambda random_state, _: random_state.dirichlet(np.ones(self.n_components), size=len(rows)),
            lambda mu, progress: self._train(rows, mu, n_documents, progress),
            n_init=self.n_init,
            combine="best",
            random_state=self.random_state,
            start_steps=STEPS["random"],
            train_steps=self.max_iter,
            progress=progress,
            n_jobs=self.n_jobs,
        )
        warn_unsettled(fit.converged, self.max_iter)
        lengths = np.asarray(filled.sum(axis=1)).ravel()
        self.weights_ = (lengths @ fit.mu / lengths.sum()).astype(documents.dtype)
        self.word_prob_ = fit.words.T.astype(documents.dtype)
        self.lower_bound_, self.n_iter_, self.converged_ = fit.lower_bound, fit.n_iter, fit.converged
        self.history_ = fit.history
        posteriors = self._posteriors(documents)
        self.labels_ = posteriors.argmax(axis=1)
        return posteriors

    def _train(self, rows: SparseRows, theta: Floats, n_documents: float, progress: Progress) -> _Fit:
        # One pass with equal words spreads the random shares of the documents over their words.
        flat = np.full((rows.n_columns, self.n_components), 1.0 / rows.n_columns)
        _, phi, _ = em_pass(rows, theta, flat)
        # A pass is an E-step and the M-step after it: what it returns are the next parameters.
        result = run_em(
            (theta, phi, -np.inf),
            lambda passed: (passed[0], passed[1]),
            lambda parameters: em_pass(rows, parameters[0], parameters[1], self.temper),
            lambda _, passed: passed[2] / n_documents,
            max_iter=self.max_iter,
            stop=gain_below(self.tol),
            progress=progress,
        )
        theta, phi, _ = result.statistics
        return _Fit(theta, phi, result.lower_bound, result.n_iter, result.converged, result.history)

    def _posteriors(self, documents: sp.csr_array) -> Floats:
        return self._shares(_rows(documents))

    def _log_likelihood(self, documents: sp.csr_array) -> Floats:
        rows = _rows(documents)
        return log_likelihood(rows, self._shares(rows), self._words())

    def _shares(self, rows: SparseRows) -> Floats:
        prior = self.weights_.astype(np.float64)
        return fold_in(rows, self._words(), prior / prior.sum(), self.temper, self.fold_in_iter)

    def _words(self) -> Floats:
        return np.ascontiguousarray(self.word_prob_.T, dtype=np.float64)

    def _word_weights(self) -> Floats:
        return self.word_prob_


def _rows(documents: sp.csr_array) -> SparseRows:
    return SparseRows.from_csr(documents.indptr, documents.indices, documents.data, documents.shape[1])
