"""Results of ratings and lists as Markdown: one function per table or sentence, all figures from the results."""

import re

import numpy as np

from benchmarks.names import bold_if_ours, shown
from benchmarks.records import complete_rows, means, rows_of, same_processor
from lbg_recsys.evaluation.report import markdown_table

MEASURES = {"rmse": "RMSE", "mae": "MAE", "mae_median": "MAE of the median", "log_score": "log score"}


# Milliseconds that a new user's list may take.
WAIT = 20.0


# -- rating prediction ---------------------------------------------------------------------------------------


def accuracy_rows(found):
    """Model -> means over the random folds, the official ones (or None) and u1 (or None), least RMSE first.

    Models that lack a random fold are left out: means over different folds do not compare.
    """
    official, each = complete_rows(found, "official"), rows_of(found, "official")
    rows = {
        name: {
            "random": means(folds.values()),
            "official": means(official[name].values()) if name in official else None,
            "u1": each.get(name, {}).get("u1"),
        }
        for name, folds in complete_rows(found, "random").items()
    }
    return dict(sorted(rows.items(), key=lambda item: item[1]["random"]["rmse"]))


def beyond_biases(rows):
    """The models with less error than user and item biases alone: those that learned something of taste."""
    bound = rows["Surprise BaselineOnly"]["random"]["rmse"] if "Surprise BaselineOnly" in rows else float("inf")
    return {name: row for name, row in rows.items() if row["random"]["rmse"] < bound}


def accuracy_full(found):
    """All models on the random folds."""
    lines = [
        [shown(name), *(row["random"][key] for key in MEASURES), f"{row['random']['fit_s']:.1f}",
         f"{row['random']['predict_s']:.2f}"]
        for name, row in accuracy_rows(found).items()
    ]  # fmt: skip
    return markdown_table(["model", *MEASURES.values(), "fit s", "predict s"], lines)


def accuracy_official(found):
    """All models on the official splits: means, and u1 by itself."""
    lines = [
        [shown(name), *(row["official"][key] for key in MEASURES), *(row["u1"][key] for key in MEASURES)]
        for name, row in accuracy_rows(found).items()
        if row["official"]
    ]
    head = [*(f"{label}, u1..u5" for label in MEASURES.values()), *(f"{label}, u1" for label in MEASURES.values())]
    return markdown_table(["model", *head], lines)


def accuracy_notes(found):
    """When and where it was measured, and which libraries were not installed."""
    return " ".join([measured(found), *not_measured(found, "random")])


def measured(found):
    """The dates, commits and CPUs of the runs behind a file of results."""
    runs = [
        f"on {run['date'] or 'an unrecorded date'} at commit {_shortened(run['commit'])} "
        f"({run['cpu'] or 'CPU not recorded'})"
        for run in found["runs"]
    ]
    return f"Measured {'; '.join(runs)}."


def _shortened(commit):
    """The first digits of a commit, and whether files had been changed since."""
    digits, dash, dirty = (commit or "unknown").partition("-")
    return f"{digits[:10]}{dash}{dirty}"


def not_measured(found, part):
    return [f"Not measured: {note}." for note in found["missing"].get(part, [])]


def bayesian_cost(found):
    """What Bayesian LBG costs beside myFM in the same record."""
    rows = accuracy_rows(found)

    def named(start):
        return next((name for name in rows if name.startswith(start)), None)

    def cost(start, key="fit_s"):
        return rows[name]["random"][key] if (name := named(start)) else None

    two, defaults = cost("Bayesian LBG, 2 chains"), cost("bayesian (")
    if two is None or defaults is None:
        return "Not measured yet."
    said = f"Two chains took {two:.1f} CPU seconds per fit"
    probit, regression = cost("myFM ordered probit"), cost("myFM regression")
    names = [named(start) for start in ("Bayesian LBG, 2 chains", "myFM ordered probit", "myFM regression")]
    if None not in names and same_processor(found, "random", *names):
        said += f", {two / probit:.2f} of myFM's ordered probit and {two / regression:.2f} of its regression"
    predicting = cost("bayesian (", "predict_s")
    said += f"; predicting 20,000 distributions took {predicting / defaults:.1%} of the time of the default fit."
    first = rows_of(found, "compilation").get("first small fit", {}).get("", {})
    if "nothing compiled" in first:
        said += (
            f" The first small fit of a new process costs {first['nothing compiled']:.1f} CPU seconds with nothing "
            f"compiled and {first['cached']:.1f} with numba's cache on disk."
        )
    return said


