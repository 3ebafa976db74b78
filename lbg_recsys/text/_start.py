"""Where EM begins: the first posteriors of the documents."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.preprocessing import normalize

from lbg_recsys.core.blocks import Blocks
from lbg_recsys.core.types import Floats
from lbg_recsys.progress import Progress, silent

_ITERATIONS = 10
_SEEDS = 20_000
# The largest number of steps of a start, by its name.
STEPS = {"kmeans": 1 + _ITERATIONS, "random": 1}


def spherical_kmeans(
    documents: Blocks,
    n_clusters: int,
    random_state: np.random.RandomState,
    progress: Progress = silent,
    weight: Sequence[Floats | None] = (None,),
) -> np.ndarray:
    """Labels (m,) after a few iterations of k-means on the unit sphere, seeded by k-means++.

    Ten iterations: this is a start, EM does the rest. The seeding is a step too. ``weight`` (m,) is how often each
    document counts. Of documents in several blocks, a sample of 20,000 is seeded from.
    """
    directions = documents.mapped(_normalized)  # in their own precision: float32 suffices for a start
    seeds, seeds_weight = _to_seed_from(directions, random_state, weight)
    centres, _ = kmeans_plusplus(seeds, n_clusters, sample_weight=seeds_weight, random_state=random_state)
    centres = normalize(centres.toarray() if sp.issparse(centres) else centres)
    progress(1, STEPS["kmeans"], "k-means")
    for iteration in range(1, _ITERATIONS + 1):
        sums, labels = directions.advance(partial(_assigned, centres=centres), weight)
        filled = sums[:, -1] > 0
        moved = np.where(filled[:, None], normalize(sums[:, :-1]), centres)  # a cluster without documents stays
        if np.array_equal(moved, centres):
            break
        centres = moved
        progress(1 + iteration, STEPS["kmeans"], "k-means")
    return np.concatenate(list(directions.fetch(labels)))


def _normalized(documents: sp.csr_array) -> sp.csr_array:
    return normalize(documents) if documents.shape[0] else documents


def _to_seed_from(
    directions: Blocks, random_state: np.random.RandomState, weight: Sequence[Floats | None]
) -> tuple[sp.csr_array, Floats | None]:
    """All documents, or a sample of them, and how often each counts."""
    n_rows = directions.n_rows
    if len(n_rows) == 1:
        return next(iter(directions.fetch(directions.map(_same)))), weight[0]
    n, ends = int(n_rows.sum()), np.cumsum(n_rows)
    chosen = np.sort(random_state.choice(n, _SEEDS, replace=False)) if n > _SEEDS else np.arange(n)
    own = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    own = [rows - first for rows, first in zip(own, ends - n_rows, strict=True)]
    return sp.vstack(list(directions.fetch(directions.map(_taken, own))), format="csr"), None


def _same(documents: sp.csr_array) -> sp.csr_array:
    return documents


def _taken(documents: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    return documents[rows]


def _assigned(directions: sp.csr_array, weight: Floats | None, centres: Floats) -> tuple[Floats, np.ndarray]:
    """The sums (k, words) of the documents of each cluster, with their numbers as a last column; and the labels."""
    n_clusters = len(centres)
    labels = (directions @ centres.T).argmax(axis=1)
    members = one_hot(labels, n_clusters) if weight is None else one_hot(labels, n_clusters) * weight[:, None]
    sums = np.asarray((sp.csr_array(members).T @ directions).toarray())
    return np.column_stack([sums, np.bincount(labels, minlength=n_clusters)]), labels


def one_hot(labels: np.ndarray, n_topics: int) -> Floats:
    """Certain posteriors (m, k)."""
    mu = np.zeros((len(labels), n_topics))
    mu[np.arange(len(labels)), labels] = 1.0
    return mu


def first_posteriors(
    documents: Blocks,
    n_topics: int,
    init: str,
    random_state: np.random.RandomState,
    progress: Progress = silent,
    weight: Sequence[Floats | None] = (None,),
) -> Floats:
    """Posteriors (m, k) to start from: ``"kmeans"``, or ``"random"`` ones, uniform on the simplex."""
    n_documents = int(documents.n_rows.sum())
    if n_topics == 1:
        return np.ones((n_documents, 1))
    if init == "kmeans":
        return one_hot(spherical_kmeans(documents, n_topics, random_state, progress, weight), n_topics)
    return random_state.dirichlet(np.ones(n_topics), size=n_documents)
