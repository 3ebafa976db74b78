"""Where EM begins: the first posteriors of the documents."""

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.preprocessing import normalize

from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, silent

_ITERATIONS = 10
# The most steps of a start, by its name.
STEPS = {"kmeans": 1 + _ITERATIONS, "random": 1}


def spherical_kmeans(
    documents: sp.csr_array,
    n_clusters: int,
    random_state: np.random.RandomState,
    progress: Progress = silent,
) -> np.ndarray:
    """Labels (m,) after a few iterations of k-means on the unit sphere, seeded by k-means++.

    Ten iterations: this is a start, EM does the rest. The seeding is a step too.
    """
    directions = normalize(documents.astype(np.float64))
    centres, _ = kmeans_plusplus(directions, n_clusters, random_state=random_state)
    centres = normalize(centres.toarray() if sp.issparse(centres) else centres)
    progress(1, STEPS["kmeans"], "k-means")
    for iteration in range(1, _ITERATIONS + 1):
        labels = (directions @ centres.T).argmax(axis=1)
        sums = np.asarray((sp.csr_array(one_hot(labels, n_clusters)).T @ directions).toarray())
        filled = np.bincount(labels, minlength=n_clusters) > 0
        moved = np.where(filled[:, None], normalize(sums), centres)  # a cluster without documents stays
        if np.array_equal(moved, centres):
            break
        centres = moved
        progress(1 + iteration, STEPS["kmeans"], "k-means")
    return labels


def one_hot(labels: np.ndarray, n_topics: int) -> Floats:
    """Certain posteriors (m, k)."""
    mu = np.zeros((len(labels), n_topics))
    mu[np.arange(len(labels)), labels] = 1.0
    return mu


def first_posteriors(
    documents: sp.csr_array,
    n_topics: int,
    init: str,
    random_state: np.random.RandomState,
    progress: Progress = silent,
) -> Floats:
    """Posteriors (m, k) to start from: ``"kmeans"``, or ``"random"`` ones, uniform on the simplex."""
    if init == "kmeans":
        return one_hot(spherical_kmeans(documents, n_topics, random_state, progress), n_topics)
    return random_state.dirichlet(np.ones(n_topics), size=documents.shape[0])
