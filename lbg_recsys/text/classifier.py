"""Supervised inference: one topic model per class."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from lbg_recsys.core.em.correction import Correction
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, parts, silent
from lbg_recsys.text._class_models import ClassPlan, Corpus, FittedClasses
from lbg_recsys.text._class_rule import WeightedRule, log_odds, log_shares
from lbg_recsys.text._documents import checked_documents, checked_weight
from lbg_recsys.text._nested import DefaultEstimator
from lbg_recsys.text._thresholds import class_thresholds, limits_by_class
from lbg_recsys.text.mixture import LBGMixture


def _once_fitted(model: Any) -> bool:
    check_is_fitted(model)
    return True


def _checked_labels(y: Any) -> np.ndarray:
    """Labels that can be sorted, none of them missing: in an array of texts, NaN would become the class 'nan'."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind not in "biu":
        import pandas as pd

        missing = np.flatnonzero(pd.isna(np.asarray(y, dtype=object).ravel()))
        if len(missing):
            raise ValueError(
                f"Input y contains NaN or None: document {missing[0]} has no label; give it one, or leave it out"
            )
    if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError("y has labels that are texts and labels that are not: make all of them texts")
    check_classification_targets(labels)
    return labels


class LBGClassifier(DefaultEstimator, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """One Latent Bernoulli-Gauss model per class, and calibrated probabilities of the classes.

    A document is three kinds of evidence about a topic s: which words it draws, which are present or absent, and how
    often they occur (``lbg_recsys.core.em.class_evidence`` has the formulas). The evidence for class l is

        e_l = log sum_{s in l} lam_s exp(t . evidence_s)

    and the score of the class z_l = scale e_l + log Pr(l) + b_l + w_l . f, with f the unit vectors of the document's
    values and of the presence of its words, one after the other, divided by sqrt(2). Exponents t >= 0 and biases b
    are fitted to the labels by the softmax loss, with every training document scored by class models without it; then
    the linear correction w, with a ridge penalty, and the scale. ``predict_proba`` is the softmax of z. With
    ``ridge=None`` there is no correction.

    The paper's rule, argmax of Pr(l) Pr(d | l), is ``rule="likelihood"``. All classes choose the same keywords in a
    document, shrink to the same corpus (all training documents) and share its cross-Gaussians, so that their
    likelihoods compare.

    Parameters
    ----------
    estimator : LBGMixture, MixtureOfUnigrams or PLSI, default=None
        The model of a class, cloned. None is ``LBGMixture(n_keywords=None, length_temper=20, prior_gauss=50)``, and
        with ``rule="likelihood"`` it is ``LBGMixture(n_keywords=None, length_temper=None, prior_p=5,
        prior_gauss=50)``. Its parameters can be set and searched as ``estimator__NAME``.
    n_topics : "auto", int, sequence of int or None, default="auto"
        Topics per class, at most one per 20 documents of the class (with ``rule="likelihood"``: per document).
        "auto": one; with the weighted rule as many as the class has documents per word, from 1 to 32, so that only
        classes with many documents and few words have several. If several numbers are given, each class takes the
        one with the highest likelihood of a held-out fifth of its documents. None keeps the estimator's own number.
    rule : {"auto", "weighted", "likelihood"}, default="auto"
        "weighted" is the rule above and needs an `LBGMixture`; "likelihood" is the paper's. "auto" is "weighted" for
        an `LBGMixture` and "likelihood" for other models.
    ridge : float or None, default=0.1
        Penalty of the linear correction: half of it times the squared norm of w is added to the summed loss. None: no
        correction. Not used by ``rule="likelihood"``.
    class_prior : {"empirical", "uniform"} or array-like of shape (n_classes,), default="empirical"
        Pr(l) of the documents to classify. The paper's rule is "uniform".
    max_false_positive_rate : float, mapping or None, default=None
        Move the thresholds between classes so that in cross-validation on the training documents at most this share
        of the documents of other classes is assigned to a class. A number limits ``classes_[1]`` of two classes (such
        as ham called spam), or each of several; a mapping from classes to rates limits some of them. A limit above
        the rate without a limit lowers the threshold, so that more documents of the class itself are found.
    cv : int, splitter or iterable, default=5
        Folds of that cross-validation; a number gives stratified folds of shuffled documents.
    random_state : int, RandomState or None, default=None
        Seed of the splits, and of class models that have none of their own.
    n_jobs : int or None, default=None
        Number of classes that are fitted at a time, in threads. None is one, -1 all processors; the result is the
        same.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    estimators_ : list
        The fitted model of each class.
    class_log_prior_ : array of shape (n_classes,)
        log Pr(l).
    class_count_ : array of shape (n_classes,)
        Number of training documents of each class, or the sum of their weights.
    exponents_ : array of shape (3,)
        t of draws, presence and values; empty with ``rule="likelihood"``, which has no correction either.
    scale_ : float
        The scale of the evidence.
    bias_ : array of shape (n_classes,)
        The biases b_l.
    correction_ : array of shape (2 * n_words or 0, n_classes)
        w, the linear correction: weights of the words' values, then of their presence.
    thresholds_ : array of shape (n_classes,)
        Subtracted from the scores of the classes; 0 unless a rate was asked for.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar"]
    >>> vectorizer = TfidfVectorizer(stop_words="english")
    >>> model = LBGClassifier().fit(vectorizer.fit_transform(texts), ["ball", "ball", "cake", "cake"])
    >>> model.predict(vectorizer.transform(["goal and keeper", "sugar in the oven"])).tolist()
    ['ball', 'cake']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "score_samples"]), None],
        "n_topics": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), "array-like", None],
        "rule": [StrOptions({"auto", "weighted", "likelihood"})],
        "ridge": [Interval(Real, 0, None, closed="neither"), None],
        "class_prior": [StrOptions({"empirical", "uniform"}), "array-like"],
        "max_false_positive_rate": [Interval(Real, 0, 1, closed="both"), Mapping, None],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_topics: str | int | Sequence[int] | None = "auto",
        rule: str = "auto",
        ridge: float | None = 0.1,
        class_prior: str | Sequence[float] = "empirical",
        max_false_positive_rate: float | Mapping[Any, float] | None = None,
        cv: int = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_topics = n_topics
        self.rule = rule
        self.ridge = ridge
        self.class_prior = class_prior
        self.max_false_positive_rate = max_false_positive_rate
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, progress: Progress = silent) -> "LBGClassifier":
        """Fit one model to the documents of each class, and the rule that weighs their evidence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, without negative values; usually tf-idf.
        y : array-like of shape (n_documents,)
            Their classes.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every step of every fit: of each class, of each number of
            topics that is tried, of each fold of the inner cross-validation, and of the rule.

        Returns
        -------
        LBGClassifier
            The fitted classifier itself.

        Raises
        ------
        ParameterError
            If the rule or the limits of rates do not suit the estimator and the documents.
        ValueError
            If the documents have negative or missing values, labels are missing or mix texts and numbers, or there
            are fewer than two classes.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().fit(X, y)
        >>> model.classes_.tolist(), model.class_count_.tolist()
        (['ball', 'cake'], [2.0, 2.0])
        """
        documents, y, weight = self._checked(X, y, sample_weight, reset=True)
        if weight is not None and not (weight > 0).all():
            counted = weight > 0
            documents, y, weight = documents[counted], y[counted], weight[counted]
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._refuse_one_class("y")
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        corpus = Corpus.of(documents, codes, weight, self._fits_mixtures())
        self._count(codes, weight)
        self.thresholds_ = np.zeros(len(self.classes_))
        limits = limits_by_class(self.max_false_positive_rate, self.classes_.tolist())
        folds = self._folds(codes, int(seeds[0])) if limits else []
        rounds = parts(progress, len(folds) + 1)
        if limits:
            self.thresholds_ = self._thresholds(corpus, limits, folds, int(seeds[0]), rounds[:-1])
        self._keep(self._plan().fit(corpus, int(seeds[1]), rounds[-1]))
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, progress: Progress = silent
    ) -> "LBGClassifier":
        """Learn from a further batch of documents; the first call (or none after ``fit``) is a fit to the batch.

        Class models add the statistics of the batch to those of the batches before. The exponents stay those of the
        first batch, which should have documents of all classes; the correction is updated with each batch
        (a Laplace approximation with a diagonal precision). Batches with one class update the class models only,
        because they do not show differences between classes; if the first batches have one class each, exponents
        and correction are fitted to the first batch with several.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, not negative.
        y : array-like of shape (n_documents,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur; needed in the first call.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts.
        progress : callable, default=silent
            Called as ``progress(done, total, note)``: as in `fit` by a first call, and once by a later one.

        Returns
        -------
        LBGClassifier
            The classifier itself.

        Raises
        ------
        ParameterError
            If the estimator is not an `LBGMixture`, or there is a ``max_false_positive_rate``.
        ValueError
            If ``classes`` are missing in the first call, or ``y`` has others or a missing label.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().partial_fit(X, y, classes=["ball", "cake"])
        >>> model.partial_fit([[1, 1, 0, 0]], ["ball"]).class_count_.tolist()
        [3.0, 2.0]
        """
        if not self._fits_mixtures():
            raise ParameterError("partial_fit needs an LBGMixture as the model of a class: leave estimator=None")
        if self.max_false_positive_rate is not None:
            raise ParameterError(
                "max_false_positive_rate needs a cross-validation of all documents: use fit, or leave it out"
            )
        first = not hasattr(self, "estimators_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        documents, y, weight = self._checked(X, y, sample_weight, reset=first)
        if first:
            self.classes_ = np.unique(column_or_1d(classes))
            self._refuse_one_class("classes")
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes={classes!r} is not the same as on last call to partial_fit: {self.classes_!r}")
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if not (self.classes_[codes] == y).all():
            unknown = sorted(set(y.tolist()) - set(self.classes_.tolist()))
            raise ValueError(f"y has the classes {unknown!r}, which are not among classes={self.classes_!r}")
        if first:
            self._count(codes, weight)
            self.thresholds_ = np.zeros(len(self.classes_))
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._keep(self._plan().fit(Corpus.of(documents, codes, weight, True), seed, progress))
            return self
        self._count(codes, weight, self.class_count_)
        offset = log_shares(np.arange(len(self.classes_)), self.class_count_, len(self.classes_))
        self._keep(self._plan().continued(self._fitted(), Corpus.of(documents, codes, weight, True), offset))
        progress(1, 1, f"{len(codes):,} documents")
        return self

    def decision_function(self, X: Any) -> Floats:
        """Compute the log-odds of each class against all others, less its threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents,) or (n_documents, n_classes)
            For two classes, the log-odds of ``classes_[1]``; for more, those of every class.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().fit(X, y)
        >>> (model.decision_function([[1, 1, 0, 0], [0, 0, 1, 1]]) > 0).tolist()
        [False, True]
        """
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else log_odds(joint)

    def predict_log_proba(self, X: Any) -> Floats:
        """Compute the logarithms of the probabilities of the classes, see `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents, n_classes)
            One column per class, in the order of ``classes_``.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().fit(X, y)
        >>> model.predict_log_proba([[1, 1, 0, 0], [0, 0, 1, 1]]).argmax(axis=1).tolist()
        [0, 1]
        """
        return log_softmax(self._joint(X), axis=1)

    @available_if(_once_fitted)
    def predict_proba(self, X: Any) -> Floats:
        """Compute the probabilities of the classes.

        They are calibrated, except for ``rule="likelihood"``: likelihoods of independent words are far too certain.
        With fewer than about a hundred training documents per class they are somewhat too certain. A document without
        known words has the class priors. A moved threshold counts as a moved class prior. Only a fitted classifier
        has this method, as ``docs/text.md`` explains.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents, n_classes)
            Rows sum to 1.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().fit(X, y)
        >>> model.predict_proba([[1, 1, 0, 0], [0, 0, 1, 1]]).sum(axis=1).round(6).tolist()
        [1.0, 1.0]
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Find the most probable class of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        array of shape (n_documents,)
            Classes, of the values in ``classes_``.

        Examples
        --------
        >>> X, y = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]], ["ball", "ball", "cake", "cake"]
        >>> model = LBGClassifier().fit(X, y)
        >>> model.predict([[1, 1, 0, 0], [0, 0, 1, 1]]).tolist()
        ['ball', 'cake']
        """
        best = self._joint(X).argmax(axis=1)
        return self.classes_[best]

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        return self._fitted().scores(documents) + (self.class_log_prior_ - self.thresholds_)

    def _refuse_one_class(self, where: str) -> None:
        if len(self.classes_) < 2:
            found = f"one class: {self.classes_[0].item()!r}" if len(self.classes_) else "none"
            raise ValueError(
                f"LBGClassifier needs documents of at least 2 classes, but {where} has {found}; "
                "check the labels, or cluster the documents with LBGMixture"
            )

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[sp.csr_array, np.ndarray, Floats | None]:
        if y is None:
            raise ValueError("LBGClassifier requires y to be passed, but the target y is None")
        documents = checked_documents(self, X, reset=reset)
        y = _checked_labels(y)
        if len(y) != documents.shape[0]:
            raise ValueError(f"X has {documents.shape[0]} documents, y has {len(y)} labels")
        return documents, y, checked_weight(sample_weight, documents)

    def _count(self, codes: Ints, weight: Floats | None, before: Floats | float = 0.0) -> None:
        """Count the documents of each class, and set the class priors."""
        self.class_count_ = before + np.bincount(codes, weight, len(self.classes_)).astype(np.float64)
        self.class_log_prior_ = self._log_prior()

    def _log_prior(self) -> Floats:
        n_classes = len(self.classes_)
        if isinstance(self.class_prior, str):
            if self.class_prior == "empirical":
                return log_shares(np.arange(n_classes), self.class_count_, n_classes)
            return np.full(n_classes, -np.log(n_classes))
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if prior.shape != (n_classes,) or (prior <= 0.0).any():
            raise ParameterError(
                f"class_prior is {self.class_prior!r}; it must have {n_classes} positive numbers, one per class"
            )
        return np.log(prior / prior.sum())

    def _default_estimator(self) -> LBGMixture:
        if self.rule == "likelihood":
            return LBGMixture(n_keywords=None, length_temper=None, prior_p=5.0, prior_gauss=50.0)
        return LBGMixture(n_keywords=None, length_temper=20.0, prior_gauss=50.0)

    def _template(self) -> Any:
        if getattr(self.estimator, "n_keywords", None) == "paper":
            raise ParameterError(
                'n_keywords="paper" gives each class a number of keywords of its own, and then their likelihoods '
                "are not comparable; give the estimator a whole number of keywords, or None for all words"
            )
        return super()._template()

    def _fits_mixtures(self) -> bool:
        return self.estimator is None or isinstance(self.estimator, LBGMixture)

    def _weighs(self) -> bool:
        """Whether the rule is the weighted one."""
        if self.rule == "weighted" and not self._fits_mixtures():
            raise ParameterError(
                f'rule="weighted" needs an LBGMixture, but estimator is {type(self.estimator).__name__}; '
                'use rule="likelihood"'
            )
        return self.rule != "likelihood" and self._fits_mixtures()

    def _fitted(self) -> FittedClasses:
        """The fitted models and rule, from the public attributes."""
        if not len(self.exponents_):
            return FittedClasses(self.estimators_, None)
        correction = Correction(self.scale_, self.bias_, self.correction_, self.correction_precision_)
        return FittedClasses(self.estimators_, WeightedRule(self.exponents_, correction))

    def _keep(self, fitted: FittedClasses) -> None:
        self.estimators_ = fitted.models
        h, rule = len(fitted.models), fitted.rule
        none = Correction(1.0, np.zeros(h), np.zeros((0, h)), np.zeros(0))
        correction = none if rule is None else rule.correction
        self.exponents_ = np.zeros(0) if rule is None else rule.exponents
        self.scale_, self.bias_ = correction.scale, correction.bias
        self.correction_, self.correction_precision_ = correction.weights, correction.precision

    def _plan(self) -> ClassPlan:
        """How classes are fitted with these parameters."""
        return ClassPlan(self._template, len(self.classes_), self.n_topics, self._weighs(), self.ridge, self.n_jobs)

    def _folds(self, codes: Ints, seed: int) -> list[tuple[Ints, Ints]]:
        """The folds of the inner cross-validation."""
        folds = check_cv(self.cv, codes, classifier=True)
        if isinstance(self.cv, Integral):
            most = int(np.bincount(codes).max())
            if most < self.cv:
                remedy = f"set cv to at most {most}, or " if most > 1 else ""
                raise ParameterError(
                    f"max_false_positive_rate needs a cross-validation of cv={self.cv} folds, but no class has more "
                    f"than {most} document{'s' if most > 1 else ''}: {remedy}give more documents"
                )
            folds = StratifiedKFold(int(self.cv), shuffle=True, random_state=seed)
        found = list(folds.split(np.zeros(len(codes)), codes))
        if not found or not all(np.ndim(part) == 1 and np.size(part) for fold in found for part in fold):
            raise ParameterError(
                "cv gives no pairs of training and test indices: give a number of folds, a splitter, or such pairs"
            )
        return found

    def _thresholds(
        self,
        corpus: Corpus,
        limits: dict[int, float],
        folds: list[tuple[Ints, Ints]],
        seed: int,
        rounds: list[Progress],
    ) -> Floats:
        """Thresholds with which held-out documents keep the limits."""
        scores = np.full((len(corpus.codes), len(self.classes_)), np.nan)
        for (known, held_out), report in zip(folds, rounds, strict=True):
            fitted = self._plan().fit(corpus.take(known), seed, report)
            test = corpus.take(held_out)
            scores[held_out] = fitted.scores(test.documents, test.rows) + self.class_log_prior_
        scored = ~np.isnan(scores).any(axis=1)
        return class_thresholds(scores[scored], corpus.codes[scored], limits)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags
