"""Results as Markdown: one function a table or sentence, all figures from benchmarks/results/*.json."""

import numpy as np

from benchmarks.common import OFFICIAL
from benchmarks.records import means
from lbg_recsys.evaluation.report import markdown_table

RANDOM = tuple(f"random {number}" for number in range(5))
MEASURES = {"rmse": "RMSE", "mae": "MAE", "mae_median": "MAE of the median", "log_score": "log score"}
SPELLED = {"lbg": "LBG", "mixture_of_unigrams": "mixture of unigrams", "plsi": "pLSI", "kmeans": "KMeans"}


def bold_if_ours(name):
    return f"**{name}**" if "LBG" in name else name


# -- rating prediction ---------------------------------------------------------------------------------------


def accuracy_rows(found):
    """Model -> means over the random folds, the official ones (or None) and u1 (or None), least RMSE first.

    Models that have not been through all random folds yet are left out: means over other folds do not compare.
    """
    rows = {}
    for name, folds in found["results"]["folds"].items():
        if set(RANDOM) <= set(folds):
            rows[name] = {
                "random": means(folds[fold] for fold in RANDOM),
                "official": means(folds[fold] for fold in OFFICIAL) if set(OFFICIAL) <= set(folds) else None,
                "u1": folds.get("u1"),
            }
    return dict(sorted(rows.items(), key=lambda item: item[1]["random"]["rmse"]))


def beyond_biases(rows):
    """The models with less error than user and item biases alone: those that learned something of taste."""
    bound = rows["Surprise BaselineOnly"]["random"]["rmse"] if "Surprise BaselineOnly" in rows else float("inf")
    return {name: row for name, row in rows.items() if row["random"]["rmse"] < bound}


def accuracy_short(found):
    """What the README shows: ours, and the rivals that are better than biases."""
    rows = accuracy_rows(found)
    shown = {name: row for name, row in rows.items() if "LBG" in name or name in beyond_biases(rows)}
    lines = [
        [
            bold_if_ours(name),
            *(row["random"][key] for key in MEASURES),
            row["official"] and row["official"]["rmse"],
            row["u1"] and row["u1"]["rmse"],
            f"{row['random']['fit_s']:.1f}",
        ]
        for name, row in shown.items()
    ]
    head = ["model", *MEASURES.values(), "RMSE u1..u5", "RMSE u1", "fit, CPU s"]
    table = markdown_table(head, lines)
    left_out = len(rows) - len(shown)
    return f"{table}\n\nLeft out: {left_out} models of these libraries that do no better than user and item biases."


def accuracy_full(found):
    """All models on the random folds."""
    lines = [
        [name, *(row["random"][key] for key in MEASURES), f"{row['random']['fit_s']:.1f}",
         f"{row['random']['predict_s']:.2f}"]
        for name, row in accuracy_rows(found).items()
    ]  # fmt: skip
    return markdown_table(["model", *MEASURES.values(), "fit s", "predict s"], lines)


def accuracy_official(found):
    """All models on the official splits: means, and u1 by itself."""
    lines = [
        [name, *(row["official"][key] for key in MEASURES), *(row["u1"][key] for key in MEASURES)]
        for name, row in accuracy_rows(found).items()
        if row["official"]
    ]
    head = [*(f"{label}, u1..u5" for label in MEASURES.values()), *(f"{label}, u1" for label in MEASURES.values())]
    return markdown_table(["model", *head], lines)


def accuracy_notes(found):
    """In how many runs it was measured, and who was not there."""
    runs = found["results"].get("runs")
    notes = [] if runs is None else [f"Measured in {'one run' if runs == 1 else f'{runs} runs'}."]
    return " ".join(notes + [f"Not measured: {note}." for note in found["results"].get("missing", [])])


def bayesian_cost(found):
    """What Bayesian LBG costs beside myFM in the same record."""
    rows = accuracy_rows(found)

    def cost(start, key="fit_s"):
        return next((row["random"][key] for name, row in rows.items() if name.startswith(start)), None)

    two, defaults = cost("Bayesian LBG, 2 chains"), cost("Bayesian LBG, defaults")
    if two is None or defaults is None:
        return "Not measured yet."
    said = f"Two chains took {two:.1f} CPU seconds a fit"
    probit, regression = cost("myFM ordered probit"), cost("myFM regression")
    if probit is not None and regression is not None:
        said += f", {two / probit:.2f} of myFM's ordered probit and {two / regression:.2f} of its regression"
    predicting = cost("Bayesian LBG, defaults", "predict_s")
    said += f"; predicting 20,000 distributions took {predicting / defaults:.3f} of the default fit."
    first = found["results"].get("first_fit_cpu_s")
    if first:
        said += (
            f" The first small fit of a new process costs {first['nothing compiled']:.1f} CPU seconds with nothing "
            f"compiled and {first['cached']:.1f} with numba's cache on disk."
        )
    return said


