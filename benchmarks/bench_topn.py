"""How good are the lists? Known users of four data sets and new users, beside EASE, implicit, cornac and popularity.

A user counts who has a liked test rating (the upper quarter of the scale); candidates are all items but the user's
training items; relevance is binary. MovieLens-100K and FilmTrust are evaluated on five random folds, MovieLens-1M and
Ciao on the first of five, Ciao by 1,500 users. The Bayesian model is fitted once per fold. Its row also holds the
reliability of the probability that a rating is a liked one, on all test ratings of the fold.

New users are a fifth of the users, left out of training and folded in with 1 to 20 of their ratings, drawn at
random; their other liked items are relevant. Two such fifths of MovieLens-100K and FilmTrust are evaluated, one of
MovieLens-1M.
"""

from benchmarks.benchmark import Benchmark, Part
from benchmarks.common import measure_models
from benchmarks.list_data import SEED
from benchmarks.list_trials import KnownUsers, NewUsers
from benchmarks.ranking_models import for_known_users, for_new_users

FOLDS = {"ml-100k": 5, "filmtrust": 5, "ml-1m": 1, "ciao": 1}
NEW = {"ml-100k": 2, "filmtrust": 2, "ml-1m": 1}


def measure(model, trial):
    """The figures of one model on one fold."""
    lister, fit_s = model.fit(trial)
    row = trial.evaluate(lister) | {"fit_s": fit_s}
    return row | trial.reliability() if model.settings == {"by": "liked"} else row


def known_users(name):
    """A part: lists of all models for the users of a data set."""

    def part(record, work):
        trials = {str(number): (KnownUsers(work, name, number),) for number in range(work.size(FOLDS[name], 1))}
        measure_models(record, name, for_known_users(trials["0"][0].train), trials, measure)

    return part


def new_users(name):
    """A part: lists for new users of a data set."""

    def part(record, work):
        trials = {str(number): (NewUsers(work, name, number),) for number in range(work.size(NEW[name], 1))}
        measure_models(
            record,
            f"new users of {name}",
            for_new_users(),
            trials,
            lambda model, trial: trial.evaluate(model.fit(trial)),
        )

    return part


BENCHMARK = Benchmark(
    name="topn",
    what="Top-10 lists for known and for new users",
    module="benchmarks.bench_topn",
    data=tuple(FOLDS),
    seeds=(SEED,),
    libraries=("implicit", "cornac", "irspack"),
    parts={
        **{name: Part(known_users(name), timed=True) for name in FOLDS},
        **{f"new users of {name}": Part(new_users(name)) for name in NEW},
    },
)

if __name__ == "__main__":
    BENCHMARK.main()
