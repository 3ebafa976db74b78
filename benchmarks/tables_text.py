"""Results of text and of the paper's experiments as Markdown, all figures from benchmarks/results/*.json."""

import numpy as np

from benchmarks.names import bold_if_ours
from benchmarks.records import complete_rows, rows_of
from lbg_recsys.evaluation.report import markdown_table

SPELLED = {"lbg": "LBG", "mixture_of_unigrams": "mixture of unigrams", "plsi": "pLSI", "kmeans": "KMeans"}
DEFAULT = "LBGClassifier()"
RIVALS = ("MultinomialNB(alpha=0.1)", "LogisticRegression(C=10)")


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


def by_corpus(rows):
    """Corpus -> values of its trials, from rows whose trials are "corpus seed"."""
    found = {}
    for trial, values in rows.items():
        found.setdefault(trial.rpartition(" ")[0], []).append(values)
    return found


def figure(values, digits=3):
    """The mean, with its standard deviation where there are several values."""
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else mean


def classifiers(found):
    """Accuracy, log loss and expected calibration error of every classifier on every corpus."""
    models = {name: by_corpus(rows) for name, rows in rows_of(found, "classes").items()}

    def cell(rows):
        measured = {key: [row[key] for row in rows] for key in ("accuracy", "log_loss", "calibration_error")}
        loss, error = (np.mean(measured[key]) for key in ("log_loss", "calibration_error"))
        return f"{figure(measured['accuracy'])}; {loss:.3f}; {error:.3f}"

    lines = [
        [corpus, *(cell(trials[corpus]) if corpus in trials else "" for trials in models.values())]
        for corpus in models[DEFAULT]
    ]
    return markdown_table(["accuracy; log loss; ECE", *(f"`{name}`" for name in models)], lines)


def class_bars(found):
    """The default beside the better rival in accuracy, and beside logistic regression in log loss."""
    models = {name: by_corpus(rows) for name, rows in rows_of(found, "classes").items()}
    ours, regression, lines = models[DEFAULT], models[RIVALS[1]], []
    for corpus, trials in ours.items():

        def mean(rows, key):
            return float(np.mean([row[key] for row in rows]))

        best = max(RIVALS, key=lambda name: mean(models[name][corpus], "accuracy"))
        gaps = [one["accuracy"] - other["accuracy"] for one, other in zip(trials, models[best][corpus], strict=True)]
        losses = mean(trials, "log_loss"), mean(regression[corpus], "log_loss")
        lines.append(
            [corpus, f"{mean(trials, 'accuracy'):.4f}", f"{mean(models[best][corpus], 'accuracy'):.4f} ({best})",
             figure(gaps, 4), f"{losses[0]:.3f}", f"{losses[1]:.3f}", f"{losses[0] / losses[1]:.2f}",
             figure([row["false_positives"] for row in trials]) if "false_positives" in trials[0] else ""]
        )  # fmt: skip
    head = [
        "corpus",
        f"`{DEFAULT}`",
        "better rival",
        "gap",
        "log loss",
        "log loss of the regression",
        "ratio",
        "false positives",
    ]
    return markdown_table(head, lines)


def class_cost(found):
    """CPU seconds on 20 Newsgroups."""
    rows = {name: rows_of(found, "classes")[name]["20 Newsgroups 0"] for name in (DEFAULT, *RIVALS)}
    spent = [f"{name}: {rows[name]['fit_seconds']:.1f} and {rows[name]['predict_seconds']:.2f}" for name in rows]
    where = "on 20 Newsgroups, on a machine that did other work too"
    return f"CPU seconds to fit and to predict {where}: {'; '.join(spent)}."


def topic_words(found):
    """NPMI and diversity of the leading words of topics."""
    models = {name: by_corpus(rows) for name, rows in complete_rows(found, "topic_words").items()}
    if not models:
        return "Not measured yet."
    corpora = list(next(iter(models.values())))
    lines = [
        [
            bold_if_ours(name),
            *(
                "; ".join(
                    [figure([row["npmi"] for row in rows]), f"{np.mean([row['diversity'] for row in rows]):.2f}"]
                )
                for rows in (trials[corpus] for corpus in corpora)
            ),
        ]
        for name, trials in models.items()
    ]
    return markdown_table(["NPMI; diversity", *corpora], lines)


def word_rankings(found):
    """NPMI and diversity of three rankings of the words of given clusters."""
    models = complete_rows(found, "rankings")
    if not models:
        return "Not measured yet."
    kinds = list(next(iter(next(iter(models.values())).values())))
    lines = [
        [f"`{name}`" if name.endswith(")") else name,
         *(f"{figure([row[by]['npmi'] for row in rows.values()])}; "
           f"{np.mean([row[by]['diversity'] for row in rows.values()]):.2f}" for by in kinds)]
        for name, rows in models.items()
    ]  # fmt: skip
    return markdown_table(["clusters of", *kinds], lines)


# table of the paper -> what is shown of it: the name of one figure, or None for the mean over all (pairs of classes)
PAPER_FIGURES = {
    "table1": ("20 Newsgroups, 20 clusters: accuracy", "accuracy"),
    "table2": ("k-means on selected words, four close pairs: mean accuracy", None),
    "table3": ("k-means on selected words, four unrelated pairs: mean accuracy", None),
    "table4": ("Spambase, two clusters: accuracy", "accuracy"),
    "table5": ("MovieLens-100K, forced prediction: MAE", "mae"),
    "figure2": ("Spambase, one model per class: accuracy", "accuracy"),
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


def corpus_clusters(found):
    """Accuracy and NMI of clusters of held-out documents, with and without the Gaussian part."""
    return _clusters(found, "clusters")


def cluster_ideas(found):
    """The same of ideas that were tried on halves of training documents."""
    return _clusters(found, "ideas")


def _clusters(found, part):
    models = {name: by_corpus(rows) for name, rows in complete_rows(found, part).items()}
    if not models:
        return "Not measured yet."
    corpora = list(next(iter(models.values())))
    lines = [
        [name, *(f"{figure([r['accuracy'] for r in trials[c]])}; {np.mean([r['nmi'] for r in trials[c]]):.2f}"
                 for c in corpora)]
        for name, trials in models.items()
    ]  # fmt: skip
    return markdown_table(["accuracy; NMI", *corpora], lines)


def selected_words(found):
    """Tables 2 and 3 and figure 1 of the paper: LBG's words by both rankings, beside all words and LDA."""
    shown = {"table2": "close pairs", "table3": "unrelated pairs", "figure1": "linear SVM"}
    cells = {}
    for name in shown:
        for line in found["results"].get(name, {"lines": []})["lines"]:
            if line["setting"] != "the paper":
                values = list(line["mean"].values())
                key = ("all words" if line["row"] in ("Raw", "All words") else line["row"], line["setting"])
                cells.setdefault(key, {})[name] = f"{np.mean(values):.3f}"
    lines = [[*key, *(values.get(name, "") for name in shown)] for key, values in cells.items()]
    head = ["words", "setting", "table 2, k-means, close pairs", "table 3, unrelated pairs", "figure 1, linear SVM"]
    return markdown_table(head, lines)
