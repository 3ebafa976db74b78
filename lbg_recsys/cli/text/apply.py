"""``lbg-recsys text apply``."""

import click

from lbg_recsys.cli.common import counted, json_option, quiet_option
from lbg_recsys.cli.documents import documents_argument
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.text.shared import (
    print_documents,
    say_guesses,
    show_accuracy,
    table_of_classes,
    table_of_topics,
    write_tables,
)
from lbg_recsys.cli.writing import TABLES, output_option
from lbg_recsys.errors import DataError
from lbg_recsys.progress import bar
from lbg_recsys.readers.documents import failing_as_data_errors, matrix_for, read_documents
from lbg_recsys.words import class_of


@click.command()
@click.argument("model", type=click.Path())
@documents_argument("new")
@output_option("Where topics or classes go: .csv, .tsv, .jsonl or .parquet.", suffixes=TABLES)
@click.option("--label-column", metavar="NAME", help="A table's column of classes; by default found by name.")
@click.option("--text-column", metavar="NAME", help="A table's column of texts; by default found by name.")
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

    The model is one that `text cluster` or `text classify` saved as a .lbg file. Where NEW has classes too,
    predicted classes are compared with them.

    \b
    Examples:
      lbg-recsys text cluster texts.csv -k 2 -o topics.lbg
      lbg-recsys text apply topics.lbg more_docs
      lbg-recsys text apply classes.lbg more_docs -o classes.csv
    """
    from lbg_recsys.persistence import load

    fitted = load(model)
    if not hasattr(fitted, "vectorizer_") or not hasattr(fitted, "predict_proba"):
        raise DataError(f"{model} holds {class_of(fitted)}; text apply takes topics or a classifier")
    with remarks(quiet), bar("reading", quiet) as progress:
        read = read_documents(new, text_column=text_column, label_column=label_column, progress=progress)
    with failing_as_data_errors():
        matrix = matrix_for(fitted, read)
        proba = fitted.predict_proba(matrix)
    classes = fitted.classes_.tolist() if hasattr(fitted, "classes_") else []
    say_guesses(matrix, "class" if classes else "topic", quiet)
    table = table_of_classes(read, classes, proba) if classes else table_of_topics(read, proba.argmax(axis=1), proba)
    if output:
        what = f"the {'classes' if classes else 'topics'} of {counted(len(read), 'document')}"
        write_tables(table, [output], what, quiet)
    elif not as_json:
        print_documents(table)
    predicted = list(map(str, table.get("prediction", [])))
    show_accuracy(table, read.labels if classes else None, predicted, as_json)
