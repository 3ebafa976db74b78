"""``lbg-recsys text apply``."""

from typing import Any

import click

from lbg_recsys.cli.common import counted, json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.text.shared import class_shares, wrote
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.errors import DataError
from lbg_recsys.progress import bar
from lbg_recsys.readers.documents import failing_as_data_errors, matrix_for, read_documents


@click.command()
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
        table |= {"predicted": fitted.classes_[proba.argmax(axis=1)].tolist(), **class_shares(fitted.classes_, proba)}
    else:
        table |= {"topic": proba.argmax(axis=1).tolist(), "probability": proba.max(axis=1).tolist()}
    if output:
        with block_writer(output) as writer:
            writer.write(pd.DataFrame(table))
        wrote(output, counted(len(read), "document"), quiet)
    rows = list(zip(*table.values(), strict=True))
    if as_json:
        print_json({"documents": [dict(zip(table, row, strict=True)) for row in rows]})
    elif not output:
        print_table(list(table), rows)
