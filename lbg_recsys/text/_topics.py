"""What all topic models of this package share: predictions, scores, tags, the words of a topic."""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lbg_recsys.core.types import Floats
from lbg_recsys.text._documents import checked_documents


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator):
    """A model with posteriors and a likelihood for documents. Subclasses give both, and ``fit``.

    No ``ClusterMixin``: its contract asks for any real data, and word frequencies are not negative.
    """

    @abstractmethod
    def _posteriors(self, documents: sp.csr_array) -> Floats:
        """Posteriors (m, k) of checked documents."""

    @abstractmethod
    def _log_likelihood(self, documents: sp.csr_array) -> Floats:
        """log Pr(d), (m,), of checked documents."""

    @abstractmethod
    def _word_weights(self) -> Floats:
        """How much each word belongs to each topic, (k, n): what `top_keywords` ranks by."""

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors of the topics, (n_documents, n_components), in the precision of ``X``."""
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        return self._posteriors(documents).astype(documents.dtype, copy=False)

    def transform(self, X: Any) -> Floats:
        """Posteriors of the topics as features; the same as `predict_proba`."""
        return self.predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable topic of each document, (n_documents,)."""
        check_is_fitted(self)
        return self._posteriors(checked_documents(self, X, reset=False)).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, then the most probable topic of each document."""
        return self.fit(X).labels_

    def score_samples(self, X: Any) -> Floats:
        """log Pr(d) of each document, (n_documents,), in the precision of ``X``."""
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        return self._log_likelihood(documents).astype(documents.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log Pr(d) of the documents."""
        return float(self.score_samples(X).mean(dtype=np.float64))

    def top_keywords(self, feature_names: Any = None, n: int = 10) -> list[list[str]]:
        """The ``n`` leading words of every topic, most probable first.

        ``feature_names`` are the words in the order of the columns, by default the names seen in ``fit``.
        """
        check_is_fitted(self)
        weights = self._word_weights()
        if feature_names is not None and len(feature_names) != weights.shape[1]:
            raise ValueError(
                f"feature_names has {len(feature_names)} names, the model {weights.shape[1]} words; "
                "pass vectorizer.get_feature_names_out()"
            )
        names = _check_feature_names_in(self) if feature_names is None else np.asarray(feature_names, dtype=object)
        order = np.argsort(-weights, axis=1, kind="stable")[:, :n]
        return [[str(name) for name in names[row]] for row in order]

    @property
    def _n_features_out(self) -> int:
        return self.weights_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        # No classifier, but scikit-learn's sparse checks read this tag wherever there is a predict_proba.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_components != 2)
        return tags
