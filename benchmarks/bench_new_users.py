"""What does a new user of Bayesian LBG wait for? Folding in, one prediction, a list; and everybody's lists.

MovieLens-100K in full, the default model, CPU milliseconds on one core. New users are training users with about as
many ratings as the row says. "Once per model" is the first fold-in less a second one, with everything compiled.
"""

import copy
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import best_seconds
from lbg_recsys import BayesianLBGModel

AMOUNTS = (20, 100, 300, 700)


def ratings_of(matrix, user):
    """A user's ratings as `fold_in` takes them."""
    values = matrix.values[matrix.rows.indptr[user] : matrix.rows.indptr[user + 1]]
    return dict(zip(matrix.items.raws(matrix.seen(user)), values, strict=True))


def milliseconds(work):
    """What is done -> CPU milliseconds."""
    short = work.size({}, {"n_sweeps": 15, "burn_in": 5})
    model = BayesianLBGModel(random_state=0, **short).fit(work.ratings)
    nobody_yet = copy.deepcopy(model)
    matrix = model.matrix
    lengths = matrix.rows.lengths
    users = [int(np.abs(lengths - amount).argmin()) for amount in AMOUNTS]
    given = {int(lengths[user]): ratings_of(matrix, user) for user in users}
    usual = list(given)[min(1, len(given) - 1)]
    folded = model.fold_in(given[usual])
    folded.predict(matrix.items.raw(0)), folded.recommend()  # compiles
    (first,) = best_seconds(lambda: nobody_yet.fold_in(given[usual]), repeats=1)
    folding = best_seconds(*(partial(model.fold_in, ratings) for ratings in given.values()))
    seconds = {f"fold in a user with {n} ratings": spent for n, spent in zip(given, folding, strict=True)}
    seconds["once per model"] = first - seconds[f"fold in a user with {usual} ratings"]
    seconds["predict one item of a new user"] = best_seconds(lambda: folded.predict(matrix.items.raw(0)))[0]
    seconds["list ten items for a new user"] = best_seconds(folded.recommend)[0]
    everybody = list(matrix.users)
    (seconds["list ten items for all users"],) = best_seconds(
        lambda: list(model.recommend_blocks(everybody, 10)), repeats=2
    )
    return {name: 1000.0 * spent for name, spent in seconds.items()}


def new_users(record, work):
    """One row: all figures are of the same fit."""
    record.row("new_users", "bayesian (Bayesian LBG, 4 chains)", "", partial(milliseconds, work))


BENCHMARK = Benchmark(
    name="new_users",
    what="New users of Bayesian LBG, CPU milliseconds",
    module="benchmarks.bench_new_users",
    data=("ml-100k",),
    seeds=(0,),
    parts={"new_users": Part(new_users, timed=True)},
)

if __name__ == "__main__":
    BENCHMARK.main()
