"""The constants of the choice part, chosen on inner splits of training data of four data sets.

One constant at a time is moved from the defaults of `ChoiceModel`; the power of P(liked) is tried with each. The
score is NDCG@10 relative to that of the defaults, averaged over the splits of a data set and then over data sets.
"""

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.list_data import SEED, Split
from lbg_recsys.ratings.choice import Choices
from lbg_recsys.ratings.settings import ChoiceSettings

SPLITS = [("ml-100k", 0), ("ml-100k", 1), ("filmtrust", 0), ("filmtrust", 1), ("ml-1m", 0), ("ciao", 0)]
DEFAULTS = {"grade": 0.6, "user_power": 0.5, "penalty": 350.0, "item_power": 0.25}
GRID = {
    "grade": (0.3, 0.45, 0.8, 1.0),
    "user_power": (0.0, 0.25, 0.75),
    "penalty": (100.0, 200.0, 500.0, 700.0),
    "item_power": (0.0, 0.4, 0.6),
}
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def settings():
    """The defaults, and each constant moved alone."""
    yield DEFAULTS
    for name, values in GRID.items():
        for value in values:
            yield DEFAULTS | {name: value}


def measure(split, options):
    """NDCG@10 and recall@10 by power of P."""
    scores = np.maximum(Choices(split.matrix, ChoiceSettings(**options)).scores(split.matrix, split.users), 1e-9)
    probability = split.probability
    found = {power: split.judge(scores * probability**power) for power in POWERS}
    return {f"{name}, power {power}": row[name] for power, row in found.items() for name in row}


def moves(record, work):
    """A row per setting and inner split."""
    names = {str(options): options for options in work.size(list(settings()), list(settings())[:2])}
    for name, number in work.size(SPLITS, SPLITS[:1]):
        split = Split(work, name, "inner", number)
        for row, options in names.items():
            record.row("moves", row, f"{name} {number}", lambda s=split, o=options: measure(s, o), settings=options)
    record.finish("moves", names)


BENCHMARK = Benchmark(
    name="tune_choice",
    what="Constants of the choice part, tried on inner splits of training data",
    module="benchmarks.tune_choice",
    data=("ml-100k", "ml-1m", "filmtrust", "ciao"),
    seeds=(SEED,),
    parts={"moves": Part(moves)},
)

if __name__ == "__main__":
    BENCHMARK.main()