def ablation(found):
    """One thing changed at a time, beside the mean of two references that differ in their seeds."""
    return differences(complete_rows(found, "variants"), ("reference", "reference, other seeds"))


def confirmation(found):
    """What looked good, on other splits, beside the first of them."""
    variants = complete_rows(found, "confirmation")
    return differences(variants, (next(iter(variants)),))


def differences(variants, references):
    """Differences to the references and their standard errors over the splits; a row that is a reference as it is."""
    keys = [*MEASURES, "one_chain_rmse"]
    table = {
        name: {key: np.array([row[key] for row in rows.values()]) for key in (*keys, "cpu_s")}
        for name, rows in variants.items()
    }
    usual = {key: np.mean([table[name][key] for name in references], axis=0) for key in keys}
    lines = []
    for name, row in table.items():
        if name == references[0]:
            cells = [usual[key].mean() for key in keys]
        else:
            cells = [difference(row[key] - usual[key]) for key in keys]
        lines.append([name, *cells, f"{np.median(row['cpu_s']):.0f}"])
    return markdown_table(["variant", *MEASURES.values(), "RMSE of one chain", "CPU s"], lines)


def difference(values):
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def calibration(found):
    """Distributions."""
    rows = {name: means(folds.values()) for name, folds in complete_rows(found, "random").items()}
    models = sorted(rows.items(), key=lambda item: -item[1]["log_score"])
    keys = ("log_score", "rps", "ece", "coverage_90", "width_90")
    head = ["model", "log score", "RPS", "calibration error", "90% coverage", "width of intervals"]
    return markdown_table(head, [[bold_if_ours(name), *(row[key] for key in keys)] for name, row in models])


# -- lists and speed -----------------------------------------------------------------------------------------


LIST_DATA = {"ml-100k": "MovieLens-100K", "ml-1m": "MovieLens-1M", "filmtrust": "FilmTrust", "ciao": "Ciao"}


def top_n(found):
    """Lists for known users, best on MovieLens-100K first: NDCG@10 and recall@10 of every data set measured."""
    rows = {
        name: {model: means(without_bins(folds)) for model, folds in complete_rows(found, name).items()}
        for name in LIST_DATA
    }
    measured_on = [name for name in LIST_DATA if rows[name]]
    first = measured_on[0]
    models = sorted(rows[first], key=lambda model: -rows[first][model]["ndcg"])
    head = ["model", *(f"{LIST_DATA[name]}: NDCG, recall" for name in measured_on), "fit, CPU s", "lists, CPU s"]
    lines = []
    for model in models:
        each = (rows[name].get(model) for name in measured_on)
        cells = [f"{row['ndcg']:.4f}, {row['recall']:.4f}" if row else "" for row in each]
        own = rows[first][model]
        lines.append([bold_if_ours(model), *cells, f"{own['fit_s']:.1f}", f"{own['list_s']:.1f}"])
    return markdown_table(head, lines)


def without_bins(folds):
    return [{key: value for key, value in fold.items() if key != "bins"} for fold in folds.values()]


def list_folds(found):
    """How many folds each data set was tested on, as a sentence."""
    folds = {name: {trial for one in rows_of(found, name).values() for trial in one} for name in LIST_DATA}
    said = [
        f"{LIST_DATA[name]} {len(trials)} {'folds' if len(trials) > 1 else 'fold'}"
        for name, trials in folds.items()
        if trials
    ]
    return f"Random folds: {', '.join(said)}."


