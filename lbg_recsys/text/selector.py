"""Feature selection: the words that distinguish a topic from the others."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import checked_documents, checked_weight, n_filled
from lbg_recsys.text._nested import DefaultEstimator
from lbg_recsys.text.mixture import LBGMixture


class LBGSelector(DefaultEstimator, SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Select the words that distinguish a topic from the others, or that are its keywords.

    Parameters
    ----------
    estimator : LBGMixture, default=None
        The mixture to fit, cloned. None is ``LBGMixture()``, with fewer topics if fewer documents have words.
    rank_by : {"telling", "probability"}, default="telling"
        The score of word i. "telling": max_s p_si log(p_si / sum_t lam_t p_ti), which is high for words that are
        frequent in one topic and rare elsewhere. "probability": max_s p_si, the paper's rule ("Feature Selection"),
        which keeps words that are frequent everywhere too.
    delta : float, default=0.01
        The lowest score of a selected word.
    n_features_to_select : int, default=None
        Keep the given number of words with the highest scores instead (ties by column); ``delta`` is not used.
    renormalize : bool, default=False
        Scale each document to unit length after the selection. This is useful before k-means: otherwise the length of
        a document depends on the words that were removed.

    Attributes
    ----------
    estimator_ : LBGMixture
        The fitted mixture.
    scores_ : array of shape (n_words,)
        The score of each word. With a single topic the score is p_si.
    topics_ : array of shape (n_words,)
        The topic in which each word has its score.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = ["goal keeper goal", "keeper and penalty", "flour sugar oven", "oven and sugar"]
    >>> vectorizer = TfidfVectorizer(stop_words="english")
    >>> X = vectorizer.fit_transform(texts)
    >>> selector = LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=3).fit(X)
    >>> vectorizer.get_feature_names_out()[selector.get_support()].tolist()
    ['keeper', 'oven', 'sugar']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [LBGMixture, None],
        "rank_by": [StrOptions({"telling", "probability"})],
        "delta": [Interval(Real, 0, None, closed="left")],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "renormalize": ["boolean"],
    }

    def __init__(
        self,
        estimator: LBGMixture | None = None,
        *,
        rank_by: str = "telling",
        delta: float = 0.01,
        n_features_to_select: int | None = None,
        renormalize: bool = False,
    ) -> None:
        self.estimator = estimator
        self.rank_by = rank_by
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.renormalize = renormalize

    def _default_estimator(self) -> LBGMixture:
        return LBGMixture()

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress = silent) -> "LBGSelector":
        """Fit the mixture to documents and score the words.

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
        LBGSelector
            The fitted selector itself.

        Raises
        ------
        ValueError
            If the documents have negative or missing values, a parameter is not allowed, or more words are to be
            selected than there are.

        Examples
        --------
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> LBGSelector(LBGMixture(2, random_state=0)).fit(X).scores_.shape
        (4,)
        """
        documents = checked_documents(self, X, reset=True)
        wanted = self.n_features_to_select
        if wanted is not None and wanted > documents.shape[1]:
            raise ValueError(f"n_features_to_select={wanted}, but X has only {documents.shape[1]} words")
        mixture = self._template()
        if self.estimator is None:
            mixture.set_params(n_components=max(1, min(mixture.n_components, n_filled(documents))))
        mixture._begin_fit(documents)
        mixture._fit_checked(documents, checked_weight(sample_weight, documents), progress)
        mixture._warn_died_out()
        self.estimator_ = mixture
        scores = self._topic_scores()
        self.scores_, self.topics_ = scores.max(axis=0), scores.argmax(axis=0)
        return self

    def _topic_scores(self) -> Floats:
        """The score of each word in each topic, (k, n)."""
        p = self.estimator_.keyword_prob_
        by_probability = self.rank_by == "probability" or len(p) == 1
        return p if by_probability else self.estimator_._telling().astype(p.dtype, copy=False)

    def transform(self, X: Any) -> Any:
        """Keep the selected words of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        array, sparse matrix or DataFrame of shape (n_documents, n_selected)
            The documents with the selected words only, at unit length if ``renormalize``.

        Examples
        --------
        >>> X = [[3, 2, 0, 0, 1], [2, 1, 0, 0, 1], [0, 0, 4, 1, 1], [0, 0, 1, 2, 1]]  # the last word tells nothing
        >>> selector = LBGSelector(LBGMixture(2, random_state=0), n_features_to_select=4).fit(X)
        >>> selector.transform([[3, 2, 0, 0, 1]]).tolist()
        [[3, 2, 0, 0]]
        """
        selected = super().transform(X)
        if not self.renormalize:
            return selected
        if hasattr(selected, "iloc"):  # a DataFrame stays one
            return type(selected)(normalize(selected), columns=selected.columns, index=selected.index)
        return normalize(selected)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        if self.n_features_to_select is None:
            return self.scores_ >= self.delta
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[: self.n_features_to_select]] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags
