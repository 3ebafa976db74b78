"""Ideas for better clusters of documents, each tried once: fitted to half of the training documents, tested on half.

The labels are used for the test only. What a try is called is what `ideas` shows in docs/text.md.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import train_test_split

from lbg_recsys.core.em.bernoulli_gauss import Prior, column_moments, e_step, gather, log_joint, m_step
from lbg_recsys.core.em.keywords import keyword_counts, ranked, with_keywords
from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.text import LBGMixture

KEYWORDS = 60
ITERATIONS = 50


def tries(by_length):
    """name -> function of the number of topics and a seed that returns (model or fit, what is done to documents)."""
    return {
        "the default": lambda k, seed: (mixture(k, seed), None),
        "best of the starts, no consensus": lambda k, seed: (mixture(k, seed, combine="best"), None),
        "no Gaussian part": lambda k, seed: (mixture(k, seed, prior_gauss=np.inf), None),
        "weak prior of the Gaussians (100)": lambda k, seed: (mixture(k, seed, prior_gauss=100.0), None),
        "the same, values less a document's and a word's own": lambda k, seed: (
            mixture(k, seed, prior_gauss=100.0, n_keywords=None),
            additive,
        ),
        "a prior of p for each word": lambda k, seed: (PriorPerWord(k, seed), None),
        "more keywords in longer documents": lambda k, seed: (mixture(k, seed, n_keywords=None), by_length),
    }


def mixture(k, seed, **settings):
    return LBGMixture(k, **{"n_init": 4, "combine": "consensus", "random_state": seed, **settings})


def largest(X, most):
    """The ``most(n)`` largest values of each document, n being its number of words."""
    X = sp.csr_array(X, copy=True)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((-X.data, row))
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order)) - X.indptr[row]
    X.data[rank >= most(np.diff(X.indptr))[row]] = 0.0
    X.eliminate_zeros()
    return X


def additive(X):
    """Keywords with log m = document + word + rest, and exp(rest) as their values.

    The additive model of ratings on documents: how large the values of a document are, and those of a word, is taken
    out before topics explain the rest.
    """
    X = largest(X, lambda n: np.full(len(n), KEYWORDS))
    row, left = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), np.log(X.data)
    for _ in range(5):
        for place, size in ((row, X.shape[0]), (X.indices, X.shape[1])):
            mean = np.bincount(place, left, size) / np.maximum(np.bincount(place, minlength=size), 1)
            left = left - mean[place]
    return sp.csr_array((np.exp(left), X.indices, X.indptr), shape=X.shape)


class PriorPerWord:
    """A hierarchical prior: the pseudo-documents of each word by how far its rate differs between topics.

    Rates of word i are taken as draws of Beta(a_i r_i, a_i (1 - r_i)); a_i follows from their variance between the
    topics of a first fit, less what sampling explains, within a tenth and ten times the automatic strength.
    """

    def __init__(self, k, seed):
        self.k, self.seed = k, seed

    def fit(self, X):
        first = mixture(self.k, self.seed).fit(X)
        self.n_keywords, self.temper = int(first.n_keywords_[0]), first.length_temper_
        keywords = self.keywords_of(X)
        sums = gather(keywords, np.asarray(first.predict_proba(X)))
        floor = 1e-6 * float(sums.second.sum() / sums.count.sum())
        rate, mean, var = column_moments(sums, floor, 1.0)
        rate = (rate * sums.n_rows + 0.5) / (sums.n_rows + 1.0)
        usual = 0.5 * len(rate) / rate.sum()
        mass = np.maximum(sums.mass, 1.0)
        share, spread = mass / mass.sum(), rate * (1.0 - rate)
        between = ((sums.count / mass - rate[:, None]) ** 2) @ share - spread * ((1.0 / mass) @ share)
        strength = np.clip(spread / np.maximum(between, 1e-300) - 1.0, 0.1 * usual, 10.0 * usual)
        # of draws only the pseudo-counts a_i r_i matter, so that they can stand in for rates
        prior = Prior(np.minimum(rate * strength / usual, 0.99), mean, var, usual, first.prior_gauss, floor)
        beta = np.minimum(1.0, self.temper / np.maximum(keyword_counts(keywords), 1))
        for _ in range(ITERATIONS):
            self.parameters = m_step(sums, prior)
            sums = e_step(keywords, self.parameters, beta, given_count=True)
        return self

    def predict(self, X):
        return log_joint(self.keywords_of(X), self.parameters, given_count=True).argmax(axis=1)

    def keywords_of(self, X):
        X = sp.csr_array(X)
        return with_keywords(ranked(X.indptr, X.indices, X.data, X.shape[1]), self.n_keywords)


def evaluated(attempt, X, labels, seed):
    """Accuracy and NMI on one half of the documents of a model fitted to the other."""
    model, before = attempt
    known, new = train_test_split(np.arange(X.shape[0]), test_size=0.5, random_state=seed, stratify=labels)
    X = sp.csr_array(X) if before is None else before(X)
    found, truth = model.fit(X[known]).predict(X[new]), np.unique(labels[new], return_inverse=True)[1]
    return {
        "accuracy": clustering_accuracy(truth, found),
        "nmi": float(normalized_mutual_info_score(truth, found)),
    }