def ablation(found):
    """One thing changed at a time, beside the mean of two references that differ in their seeds."""
    return differences(found["results"]["variants"], ("reference", "reference, other seeds"))


def confirmation(found):
    """What looked good, on other splits, beside the first of them."""
    variants = found["results"]["confirmation"]
    return differences(variants, (next(iter(variants)),))


def differences(variants, references):
    """Differences to the references and their standard errors over the splits; a row that is a reference as it is."""
    keys = [*MEASURES, "one_chain_rmse"]
    table = {
        name: {key: np.array([row[key] for row in rows]) for key in (*keys, "cpu_s")}
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
    models = sorted(found["results"]["models"].items(), key=lambda item: -item[1]["log_score"])
    keys = ("log_score", "rps", "ece", "coverage_90", "width_90")
    head = ["model", "log score", "RPS", "calibration error", "90 % intervals hold", "their width"]
    return markdown_table(head, [[bold_if_ours(name), *(row[key] for key in keys)] for name, row in models])


# -- lists and speed -----------------------------------------------------------------------------------------


def top_n(found):
    """Lists, best first."""
    rows = {
        name: means(folds.values()) for name, folds in found["results"]["folds"].items() if set(RANDOM) <= set(folds)
    }
    lines = [
        [bold_if_ours(name), row["ndcg"], row["recall"], f"{row['fit_s']:.1f}", f"{row['list_s']:.1f}"]
        for name, row in sorted(rows.items(), key=lambda item: -item[1]["ndcg"])
    ]
    return markdown_table(["model", "NDCG@10", "recall@10", "fit, CPU s", "lists of all users, CPU s"], lines)


def ratios(ratings, files, accurate):
    """How many times faster than the rival, taken in one run."""
    rows = ratings["results"]["beside_svd"]["rows"] | (files["results"]["rows"] if files else {})
    lines = [[f"`LBGAlgo`, {name}", "Surprise SVD", f"{row['svd_over_lbg']:.1f} x"] for name, row in rows.items()]
    models = accuracy_rows(accurate) if accurate else {}
    rivals = [name for name in models if name.startswith("myFM")]
    if rivals:  # the first is the one with the least RMSE
        spent = models[rivals[0]]["random"]["fit_s"]
        lines += [
            [f"{name}: fit", rivals[0], f"{spent / row['random']['fit_s']:.1f} x"]
            for name, row in models.items()
            if name.startswith("Bayesian")
        ]
    return markdown_table(["ours", "rival", "faster by"], lines)


def new_users(found):
    """What somebody new waits for."""
    lines = [[name, f"{spent:.1f}"] for name, spent in found["results"].items()]
    return markdown_table(["Bayesian LBG, defaults", "CPU ms"], lines)


def growth(ratings):
    """What an iteration costs as ratings and topics grow."""
    lines = [
        [f"{row['ratings']:,}", row["topics"], f"{row['nanoseconds_per_rating_and_topic']:.1f}",
         f"{row['peak_bytes_per_rating_beyond_parameters']:.0f}"]
        for row in ratings["results"]["growth"]
    ]  # fmt: skip
    return markdown_table(["ratings", "topics", "ns a rating, topic and iteration", "peak bytes a rating"], lines)


# -- text ----------------------------------------------------------------------------------------------------


def spread(figure):
    return f"{figure['mean']:.3f} ± {figure['sd']:.3f}"


def newsgroups_short(found):
    """Clusters of 20 Newsgroups on held-out documents, best first."""
    rows = sorted(found["results"]["newsgroups"]["rows"].items(), key=lambda item: -item[1]["accuracy"]["mean"])
    lines = [[bold_if_ours(name), spread(row["accuracy"]), spread(row["nmi"])] for name, row in rows]
    return markdown_table(["model", "accuracy", "NMI"], lines)


def newsgroups_full(found):
    """The same with training accuracy, how far clusters follow length, and cost."""
    rows = found["results"]["newsgroups"]["rows"]
    best = max(row["accuracy"]["mean"] for row in rows.values())
    lines = []
    for name, row in rows.items():
        held_out = spread(row["accuracy"])
        lines.append(
            [
                name,
                f"**{held_out}**" if row["accuracy"]["mean"] == best else held_out,
                f"{row['nmi']['mean']:.2f}",
                spread(row["train_accuracy"]),
                f"{row['length_explained']['mean']:.2f}",
                f"{row['cpu_seconds']['mean']:.0f}",
            ]
        )
    head = ["model", "accuracy, held out", "NMI, held out", "accuracy, training", "length", "CPU s"]
    classes = found["results"]["newsgroups"]["length_explained_by_classes"]
    return f'{markdown_table(head, lines)}\n\nThe true classes have {classes:.2f} in the column "length".'


def spam_clusters(found):
    """Spambase without labels."""
    rows = found["results"]["spambase_clusters"]["rows"]
    lines = [[bold_if_ours(SPELLED.get(name, name)), spread(row)] for name, row in rows.items()]
    return markdown_table(["model", "accuracy"], lines)


def spam_classes(found):
    """Spambase with labels."""
    keys = ("accuracy", "ham_called_spam", "spam_called_ham")
    rows = found["results"]["spambase_classes"]["rows"]
    lines = [[bold_if_ours(name), *(spread(row[key]) for key in keys)] for name, row in rows.items()]
    return markdown_table(["model", "accuracy", "ham called spam", "spam called ham"], lines)


def text_speed_short(found):
    """Two ratios."""
    speed = found["results"]["speed"]
    return (
        f"One EM iteration of `LBGMixture` on all of 20 Newsgroups costs {speed['lbg_over_kmeans']:.2f} times one of "
        f"scikit-learn's KMeans; one batch pass of its LDA costs {speed['lda_over_lbg']:.0f} times ours."
    )


def text_speed_full(found):
    """Seconds an iteration, and how far single repeats lie apart."""
    speed = found["results"]["speed"]
    spent = speed["cpu_seconds_per_iteration"]
    ranges = ", ".join(
        f"of {label} from {min(speed['repeats'][name]):.2f} to {max(speed['repeats'][name]):.2f}"
        for name, label in (("lbg", "LBG"), ("kmeans_lloyd", "KMeans"))
    )
    labels = {"kmeans_lloyd": "KMeans (lloyd)", "lda_batch_pass": "LDA, one batch pass"}
    rows, columns = speed["shape"]
    return "\n\n".join(
        [
            f"CPU seconds of one iteration on {rows:,} x {columns:,} ({speed['entries']:,} entries), 20 topics, one "
            f"core: medians of {len(speed['repeats']['lbg'])} repeats in turn, on a machine that did other work too; "
            f"single repeats {ranges} (all are in the file).",
            markdown_table(
                [labels.get(name, SPELLED.get(name, name)) for name in spent],
                [[f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}" for seconds in spent.values()]],
            ),
            text_speed_short(found),
        ]
    )


# -- the paper -----------------------------------------------------------------------------------------------


# table of the paper -> what is shown of it: the name of one figure, or None for the mean over all (pairs of classes)
PAPER_FIGURES = {
    "table1": ("20 Newsgroups, 20 clusters: accuracy", "accuracy"),
    "table2": ("k-means on selected words, four close pairs: mean accuracy", None),
    "table3": ("k-means on selected words, four unrelated pairs: mean accuracy", None),
    "table4": ("Spambase, two clusters: accuracy", "accuracy"),
    "table5": ("MovieLens-100K, forced prediction: MAE", "mae"),
    "figure2": ("Spambase, one model a class: accuracy", "accuracy"),
}


def paper(found):
    """One line a model of the paper's tables: the paper's figure, the literal algorithm's, and ours."""
    lines = []
    for name, (title, figure) in PAPER_FIGURES.items():
        for row, settings in _by_row(found["results"].get(name, {"lines": []})["lines"]).items():
            shown = {setting: _paper_figure(line, figure) for setting, line in settings.items()}
            ours = shown.get("recommended settings", shown.get("as the library has it", ""))
            lines.append(
                [f"{name}: {title}", row, shown.get("the paper", ""), shown.get("literal algorithm", ""), ours]
            )
    head = ["experiment", "model", "the paper", "literal algorithm", "recommended settings, or as the library has it"]
    return markdown_table(head, lines)


def _by_row(lines):
    rows = {}
    for line in lines:
        rows.setdefault(line["row"], {})[line["setting"]] = line
    return rows


def _paper_figure(line, figure):
    if figure is None:
        return f"{sum(line['mean'].values()) / len(line['mean']):.3f}"
    return f"{line['mean'][figure]:.3f}" + (f" ± {line['sd'][figure]:.3f}" if figure in line["sd"] else "")
