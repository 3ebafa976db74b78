"""What the benchmarks share: the folds, the data's checksum, who takes part, where results go."""

import importlib.util
import sys
import time
from functools import lru_cache
from pathlib import Path

from lbg_recsys.datasets import dataset_info, load_movielens_100k
from lbg_recsys.progress import bar

RESULTS = Path(__file__).parent / "results"
OFFICIAL = ("u1", "u2", "u3", "u4", "u5")


def movielens_checksum():
    """The SHA-256 of the ratings file, as every result states it."""
    main = dataset_info("ml-100k").main
    return {main.name: main.sha256}


@lru_cache(maxsize=1)
def surprise_folds():
    """(trainset, testset) of Surprise's KFold(n_splits=5, random_state=0) on MovieLens-100K."""
    from surprise import Dataset, Reader
    from surprise.model_selection import KFold

    frame = load_movielens_100k().ratings[["user", "item", "rating"]]
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5)))
    return list(KFold(n_splits=5, random_state=0, shuffle=True).split(data))


def random_folds():
    """The same folds as (train, test) tables of user, item and rating."""
    import pandas as pd

    columns = ["user", "item", "rating"]
    return [
        (pd.DataFrame(trainset.build_testset(), columns=columns), pd.DataFrame(testset, columns=columns))
        for trainset, testset in surprise_folds()
    ]


def official_folds():
    """The splits u1..u5 that come with the data, as (train, test) tables."""
    data = load_movielens_100k()
    return [tuple(part[["user", "item", "rating"]] for part in data.split(name)) for name in OFFICIAL]


def entrants(always, **rivals):
    """All models that can take part, and a note for each library that is not installed.

    ``rivals`` maps the name of a library to a function that returns its models, called only where it is installed.
    """
    table, missing = dict(always), []
    for library, models in rivals.items():
        if importlib.util.find_spec(library) is None:
            missing.append(f"{library} is not installed: pip install 'lbg-recsys[bench]'")
        else:
            table |= models()
    return table, missing


def progress_bar(label):
    """A bar where somebody is looking, and nothing otherwise."""
    return bar(label, quiet=not sys.stderr.isatty())


def best_seconds(*actions, repeats=5):
    """The least CPU time of several runs of each action, taken in turn: what the work costs when nothing disturbs it.

    In turn, so that a machine that is busy for a while is busy for all of them. The clock stops when an action
    returns: letting go of what it returned is not its work.
    """
    spent = [[] for _ in actions]
    for _ in range(repeats):
        for action, times in zip(actions, spent, strict=True):
            started = time.process_time()
            result = action()
            times.append(time.process_time() - started)
            del result
    return [min(times) for times in spent]
