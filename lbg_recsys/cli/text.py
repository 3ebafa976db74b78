"""``lbg-recsys text``: cluster documents, select their words, classify them."""

from collections import Counter
from operator import itemgetter
from typing import Any

import click

from lbg_recsys.cli.algorithms import params_option, parse_params
from lbg_recsys.cli.common import WIDTH, counted, json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.documents import documents_options
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.errors import DataError
from lbg_recsys.progress import Progress, bar, parts
from lbg_recsys.readers.documents import (
    Documents,
    failing_as_data_errors,
    matrix_for,
    read_documents,
    word_frequencies,
)

_OF_ESTIMATOR = "estimator__"
save_option = click.option(
    "--save", "save_to", type=click.Path(dir_okay=False), help="Save the fitted model here, for `text apply`."
)
_BLOCK = 1 << 11  # documents to classify at a time


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
@output_option("Where each document's topic goes: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@save_option
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
    save_to: str | None,
    plot: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Group DOCUMENTS into topics, and show the words that tell them apart.

    Where classes are known, the accuracy under the best mapping of topics to classes is shown too.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text cluster texts.csv -k 2 -w 4 --json
      lbg-recsys text cluster texts.csv -k 2 -o topics.csv --plot topics.png
      lbg-recsys text cluster texts.csv -k 2 --save topics.lbg
      lbg-recsys text cluster words.svmlight -k 2 --param n_keywords=5
    """
    from lbg_recsys.text import LBGMixture

    arguments = parse_params(params, LBGMixture)
    (read,), (matrix,), names, vectorizer = _read(documents, quiet=quiet, **how)
    model = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    with remarks(quiet), failing_as_data_errors(), bar("fitting LBGMixture", quiet) as progress:
        posterior = model.fit_transform(matrix, progress=progress)
        facts = _facts_of_topics(model, names, words, read)
    if output:
        import pandas as pd

        table = {"document": read.names, "topic": model.labels_, "probability": posterior.max(axis=1)}
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table | ({"label": read.labels} if read.labels else {})))
        _wrote(output, f"the topics of {counted(len(read), 'document')}", quiet)
    _save(model, save_to, names, vectorizer, quiet)
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
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="Least score of a word.",
)
@click.option(
    "--by",
    type=click.Choice(["telling", "probability"]),
    default="telling",
    show_default=True,
    help="What a word is ranked by: how much it tells a topic from the others, or its probability in the topic.",
)
@click.option("-k", "--topics", type=click.IntRange(min=1), default=8, show_default=True, help="Number of topics.")
@params_option
@output_option("Where the words go: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@documents_options
@seed_option
@quiet_option
@json_option
def select(
    documents: str,
    number: int | None,
    delta: float,
    by: str,
    topics: int,
    params: tuple[str, ...],
    output: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Select the words that tell topics apart.

    A word's score is its highest over the topics: p log(p / average p), or p alone with --by probability, where p
    is the probability that the word is a keyword of the topic.

    \b
    Examples:
      lbg-recsys text select docs -k 2 -n 10
      lbg-recsys text select texts.csv -k 2 --delta 0.2 --json
      lbg-recsys text select texts.csv -k 2 -n 20 -o words.csv
    """
    import pandas as pd

    from lbg_recsys.text import LBGMixture, LBGSelector

    arguments = parse_params(params, LBGMixture)
    _, (matrix,), names, _ = _read(documents, quiet=quiet, **how)
    mixture = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    with remarks(quiet), failing_as_data_errors(), bar("fitting LBGMixture", quiet) as progress:
        selector = LBGSelector(mixture, rank_by=by, delta=delta, n_features_to_select=number)
        selector.fit(matrix, progress=progress)
    chosen = selector.get_support(indices=True)
    table = pd.DataFrame(
        {
            "word": [names[column] for column in chosen],
            "score": selector.scores_[chosen],
            "topic": selector.topics_[chosen],
        }
    ).sort_values("score", ascending=False, kind="stable", ignore_index=True)
    if output:
        with block_writer(output) as writer:
            writer.write(table)
    if as_json:
        print_json({"words": len(table), "of": len(names), "selected": table.to_dict(orient="records")})
        return
    click.echo(f"{len(table):,} of {counted(len(names), 'word')}" + (f", written to {output}" if output else ":"))
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
@output_option("Where the predictions go: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@save_option
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
    save_to: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Learn classes from DOCUMENTS; judge, or classify NEW.

    With NEW, its documents are classified; where they have classes too, the predictions are judged by them. Without
    NEW, DOCUMENTS is cross-validated. --param sets the classifier's parameters, and as estimator__NAME=VALUE those
    of the mixture that each class is modelled with.

    \b
    Examples:
      lbg-recsys text classify docs
      lbg-recsys text classify texts.csv --folds 3 --param n_topics=2 --json
      lbg-recsys text classify docs more_docs -o classes.csv
      lbg-recsys text classify docs --folds 3 --param estimator__prior_gauss=5
      lbg-recsys text classify docs --save classes.lbg
    """
    import pandas as pd

    model = _classifier(params, max_false_positives, seed)
    sources, matrices, names, vectorizer = _read(documents, *([new] if new is not None else []), quiet=quiet, **how)
    labels, judged = sources[0].labels, sources[-1]
    if labels is None:
        raise DataError(f"{documents} has no classes to learn: use class folders, or a label column")
    if max_false_positives is not None:
        _refuse_few(labels, model.cv, folds if new is None else None)
    with remarks(quiet), failing_as_data_errors(), bar("fitting LBGClassifier", quiet) as progress:
        if new is None:
            predicted = _cross_validated(model, matrices[0], labels, folds, seed, progress)
        else:
            predicted = _classified(model, matrices[0], labels, matrices[1], progress).tolist()
    truth = judged.labels
    table = {"document": judged.names, "predicted": predicted} | ({"label": truth} if truth else {})
    if save_to:
        if new is None:  # cross-validation fits copies to parts of the documents
            with remarks(quiet), failing_as_data_errors(), bar("fitting LBGClassifier", quiet) as progress:
                model.fit(matrices[0], labels, progress=progress)
        _save(model, save_to, names, vectorizer, quiet)
    if output:
        shares = {} if new is None else _shares(model, model.predict_proba(matrices[1]))
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table | shares))
        _wrote(output, f"the classes of {counted(len(predicted), 'document')}", quiet)
    _show_classes(table, truth, predicted, as_json, shown=output is None and new is not None)


@text.command()
@click.argument("model", type=click.Path())
@click.argument("new", type=click.Path())
@output_option("Where topics or classes go: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@click.option("--label-column", metavar="NAME", help="The CSV's column of classes; found by name by default.")
@click.option("--text-column", metavar="NAME", help="The CSV's column of texts; found by name by default.")
@quiet_option
@json_option
def apply(
    model: str,
    new: str,
    output: str | None,
    label_column: str | None,
    text_column: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the topics or classes of NEW documents with a saved MODEL.

    The model is one that `text cluster` or `text classify` saved with --save.

    \b
    Examples:
      lbg-recsys text cluster texts.csv -k 2 --save topics.lbg
      lbg-recsys text apply topics.lbg more_docs
      lbg-recsys text apply classes.lbg more_docs -o classes.csv
    """
    import pandas as pd

    from lbg_recsys.persistence import load

    fitted = load(model)
    if not hasattr(fitted, "vectorizer_") or not hasattr(fitted, "predict_proba"):
        raise DataError(f"{model} holds a {type(fitted).__name__}; text apply takes topics or a classifier")
    with bar("reading", quiet) as progress:
        read = read_documents(new, text_column=text_column, label_column=label_column, progress=progress)
    with failing_as_data_errors():
        matrix = matrix_for(fitted, read)
        proba = fitted.predict_proba(matrix)
    table: dict[str, Any] = {"document": read.names}
    if hasattr(fitted, "classes_"):
        table |= {"predicted": fitted.classes_[proba.argmax(axis=1)].tolist(), **_shares(fitted, proba)}
    else:
        table |= {"topic": proba.argmax(axis=1).tolist(), "probability": proba.max(axis=1).tolist()}
    if output:
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table))
        _wrote(output, counted(len(read), "document"), quiet)
    rows = list(zip(*table.values(), strict=True))
    if as_json:
        print_json({"documents": [dict(zip(table, row, strict=True)) for row in rows]})
    elif not output:
        print_table(list(table), rows)


