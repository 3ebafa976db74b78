"""Supervised inference: one topic model per class, the class that explains a document best."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from lbg_recsys.core.types import Floats
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, parts, silent
from lbg_recsys.text._documents import checked_documents, n_filled, ranked_documents
from lbg_recsys.text._training import Background, background_of
from lbg_recsys.text.mixture import LBGMixture

_HELD_OUT = 0.2


def _once_fitted(model: Any) -> bool:
    check_is_fitted(model)
    return True


class LBGClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """argmax over classes l of Pr(l) Pr(d | l), with one model of this package fitted to each class.

    So that the likelihoods of LBG models compare, all classes choose the same number of keywords in a document and
    explain the same indicators x, shrink to the same corpus (all training documents), and share its
    cross-Gaussians: a word that is no keyword says nothing about the class.

    Parameters
    ----------
    estimator : LBGMixture, MixtureOfUnigrams, PLSI or None
        The model of a class, cloned. None is ``LBGMixture(n_keywords=None, length_temper=None, prior_p=5,
        prior_gauss=50)``: all words of a document, and its number of words is evidence too. To search its
        parameters as ``estimator__...`` write that mixture out: None has none.
    n_topics : int, sequence of int, or None
        Topics per class. Of several numbers each class takes the one that gives a fifth of its documents, held
        out, the highest likelihood. None leaves ``estimator``'s own. Never more than a class has documents.
    class_prior : {"empirical", "uniform"} or array of shape (n_classes,)
        Pr(l). The paper's rule is "uniform".
    max_false_positive_rate : float or None
        Two classes only: move the threshold so that in cross-validation on the training documents at most this
        share of ``classes_[0]`` was called ``classes_[1]`` (of ham called spam).
    cv : int
        Folds of that cross-validation.
    random_state : int, RandomState or None
        For the splits, and for class models that have none of their own.

    Attributes
    ----------
    classes_ : (n_classes,)
    estimators_ : the fitted model of each class
    class_log_prior_ : (n_classes,)
    threshold_ : float, subtracted from the log-odds of two classes; 0 unless a rate was asked for

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar"]
    >>> vectorizer = TfidfVectorizer(stop_words="english")
    >>> model = LBGClassifier(n_topics=1).fit(vectorizer.fit_transform(texts), ["ball", "ball", "cake", "cake"])
    >>> model.predict(vectorizer.transform(["goal and keeper", "sugar in the oven"])).tolist()
    ['ball', 'cake']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"]), None],
        "n_topics": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "class_prior": [StrOptions({"empirical", "uniform"}), "array-like"],
        "max_false_positive_rate": [Interval(Real, 0, 1, closed="both"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_topics: int | Sequence[int] | None = 4,
        class_prior: str | Sequence[float] = "empirical",
        max_false_positive_rate: float | None = None,
        cv: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_topics = n_topics
        self.class_prior = class_prior
        self.max_false_positive_rate = max_false_positive_rate
        self.cv = cv
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> "LBGClassifier":
        """Fit one model to the documents ``X`` of each class in ``y``.

        ``progress(done, total, note)`` is called after every step of every fit: of each class, of each number of
        topics that is tried, of each fold of the inner cross-validation.
        """
        if y is None:
            raise ValueError("LBGClassifier requires y to be passed, but the target y is None")
        documents = checked_documents(self, X, reset=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != documents.shape[0]:
            raise ValueError(f"X has {documents.shape[0]} documents, y has {len(y)} labels")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"LBGClassifier needs samples of at least 2 classes, but y has one class: {self.classes_[0]!r}"
            )
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        self.class_log_prior_ = self._log_prior(codes)
        self.threshold_ = 0.0
        rate = self.max_false_positive_rate
        rounds = parts(progress, 1 if rate is None else self.cv + 1)
        if rate is not None:
            self.threshold_ = self._threshold(documents, codes, rate, int(seeds[0]), rounds[:-1])
        self.estimators_ = self._fit_classes(documents, codes, int(seeds[1]), rounds[-1])
        return self

    def decision_function(self, X: Any) -> Floats:
        """Two classes: log-odds of ``classes_[1]`` less the threshold, (m,). More: log Pr(l) Pr(d | l), (m, h)."""
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict_log_proba(self, X: Any) -> Floats:
        """log Pr(l | d), (n_documents, n_classes); a moved threshold counts as a moved class prior."""
        return log_softmax(self._joint(X), axis=1)

    @available_if(_once_fitted)
    def predict_proba(self, X: Any) -> Floats:
        """Pr(l | d), (n_documents, n_classes). As with naive Bayes good for ranking, far too sure as numbers.

        Only a fitted classifier has it, as ``docs/text.md`` explains.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each document."""
        best = self._joint(X).argmax(axis=1)
        return self.classes_[best]

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self)
        joint = _joint(self.estimators_, self.class_log_prior_, checked_documents(self, X, reset=False))
        if joint.shape[1] == 2:
            joint[:, 1] -= self.threshold_
        return joint

    def _log_prior(self, codes: np.ndarray) -> Floats:
        n_classes = len(self.classes_)
        if isinstance(self.class_prior, str):
            counts = np.bincount(codes) if self.class_prior == "empirical" else np.ones(n_classes)
            return np.log(counts / counts.sum())
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if prior.shape != (n_classes,) or (prior <= 0.0).any():
            raise ParameterError(
                f"class_prior is {self.class_prior!r}; it must have {n_classes} positive numbers, one a class"
            )
        return np.log(prior / prior.sum())

    def _template(self) -> Any:
        if self.estimator is None:
            return LBGMixture(n_keywords=None, length_temper=None, prior_p=5.0, prior_gauss=50.0)
        if getattr(self.estimator, "n_keywords", None) == "paper":
            raise ParameterError(
                'n_keywords="paper" gives each class a number of keywords of its own, and then their likelihoods '
                "do not compare; give the estimator a whole number of keywords, or None for all words"
            )
        return clone(self.estimator)

    def _fit_classes(self, documents: sp.csr_array, codes: np.ndarray, seed: int, progress: Progress) -> list[Any]:
        background = self._background(documents)
        return [
            self._fit_class(documents[codes == code], background, seed, told)
            for code, told in enumerate(parts(progress, len(self.classes_)))
        ]

    def _background(self, documents: sp.csr_array) -> Background | None:
        """What words do in all classes; only the LBG model has a use for it."""
        model = self._template()
        if not isinstance(model, LBGMixture):
            return None
        model._validate_params()
        return background_of(ranked_documents(documents), model._recipe())

    def _fit_class(
        self, documents: sp.csr_array, background: Background | None, seed: int, progress: Progress
    ) -> Any:
        wanted = self.n_topics
        if wanted is None:
            wanted = self._template().n_components
        elif not isinstance(wanted, int | Integral):
            numbers = [int(n) for n in wanted]
            *tries, progress = parts(progress, len(numbers) + 1)
            wanted = self._by_held_out_likelihood(documents, background, numbers, seed, tries)
        return self._fitted(documents, background, int(wanted), seed, progress)

    def _fitted(
        self, documents: sp.csr_array, background: Background | None, n_topics: int, seed: int, progress: Progress
    ) -> Any:
        model = self._template()
        model.set_params(n_components=max(1, min(n_topics, n_filled(documents))))
        if model.random_state is None:
            model.set_params(random_state=seed)
        if background is None:
            told = {"progress": progress} if has_fit_parameter(model, "progress") else {}
            return model.fit(documents, **told)
        model.n_features_in_ = documents.shape[1]
        return model._fit_against(documents, background, progress)

    def _by_held_out_likelihood(
        self,
        documents: sp.csr_array,
        background: Background | None,
        numbers: list[int],
        seed: int,
        tries: list[Progress],
    ) -> int:
        if not numbers or min(numbers) < 1:
            raise ParameterError(f"n_topics is {self.n_topics!r}; give whole numbers from 1 up")
        if documents.shape[0] < 2 or len(numbers) == 1:
            return numbers[0]
        known, held_out = train_test_split(np.arange(documents.shape[0]), test_size=_HELD_OUT, random_state=seed)
        scores = [
            self._fitted(documents[known], background, n, seed, told).score(documents[held_out])
            for n, told in zip(numbers, tries, strict=True)
        ]
        return numbers[int(np.argmax(scores))]

    def _threshold(
        self, documents: sp.csr_array, codes: np.ndarray, rate: float, seed: int, rounds: list[Progress]
    ) -> float:
        """The log-odds that at most the wanted share of ``classes_[0]`` exceeds when it is held out."""
        if len(self.classes_) != 2:
            raise ValueError(
                f"max_false_positive_rate={rate} needs two classes, y has {len(self.classes_)}: {self.classes_!r}"
            )
        odds = np.empty(len(codes))
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=seed)
        for (known, held_out), told in zip(folds.split(np.zeros(len(codes)), codes), rounds, strict=True):
            models = self._fit_classes(documents[known], codes[known], seed, told)
            joint = _joint(models, self.class_log_prior_, documents[held_out])
            odds[held_out] = joint[:, 1] - joint[:, 0]
        negative = np.sort(odds[codes == 0])[::-1]
        allowed = int(np.floor(rate * len(negative)))
        return float(negative[allowed]) if allowed < len(negative) else float(negative[-1]) - 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


def _joint(models: list[Any], log_prior: Floats, documents: sp.csr_array) -> Floats:
    words = documents.astype(np.float64)  # differences of large numbers: float32 would lose them
    return np.column_stack([model.score_samples(words) for model in models]) + log_prior