def lists_of_new_users(found):
    """NDCG@10 of users that training did not see, by the length of their history; a table per data set."""
    parts = []
    for name, label in LIST_DATA.items():
        rows = {model: means_of_new(folds) for model, folds in complete_rows(found, f"new users of {name}").items()}
        if rows:
            lengths = list(next(iter(rows.values())))
            lines = [[bold_if_ours(model), *row.values()] for model, row in rows.items()]
            parts.append(markdown_table([f"{label}, ratings known", *lengths], lines))
    return "\n\n".join(parts)


def means_of_new(folds):
    """Length of the history -> mean NDCG."""
    rows = list(folds.values())
    lengths = [length for length in rows[0] if length != "n_users"]
    return {length: float(np.mean([row[length]["ndcg"] for row in rows])) for length in lengths}


def reliability(found):
    """How often ratings are liked ones, by the probability that Bayesian LBG gave: all folds of MovieLens-100K."""
    folds = rows_of(found, "ml-100k").get("Bayesian LBG", {})
    bins = [fold["bins"] for fold in folds.values()]
    number = np.sum([one["number"] for one in bins], axis=0)
    mean, share = (
        np.sum([np.multiply(one[key], one["number"]) for one in bins], axis=0) / np.maximum(number, 1)
        for key in ("mean", "share")
    )
    edges = np.arange(len(number)) / len(number)
    lines = [
        [f"{edge:.1f} to {edge + 1 / len(number):.1f}", f"{mean[b]:.3f}", f"{share[b]:.3f}", f"{number[b]:,}"]
        for b, edge in enumerate(edges)
    ]
    table = markdown_table(["probability", "mean probability", "share of liked ratings", "test ratings"], lines)
    errors = {name: rows_of(found, name).get("Bayesian LBG") for name in LIST_DATA}
    said = [
        f"{LIST_DATA[name]} {np.mean([fold['liked_error'] for fold in one.values()]):.4f}"
        for name, one in errors.items()
        if one
    ]
    return f"{table}\n\nCalibration error: {', '.join(said)}."


def ratios(ratings, files, accurate):
    """How many times faster than the rival, taken in one run."""
    rows = rows_of(ratings, "beside_svd") | (rows_of(files, "beside_svd") if files else {})
    lines = [[f"`LBGAlgo`, {name}", "Surprise SVD", f"{row['']['svd_over_lbg']:.1f} x"] for name, row in rows.items()]
    models = accuracy_rows(accurate) if accurate else {}
    rivals = [name for name in models if name.startswith("myFM")]
    if rivals:  # the first is the one with the least RMSE
        spent = models[rivals[0]]["random"]["fit_s"]
        lines += [
            [f"{shown(name)}: fit", shown(rivals[0]), f"{spent / row['random']['fit_s']:.1f} x"]
            for name, row in models.items()
            if name.startswith("Bayesian") and same_processor(accurate, "random", name, rivals[0])
        ]
    return markdown_table(["ours", "rival", "faster by"], lines)


def new_users(found):
    """What somebody new waits for."""
    ((model, rows),) = rows_of(found, "new_users").items()
    spent = rows[""]
    lines = [[name, f"{one:.1f}"] for name, one in spent.items()]
    amounts = {int(found[1]): one for name, one in spent.items() if (found := re.search(r"with (\d+) ratings", name))}
    left = WAIT - spent["list ten items for a new user"]
    most = int(np.interp(left, list(amounts.values()), list(amounts)))
    table = markdown_table([shown(model), "CPU ms"], lines)
    return f"{table}\n\nA new user's list takes less than {WAIT:.0f} ms up to about {most} ratings."


def growth(ratings):
    """What an iteration costs as ratings and topics grow."""
    lines = [
        [f"{row['ratings']:,}", row["topics"], f"{row['nanoseconds_per_rating_and_topic']:.1f}",
         f"{row['peak_bytes_per_rating_beyond_parameters']:.0f}"]
        for row in (trials[""] for trials in rows_of(ratings, "growth").values())
    ]  # fmt: skip
    head = ["ratings", "topics", "ns per rating, topic and iteration", "peak bytes per rating"]
    return markdown_table(head, lines)