def _shares(model: Any, proba: Any) -> dict[str, list[float]]:
    """A column of probabilities per class."""
    return {f"probability of {name}": proba[:, place].tolist() for place, name in enumerate(model.classes_)}


def _save(model: Any, path: str | None, names: list[str], vectorizer: Any, quiet: bool) -> None:
    from lbg_recsys.persistence import save

    if path:
        words: dict[str, Any] = {"vocabulary": names} if vectorizer is None else {"vectorizer": vectorizer}
        save(model, path, **words)
        _wrote(path, f"the {type(model).__name__}", quiet)


def _wrote(path: str, what: str, quiet: bool) -> None:
    if not quiet:
        click.echo(f"Wrote {what} to {path}.", err=True)


def _classifier(params: tuple[str, ...], max_false_positives: float | None, seed: int) -> Any:
    """The classifier with its own parameters, and its mixture with those that begin with ``estimator__``."""
    from lbg_recsys.text import LBGClassifier, LBGMixture

    own = [param for param in params if not param.startswith(_OF_ESTIMATOR)]
    passed = [param.removeprefix(_OF_ESTIMATOR) for param in params if param.startswith(_OF_ESTIMATOR)]
    elsewhere = {"max_false_positive_rate": "--max-false-positives", "estimator": f"{_OF_ESTIMATOR}NAME=VALUE"}
    model = LBGClassifier(
        **parse_params(own, LBGClassifier, elsewhere=elsewhere),
        max_false_positive_rate=max_false_positives,
        random_state=seed,
    )
    if passed:  # on top of what the classifier takes by itself, which is not what a mixture does
        given = parse_params(passed, LBGMixture, elsewhere={"n_components": "n_topics, the topics of a class"})
        model.set_params(estimator=model._template().set_params(**given))
    return model


