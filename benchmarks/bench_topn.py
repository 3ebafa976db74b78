"""How good are the lists? NDCG@10 and recall@10 on MovieLens-100K, beside EASE, implicit and popularity.

A user counts who has a test rating of at least 4; candidates are all items but the user's training items; relevance
is binary. Rivals' settings are those of public benchmarks, ours the defaults unless the name says otherwise.

    python -m benchmarks.bench_topn
"""

import time
import warnings

import numpy as np
import scipy.sparse as sp

from benchmarks.common import RESULTS, movielens_checksum, progress_bar, random_folds
from lbg_recsys.evaluation import metrics
from lbg_recsys.evaluation.report import record, write_json
from lbg_recsys.ratings import LBGModel, as_matrix
from lbg_recsys.ratings.recommend import top_n

LENGTH = 10
LIKED = 4.0


def indicator(matrix, least=0.0):
    """Users x items, 1 where a rating of at least ``least`` stands."""
    keep = matrix.values >= least
    shape = (matrix.n_users, matrix.n_items)
    return sp.csr_matrix((np.ones(keep.sum()), (matrix.user_codes()[keep], matrix.items_of[keep])), shape)


def popularity(matrix):
    """Everybody gets what most people rated."""
    return np.tile(np.asarray(indicator(matrix).sum(axis=0)), (matrix.n_users, 1))


def ease(ridge, least):
    """Steck (2019): the item-item regression with a zero diagonal, in closed form."""

    def scores(matrix):
        x = indicator(matrix, least)
        precision = np.linalg.inv((x.T @ x).toarray() + ridge * np.eye(matrix.n_items))
        weights = precision / -np.diag(precision)
        np.fill_diagonal(weights, 0.0)
        return x @ weights

    return scores


def implicit_model(make):
    """A model of the implicit library, trained on who rated what."""

    def scores(matrix):
        model = make()
        x = indicator(matrix)
        model.fit(x, show_progress=False)
        if hasattr(model, "user_factors"):
            return np.asarray(model.user_factors @ model.item_factors.T)
        return np.asarray((x @ model.similarity).todense())

    return scores


def lbg(by, n_topics, n_init=1):
    """The lists of LBGModel, best item highest."""

    def scores(matrix):
        model = LBGModel(n_topics=n_topics, random_state=0, n_init=n_init).fit(matrix)
        return listed(model, matrix, by)

    return scores


def bayesian(by):
    """The lists of Bayesian LBG with one chain per orientation."""

    def scores(matrix):
        from lbg_recsys.ratings import BayesianLBGModel

        model = BayesianLBGModel(random_state=0, likelihood="ordinal").fit(matrix)
        return listed(model, matrix, by)

    return scores


def listed(model, matrix, by):
    """A model's own recommendations as scores: what it lists first scores highest."""
    table = np.full((matrix.n_users, matrix.n_items), -np.inf)
    for block in model.recommend_blocks(list(matrix.users), LENGTH, by=by):
        users, items = matrix.users.codes(block["user"]), matrix.items.codes(block["item"])
        table[users, items] = -block["rank"].to_numpy(dtype=float)
    return table


def contestants():
    """Name -> function from a training matrix to scores; rivals that are not installed are named."""
    table = {
        "popularity": popularity,
        "EASE, lambda 200, ratings >= 4": ease(200.0, LIKED),
        "EASE, lambda 500, all ratings": ease(500.0, 0.0),
        "LBG, 20 topics, liked": lbg("liked", 20),
        "LBG, 20 topics, rated": lbg("rated", 20),
        "LBG, 20 topics, best of 10, liked": lbg("liked", 20, n_init=10),
        "Bayesian LBG, liked": bayesian("liked"),
        "Bayesian LBG, rated": bayesian("rated"),
    }
    missing = []
    try:
        from implicit.als import AlternatingLeastSquares
        from implicit.nearest_neighbours import BM25Recommender
    except ImportError:
        missing.append("implicit is not installed: pip install 'lbg-recsys[bench]'")
    else:
        table["implicit ALS, 64 factors"] = implicit_model(
            lambda: AlternatingLeastSquares(factors=64, regularization=10.0, random_state=0, num_threads=1)
        )
        table["implicit BM25, K 500"] = implicit_model(lambda: BM25Recommender(K=500, num_threads=1))
    return table, missing


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
    ranked = top_n(scores, LENGTH)
    pairs = [(ranked[user].tolist(), items) for user, items in relevant.items()]
    return {
        "ndcg": float(np.mean([metrics.ndcg_at(LENGTH, *pair) for pair in pairs])),
        "recall": float(np.mean([metrics.recall_at(LENGTH, *pair) for pair in pairs])),
    }


def main():
    """Measure over the five random folds and write benchmarks/results/topn.json."""
    warnings.simplefilter("ignore")
    table, missing = contestants()
    folds = random_folds()
    rows = {name: [] for name in table}
    with progress_bar("top-N") as progress:
        for number, (train, test) in enumerate(folds):
            matrix = as_matrix(train, scale=(1, 5))
            for place, (name, scores) in enumerate(table.items(), 1):
                started = time.process_time()
                found = scores(matrix)
                spent = time.process_time() - started
                rows[name].append(judge(found, matrix, test) | {"seconds": spent})
                progress(number * len(table) + place, len(folds) * len(table), name)
    results = {
        name: {key: float(np.mean([one[key] for one in measured])) for key in measured[0]} | {"folds": measured}
        for name, measured in rows.items()
    }
    write_json(
        RESULTS / "topn.json",
        record(
            "Top-10 lists on MovieLens-100K",
            "python -m benchmarks.bench_topn",
            {"models": results, "missing": missing},
            data=movielens_checksum(),
            seeds=[0],
            rivals=["implicit"],
        ),
    )
    for name, figures in sorted(results.items(), key=lambda item: -item[1]["ndcg"]):
        print(
            f"{name:36s} NDCG@10 {figures['ndcg']:.3f}  recall@10 {figures['recall']:.3f}  {figures['seconds']:.1f} s"
        )


if __name__ == "__main__":
    main()
