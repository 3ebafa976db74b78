"""Inner splits of training data, and single chains run on them: settings are chosen by these, not by test folds."""

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.bayesian_extensions import predict_beyond
from benchmarks.bayesian_variants import Variant
from benchmarks.workload import DAY
from lbg_recsys.core.gibbs.chain import ChainSettings
from lbg_recsys.core.gibbs.chains import Run
from lbg_recsys.core.gibbs.draws import Draws
from lbg_recsys.core.gibbs.kinds import Likelihood, Side
from lbg_recsys.core.gibbs.predict_pairs import predict
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.bayesian.standardise import INDICATOR_WEIGHT, Standard
from lbg_recsys.ratings.bayesian.training import entries_of

KEPT = 64


class Split:
    """The training part of a random fold, split 90/10 once more; from number 5 on the folds are split again."""

    def __init__(self, work, number):
        train = work.random_folds(quick=5)[str(number % 5)][0]
        table = train.merge(work.movielens.ratings[["user", "item", "timestamp"]])
        table = table.sample(frac=1.0, random_state=number, ignore_index=True)
        self.test, self.train = table.iloc[: len(table) // 10], table.iloc[len(table) // 10 :]
        self.matrix = RatingMatrix.from_arrays(self.train.user, self.train.item, self.train.rating, scale=(1, 5))
        self.standard = Standard.of(self.matrix)
        self.levels = self.matrix.scale.levels
        self.truth = self.test.rating.to_numpy(float)
        self.test_users, self.test_items = self.codes(self.test)
        self._entries = {side: entries_of(self.matrix, self.standard, side) for side in Side}

    def codes(self, table):
        """(users, items) of a table, -1 where training did not meet them."""
        return self.matrix.users.codes(table.user), self.matrix.items.codes(table.item)

    def entries(self, side):
        """The ratings of a chain with these rows, and the level of each."""
        return self._entries[side]

    def pairs(self, side):
        """(rows, columns) of the test pairs."""
        return side.rows_and_columns(self.test_users, self.test_items)

    def groups(self, name, side):
        """Codes of user and day or of item and month: of every entry, in the chain's order, and of test pairs."""
        users, items = self.codes(self.train)
        key, test = (self._group(name, table) for table in (self.train, self.test))
        rows, columns = side.rows_and_columns(users, items)
        key = key[np.lexsort((columns, rows))]
        known, train = np.unique(key, return_inverse=True)
        code = np.searchsorted(known, test).clip(max=len(known) - 1)
        return train, np.where(known[code] == test, code, -1)

    def _group(self, name, table):
        who, length = {"user_day": (table.user, DAY), "item_month": (table.item, 30 * DAY)}[name]
        return who.to_numpy() * 10**6 + table.timestamp.to_numpy() // length


@dataclass(frozen=True)
class Family:
    """Chains that differ only in orientation, likelihood and seed."""

    chain: type = Variant
    settings: dict = field(default_factory=dict)
    weight: float = 1.0  # of the indicator evidence, times the default
    sweeps: int = 160
    burn_in: int = 50

    def run(self, split, side, likelihood, seed):
        """One chain: level probabilities and expected ratings of the test pairs, and CPU seconds."""
        started = time.process_time()
        settings = ChainSettings(
            likelihood=likelihood,
            side=side,
            indicator_weight=self.weight * INDICATOR_WEIGHT[side],
            # the reference is what the model was before it had them
            **{"own_cuts": False} | self.settings,
        )
        stream = [seed, side is Side.USERS, likelihood is Likelihood.ORDINAL]
        chain = self.chain(split, settings, np.random.SeedSequence(stream))
        nothing = np.zeros(1, np.int64)
        run = Run(chain, nothing, nothing, KEPT, -(-(self.sweeps - self.burn_in) // KEPT), True)
        beyond = []
        for sweep in range(self.sweeps):
            kept = len(run.kept)
            run.step(sweep >= self.burn_in)
            if len(run.kept) > kept:
                beyond.append(chain.beyond())
        if beyond[0] is None:
            draws = Draws.joined(run.kept)
            sums = predict(draws, split.test_users, split.test_items, side, split.standard.levels)
        else:
            rows, columns = split.pairs(side)
            sums = predict_beyond(run.kept, beyond, rows, columns, split.standard.levels)
        probability, mean = (total / len(run.kept) for total in sums)
        return {
            "probability": probability.astype(np.float32),
            "mean": split.standard.raw(mean).astype(np.float32),
            "cpu_s": np.array(time.process_time() - started),
        }
