"""What a fitted mixture answers: posteriors, likelihoods, keywords of documents, samples, information criteria."""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lbg_recsys.checks import check_integer
from lbg_recsys.core.em.bernoulli_gauss import log_joint, posterior
from lbg_recsys.core.em.keywords import (
    CrossGaussians,
    cross_evidence,
    expected_lengths,
    log_joint_own_keywords,
    with_keywords,
)
from lbg_recsys.core.em.parameters import P_MARGIN, Parameters
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Codes, Floats, Ints
from lbg_recsys.errors import ParameterError
from lbg_recsys.progress import Progress, silent
from lbg_recsys.text._documents import checked_documents, ranked_documents
from lbg_recsys.text._topics import TextTopicModel
from lbg_recsys.text._training import Recipe, posteriors_given

# Entries of the result of `sample` and documents whose parts are held as separate arrays.
_MOST_ENTRIES, _DOCUMENTS_AT_ONCE = 2**31 - 1, 10_000


class FittedMixture(TextTopicModel):
    """The part of `LBGMixture` that reads its fitted attributes and changes nothing.

    The attributes are in the host's layout, topics by words, and in the precision of the documents; `_parameters`,
    `_cross` and `_q` return them as the core needs them.
    """

    weights_: np.ndarray
    keyword_prob_: np.ndarray
    means_: np.ndarray
    variances_: np.ndarray
    n_keywords_: np.ndarray
    cross_means_: np.ndarray
    cross_variances_: np.ndarray
    random_state: Any

    @abstractmethod
    def _recipe(self) -> Recipe:
        """The settings, resolved to numbers."""

    def keywords(self, X: Any) -> sp.csr_array:
        """Find the keywords of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        sparse bool array of shape (n_documents, n_words)
            The indicators x: which words of each document are its keywords.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> model.keywords([[1, 1, 0, 0]]).toarray().tolist()
        [[True, True, False, False]]
        """
        check_is_fitted(self)
        documents = checked_documents(self, X, reset=False)
        chosen = self._choose_keywords(ranked_documents(documents))
        lengths = chosen.lengths
        pointer = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(pointer[-1]) - np.repeat(pointer[:-1], lengths)
        columns = chosen.columns[np.repeat(chosen.start, lengths) + within]
        result = sp.csr_array((np.ones(len(columns), dtype=bool), columns, pointer), shape=documents.shape)
        result.sort_indices()
        return result

    def sample(
        self, n_samples: int = 1, n_words: int = 100, *, progress: Progress = silent
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Draw documents from the model.

        For each document a topic is drawn, then the keywords with the probabilities p_si. The words are drawn in
        proportion to c_si for keywords and c_i for other words. An int ``random_state`` gives the same documents each
        time. The time is proportional to the documents times the words of the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of documents.
        n_words : int, default=100
            Words per document.
        progress : callable, default=silent
            Called as ``progress(done, total, note)`` after every 10,000 documents and at the end.

        Returns
        -------
        X : sparse float array of shape (n_samples, n_words of the model)
            The word counts of the documents. A model that was fitted to tf-idf takes them after the same
            transformation: ``vectorizer.transform`` of texts, ``TfidfTransformer`` of counts.
        topics : int array of shape (n_samples,)
            Their topics.

        Raises
        ------
        ParameterError
            If ``n_samples`` is below 1, ``n_words`` is below 0, or the result could have 2^31 entries or more.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> model = LBGMixture(2, random_state=0).fit(X)
        >>> documents, topics = model.sample(3, n_words=10)
        >>> documents.shape, documents.sum(axis=1).tolist(), topics.shape
        ((3, 4), [10.0, 10.0, 10.0], (3,))
        """
        check_is_fitted(self)
        check_integer("n_samples", n_samples, 1)
        check_integer("n_words", n_words, 0)
        parameters, cross = self._parameters(), self._cross()
        most = _MOST_ENTRIES // max(min(n_words, parameters.n_columns), 1)
        if n_samples > most or n_words > _MOST_ENTRIES:
            raise ParameterError(
                f"{n_samples} documents of {n_words} words are too many at once: ask for at most {most:,} documents "
                f"and {_MOST_ENTRIES:,} words"
            )
        random_state = check_random_state(self.random_state)
        topics = random_state.choice(parameters.n_topics, size=n_samples, p=parameters.lam / parameters.lam.sum())
        blocks = []
        for first in range(0, n_samples, _DOCUMENTS_AT_ONCE):
            block = topics[first : first + _DOCUMENTS_AT_ONCE]
            blocks.append(_drawn(random_state, block, n_words, parameters, cross.mean))
            progress(first + len(block), n_samples, "documents")
        columns, counts, lengths = map(np.concatenate, zip(*blocks, strict=True))
        pointer = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return sp.csr_array((counts, columns, pointer), shape=(n_samples, parameters.n_columns)), topics

    def bic(self, X: Any) -> float:
        """Compute the Bayesian information criterion of the model for documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float
            The criterion; the model with the lowest is preferred.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> found = [LBGMixture(k, random_state=0).fit(X).bic(X) for k in (1, 2)]
        >>> found[0] < found[1]
        True
        """
        likelihood = self.score_samples(X)
        return float(-2.0 * likelihood.sum(dtype=np.float64) + self._n_parameters() * np.log(len(likelihood)))

    def aic(self, X: Any) -> float:
        """Compute the Akaike information criterion of the model for documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents.

        Returns
        -------
        float
            The criterion; the model with the lowest is preferred.

        Examples
        --------
        >>> from lbg_recsys.text import LBGMixture
        >>> X = [[3, 2, 0, 0], [2, 1, 0, 0], [0, 0, 4, 1], [0, 0, 1, 2]]
        >>> found = [LBGMixture(k, random_state=0).fit(X).aic(X) for k in (1, 2)]
        >>> found[0] < found[1]
        True
        """
        return float(-2.0 * self.score_samples(X).sum(dtype=np.float64) + 2.0 * self._n_parameters())

    def _n_parameters(self) -> int:
        k, n = self.keyword_prob_.shape
        return (k - 1) + 3 * k * n + 2 * n

    def _word_weights(self) -> Floats:
        return self.keyword_prob_

    def _posteriors(self, documents: sp.csr_array) -> Floats:
        return self._posteriors_of(ranked_documents(documents))

    def _posteriors_of(self, rows: SparseRows) -> Floats:
        keywords = self._choose_keywords(rows)
        return posteriors_given(keywords, self._parameters(), self._recipe())

    def _log_likelihood(self, documents: sp.csr_array) -> Floats:
        return self._log_likelihood_of(ranked_documents(documents))

    def _log_likelihood_of(self, rows: SparseRows) -> Floats:
        keywords = self._choose_keywords(rows)
        own = logsumexp(log_joint(keywords, self._parameters()), axis=1)
        return own + cross_evidence(rows, keywords, self._cross())

    def _choose_keywords(self, rows: SparseRows) -> SparseRows:
        """The two steps for novel documents: posteriors with each topic's own x_s, then x of the expected size."""
        q = self._q()
        if (q == q[0]).all():  # all x_s are the same, and so is x
            return with_keywords(rows, int(q[0]))
        mu, _ = posterior(log_joint_own_keywords(rows, self._parameters(), q, self._cross()))
        return with_keywords(rows, expected_lengths(mu, q))

    def _parameters(self) -> Parameters:
        """The fitted attributes in the core's layout and precision."""
        lam, p, c, var = (
            np.ascontiguousarray(a.T, dtype=np.float64)
            for a in (self.weights_, self.keyword_prob_, self.means_, self.variances_)
        )
        return Parameters(lam, np.clip(p, P_MARGIN, 1.0 - P_MARGIN), c, var)

    def _cross(self) -> CrossGaussians:
        return CrossGaussians(self.cross_means_.astype(np.float64), self.cross_variances_.astype(np.float64))

    def _q(self) -> Ints:
        return np.asarray(self.n_keywords_, dtype=np.int64)


def _drawn(
    random_state: np.random.RandomState, topics: Ints, n_words: int, parameters: Parameters, others: Floats
) -> tuple[Codes, Floats, Ints]:
    """Documents of some topics: the columns of their words, how often each occurs, and how many each document has.

    ``others`` are the means of words that are not keywords.
    """
    shares, means = np.ascontiguousarray(parameters.p.T), np.ascontiguousarray(parameters.c.T)
    columns, counts, lengths = [], [], np.empty(len(topics), dtype=np.int64)
    for row, s in enumerate(topics):
        chosen = random_state.uniform(size=len(others)) < shares[s]
        die = np.where(chosen, means[s], others).clip(min=0.0)
        total = die.sum()
        die = die / total if total > 0.0 else np.full(len(die), 1.0 / len(die))
        drawn = random_state.multinomial(n_words, die)
        (words,) = drawn.nonzero()
        columns.append(words.astype(np.int32))
        counts.append(drawn[words].astype(np.float64))
        lengths[row] = len(words)
    return np.concatenate(columns), np.concatenate(counts), lengths
