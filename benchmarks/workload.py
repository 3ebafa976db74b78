"""The data that benchmarks work on: public data sets, or small generated ones that take the same path."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lbg_recsys.algorithms import to_surprise
from lbg_recsys.datasets import (
    MovieLens100K,
    dataset_info,
    load_20newsgroups,
    load_movielens_100k,
    load_sample,
    load_spambase,
)

OFFICIAL = ("u1", "u2", "u3", "u4", "u5")
COLUMNS = ["user", "item", "rating"]
DAY = 86400


class Labelled(NamedTuple):
    """Generated documents with their classes, by the names that the loaders use."""

    data: Any
    target: np.ndarray


class Workload:
    """Data and sizes of one run.

    Parameters
    ----------
    quick : bool, default=False
        Replace the public data sets by small generated ones, and every size by its small one.
    """

    def __init__(self, quick=False):
        self.quick = quick

    def size(self, full, quick):
        """The first value, or the second one in a quick run."""
        return quick if self.quick else full

    def checksums(self, names):
        """SHA-256 of the main file of each data set, by file name."""
        mains = [dataset_info(name).main for name in self.size(names, ("sample",))]
        return {main.name: main.sha256 for main in mains}

    # -- ratings ---------------------------------------------------------------------------------------------

    @cached_property
    def movielens(self):
        """MovieLens-100K, or the shipped sample in its form."""
        if not self.quick:
            return load_movielens_100k()
        sample = load_sample()
        ratings = sample.ratings.sample(frac=1.0, random_state=0, ignore_index=True)
        ratings["timestamp"] = np.random.default_rng(0).integers(0, 90 * DAY, len(ratings))
        return MovieLens100K(**vars(sample) | {"ratings": ratings})

    @property
    def ratings(self):
        """All ratings: user, item, rating."""
        return self.movielens.ratings[COLUMNS]

    @cached_property
    def surprise_folds(self):
        """(trainset, testset) of Surprise's KFold(n_splits=5, random_state=0)."""
        from surprise.model_selection import KFold

        return list(KFold(n_splits=5, random_state=0, shuffle=True).split(to_surprise(self.movielens)))

    def random_folds(self, quick=1):
        """The same folds as (train, test) tables by the number of the fold; ``quick`` of them in a quick run."""
        return {
            str(number): (
                pd.DataFrame(trainset.build_testset(), columns=COLUMNS),
                pd.DataFrame(testset, columns=COLUMNS),
            )
            for number, (trainset, testset) in enumerate(self.surprise_folds[: self.size(5, quick)])
        }

    def official_folds(self):
        """The splits u1..u5 that come with the data, as (train, test) tables; only u1 in a quick run."""
        names = OFFICIAL[: self.size(5, 1)]
        return {name: tuple(part[COLUMNS] for part in self.movielens.split(name)) for name in names}

    # -- text ------------------------------------------------------------------------------------------------

    @property
    def n_groups(self):
        """The number of newsgroups."""
        return self.size(20, 3)

    def newsgroups(self, subset):
        """20 Newsgroups, or generated documents of three groups, each with words of its own."""
        if not self.quick:
            return load_20newsgroups(subset=subset)
        rng = np.random.default_rng({"train": 1, "test": 2, "all": 3}[subset])
        target = rng.permutation(np.arange(90) % self.n_groups)
        texts = []
        for group in target:
            ranks = np.minimum(rng.geometric(0.1, rng.integers(20, 60)), 30)
            own = rng.random(len(ranks)) < 0.5
            texts.append(
                " ".join(f"group{group}x{r}" if o else f"common{r}" for r, o in zip(ranks, own, strict=True))
            )
        return Labelled(texts, target)

    @cached_property
    def spambase(self):
        """Spambase, or 120 generated e-mails of 20 frequencies, the first ten more frequent in spam."""
        if not self.quick:
            return load_spambase()
        rng = np.random.default_rng(0)
        target = np.arange(120) % 2
        odds = np.where((np.arange(20) < 10) == target[:, np.newaxis], 0.5, 0.15)
        data = rng.exponential(1.0, odds.shape) * (rng.random(odds.shape) < odds)
        return Labelled(data, target)
