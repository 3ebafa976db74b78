"""How good are the lists? NDCG@10 and recall@10 on MovieLens-100K, beside EASE, implicit, cornac and popularity.

A user counts who has a test rating of at least 4; candidates are all items but the user's training items; relevance
is binary. Every model (`benchmarks.ranking_models`) is fitted once per fold and makes lists by each of its criteria.
"""

import time

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import measure_models
from benchmarks.ranking_models import CRITERIA, LENGTH, LIKED, SEED, all_models
from benchmarks.records import OURS
from lbg_recsys.evaluation import metrics
from lbg_recsys.ratings import as_matrix


def judge(scores, matrix, test):
    """Mean NDCG and recall over the users with a liked test item."""
    scores = np.array(scores, dtype=float)
    relevant = {}
    liked = test[test["rating"] >= LIKED]
    users, items = matrix.users.codes(liked["user"]), matrix.items.codes(liked["item"])
    for user, item in zip(users.tolist(), items.tolist(), strict=True):
        if user >= 0:
            relevant.setdefault(user, set()).add(item)  # an item unknown to training (-1) counts as missed
    for user in range(matrix.n_users):
        scores[user, matrix.seen(user)] = -np.inf
    ranked = metrics.top_n(scores, LENGTH)
    pairs = [(ranked[user].tolist(), items) for user, items in relevant.items()]
    return {
        "ndcg": float(np.mean([metrics.ndcg_at(LENGTH, *pair) for pair in pairs])),
        "recall": float(np.mean([metrics.recall_at(LENGTH, *pair) for pair in pairs])),
    }


def measure(model, matrix, test):
    """Criterion -> measures, all of them from one fit."""
    started = time.process_time()
    scores = model.fit(matrix)
    fit_s = time.process_time() - started
    rows = {}
    for criterion in CRITERIA if model.by == OURS else ("",):
        started = time.process_time()
        found = scores(criterion)
        list_s = time.process_time() - started
        rows[criterion] = judge(found, matrix, test) | {"fit_s": fit_s, "list_s": list_s}
    return rows


def random(record, work):
    """All models on the random folds."""
    trials = {fold: (as_matrix(train, scale=(1, 5)), test) for fold, (train, test) in work.random_folds().items()}
    measure_models(record, "random", all_models(work), trials, measure)


BENCHMARK = Benchmark(
    name="topn",
    what="Top-10 lists on MovieLens-100K",
    module="benchmarks.bench_topn",
    data=("ml-100k",),
    seeds=(SEED,),
    libraries=("implicit", "cornac"),
    parts={"random": Part(random, timed=True)},
)

if __name__ == "__main__":
    BENCHMARK.main()
