"""The README's results, made from benchmarks/results/*.json and never typed.

python -m benchmarks.readme           # rewrite the section between the markers, and its picture
python -m benchmarks.readme --check   # fail if it is not what the results say
"""

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.common import RESULTS
from lbg_recsys.evaluation.report import markdown_table
from lbg_recsys.files import atomic_write

README = Path(__file__).parents[1] / "README.md"
PICTURE = Path(__file__).parents[1] / "docs" / "accuracy.png"
BEGIN, END = "<!-- results -->", "<!-- end results -->"


def load(name):
    """A result file, or None where the benchmark was not run."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def accuracy_rows(found):
    """Model -> means over the random folds, over the official ones, and the figures on u1, best RMSE first."""
    rows = {}
    for name, folds in found["results"]["folds"].items():
        random = [row for fold, row in folds.items() if fold.startswith("random")]
        official = [row for fold, row in folds.items() if fold in ("u1", "u2", "u3", "u4", "u5")]
        if random:
            rows[name] = {"random": _means(random), "official": _means(official), "u1": folds.get("u1")}
    return dict(sorted(rows.items(), key=lambda item: item[1]["random"]["rmse"]))


def _means(rows):
    if not rows:
        return None
    return {key: None if rows[0][key] is None else float(np.mean([row[key] for row in rows])) for key in rows[0]}


def accuracy(found):
    """Rating prediction."""
    lines = []
    for name, row in accuracy_rows(found).items():
        random, official, u1 = row["random"], row["official"], row["u1"]
        lines.append(
            [
                _ours(name),
                *(random[key] for key in ("rmse", "mae_mean", "mae_median", "log_score")),
                official and official["rmse"],
                u1 and u1["rmse"],
                f"{random['fit_s']:.1f}",
            ]
        )
    head = [
        "model",
        "RMSE",
        "MAE of the mean",
        "MAE of the median",
        "log score",
        "RMSE u1..u5",
        "RMSE u1",
        "fit, CPU s",
    ]
    return [
        "### Rating prediction, MovieLens-100K",
        "Means over Surprise's `KFold(n_splits=5, random_state=0)` and over the official splits u1..u5, clipped to "
        "the scale; all models on the same folds, on one core of a machine that had other work too. Strong is "
        "`n_chains=4`. How the settings were chosen, and which figures precede a last change of the kernels: "
        "[docs/bayesian-lbg.md](docs/bayesian-lbg.md).",
        "![RMSE and log score of the models](docs/accuracy.png)",
        markdown_table(head, lines),
    ]


def calibration(found):
    """Distributions."""
    models = sorted(found["results"]["models"].items(), key=lambda item: -item[1]["log_score"])
    keys = ("log_score", "rps", "ece", "coverage_90", "width_90")
    head = ["model", "log score", "RPS", "calibration error", "90 % intervals hold", "their width"]
    return [
        "### Calibration",
        "The same random folds. An interval holds whole stars, so a calibrated one covers somewhat more than 90 %.",
        markdown_table(head, [[_ours(name), *(row[key] for key in keys)] for name, row in models]),
    ]


def top_n(found):
    """Lists."""
    models = sorted(found["results"]["models"].items(), key=lambda item: -item[1]["ndcg"])
    return [
        "### Top-10 lists",
        "The same random folds: users with a test rating of at least 4, all items but the user's training items, "
        "binary relevance. Rating models, ours included, are not the best rankers: for lists alone take EASE or ALS.",
        markdown_table(
            ["model", "NDCG@10", "recall@10"], [[_ours(name), row["ndcg"], row["recall"]] for name, row in models]
        ),
    ]


def speed(ratings, files, accurate):
    """Ratios taken in one run."""
    rows = ratings["results"]["beside_svd"]["rows"] | (files["results"]["rows"] if files else {})
    lines = [[f"`LBGAlgo`, {name}", "Surprise SVD", f"{row['svd_over_lbg']:.1f} x"] for name, row in rows.items()]
    if accurate is not None:
        models = accuracy_rows(accurate)
        rival = min((row["random"]["rmse"], name) for name, row in models.items() if name.startswith("myFM"))[1]
        for name, row in models.items():
            if name.startswith("Bayesian"):
                ratio = models[rival]["random"]["fit_s"] / row["random"]["fit_s"]
                lines.append([f"{name}: fit", rival, f"{ratio:.1f} x"])
    growth = [
        [f"{row['ratings']:,}", row["topics"], f"{row['nanoseconds_per_rating_and_topic']:.1f}",
         f"{row['peak_bytes_per_rating_beyond_parameters']:.0f}"]
        for row in ratings["results"]["growth"]
    ]  # fmt: skip
    return [
        "### Speed",
        "How many times faster than the rival, CPU seconds of one run on one core after compilation:",
        markdown_table(["ours", "rival", "faster by"], lines),
        "An EM iteration of `LBGAlgo` costs in proportion to ratings and topics (generated ratings):",
        markdown_table(["ratings", "topics", "ns a rating, topic and iteration", "peak bytes a rating"], growth),
    ]


def text(found):
    """Clustering and classification."""
    results = found["results"]
    groups = [
        [_ours(name), _spread(row["accuracy"]), _spread(row["nmi"])]
        for name, row in sorted(results["newsgroups"]["rows"].items(), key=lambda item: -item[1]["accuracy"]["mean"])
    ]
    clusters = [
        [_ours(name.replace("_", " ").replace("lbg", "LBG")), _spread(row)]
        for name, row in results["spambase_clusters"]["rows"].items()
    ]
    classes = [
        [_ours(name), *(_spread(row[key]) for key in ("accuracy", "ham_called_spam", "spam_called_ham"))]
        for name, row in results["spambase_classes"].items()
    ]
    speed = results["speed"]
    return [
        "### Text",
        "By `python -m benchmarks.bench_text`, three seeds; what was chosen where, and how far to trust it, is in "
        "[docs/text.md](docs/text.md). 20 Newsgroups, twenty clusters of held-out documents:",
        markdown_table(["model", "accuracy", "NMI"], groups),
        "Spambase, two clusters, best of ten starts by likelihood:",
        markdown_table(["model", "accuracy"], clusters),
        "Spambase with labels, five-fold cross-validation:",
        markdown_table(["model", "accuracy", "ham called spam", "spam called ham"], classes),
        f"One EM iteration of `LBGMixture` on all of 20 Newsgroups costs {speed['lbg_over_kmeans']:.2f} times one of "
        f"scikit-learn's KMeans; one batch pass of its LDA costs {speed['lda_over_lbg']:.0f} times ours.",
    ]


def _spread(figure):
    return f"{figure['mean']:.3f} ± {figure['sd']:.3f}"


def paper(found):
    """The paper's own tables, from the reproduction."""
    lines = []
    for name, experiment in found["results"].items():
        if not name.startswith("table"):
            continue
        for line in experiment["lines"]:
            (metric, value), *_ = line["mean"].items()
            spread = line["sd"].get(metric)
            shown = f"{value:.3f}" if spread is None else f"{value:.3f} ± {spread:.3f}"
            lines.append([f"{name}, {metric.replace('_', ' ')}", line["row"], line["setting"], shown])
    return [
        "### The paper's tables",
        f"By `{found['command']}`; the first column of each table, all of it in the folder that the command writes.",
        markdown_table(["table, figure", "model", "setting", "value"], lines),
    ]


