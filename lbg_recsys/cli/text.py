"""``lbg-recsys text``: cluster documents, select their words, classify them."""

from typing import Any

import click

from lbg_recsys.cli.algorithms import params_option, parse_params
from lbg_recsys.cli.common import WIDTH, json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.documents import (
    Documents,
    documents_options,
    failing_as_data_errors,
    read_documents,
    word_frequencies,
)
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.writing import block_writer, output_option
from lbg_recsys.errors import DataError


@click.group()
def text() -> None:
    """Cluster, select and classify with the text models.

    DOCUMENTS are a folder of text files (in class folders where classes are known), a CSV or TSV with a text
    column (and a label column), or an svmlight file of word frequencies.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text select docs -n 20
      lbg-recsys text classify docs
    """


@text.command()
@click.argument("documents", type=click.Path())
@click.option("-k", "--topics", type=click.IntRange(min=1), default=8, show_default=True, help="Number of topics.")
@click.option("-w", "--words", type=click.IntRange(min=1), default=8, show_default=True, help="Words shown a topic.")
@params_option
@output_option("Where each document's topic goes: .csv, .tsv, .jsonl or .parquet.")
@plot_option
@documents_options
@seed_option
@quiet_option
@json_option
def cluster(
    documents: str,
    topics: int,
    words: int,
    params: tuple[str, ...],
    output: str | None,
    plot: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Group DOCUMENTS into topics, and show their words.

    Where classes are known, the accuracy under the best mapping of topics to classes is shown too.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text cluster texts.csv -k 2 -w 4 --json
      lbg-recsys text cluster texts.csv -k 2 -o topics.csv --plot topics.png
      lbg-recsys text cluster words.svmlight -k 2 --param n_keywords=5
    """
    from lbg_recsys.text import LBGMixture

    arguments = parse_params(params, LBGMixture)
    (read,), (matrix,), names = _read(documents, quiet=quiet, **how)
    model = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    with remarks(quiet), failing_as_data_errors():
        model.fit(matrix)
    posterior = model.predict_proba(matrix)
    facts = _facts_of_topics(model, names, words, read)
    if output:
        import pandas as pd

        table = {"document": read.names, "topic": model.labels_, "probability": posterior.max(axis=1)}
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table | ({"label": read.labels} if read.labels else {})))
    if plot:
        from lbg_recsys.cli.pictures import save_figure
        from lbg_recsys.text import plot_topics

        save_figure(plot_topics(model, names, n_words=words), plot)
    if as_json:
        print_json(facts)
        return
    rows = [
        [topic["topic"], topic["weight"], topic["documents"], " ".join(topic["words"])] for topic in facts["topics"]
    ]
    print_table(["topic", "weight", "documents", "words"], rows)
    if facts["accuracy"] is not None:
        click.echo(f"Accuracy under the best mapping of topics to the classes: {facts['accuracy']:.4f}")


@text.command()
@click.argument("documents", type=click.Path())
@click.option("-n", "--number", type=click.IntRange(min=1), help="How many words; by default those above --delta.")
@click.option(
    "--delta",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Least probability of being a keyword of some topic.",
)
@click.option("-k", "--topics", type=click.IntRange(min=1), default=8, show_default=True, help="Number of topics.")
@params_option
@output_option("Where the words go: .csv, .tsv, .jsonl or .parquet.")
@documents_options
@seed_option
@quiet_option
@json_option
def select(
    documents: str,
    number: int | None,
    delta: float,
    topics: int,
    params: tuple[str, ...],
    output: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Select the words that are keywords of a topic.

    A word's score is the highest probability, over the topics, of being a keyword.

    \b
    Examples:
      lbg-recsys text select docs -k 2 -n 10
      lbg-recsys text select texts.csv -k 2 --delta 0.2 --json
      lbg-recsys text select texts.csv -k 2 -n 20 -o words.csv
    """
    import pandas as pd

    from lbg_recsys.text import LBGMixture, LBGSelector

    arguments = parse_params(params, LBGMixture)
    _, (matrix,), names = _read(documents, quiet=quiet, **how)
    mixture = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    with remarks(quiet), failing_as_data_errors():
        selector = LBGSelector(mixture, delta=delta, n_features_to_select=number).fit(matrix)
    chosen = selector.get_support(indices=True)
    table = pd.DataFrame(
        {
            "word": [names[column] for column in chosen],
            "score": selector.scores_[chosen],
            "topic": selector.estimator_.keyword_prob_[:, chosen].argmax(axis=0),
        }
    ).sort_values("score", ascending=False, kind="stable", ignore_index=True)
    if output:
        with block_writer(output) as writer:
            writer.write(table)
    if as_json:
        print_json({"words": len(table), "of": len(names), "selected": table.to_dict(orient="records")})
        return
    click.echo(f"{len(table):,} of {len(names):,} words" + (f", written to {output}" if output else ":"))
    if not output:
        click.echo(click.wrap_text(" ".join(table["word"]), WIDTH))


@text.command()
@click.argument("documents", type=click.Path())
@click.argument("new", required=False, type=click.Path())
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Parts to cross-validate by.")
@click.option(
    "--max-false-positives",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Two classes: at most this share of the first may be called the second.",
)
@params_option
@output_option("Where the predictions go: .csv, .tsv, .jsonl or .parquet.")
@documents_options
@seed_option
@quiet_option
@json_option
def classify(
    documents: str,
    new: str | None,
    folds: int,
    max_false_positives: float | None,
    params: tuple[str, ...],
    output: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Learn classes from DOCUMENTS; judge, or classify NEW.

    With NEW, its documents are classified; where they have classes too, the predictions are judged by them. Without
    NEW, DOCUMENTS is cross-validated.

    \b
    Examples:
      lbg-recsys text classify docs
      lbg-recsys text classify texts.csv --folds 3 --param n_topics=2 --json
      lbg-recsys text classify docs more_docs -o classes.csv
    """
    import pandas as pd

    from lbg_recsys.text import LBGClassifier

    arguments = parse_params([param for param in params if not param.startswith("estimator")], LBGClassifier)
    sources, matrices, _ = _read(documents, *([new] if new is not None else []), quiet=quiet, **how)
    labels, judged = sources[0].labels, sources[-1]
    if labels is None:
        raise DataError(f"{documents} has no classes to learn: use class folders, or a label column")
    model = LBGClassifier(**arguments, max_false_positive_rate=max_false_positives, random_state=seed)
    with remarks(quiet), failing_as_data_errors():
        if new is None:
            predicted = _cross_validated(model, matrices[0], labels, folds, seed)
        else:
            predicted = model.fit(matrices[0], labels).predict(matrices[1]).tolist()
    truth = judged.labels
    table = {"document": judged.names, "predicted": predicted} | ({"label": truth} if truth else {})
    if output:
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table))
    _show_classes(table, truth, predicted, as_json, shown=output is None and new is not None)


def _cross_validated(model: Any, matrix: Any, labels: list[str], folds: int, seed: int) -> list[str]:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    predicted: list[str] = cross_val_predict(model, matrix, labels, cv=parts).tolist()
    return predicted


def _show_classes(
    table: dict[str, list[str]], truth: list[str] | None, predicted: list[str], as_json: bool, *, shown: bool
) -> None:
    judged: dict[str, Any] = {}
    if truth:
        from sklearn.metrics import confusion_matrix

        classes = sorted({*truth, *predicted})
        accuracy = sum(one == other for one, other in zip(truth, predicted, strict=True)) / len(truth)
        counts = confusion_matrix(truth, predicted, labels=classes)
        judged = {"accuracy": accuracy, "classes": classes, "confusion": counts}
    if as_json:
        documents = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        print_json({"documents": documents, **judged})
        return
    if shown:
        print_table(list(table), list(zip(*table.values(), strict=True)))
    if judged:
        click.echo(f"Accuracy {judged['accuracy']:.4f} of {len(predicted):,} documents; rows are the true classes:")
        rows = [[name, *line] for name, line in zip(judged["classes"], judged["confusion"].tolist(), strict=True)]
        print_table(["", *judged["classes"]], rows)


def _read(
    *places: str, quiet: bool, text_column: str | None, label_column: str | None, **how: Any
) -> tuple[list[Documents], list[Any], list[str]]:
    """Documents of each place, their word frequencies, and the words; says what was read."""
    sources = [read_documents(place, text_column=text_column, label_column=label_column) for place in places]
    matrices, names = word_frequencies(*sources, **how)
    if not quiet:
        classes = f" of {len(set(sources[0].labels))} classes" if sources[0].labels else ""
        click.echo(f"Read {len(sources[0]):,} documents{classes}, {len(names):,} words.", err=True)
    return sources, matrices, names


def _facts_of_topics(model: Any, names: list[str], words: int, read: Documents) -> dict[str, Any]:
    import numpy as np

    from lbg_recsys.evaluation.metrics import clustering_accuracy

    counts = np.bincount(model.labels_, minlength=len(model.weights_))
    listed = model.top_keywords(names, words)
    order = np.argsort(-model.weights_, kind="stable").tolist()
    accuracy = None
    if read.labels:
        accuracy = clustering_accuracy(np.unique(read.labels, return_inverse=True)[1], model.labels_)
    topics = [
        {"topic": s, "weight": float(model.weights_[s]), "documents": int(counts[s]), "words": listed[s]}
        for s in order
    ]
    return {"documents": len(read), "words": len(names), "accuracy": accuracy, "topics": topics}
