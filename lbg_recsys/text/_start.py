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
    weight: Floats | None = None,
) -> np.ndarray:
    """Labels (m,) after a few iterations of k-means on the unit sphere, seeded by k-means++.

    Ten iterations: this is a start, EM does the rest. The seeding is a step too. ``weight`` (m,) is how
    often each document counts.
    """
    directions = normalize(documents)  # in their own precision: float32 suffices for a start
    centres, _ = kmeans_plusplus(directions, n_clusters, sample_weight=weight, random_state=random_state)
    centres = normalize(centres.toarray() if sp.issparse(centres) else centres)
    progress(1, STEPS["kmeans"], "k-means")
    for iteration in range(1, _ITERATIONS + 1):
        labels = (directions @ centres.T).argmax(axis=1)
        members = one_hot(labels, n_clusters) if weight is None else one_hot(labels, n_clusters) * weight[:, None]
        sums = np.asarray((sp.csr_array(members).T @ directions).toarray())
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
    weight: Floats | None = None,
) -> Floats:
    """Posteriors (m, k) to start from: ``"kmeans"``, or ``"random"`` ones, uniform on the simplex."""
    if n_topics == 1:
        return np.ones((documents.shape[0], 1))
    if init == "kmeans":
        return one_hot(spherical_kmeans(documents, n_topics, random_state, progress, weight), n_topics)
    return random_state.dirichlet(np.ones(n_topics), size=documents.shape[0])