def section():
    """All results that are there, as Markdown."""
    parts = [
        "## Results",
        "Made by `make bench` (text and paper: the commands named), from `benchmarks/results/*.json`.",
    ]
    names = ("accuracy", "calibration", "topn", "ratings", "files", "text", "reproduction")
    found = {name: load(name) for name in names}
    if found["accuracy"]:
        parts += accuracy(found["accuracy"])
    if found["calibration"]:
        parts += calibration(found["calibration"])
    if found["topn"]:
        parts += top_n(found["topn"])
    if found["ratings"]:
        parts += speed(found["ratings"], found["files"], found["accuracy"])
    if found["text"]:
        parts += text(found["text"])
    if found["reproduction"]:
        parts += paper(found["reproduction"])
    return "\n\n".join(parts)


def draw(found):
    """RMSE and log score of the models that matter; returns the PNG's bytes."""
    import io

    from matplotlib.figure import Figure

    rows = {name: row["random"] for name, row in accuracy_rows(found).items() if row["random"]["rmse"] < 0.95}
    figure = Figure(figsize=(9, 0.34 * len(rows) + 1.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    names = list(rows)[::-1]
    colours = ["#c0392b" if "LBG" in name else "#8795ab" for name in names]
    for axis, key, label in (
        (left, "rmse", "RMSE (to the left is better)"),
        (right, "log_score", "log score (to the right is better)"),
    ):
        # dots, not bars: the axes do not begin at zero
        for place, name in enumerate(names):
            value = rows[name][key]
            if value is not None:
                axis.plot(value, place, "o", color=colours[place])
                axis.annotate(
                    f"{value:.4f}", (value, place), (6, 0), textcoords="offset points", va="center", fontsize=8
                )
        axis.set_xlabel(label)
        axis.grid(axis="y", alpha=0.3)
        axis.margins(x=0.35)
    left.set_yticks(range(len(names)), names)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130, metadata={"Software": None})
    return stream.getvalue()


def _ours(name):
    return f"**{name}**" if "LBG" in name else name


def main():
    """Rewrite or check the section between the markers."""
    old = README.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n{section()}\n{END}{after}"
    if "--check" in sys.argv:
        sys.exit(0 if new == old else "README.md is not what benchmarks/results say: python -m benchmarks.readme")
    with atomic_write(README, "w") as stream:
        stream.write(new)
    accurate = load("accuracy")
    if accurate:
        with atomic_write(PICTURE) as stream:
            stream.write(draw(accurate))


if __name__ == "__main__":
    main()
