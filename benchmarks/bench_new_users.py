"""What does a new user of Bayesian LBG wait for? Folding in, one prediction, a list; and everybody's lists.

MovieLens-100K in full, the default model, CPU milliseconds on one core. New users are training users with about as
many ratings as the row says. "Once for a model" is the first fold-in less a second one, with everything compiled.

    python -m benchmarks.bench_new_users
"""

from functools import partial

import numpy as np

from benchmarks.common import RESULTS, best_seconds, movielens_checksum
from lbg_recsys import BayesianLBGModel
from lbg_recsys.datasets import load_movielens_100k
from lbg_recsys.evaluation.report import record, write_json

AMOUNTS = (20, 100, 300, 700)


def ratings_of(matrix, user):
    """A user's ratings as `fold_in` takes them."""
    values = matrix.values[matrix.rows.indptr[user] : matrix.rows.indptr[user + 1]]
    return dict(zip(matrix.items.raws(matrix.seen(user)), values, strict=True))


def main():
    """Measure, print, write benchmarks/results/new_users.json."""
    model = BayesianLBGModel(random_state=0).fit(load_movielens_100k().ratings[["user", "item", "rating"]])
    matrix = model.matrix
    lengths = matrix.rows.lengths
    users = [int(np.abs(lengths - amount).argmin()) for amount in AMOUNTS]
    given = {int(lengths[user]): ratings_of(matrix, user) for user in users}
    usual = given[100]
    folded = model.fold_in(usual)
    folded.predict(matrix.items.raw(0)), folded.recommend()  # compiles
    model._know_users()  # as if nobody had been folded in yet
    (first,) = best_seconds(lambda: model.fold_in(usual), repeats=1)
    folding = best_seconds(*(partial(model.fold_in, ratings) for ratings in given.values()))
    seconds = {f"fold in a user with {n} ratings": spent for n, spent in zip(given, folding, strict=True)}
    seconds["once for a model"] = first - seconds["fold in a user with 100 ratings"]
    seconds["predict one item of a new user"] = best_seconds(lambda: folded.predict(matrix.items.raw(0)))[0]
    seconds["list ten items for a new user"] = best_seconds(folded.recommend)[0]
    everybody = list(matrix.users)
    seconds["list ten items for all 943 users"] = best_seconds(
        lambda: list(model.recommend_blocks(everybody, 10)), repeats=2
    )[0]
    results = {name: 1000.0 * spent for name, spent in seconds.items()}
    command = "python -m benchmarks.bench_new_users"
    write_json(
        RESULTS / "new_users.json",
        record("New users of Bayesian LBG, CPU milliseconds", command, results, data=movielens_checksum(), seeds=[0]),
    )
    print(results)


if __name__ == "__main__":
    main()
