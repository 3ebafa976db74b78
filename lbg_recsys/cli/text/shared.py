"""What the text commands share: reading documents, saving models, saying what was written, comparing classes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from lbg_recsys.cli.common import WIDTH, counted, print_json, print_table
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.writing import TABLES, block_writer, output_option, suffix_of
from lbg_recsys.columns import PROBABILITY, with_distribution
from lbg_recsys.errors import DataError
from lbg_recsys.progress import bar, parts
from lbg_recsys.readers.documents import Documents, read_documents, word_frequencies

F = TypeVar("F", bound=Callable[..., Any])

_MODEL = ".lbg"


def outputs_option(what: str) -> Callable[[F], F]:
    """``-o FILE``, repeatable: a table of the documents or the fitted model, as the name ends."""
    return output_option(
        f"Where {what}: .csv, .tsv, .jsonl or .parquet; or .lbg to save the model for `text apply`. Repeatable.",
        suffixes=(*TABLES, _MODEL),
        multiple=True,
    )


def models_and_tables(outputs: Iterable[str]) -> tuple[list[str], list[str]]:
    """The files that the model goes to, and those that the table of the documents goes to.

    >>> models_and_tables(["topics.lbg", "topics.csv"])
    (['topics.lbg'], ['topics.csv'])
    """
    given = list(outputs)
    return [one for one in given if suffix_of(one) == _MODEL], [one for one in given if suffix_of(one) != _MODEL]


def read_matrices(
    *places: str, quiet: bool, text_column: str | None, label_column: str | None, **how: Any
) -> tuple[list[Documents], list[Any], list[str], Any]:
    """Documents of each place, their word frequencies, the words, and the vectorizer; says what was read."""
    columns = {"text_column": text_column, "label_column": label_column}
    with remarks(quiet), bar("reading", quiet) as progress:
        *reading, counting = parts(progress, len(places) + 1)
        sources = [
            read_documents(place, **columns, progress=part) for place, part in zip(places, reading, strict=True)
        ]
        matrices, names, vectorizer = word_frequencies(*sources, **how, progress=counting)
        counting(1, 1, "done")
    if not quiet:
        classes = f" of {counted(len(set(sources[0].labels)), 'class', 'classes')}" if sources[0].labels else ""
        documents = counted(len(sources[0]), "document")
        echo(f"Read {documents}{classes}, {counted(len(names), 'word')}.", err=True)
    return sources, matrices, names, vectorizer


def refuse_many_topics(model: Any, matrix: Any) -> None:
    """Restate, in terms of the options, the error that too few documents have words."""
    n_documents = int((matrix.sum(axis=1) > 0).sum())
    if n_documents < model.n_components:
        raise DataError(
            f"-k {model.n_components} asks for more topics than there are documents with words, {n_documents:,}: ask "
            "for fewer topics, or give more documents"
        )


def table_of_topics(read: Documents, topics: Any, proba: Any) -> dict[str, list[Any]]:
    """Per document the most probable topic, its probability, and the class if it is known."""
    return _table_of(read, {"topic": topics.tolist()}, proba)


def table_of_classes(read: Documents, classes: Sequence[Any], proba: Any) -> dict[str, list[Any]]:
    """Per document the most probable class, its probability, the true class if it is known, and all probabilities."""
    found = {"prediction": [classes[best] for best in proba.argmax(axis=1)]}
    shares = {f"{PROBABILITY}{name}": proba[:, place].tolist() for place, name in enumerate(classes)}
    return _table_of(read, found, proba) | shares


def _table_of(read: Documents, found: dict[str, list[Any]], proba: Any) -> dict[str, list[Any]]:
    known = {"label": read.labels} if read.labels else {}
    return {"document": read.names, **found, "probability": proba.max(axis=1).tolist(), **known}


def print_documents(table: dict[str, list[Any]]) -> None:
    """The table as on a screen: without a column per class."""
    shown = {name: values for name, values in table.items() if not name.startswith(PROBABILITY)}
    print_table(list(shown), list(zip(*shown.values(), strict=True)))


def save_model(model: Any, paths: Iterable[str], names: list[str], vectorizer: Any, quiet: bool) -> None:
    """Save a fitted model with its words."""
    from lbg_recsys.persistence import save

    words: dict[str, Any] = {"vocabulary": names} if vectorizer is None else {"vectorizer": vectorizer}
    for path in paths:
        save(model, path, **words)
        wrote(path, f"the {type(model).__name__}", quiet)


def write_tables(table: dict[str, Any], paths: Iterable[str], what: str, quiet: bool) -> None:
    """Write a table, and say on standard error what it has."""
    import pandas as pd

    for path in paths:
        with block_writer(path) as writer:
            writer.write(pd.DataFrame(table))
        wrote(path, what, quiet)


def wrote(path: str, what: str, quiet: bool) -> None:
    """Say on standard error what was written."""
    if not quiet:
        echo(f"Wrote {what} to {path}.", err=True)


def say_guesses(matrix: Any, what: str, quiet: bool) -> None:
    """Count the documents without a known word, whose topic or class is a guess."""
    unknown = int((matrix.sum(axis=1) == 0).sum())
    if unknown and not quiet:
        said = f"{counted(unknown, 'document')} without a word that the model knows: the {what} is a guess"
        echo(click.wrap_text(f"Note: {said}.", WIDTH), err=True)


def show_accuracy(table: dict[str, list[Any]], truth: list[str] | None, predicted: list[str], as_json: bool) -> None:
    """Show how predicted classes compare with the true ones, where these are known; as JSON with all documents."""
    found: dict[str, Any] = {}
    if truth:
        from sklearn.metrics import confusion_matrix

        classes = sorted({*truth, *predicted})
        accuracy = sum(one == other for one, other in zip(truth, predicted, strict=True)) / len(truth)
        counts = confusion_matrix(truth, predicted, labels=classes)
        found = {"accuracy": accuracy, "classes": classes, "confusion": counts}
    if as_json:
        rows = zip(*table.values(), strict=True)
        documents = [with_distribution(dict(zip(table, row, strict=True))) for row in rows]
        print_json({"documents": documents, **found})
        return
    if found:
        echo(f"Accuracy {found['accuracy']:.4f} of {counted(len(predicted), 'document')}; rows are the true classes:")
        lines = [[name, *line] for name, line in zip(found["classes"], found["confusion"].tolist(), strict=True)]
        print_table(["", *found["classes"]], lines)
