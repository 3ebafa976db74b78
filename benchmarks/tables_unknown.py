"""Results on unknown items and users, on features and on times as Markdown."""

from benchmarks.records import complete_rows, means
from lbg_recsys.evaluation.report import markdown_table

_UNKNOWN = {"items": "held-out items", "users": "held-out users", "unseen": "items missed at random"}
_FEATURES = {"items": "held-out films", "random": "random folds"}


def _by_model(found, parts):
    """A line per model: RMSE and log score of each part, in the order of the record."""
    rows = {part: complete_rows(found, part) for part in parts}
    models = list(dict.fromkeys(name for part in rows.values() for name in part))
    lines = []
    for name in models:
        line = [name]
        for part in parts:
            mean = means(rows[part][name].values()) if name in rows[part] else None
            line += ["", ""] if mean is None else [mean["rmse"], mean["log_score"]]
        lines.append(line)
    head = [f"{label}: {measure}" for label in parts.values() for measure in ("RMSE", "log score")]
    return markdown_table(["model", *head], lines)


def unknown(found):
    """Unknown items and users."""
    return _by_model(found, _UNKNOWN)


def features(found):
    """Features on MovieLens-100K."""
    return _by_model(found, _FEATURES)


def times(found):
    """Times of ratings."""
    return _by_model(found, {"random": "a random fold", "tomorrow": "the last tenth"})


def features_of_lecturers(found):
    """Features on InstEval: the random folds, and held-out lecturers."""
    lines = []
    for name, folds in complete_rows(found, "insteval").items():
        kinds = [means([row for fold, row in folds.items() if fold.startswith(kind)]) for kind in ("random", "items")]
        lines.append([name, *(value for mean in kinds for value in (mean["rmse"], mean["log_score"]))])
    head = [
        f"{label}: {measure}" for label in ("random folds", "held-out lecturers") for measure in ("RMSE", "log score")
    ]
    return markdown_table(["model", *head], lines)
