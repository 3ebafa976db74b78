"""Results on several data sets, on unknown items and users, on features and on times as Markdown."""

from benchmarks.names import bold_if_ours, shown
from benchmarks.records import complete_rows, means
from lbg_recsys.evaluation.report import markdown_table

_DATA_SETS = {
    "ml-100k": "MovieLens-100K",
    "ml-1m": "MovieLens-1M",
    "filmtrust": "FilmTrust",
    "ciao": "Ciao",
    "insteval": "InstEval",
}
_TUNED_ON = _DATA_SETS | {"book-crossing": "Book-Crossing"}
_SIZED_ON = _TUNED_ON | {"ml-100k of 1..100": "MovieLens-100K as 1..100"}
_UNKNOWN = {"items": "held-out items", "users": "held-out users", "unseen": "items missed at random"}
_FEATURES = {"items": "held-out films", "random": "random folds"}


def _by_model(found, parts):
    """A line per model: RMSE and log score of each part, in the order of the record."""
    rows = {part: complete_rows(found, part) for part in parts}
    models = list(dict.fromkeys(name for part in rows.values() for name in part))
    lines = []
    for name in models:
        line = [shown(name)]
        for part in parts:
            mean = means(rows[part][name].values()) if name in rows[part] else None
            line += ["", ""] if mean is None else [mean["rmse"], mean["log_score"]]
        lines.append(line)
    head = [f"{label}: {measure}" for label in parts.values() for measure in ("RMSE", "log score")]
    return markdown_table(["model", *head], lines)


def data_sets(found):
    """A line per data set and model: how it predicts, and what the fit costs."""
    measures = {"rmse": "RMSE", "mae_median": "MAE of the median", "log_score": "log score"}
    lines = []
    for name, title in _DATA_SETS.items():
        for model, folds in complete_rows(found, name).items():
            mean, rank = means(folds.values()), found["results"][name][model]["settings"].get("rank")
            who = bold_if_ours(model) if rank is None else f"{shown(model)}, rank {rank}"
            lines.append([title, who, *(mean[key] for key in measures), f"{mean['fit_s']:.0f}"])
    return markdown_table(["data set", "model", *measures.values(), "fit, CPU s"], lines)


def sizes(found):
    """RMSE and log score on inner splits, a line per size and a column per data set."""
    return _by_trial(found, "size", _SIZED_ON)


def sweeps(found):
    """The same by the sweeps that are averaged."""
    return _by_trial(found, "sweeps", _TUNED_ON)


def chains(found):
    """Means over the splits, a line per setting of the chains and a column per data set."""
    rows, names = found["results"].get("chains", {}), _split_sets(found, "chains")
    lines, first = [], None
    for setting, one in rows.items():
        mean = _over_splits(one, names)
        spent = sum(values["fit_s"] for values in mean.values())
        first = first or spent
        lines.append([setting, *map(_three, mean.values()), f"{spent / first:.1f}"])
    head = ["chains of a kind x sweeps", *(_DATA_SETS[name] for name in names), "CPU time, relative"]
    return markdown_table(head, lines) if lines else "Not measured yet."


def noise(found):
    """Means over the splits, a line per shape and a column per data set."""
    rows, names = found["results"].get("noise", {}), _split_sets(found, "noise")
    lines = [[shape, *map(_three, _over_splits(one, names).values())] for shape, one in rows.items()]
    head = ["shapes of Gaussian chains", *(_DATA_SETS[name] for name in names)]
    return markdown_table(head, lines) if lines else "Not measured yet."


def _split_sets(found, part):
    """The data sets with rows named "data set number of the split"."""
    splits = {split for one in found["results"].get(part, {}).values() for split in one["rows"]}
    return [name for name in _DATA_SETS if any(split.startswith(f"{name} ") for split in splits)]


def _over_splits(one, names):
    """The means over the splits of each data set."""
    return {
        name: means(row["values"] for split, row in one["rows"].items() if split.startswith(f"{name} "))
        for name in names
    }


def _three(values):
    return "{rmse:.4f}, {mae_median:.4f}, {log_score:.4f}".format(**values)


def _by_trial(found, part, titles):
    rows = found["results"].get(part, {})
    names = [name for name in titles if any(name in one["rows"] for one in rows.values())]
    lines = [
        [
            trial,
            *(
                "{rmse:.4f}, {log_score:.4f}".format(**one["rows"][name]["values"]) if name in one["rows"] else ""
                for name in names
            ),
        ]
        for trial, one in rows.items()
    ]
    if not lines:
        return "Not measured yet."
    table = markdown_table([part, *(titles[name] for name in names)], lines)
    left = [title for name, title in titles.items() if name not in names]
    return "\n\n".join([table, *([f"Not measured yet: {', '.join(left)}."] if left else [])])


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
        lines.append([shown(name), *(value for mean in kinds for value in (mean["rmse"], mean["log_score"]))])
    if not lines:
        return "InstEval has not been measured yet."
    head = [
        f"{label}: {measure}" for label in ("random folds", "held-out lecturers") for measure in ("RMSE", "log score")
    ]
    return markdown_table(["model", *head], lines)
