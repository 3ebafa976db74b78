"""The three small tables of README.md: our best models beside the best model of each of three rival libraries."""

import numpy as np

from benchmarks.names import bold_if_ours
from benchmarks.records import complete_rows, means
from benchmarks.tables import LIST_DATA, accuracy_rows, means_of_new, without_bins
from benchmarks.tables_text import newsgroup_rows, spread
from lbg_recsys.evaluation.report import markdown_table

RATING_LIBRARIES = ("myFM", "cornac", "Surprise")
LIST_LIBRARIES = ("EASE", "implicit", "cornac")
TEXT_RIVALS = ("mixture of unigrams", "spherical k-means", "pLSI", "LDA")
NEW_USER_RATINGS = "5"


def best_first(names, libraries, ours):
    """Of names ordered from best to worst: the first ``ours`` of our own, then the first of each library."""
    own = [name for name in names if "LBG" in name][:ours]
    rivals = [next((name for name in names if name.startswith(library)), None) for library in libraries]
    chosen = {*own, *rivals}
    return [name for name in names if name in chosen]


def ratings(found):
    """MovieLens-100K, random folds."""
    rows = accuracy_rows(found)
    lines = [
        [
            bold_if_ours(name),
            rows[name]["random"]["rmse"],
            rows[name]["official"] and rows[name]["official"]["rmse"],
            rows[name]["random"]["log_score"],
            f"{rows[name]['random']['fit_s']:.1f}",
        ]
        for name in best_first(list(rows), RATING_LIBRARIES, ours=2)
    ]
    return markdown_table(["ratings, MovieLens-100K", "RMSE", "RMSE, u1..u5", "log score", "fit, CPU s"], lines)


def lists(found):
    """NDCG@10 of known users on every data set measured, and of new users of MovieLens-100K."""
    rows = {
        data: {model: means(without_bins(folds))["ndcg"] for model, folds in complete_rows(found, data).items()}
        for data in LIST_DATA
    }
    measured_on = [data for data in LIST_DATA if rows[data]]
    first = rows[measured_on[0]]
    new = {
        model: means_of_new(folds).get(NEW_USER_RATINGS)
        for model, folds in complete_rows(found, f"new users of {measured_on[0]}").items()
    }
    names = sorted(first, key=lambda model: -first[model])
    lines = [
        [bold_if_ours(name), *(rows[data].get(name) for data in measured_on), new.get(name)]
        for name in best_first(names, LIST_LIBRARIES, ours=2)
    ]
    head = [
        "lists, NDCG@10",
        *(LIST_DATA[data] for data in measured_on),
        f"{LIST_DATA[measured_on[0]]}, new users, {NEW_USER_RATINGS} ratings",
    ]
    return markdown_table(head, lines)


def text(found):
    """Clusters of held-out documents of 20 Newsgroups."""
    rows = newsgroup_rows(found)
    names = sorted(rows, key=lambda name: -np.mean(rows[name]["accuracy"]))
    lines = [
        [bold_if_ours(name), spread(rows[name]["accuracy"]), spread(rows[name]["nmi"])]
        for name in best_first(names, TEXT_RIVALS, ours=1)
    ]
    return markdown_table(["text, 20 clusters of 20 Newsgroups", "accuracy", "NMI"], lines)
