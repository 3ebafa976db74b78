"""How good are the lists? NDCG@10 and recall@10 on MovieLens-100K, beside EASE, implicit, cornac and popularity.

A user counts who has a test rating of at least 4; candidates are all items but the user's training items; relevance
is binary. Every model (`benchmarks.ranking_models`) is fitted once a fold and lists by each of its criteria. Results
are written after every model and fold, and a further call takes up where the last one ended; a library that is not
installed is left out with a note.

    python -m benchmarks.bench_topn [--fresh]
"""

import argparse
import time
import warnings

import numpy as np

from benchmarks import ranking_models as models
from benchmarks.common import RESULTS, entrants, progress_bar, random_folds
from benchmarks.ranking_models import LENGTH, LIKED
from benchmarks.records import FoldRecord, means
from lbg_recsys.evaluation import metrics
from lbg_recsys.ratings import as_matrix


def contestants():
    """(name, criteria) -> fit, and notes of what is not installed."""
    return entrants(models.always(), implicit=models.implicit_models, cornac=models.cornac_models)


def row_name(model, criterion):
    return f"{model}, {criterion}" if criterion else model


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


def measure(fit, criteria, matrix, test):
    """Criterion -> measures, all of them from one fit."""
    started = time.process_time()
    scores = fit(matrix)
    fit_s = time.process_time() - started
    rows = {}
    for criterion in criteria:
        started = time.process_time()
        found = scores(criterion)
        list_s = time.process_time() - started
        rows[criterion] = judge(found, matrix, test) | {"fit_s": fit_s, "list_s": list_s}
    return rows


def main():
    """Measure over the five random folds what is not in benchmarks/results/topn.json yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fresh", action="store_true", help="start over instead of keeping what was measured")
    options = parser.parse_args()

    warnings.simplefilter("ignore")
    fits, missing = contestants()
    folds = random_folds()
    found = FoldRecord(
        RESULTS / "topn.json",
        "Top-10 lists on MovieLens-100K",
        "python -m benchmarks.bench_topn",
        seeds=[models.SEED],
        rivals=("implicit", "cornac"),
        missing=missing,
        fresh=options.fresh,
    )
    print(found.greeting(), flush=True)
    with progress_bar("top-N") as progress:
        for number, (train, test) in enumerate(folds):
            fold, matrix = f"random {number}", as_matrix(train, scale=(1, 5))
            for place, ((name, criteria), fit) in enumerate(fits.items(), 1):
                if not all(found.has(row_name(name, criterion), fold) for criterion in criteria):
                    for criterion, row in measure(fit, criteria, matrix, test).items():
                        found.add(row_name(name, criterion), fold, row)
                progress(number * len(fits) + place, len(folds) * len(fits), name)
    averages = {name: means(rows.values()) for name, rows in found.results["folds"].items()}
    for name, row in sorted(averages.items(), key=lambda item: -item[1]["ndcg"]):
        print(
            f"{name:42s} NDCG@10 {row['ndcg']:.3f}  recall@10 {row['recall']:.3f}"
            f"  fit {row['fit_s']:.1f} s  lists {row['list_s']:.1f} s"
        )


if __name__ == "__main__":
    main()
