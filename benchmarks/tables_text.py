"""Results of text and of the paper's experiments as Markdown, all figures from benchmarks/results/*.json."""

import numpy as np

from benchmarks.records import complete_rows, rows_of
from benchmarks.tables import bold_if_ours
from lbg_recsys.evaluation.report import markdown_table

SPELLED = {"lbg": "LBG", "mixture_of_unigrams": "mixture of unigrams", "plsi": "pLSI", "kmeans": "KMeans"}


def spread(values):
    """Mean and standard deviation of a figure over seeds."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def newsgroup_rows(found):
    """Model -> figure -> values over seeds."""
    return {
        name: {key: [row[key] for row in rows.values()] for key in next(iter(rows.values()))}
        for name, rows in complete_rows(found, "newsgroups").items()
    }


def newsgroups_short(found):
    """Clusters of 20 Newsgroups on held-out documents, best first."""
    rows = sorted(newsgroup_rows(found).items(), key=lambda item: -np.mean(item[1]["accuracy"]))
    lines = [[bold_if_ours(name), spread(row["accuracy"]), spread(row["nmi"])] for name, row in rows]
    return markdown_table(["model", "accuracy", "NMI"], lines)


def newsgroups_full(found):
    """The same with training accuracy, how far clusters follow length, and cost."""
    rows = newsgroup_rows(found)
    best = max(np.mean(row["accuracy"]) for row in rows.values())
    lines = []
    for name, row in rows.items():
        held_out = spread(row["accuracy"])
        lines.append(
            [
                name,
                f"**{held_out}**" if np.mean(row["accuracy"]) == best else held_out,
                f"{np.mean(row['nmi']):.2f}",
                spread(row["train_accuracy"]),
                f"{np.mean(row['length_explained']):.2f}",
                f"{np.mean(row['cpu_seconds']):.0f}",
            ]
        )
    head = ["model", "accuracy, held out", "NMI, held out", "accuracy, training", "length", "CPU s"]
    classes = rows_of(found, "newsgroups_data")["true classes"][""]["length_explained"]
    return f'{markdown_table(head, lines)}\n\nThe true classes have {classes:.2f} in the column "length".'


def spam_clusters(found):
    """Spambase without labels."""
    halvings = [row["accuracy"] for row in rows_of(found, "spambase_clusters")["two clusters"].values()]
    lines = [
        [bold_if_ours(SPELLED.get(name, name)), spread([halving[name] for halving in halvings])]
        for name in halvings[0]
    ]
    return markdown_table(["model", "accuracy"], lines)


def spam_classes(found):
    """Spambase with labels."""
    keys = ("accuracy", "ham_called_spam", "spam_called_ham")
    halvings = [row["models"] for row in rows_of(found, "spambase_classes")["filters"].values()]
    lines = [
        [bold_if_ours(name), *(spread([halving[name][key] for halving in halvings]) for key in keys)]
        for name in halvings[0]
    ]
    return markdown_table(["model", "accuracy", "ham called spam", "spam called ham"], lines)


def text_speed_short(found):
    """Two ratios."""
    speed = rows_of(found, "speed")["one iteration"][""]
    return (
        f"One EM iteration of `LBGMixture` on all of 20 Newsgroups costs {speed['lbg_over_kmeans']:.2f} times one of "
        f"scikit-learn's KMeans; one batch pass of its LDA costs {speed['lda_over_lbg']:.0f} times ours."
    )


def text_speed_full(found):
    """Seconds per iteration, and how far single repeats lie apart."""
    speed = rows_of(found, "speed")["one iteration"][""]
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


# The columns of the table of classifiers.
CORPORA = ("20 Newsgroups", "R8", "R52", "IMDb", "SMS spam", "Spambase")


def classifiers(found):
    """Accuracy, log loss and calibration error on held-out documents; the best accuracy and log loss are bold."""
    rows = rows_of(found, "classes")
    shown = [corpus for corpus in CORPORA if all(corpus in row for row in rows.values())]
    best = {
        corpus: (
            max(row[corpus]["accuracy"] for row in rows.values()),
            min(row[corpus]["log_loss"] for row in rows.values()),
        )
        for corpus in shown
    }

    def cell(row, corpus):
        accuracy, loss = (
            f"**{value:.3f}**" if value == bound else f"{value:.3f}"
            for value, bound in zip((row["accuracy"], row["log_loss"]), best[corpus], strict=True)
        )
        return f"{accuracy} / {loss} / {row['calibration_error']:.3f}"

    lines = [[f"`{name}`", *(cell(row[corpus], corpus) for corpus in shown)] for name, row in rows.items()]
    return markdown_table(["model", *shown], lines)


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
    """One line per model of the paper's tables: the paper's figure, the literal algorithm's, and ours."""
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
