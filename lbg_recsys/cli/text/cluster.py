"""``lbg-recsys text cluster``."""

from typing import Any

import click

from lbg_recsys.cli.algorithms import params_option, parse_params
from lbg_recsys.cli.common import counted, json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.documents import documents_argument, documents_options
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.pictures import plot_option
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.text.shared import (
    models_and_tables,
    outputs_option,
    read_matrices,
    refuse_many_topics,
    save_model,
    table_of_topics,
    write_tables,
    wrote,
)
from lbg_recsys.progress import bar
from lbg_recsys.readers.documents import Documents, failing_as_data_errors


@click.command()
@documents_argument("documents")
@click.option("-k", "--topics", type=click.IntRange(min=1), default=8, show_default=True, help="Number of topics.")
@click.option("-n", "--number", type=click.IntRange(min=1), default=8, show_default=True, help="Words per topic.")
@params_option("LBGMixture")
@outputs_option("each document's topic goes")
@plot_option
@documents_options
@seed_option
@quiet_option
@json_option
def cluster(
    documents: str,
    topics: int,
    number: int,
    params: tuple[str, ...],
    output: tuple[str, ...],
    plot: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Group DOCUMENTS into topics, and show the words that distinguish them.

    Where classes are known, the accuracy under the best mapping of topics to classes is shown too.

    \b
    Examples:
      lbg-recsys text cluster docs -k 2
      lbg-recsys text cluster texts.csv -k 2 -n 4 --json
      lbg-recsys text cluster texts.csv -k 2 -o topics.csv --plot topics.png
      lbg-recsys text cluster texts.csv -k 2 -o topics.lbg -o topics.csv
      lbg-recsys text cluster words.svmlight -k 2 --param n_keywords=5
    """
    from lbg_recsys.text import LBGMixture

    arguments = parse_params(params, LBGMixture)
    (read,), (matrix,), names, vectorizer = read_matrices(documents, quiet=quiet, **how)
    model = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    refuse_many_topics(model, matrix)
    with remarks(quiet), failing_as_data_errors(), bar("fitting LBGMixture", quiet) as progress:
        posterior = model.fit_transform(matrix, progress=progress)
        facts = _facts_of_topics(model, names, number, read)
    models, tables = models_and_tables(output)
    table = table_of_topics(read, model.labels_, posterior)
    write_tables(table, tables, f"the topics of {counted(len(read), 'document')}", quiet)
    save_model(model, models, names, vectorizer, quiet)
    if plot:
        from lbg_recsys.cli.pictures import save_figure
        from lbg_recsys.text import plot_topics

        save_figure(plot_topics(model, names, n_words=number), plot)
        wrote(plot, "the picture of the topics", quiet)
    if as_json:
        print_json(facts)
        return
    rows = [
        [topic["topic"], topic["weight"], topic["n_documents"], " ".join(topic["words"])] for topic in facts["topics"]
    ]
    print_table(["topic", "weight", "n_documents", "words"], rows)
    if facts["accuracy"] is not None:
        echo(f"Accuracy under the best mapping of topics to the classes: {facts['accuracy']:.4f}")


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
        {"topic": s, "weight": float(model.weights_[s]), "n_documents": int(counts[s]), "words": listed[s]}
        for s in order
    ]
    return {"n_documents": len(read), "n_words": len(names), "accuracy": accuracy, "topics": topics}
