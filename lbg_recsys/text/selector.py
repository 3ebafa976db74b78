"""Feature selection: the words that are a keyword of some topic."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import checked_documents, n_filled
from lbg_recsys.text.mixture import LBGMixture


class LBGSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Keep word i where p_si >= delta for some topic s (the paper's "Feature Selection").

    Parameters
    ----------
    estimator : LBGMixture or None
        The mixture to fit, cloned. The parameters of a given one are reached as ``estimator__...``; None is
        ``LBGMixture()``, with fewer topics where fewer documents have words, and has none to reach.
    delta : float
        The least keyword probability.
    n_features_to_select : int or None
        Keep so many words instead, those with the largest max_s p_si (ties by column); ``delta`` is not used.
    renormalize : bool
        Bring each document back to unit length after selection. k-means wants this; without it what is left of
        a document depends on what was taken away.

    Attributes
    ----------
    estimator_ : the fitted mixture
    scores_ : (n,) max_s p_si

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
        "delta": [Interval(Real, 0, 1, closed="both")],
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "renormalize": ["boolean"],
    }

    def __init__(
        self,
        estimator: LBGMixture | None = None,
        *,
        delta: float = 0.01,
        n_features_to_select: int | None = None,
        renormalize: bool = False,
    ) -> None:
        self.estimator = estimator
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.renormalize = renormalize

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, progress: Progress = silent) -> "LBGSelector":
        """Fit the mixture to documents ``X``. ``y`` is ignored; ``progress`` as in `LBGMixture.fit`."""
        documents = checked_documents(self, X, reset=True)
        wanted = self.n_features_to_select
        if wanted is not None and wanted > documents.shape[1]:
            raise ValueError(f"n_features_to_select={wanted}, but X has only {documents.shape[1]} words")
        mixture = LBGMixture() if self.estimator is None else clone(self.estimator)
        if self.estimator is None:
            mixture.set_params(n_components=max(1, min(mixture.n_components, n_filled(documents))))
        self.estimator_ = mixture.fit(documents, progress=progress)
        self.scores_ = self.estimator_.keyword_prob_.max(axis=0)
        return self

    def transform(self, X: Any) -> Any:
        """The documents with the selected words only, at unit length if ``renormalize``."""
        selected = super().transform(X)
        if not self.renormalize:
            return selected
        if hasattr(selected, "iloc"):  # a data frame stays one
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
