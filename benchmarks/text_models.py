"""The models that cluster text, ours and the rivals', each made from a seed, and the matrix that each reads."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

from benchmarks.records import OURS
from lbg_recsys.text import PLSI, LBGMixture, MixtureOfUnigrams

LITERAL = {
    "n_keywords": "paper",
    "length_temper": None,
    "prior_p": 0,
    "prior_gauss": 0,
    "init": "random",
    "max_iter": 30,
}
TOGETHER = {"n_init": 8, "combine": "consensus"}


class SphericalKMeans:
    """Ten iterations of k-means on the unit sphere, seeded by k-means++: how our mixtures start, as a rival."""

    def __init__(self, n_clusters, random_state):
        self.n_clusters, self.random_state = n_clusters, random_state

    def fit(self, X):
        units = normalize(X)
        _, chosen = kmeans_plusplus(units, self.n_clusters, random_state=np.random.RandomState(self.random_state))
        self.centres_ = units[chosen].toarray()
        for _ in range(10):
            labels = self.transform(X).argmax(axis=1)
            for cluster in np.unique(labels):
                total = np.asarray(units[labels == cluster].sum(axis=0)).reshape(1, -1)
                self.centres_[cluster] = normalize(total)
        return self

    def transform(self, X):
        return normalize(X) @ self.centres_.T


class TextModel(NamedTuple):
    """A class with its settings, and the name of the matrix it reads (`newsgroup_matrices`)."""

    kind: Callable[..., Any]
    settings: dict[str, Any]
    matrix: str = "tfidf"

    @property
    def by(self):
        return OURS if self.kind.__module__.startswith("lbg_recsys") else "scikit-learn"

    def described(self):
        """For the record: settings in a form that JSON has."""
        values = {name: str(value) if value == np.inf else value for name, value in self.settings.items()}
        return {"model": self.kind.__name__, "matrix": self.matrix, **values}

    def make(self, n_topics, seed):
        return self.kind(n_topics, random_state=seed, **self.settings)


def newsgroup_models():
    """Every model by its name."""
    lbg, mou = LBGMixture, MixtureOfUnigrams
    return {
        "LBG, consensus of 8 starts (recommended)": TextModel(lbg, TOGETHER),
        "LBG, one start (defaults)": TextModel(lbg, {}),
        "LBG, one start, no Gaussian part": TextModel(lbg, {"prior_gauss": np.inf}),
        "LBG, one start, prior_gauss=100": TextModel(lbg, {"prior_gauss": 100}),
        "LBG, one start, prior_gauss=100, values not normalised": TextModel(lbg, {"prior_gauss": 100}, "raw"),
        "LBG, one start, Bernoulli evidence": TextModel(lbg, {"evidence": "bernoulli"}),
        "LBG, one start, no temper": TextModel(lbg, {"length_temper": None}),
        "LBG, one random start": TextModel(lbg, {"init": "random"}),
        "LBG, the paper's algorithm": TextModel(lbg, LITERAL, "plain"),
        "mixture of unigrams, one start": TextModel(mou, {"prior": 300}),
        "mixture of unigrams, consensus of 8": TextModel(mou, {"prior": 300, **TOGETHER}),
        "mixture of unigrams, tempered, one start": TextModel(mou, {"prior": 200, "length_temper": 5}, "raw"),
        "mixture of unigrams, tempered, consensus of 8": TextModel(
            mou, {"prior": 200, "length_temper": 5, **TOGETHER}, "raw"
        ),
        "mixture of unigrams, counts, random start": TextModel(mou, {"init": "random"}, "counts"),
        "spherical k-means (the start)": TextModel(SphericalKMeans, {}),
        "pLSI, counts": TextModel(PLSI, {}, "counts"),
        "LDA (scikit-learn, online, 5 passes)": TextModel(
            LatentDirichletAllocation, {"learning_method": "online", "max_iter": 5}, "counts"
        ),
    }


def newsgroup_matrices(train, test):
    """Name -> (training, test) matrix; the vocabulary and idf come from the training documents."""
    words = {"stop_words": "english", "min_df": 5}
    vectorizers = {
        "tfidf": TfidfVectorizer(sublinear_tf=True, **words),
        "raw": TfidfVectorizer(sublinear_tf=True, norm=None, **words),
        "plain": TfidfVectorizer(**words),
        "counts": CountVectorizer(dtype=np.float64, **words),
    }
    return {name: (v.fit_transform(train), v.transform(test)) for name, v in vectorizers.items()}
