"""The paper's text data as matrices: all of 20 Newsgroups, its pairs, Spambase."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

DOCUMENTS_PER_CLASS = 400  # of the pairs, as in the paper
QUICK_DOCUMENTS = 3000


@dataclass(frozen=True)
class Matrices:
    """The same documents in three forms: word counts, tf-idf as in the paper, and sublinear tf-idf (recommended)."""

    counts: Any
    tfidf: Any
    sublinear: Any
    labels: npt.NDArray[np.int64]

    def rows(self, chosen: npt.NDArray[np.int64]) -> "Matrices":
        """Some of the documents."""
        return Matrices(self.counts[chosen], self.tfidf[chosen], self.sublinear[chosen], self.labels[chosen])


def vectorise(texts: list[str], labels: npt.NDArray[np.int64], min_df: int) -> Matrices:
    """A code-book of all words but stop-words that occur in ``min_df`` documents."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    counts = CountVectorizer(stop_words="english", min_df=min_df, dtype=np.float64).fit_transform(texts)
    plain, sublinear = TfidfTransformer(), TfidfTransformer(sublinear_tf=True)
    return Matrices(counts, plain.fit_transform(counts), sublinear.fit_transform(counts), np.asarray(labels))


@lru_cache(maxsize=1)
def all_groups(quick: bool) -> Matrices:
    """All twenty classes, headers stripped; a random part of the documents if ``quick``."""
    from lbg_recsys.datasets import load_20newsgroups

    groups = load_20newsgroups(subset="all")
    chosen = np.arange(len(groups.data))
    if quick:
        chosen = np.random.default_rng(0).permutation(chosen)[:QUICK_DOCUMENTS]
    return vectorise([groups.data[i] for i in chosen], groups.target[chosen], min_df=5)


@lru_cache(maxsize=8)
def pair(first: str, second: str, seed: int) -> Matrices:
    """Two classes, 400 random documents of each, in random order."""
    from lbg_recsys.datasets import load_20newsgroups

    groups = load_20newsgroups(subset="all", categories=[first, second])
    generator = np.random.default_rng(seed)
    chosen = np.concatenate(
        [generator.permutation(np.flatnonzero(groups.target == label))[:DOCUMENTS_PER_CLASS] for label in (0, 1)]
    )
    chosen = generator.permutation(chosen)
    return vectorise([groups.data[i] for i in chosen], groups.target[chosen], min_df=2)


@lru_cache(maxsize=1)
def spambase() -> Matrices:
    """Spambase's 54 frequencies (per cent of all words, so that they serve as counts), and their tf-idf."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    from lbg_recsys.datasets import load_spambase

    loaded = load_spambase()
    counts = csr_matrix(loaded.data)
    plain, sublinear = TfidfTransformer(), TfidfTransformer(sublinear_tf=False)
    return Matrices(
        counts, plain.fit_transform(counts), sublinear.fit_transform(counts), loaded.target.astype(np.int64)
    )


def halves(n: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A random half to train on and the other to test on."""
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])
