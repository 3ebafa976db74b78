"""What all topic models of this package share: predictions, scores, tags, the words of a topic."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.core.em.telling import telling
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.progress import Progress
from lbg_recsys.text._documents import checked_documents
from lbg_recsys.text.topic_table import Topic, TopicTable


class TextTopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator):
    """A model with posteriors and a likelihood for documents. Subclasses give both, and ``fit``.

    No ``ClusterMixin``: its checks use any real data, and word frequencies are not negative.
    """

    def _begin_fit(self, documents: sp.csr_array) -> None:
        """Check the parameters and take the words of checked documents, as the public ``fit`` does."""
        self._validate_params()
        self.n_features_in_ = documents.shape[1]

    @abstractmethod
    def _fit_checked(self, documents: sp.csr_array, weight: Floats | None, progress: Progress) -> Floats:
        """Fit to checked documents and return their posteriors (m, k)."""

    @abstractmethod
    def _posteriors(self, documents: sp.csr_array) -> Floats:
        """Posteriors (m, k) of checked documents."""

    @abstractmethod
    def _log_likelihood(self, documents: sp.csr_array) -> Floats:
        """log Pr(d), (m,), of checked documents."""

    @abstractmethod
    def _word_weights(self) -> Floats:
        """The probability of each word in each topic, (k, n)."""

    def predict_proba(self, X: Any) -> Floats:
        """Compute the posterior probabilities of the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents, n_components)
            The posteriors, in the precision of ``X``; rows sum to 1.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> model.predict_proba([[1, 1, 0, 0]]).shape
        (1, 2)
        """
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        return self._posteriors(documents).astype(documents.dtype, copy=False)

    def transform(self, X: Any) -> Floats:
        """Compute the posterior probabilities of the topics as features; the same as `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents, n_components)
            The posteriors, in the precision of ``X``; rows sum to 1.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> model.transform(X).sum(axis=1).round(6).tolist()
        [1.0, 1.0, 1.0, 1.0]
        """
        return self.predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        """Find the most probable topic of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        int array of shape (n_documents,)
            Numbers of topics, from 0.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> bool(model.predict([[1, 1, 0, 0]])[0] == model.labels_[0])
        True
        """
        check_is_fitted(self)
        return self._posteriors(checked_documents(self, X, reset=False)).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to documents, and find the most probable topic of each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents, without negative values.
        y : ignored
            There for the pipelines of scikit-learn.
        sample_weight : array-like of shape (n_documents,), default=None
            How often each document counts; once by default.

        Returns
        -------
        int array of shape (n_documents,)
            Numbers of topics, from 0: ``labels_``.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> labels = LBGMixture(2, random_state=0).fit_predict(X)
        >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
        True
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def score_samples(self, X: Any) -> Floats:
        """Compute the log-likelihood of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float array of shape (n_documents,)
            log Pr(d), in the precision of ``X``.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> model.score_samples(X).shape
        (4,)
        """
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        return self._log_likelihood(documents).astype(documents.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the mean log-likelihood of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.
        y : ignored
            There for the pipelines of scikit-learn.

        Returns
        -------
        float
            The mean of log Pr(d) over the documents; higher is better.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> bool(abs(model.score(X) - model.score_samples(X).mean()) < 1e-9)
        True
        """
        return float(self.score_samples(X).mean(dtype=np.float64))

    def top_keywords(self, feature_names: Any = None, n: int = 10, *, by: str = "telling") -> list[list[str]]:
        """The leading words of every topic.

        Parameters
        ----------
        feature_names : array-like of str, default=None
            The words in the order of the columns; by default the names seen in ``fit``.
        n : int, default=10
            Words per topic.
        by : {"telling", "probability"}, default="telling"
            "telling" ranks the words that distinguish the topic first: p_si log(p_si / sum_t lam_t p_ti).
            "probability" ranks by p_si alone, which puts words that are frequent in every topic first. With a single
            topic both are the same.

        Returns
        -------
        list of list of str
            One list of words per topic.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> words = model.top_keywords(["goal", "keeper", "oven", "sugar"], n=2)
        >>> sorted(words[model.labels_[0]])
        ['goal', 'keeper']
        """
        order = self._leading_words(n, by)
        names = self._word_names(feature_names)
        return [[str(name) for name in names[row]] for row in order]

    def topics(
        self,
        feature_names: Any = None,
        X: Any = None,
        *,
        n_words: int = 8,
        n_documents: int = 3,
        names: Sequence[Any] | None = None,
    ) -> TopicTable:
        """The topics as a table: sizes, words that set each apart, and the documents that stand for each.

        Parameters
        ----------
        feature_names : array-like of str, default=None
            The words in the order of the columns; by default the names seen in ``fit``.
        X : {array-like, sparse matrix} of shape (n_documents, n_words), default=None
            Documents to count and to choose representatives from. Without them the counts are those of the
            documents that the model was fitted to, and there are no representatives.
        n_words : int, default=8
            Words per topic.
        n_documents : int, default=3
            Documents per topic: those of the topic with the highest posterior probability.
        names : sequence, default=None
            Names of the documents in ``X``; by default their row numbers.

        Returns
        -------
        TopicTable
            A sequence of topics, the heaviest first; shown as a table in notebooks.

        Raises
        ------
        ParameterError
            If ``n_words`` or ``n_documents`` is below 0.
        ValueError
            If ``names`` does not have one name per document of ``X``.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> table = model.topics(["goal", "keeper", "oven", "sugar"], X, n_words=2, n_documents=1)
        >>> sorted(topic.n_documents for topic in table), len(table[0].examples)
        ([2, 2], 1)
        """
        check_integer("n_words", n_words, 0)
        words = self.top_keywords(feature_names, n_words)
        check_integer("n_documents", n_documents, 0)
        if X is None:
            labels, chosen = self.labels_, [()] * len(words)
        else:
            posterior = self.predict_proba(X)
            labels = posterior.argmax(axis=1)
            if names is not None and len(names) != len(labels):
                raise ValueError(f"names has {len(names)} names, X has {len(labels)} documents")
            chosen = [_representatives(posterior[:, s], labels == s, n_documents, names) for s in range(len(words))]
        counts = np.bincount(labels, minlength=len(words))
        heaviest = np.argsort(-self.weights_, kind="stable").tolist()
        return TopicTable(
            Topic(s, float(self.weights_[s]), int(counts[s]), tuple(words[s]), chosen[s]) for s in heaviest
        )

    def _leading_words(self, n: int, by: str = "telling") -> Ints:
        """Columns of the ``n`` leading words of each topic, (k, n)."""
        check_is_fitted(self)
        check_choice("by", by, ("telling", "probability"))
        check_integer("n", n, 0)
        weights = self._word_weights()
        if by == "telling" and len(weights) > 1:
            weights = self._telling()
        return np.argsort(-weights, axis=1, kind="stable")[:, :n]

    def _telling(self) -> Floats:
        """How much each word distinguishes each topic from the others, (k, n)."""
        return telling(self.weights_.astype(np.float64), self._word_weights().T.astype(np.float64)).T

    def _word_names(self, feature_names: Any) -> np.ndarray:
        if feature_names is None:
            return np.asarray(_check_feature_names_in(self))
        n_words = self._word_weights().shape[1]
        if isinstance(feature_names, str):
            raise ValueError(f"feature_names is {feature_names!r}: give a list of {n_words} names")
        if len(feature_names) != n_words:
            raise ValueError(
                f"feature_names has {len(feature_names)} names, the model {n_words} words; "
                "pass vectorizer.get_feature_names_out()"
            )
        return np.asarray(feature_names, dtype=object)

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


def _representatives(posterior: Floats, mask: np.ndarray, n: int, names: Sequence[Any] | None) -> tuple[Any, ...]:
    """Names or row numbers of the documents under ``mask`` with the highest posterior; ties in the order of rows."""
    own = np.flatnonzero(mask)
    rows = own[np.argsort(-posterior[own], kind="stable")][:n].tolist()
    return tuple(rows if names is None else [names[row] for row in rows])
