"""``lbg-recsys text select``."""

from typing import Any

import click

from lbg_recsys.cli.algorithms import params_option, parse_params
from lbg_recsys.cli.common import counted, json_option, print_json, print_table, quiet_option, seed_option
from lbg_recsys.cli.documents import documents_argument, documents_options
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.terminal import echo
from lbg_recsys.cli.text.shared import read_matrices, refuse_many_topics, wrote
from lbg_recsys.cli.writing import TABLES, block_writer, output_option
from lbg_recsys.progress import bar
from lbg_recsys.readers.documents import failing_as_data_errors


@click.command()
@documents_argument("documents")
@click.option(
    "-n", "--number", type=click.IntRange(min=1), help="Number of words; by default all words above --delta."
)
@click.option(
    "--delta",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="Lowest score of a selected word.",
)
@click.option(
    "--by",
    type=click.Choice(["telling", "probability"]),
    default="telling",
    show_default=True,
    help="Rank words by how well they distinguish a topic (telling), or by their probability in it.",
)
@click.option("-k", "--topics", type=click.IntRange(min=1), default=8, show_default=True, help="Number of topics.")
@params_option("LBGMixture")
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
    """Select the words that distinguish topics.

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
    _, (matrix,), names, _ = read_matrices(documents, quiet=quiet, **how)
    mixture = LBGMixture(**{"n_components": topics, **arguments}, random_state=seed)
    refuse_many_topics(mixture, matrix)
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
        wrote(output, f"{len(table):,} of {counted(len(names), 'word')}", quiet)
    if as_json:
        print_json({"n_selected": len(table), "n_words": len(names), "selected": table.to_dict(orient="records")})
        return
    if not output:
        echo(f"{len(table):,} of {counted(len(names), 'word')}")
        print_table(list(table.columns), table.to_numpy(dtype=object).tolist())
