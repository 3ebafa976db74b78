"""``lbg-recsys reproduce``: every experiment of the paper."""

from pathlib import Path

import click

from lbg_recsys.cli.common import json_option, print_table, quiet_option
from lbg_recsys.cli.terminal import echo
from lbg_recsys.errors import MissingExtraError
from lbg_recsys.progress import bar

NAMES = ("table1", "table2", "table3", "table4", "table5", "figure1", "figure2")


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice([*NAMES, "all"]))
@click.option("--seeds", type=click.IntRange(min=1), help="Repetitions per figure.  [default: 3; 1 with --quick]")
@click.option("--quick", is_flag=True, help="Use a part of the data and one seed: minutes instead of an hour.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for the tables, the pictures and the results so far.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Parallel processes.")
@quiet_option
@json_option
def reproduce(
    names: tuple[str, ...], seeds: int | None, quick: bool, output: Path, jobs: int, quiet: bool, as_json: bool
) -> None:
    """Run the paper's experiments and compare our figures with its own.

    NAME is one or more of table1 .. table5, figure1, figure2, or all (the default). Each result is shown as the paper
    prints it, with the literal algorithm, and with the settings that we recommend. The folder gets reproduction.md,
    .json and .html and the pictures. An interrupted run continues where it stopped.

    \b
    Examples:
      lbg-recsys reproduce table4 --quick -o quick
      lbg-recsys reproduce table4 --quick --seeds 2 --json
    """
    from lbg_recsys.paper import EXPERIMENTS
    from lbg_recsys.paper.experiment import cells_of
    from lbg_recsys.paper.output import table_of, write_all
    from lbg_recsys.paper.pictures import draw_all
    from lbg_recsys.paper.runner import run_cells
    from lbg_recsys.paper.summary import summarise

    chosen = [EXPERIMENTS[name] for name in NAMES if not names or "all" in names or name in names]
    n_seeds = seeds if seeds is not None else (1 if quick else 3)
    cells = [cell for experiment in chosen for cell in cells_of(experiment, n_seeds, quick)]
    with bar("measuring", quiet=quiet) as progress:
        figures = run_cells(cells, output / "cells", n_jobs=jobs, progress=progress)
    results = {experiment.name: summarise(experiment, figures) for experiment in chosen}
    try:
        pictures = draw_all(output, results)
    except MissingExtraError as error:
        if not quiet:
            echo(f"No pictures: {error}", err=True)
        pictures = {}
    words = ["lbg-recsys reproduce", *(names or ("all",)), f"--seeds {n_seeds}", *(["--quick"] if quick else [])]
    paths = write_all(output, chosen, results, pictures, n_seeds=n_seeds, quick=quick, command=" ".join(words))
    if as_json:
        echo((output / "reproduction.json").read_text(encoding="utf-8"), nl=False)
        return
    for experiment in chosen:
        echo(f"\n{experiment.name}: {experiment.title}")
        headers, rows = table_of(experiment, results[experiment.name])
        print_table(headers, [[cell.replace(" ± ", "±") for cell in row] for row in rows])  # 80 columns are few
    echo("\nWritten: " + ", ".join(str(path) for path in (*paths, *pictures.values())))
