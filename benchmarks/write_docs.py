"""The results in README.md and docs/*.md, made from benchmarks/results/*.json and never typed.

What stands between ``<!-- name -->`` and ``<!-- end name -->`` is replaced.

    python -m benchmarks.write_docs           # rewrite all of it, and the picture
    python -m benchmarks.write_docs --check   # fail if something is not what the results say

``--results`` and ``--root`` name other folders than benchmarks/results and the checkout.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import tables
from benchmarks.benchmark import RESULTS
from benchmarks.picture import accuracy_picture
from lbg_recsys.files import atomic_write

ROOT = Path(__file__).parents[1]
PICTURE = "docs/accuracy.png"


def load(folder, name):
    """A file of results, or None where the benchmark was not run."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def of(name, *parts):
    """A block that is made of one file of results, by one or more functions of it."""

    def block(folder):
        found = load(folder, name)
        if found is None:
            return "Not measured yet."
        return "\n\n".join(filter(None, (part(found) for part in parts)))

    return block


def accuracy(found, _):
    return [
        "### Rating prediction, MovieLens-100K",
        "Means over Surprise's `KFold(n_splits=5, random_state=0)` and over the official splits u1..u5, clipped to "
        "the scale; all models on the same folds, on one core of a machine that had other work too. Names "
        "are those of the command line. All models, how the settings were chosen and what to know about the runs: "
        "[docs/bayesian-lbg.md](docs/bayesian-lbg.md#accuracy).",
        f"![RMSE and log score of the models]({PICTURE})",
        tables.accuracy_short(found),
    ]


def calibration(found, _):
    return [
        "### Calibration",
        "The same random folds. An interval holds whole stars, so a calibrated one covers somewhat more than 90 %.",
        tables.calibration(found),
    ]


def top_n(found, _):
    parts = [
        "### Top-10 lists",
        "Users with a liked test rating (at least 4 of 5), all items but the user's training items, binary "
        f"relevance; random folds: {tables.list_folds(found)}. Our models have their defaults; EASE's penalty is "
        "chosen for each variant and fold on an inner split. Times are of MovieLens-100K, all users.",
        tables.top_n(found),
    ]
    new = tables.lists_of_new_users(found)
    if new:
        parts += [
            "New users, NDCG@10: a fifth of the users is left out of training and folded in with 1 to 20 of their "
            "ratings, drawn at random; their other liked items are relevant.",
            new,
        ]
    return parts


def speed(ratings, folder):
    return [
        "### Speed",
        "How many times faster than the rival, CPU seconds of one run on one core after compilation:",
        tables.ratios(ratings, load(folder, "files"), load(folder, "accuracy")),
        "An EM iteration of `LBGAlgo` costs in proportion to ratings and topics (generated ratings):",
        tables.growth(ratings),
        *new_users(load(folder, "new_users")),
    ]


def new_users(found):
    if found is None:
        return []
    return ["New users need no refit. Folding one into the default Bayesian model:", tables.new_users(found)]


def text(found, _):
    return [
        "### Text",
        f"By `{found['command']}`, {len(found['seeds'])} seeds; what was chosen where, and how far to trust it, is "
        "in [docs/text.md](docs/text.md). 20 Newsgroups, twenty clusters of held-out documents:",
        tables.newsgroups_short(found),
        "Spambase, two clusters, best of ten starts by likelihood:",
        tables.spam_clusters(found),
        "Spambase with labels, settings chosen on one half and judged on the other:",
        tables.spam_classes(found),
        tables.text_speed_short(found),
    ]


def paper(found, _):
    return [
        "### The paper's tables",
        f"By `{found['command']}`, which writes all figures, remarks and pictures into a folder:",
        tables.paper(found),
    ]


def readme(folder):
    """All results that are there."""
    parts = [
        "## Results",
        "Made by `make bench` (text and paper: the commands named), from `benchmarks/results/*.json`.",
    ]
    sections = {
        "accuracy": accuracy,
        "calibration": calibration,
        "topn": top_n,
        "ratings": speed,
        "text": text,
        "reproduction": paper,
    }
    for name, section in sections.items():
        found = load(folder, name)
        if found:
            parts += section(found, folder)
    return "\n\n".join(parts)


# file -> name of a block -> what makes it
BLOCKS = {
    "README.md": {"results": readme},
    "docs/bayesian-lbg.md": {
        "accuracy": of("accuracy", tables.accuracy_full, tables.accuracy_notes),
        "accuracy on the official splits": of("accuracy", tables.accuracy_official),
        "ablation": of("ablation_bayesian", tables.ablation),
        "confirmation": of("ablation_bayesian", tables.confirmation),
        "cost": of("accuracy", tables.bayesian_cost),
        "new users": of("new_users", tables.new_users),
        "reliability": of("topn", tables.reliability),
    },
    "docs/text.md": {
        "newsgroups": of("text", tables.newsgroups_full),
        "spambase clusters": of("text", tables.spam_clusters),
        "spambase classes": of("text", tables.spam_classes),
        "speed": of("text", tables.text_speed_full),
    },
}


def replaced(document, blocks, where, folder):
    """The document with every block made anew."""
    for name, make in blocks.items():
        begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, found, rest = document.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            sys.exit(f"{where} lacks {end if found else begin}: put it where that part of the results belongs")
        document = f"{before}{begin}\n{make(folder)}\n{end}{after}"
    return document


def main(argv=None):
    """Rewrite or check everything between the markers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if something is not what the results say")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of README.md and docs/")
    options = parser.parse_args(argv)
    stale = []
    for where, blocks in BLOCKS.items():
        old = (options.root / where).read_text(encoding="utf-8")
        new = replaced(old, blocks, where, options.results)
        if options.check:
            stale += [where] if new != old else []
            continue
        with atomic_write(options.root / where, "w") as stream:
            stream.write(new)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what benchmarks/results say; run python -m benchmarks.write_docs")
    accurate = load(options.results, "accuracy")
    if accurate and not options.check:
        with atomic_write(options.root / PICTURE) as stream:
            stream.write(accuracy_picture(accurate))


if __name__ == "__main__":
    main()
