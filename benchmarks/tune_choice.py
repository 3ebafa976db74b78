"""The constants of the choice part, chosen on inner splits of training data of three data sets.

``moves``: one constant at a time is moved from the defaults of `ChoiceModel`; the power of P(liked) is tried with
each. The figures are NDCG@10 and recall@10 of training users.

``new users``: training users are left out and folded in with 1 to 35 of their ratings; the test users of
``bench_topn`` are not among them. Each weight of what the user's items alone predict (`lbg_recsys.core.few_items`) is
tried at each length, beside the rule n^-1/2, and each weight of the average user's cells with the rule.
"""

import numpy as np

from benchmarks.benchmark import Benchmark, Part
from benchmarks.list_data import SEED, Split
from benchmarks.list_trials import InnerNewUsers
from lbg_recsys.core.few_items import weight_of_few
from lbg_recsys.evaluation import lists
from lbg_recsys.ratings import choice_scores
from lbg_recsys.ratings.choice_scores import Choices
from lbg_recsys.ratings.settings import ChoiceSettings

SPLITS = [("ml-100k", 0), ("ml-100k", 1), ("filmtrust", 0), ("filmtrust", 1), ("ml-1m", 0)]
DEFAULTS = {"grade": 0.6, "user_power": 0.5, "penalty": None, "item_power": 0.25}
GRID = {
    "grade": (0.3, 0.45, 0.8, 1.0),
    "user_power": (0.0, 0.25, 0.75),
    "penalty": (100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 420.0, 500.0, 700.0, 1000.0, 1400.0),
    "item_power": (0.0, 0.4, 0.6),
}
POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
NEW = [("ml-100k", 0), ("ml-100k", 1), ("filmtrust", 0), ("filmtrust", 1), ("ml-1m", 0)]
LENGTHS = (1, 2, 3, 5, 10, 20, 35)
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
AVERAGES = (0.0, 0.03, 0.3, 1.0)


def settings():
    """The defaults, and each constant moved alone."""
    yield DEFAULTS
    for name, values in GRID.items():
        for value in values:
            yield DEFAULTS | {name: value}


def measure(split, options):
    """NDCG@10 and recall@10 by power of P."""
    scores = np.maximum(Choices.of(split.matrix, ChoiceSettings(**options)).scores(split.matrix, split.users), 1e-9)
    probability = split.probability
    found = {power: split.evaluate(scores * probability**power) for power in POWERS}
    return {f"{name}, power {power}": row[name] for power, row in found.items() for name in row}


def moves(record, work):
    """A row per setting and inner split."""
    names = {str(options): options for options in work.size(list(settings()), list(settings())[:2])}
    for name, number in work.size(SPLITS, SPLITS[:1]):
        split = Split(work, name, "inner", number)
        for row, options in names.items():
            record.row("moves", row, f"{name} {number}", lambda s=split, o=options: measure(s, o), settings=options)
    record.finish("moves", names)


def rules():
    """The rule, other weights of the user's items alone, and other weights of the average, as functions of n."""
    yield "n ** -0.5, average 0.1", weight_of_few, choice_scores.AVERAGE
    for weight in WEIGHTS:
        yield f"{weight}, average 0.1", (lambda n, weight=weight: weight if n else 0.0), choice_scores.AVERAGE
    for average in AVERAGES:
        yield f"n ** -0.5, average {average}", weight_of_few, average


def measure_new(trial, weight, average):
    """NDCG@10 by the length of the history, with another rule."""
    kept = choice_scores.weight_of_few, choice_scores.AVERAGE
    choices = Choices.of(trial.train)
    choice_scores.weight_of_few, choice_scores.AVERAGE = weight, average
    try:
        return trial.evaluate(
            lambda histories: lists.lister_of_scores(
                lambda users: choices.scores(histories, users, new=True), histories
            ),
            LENGTHS,
        )
    finally:
        choice_scores.weight_of_few, choice_scores.AVERAGE = kept


def new_users(record, work):
    """A row per rule and data set."""
    names = {name: (weight, average) for name, weight, average in rules()}
    for name, number in work.size(NEW, NEW[:1]):
        trial = InnerNewUsers(work, name, number)
        for row, rule in names.items():
            record.row("new users", row, f"{name} {number}", lambda t=trial, r=rule: measure_new(t, *r), settings={})
    record.finish("new users", names)


BENCHMARK = Benchmark(
    name="tune_choice",
    what="Constants of the choice part, tried on inner splits of training data",
    module="benchmarks.tune_choice",
    data=("ml-100k", "ml-1m", "filmtrust"),
    seeds=(SEED,),
    parts={"moves": Part(moves), "new users": Part(new_users)},
)

if __name__ == "__main__":
    BENCHMARK.main()