def _refuse_few(labels: list[str], parts: int, folds: int | None) -> None:
    """The threshold for --max-false-positives is found by a cross-validation within what is trained with."""
    name, count = min(Counter(labels).items(), key=itemgetter(1))
    trained_with = count if folds is None else count - -(-count // folds)
    if trained_with < parts:
        remedy = f"fewer parts (--param cv={trained_with}) or " if trained_with > 1 else ""
        raise DataError(
            f"--max-false-positives finds its threshold by an inner cross-validation of {parts} parts, for which "
            f"{counted(trained_with, 'document')} of the class {name!r} to train with are too few: "
            f"give {remedy}more documents"
        )


def _cross_validated(
    model: Any, matrix: Any, labels: list[str], folds: int, seed: int, progress: Progress
) -> list[str]:
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    truth = np.array(labels)
    predicted = truth.copy()
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(matrix, truth)
    for (known, held_out), part in zip(splits, parts(progress, folds), strict=True):
        predicted[held_out] = _classified(clone(model), matrix[known], truth[known], matrix[held_out], part)
    found: list[str] = predicted.tolist()
    return found


def _classified(model: Any, known: Any, labels: Any, new: Any, progress: Progress) -> Any:
    """The classes of new documents, found in blocks: with many classes it takes as long as the fit."""
    import numpy as np

    fitting, classifying = parts(progress, 2)
    model.fit(known, labels, progress=fitting)
    found = []
    for first in range(0, new.shape[0], _BLOCK):
        found.append(model.predict(new[first : first + _BLOCK]))
        classifying(min(first + _BLOCK, new.shape[0]), new.shape[0], "classifying")
    return np.concatenate(found)


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
        click.echo(
            f"Accuracy {judged['accuracy']:.4f} of {counted(len(predicted), 'document')}; rows are the true classes:"
        )
        rows = [[name, *line] for name, line in zip(judged["classes"], judged["confusion"].tolist(), strict=True)]
        print_table(["", *judged["classes"]], rows)


def _read(
    *places: str, quiet: bool, text_column: str | None, label_column: str | None, **how: Any
) -> tuple[list[Documents], list[Any], list[str], Any]:
    """Documents of each place, their word frequencies, the words, and the vectorizer; says what was read."""
    columns = {"text_column": text_column, "label_column": label_column}
    with bar("reading", quiet) as progress:
        *reading, counting = parts(progress, len(places) + 1)
        sources = [
            read_documents(place, **columns, progress=part) for place, part in zip(places, reading, strict=True)
        ]
        matrices, names, vectorizer = word_frequencies(*sources, **how, progress=counting)
        counting(1, 1, "done")
    if not quiet:
        classes = f" of {counted(len(set(sources[0].labels)), 'class', 'classes')}" if sources[0].labels else ""
        documents = counted(len(sources[0]), "document")
        click.echo(f"Read {documents}{classes}, {counted(len(names), 'word')}.", err=True)
    return sources, matrices, names, vectorizer


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
