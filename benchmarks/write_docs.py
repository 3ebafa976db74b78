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

from benchmarks import tables, tables_readme, tables_scale, tables_serve, tables_text, tables_unknown
from benchmarks.benchmark import RESULTS
from benchmarks.picture import accuracy_picture
from lbg_recsys.files import atomic_write

ROOT = Path(__file__).parents[1]
PICTURE = "docs/accuracy.png"
NOT_MEASURED = "Not measured yet."


def load(folder, name):
    """A file of results, or None where the benchmark was not run."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def of(name, *parts):
    """A block that is made of one file of results, by one or more functions of it."""

    def block(folder):
        found = load(folder, name)
        if found is None:
            return NOT_MEASURED
        return "\n\n".join(filter(None, (part(found) for part in parts)))

    return block


def ratios(folder):
    """How many times faster than the rival; the figures of three benchmarks."""
    ratings = load(folder, "ratings")
    if ratings is None:
        return NOT_MEASURED
    return tables.ratios(ratings, load(folder, "files"), load(folder, "accuracy"))


# file -> name of a block -> what makes it
BLOCKS = {
    "README.md": {
        "ratings": of("accuracy", tables_readme.ratings),
        "lists": of("topn", tables_readme.lists),
        "text": of("text", tables_readme.text),
    },
    "docs/results.md": {
        "accuracy": of("accuracy", tables.accuracy_full, tables.accuracy_notes),
        "accuracy on the official splits": of("accuracy", tables.accuracy_official),
        "data sets": of("datasets", tables_unknown.data_sets, tables.measured),
        "calibration": of("calibration", tables.calibration),
        "lists": of("topn", tables.top_n, tables.list_folds, tables.measured),
        "lists of new users": of("topn", tables.lists_of_new_users),
        "speed": ratios,
        "growth": of("ratings", tables.growth),
        "new users": of("new_users", tables.new_users),
        "newsgroups": of("text", tables_text.newsgroups_short),
        "spambase clusters": of("text", tables_text.spam_clusters),
        "spambase classes": of("text", tables_text.spam_classes),
        "text speed": of("text", tables_text.text_speed_short),
        "paper": of("reproduction", tables_text.paper),
    },
    "docs/uncertainty.md": {"reliability": of("topn", tables.reliability)},
    "docs/time.md": {"time": of("time", tables_unknown.times)},
    "docs/bayesian-settings.md": {
        "sizes": of("tune_size", tables_unknown.sizes),
        "sweeps": of("tune_size", tables_unknown.sweeps),
        "chains": of("tune_size", tables_unknown.chains),
        "noise": of("tune_size", tables_unknown.noise),
        "ablation": of("ablation_bayesian", tables.ablation),
        "confirmation": of("ablation_bayesian", tables.confirmation),
    },
    "docs/bayesian-lbg.md": {
        "cost": of("accuracy", tables.bayesian_cost),
        "new users": of("new_users", tables.new_users),
        "unknown": of("new_items", tables_unknown.unknown),
        "features": of("features", tables_unknown.features, tables_unknown.features_of_lecturers),
    },
    "docs/scaling.md": {
        "growth": of("scale", tables_scale.growth),
        "groups": of("scale", tables_scale.groups),
        "rivals": of("scale", tables_scale.rivals),
        "workers": of("scale", tables_scale.workers),
        "chains": of("scale", tables_scale.chains),
        "chain": of("scale", tables_scale.bayesian),
    },
    "docs/serving.md": {"serve": of("serve", tables_serve.speed, tables_serve.endurance)},
    "docs/text.md": {
        "newsgroups": of("text", tables_text.newsgroups_full),
        "spambase clusters": of("text", tables_text.spam_clusters),
        "spambase classes": of("text", tables_text.spam_classes),
        "classifiers": of("text_corpora", tables_text.classifiers, tables_text.class_cost),
        "class bars": of("text_corpora", tables_text.class_bars),
        "corpus clusters": of("text_corpora", tables_text.corpus_clusters),
        "cluster ideas": of("text_corpora", tables_text.cluster_ideas),
        "topic words": of("text_corpora", tables_text.topic_words),
        "word rankings": of("text_corpora", tables_text.word_rankings),
        "selected words": of("reproduction", tables_text.selected_words),
        "speed": of("text", tables_text.text_speed_full),
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
