"""``lbg-recsys info``: what is in a model file."""

import os

import click

from lbg_recsys.cli.common import json_option, print_json, quiet_option
from lbg_recsys.cli.fit import convergence, convergence_in_words
from lbg_recsys.cli.models import load_model, model_argument
from lbg_recsys.cli.reading import facts_of, in_words


@click.command()
@model_argument
@quiet_option
@json_option
def info(model: str, quiet: bool, as_json: bool) -> None:
    """Say what is in a model file.

    The model and its parameters, how training went, the ratings, the versions it was written with.

    \b
    Examples:
      lbg-recsys info model.lbg
      lbg-recsys info model.lbg --json
    """
    from lbg_recsys.persistence import FORMAT

    loaded = load_model(model, quiet)
    facts = {
        "model": model,
        "bytes": os.path.getsize(model),
        "format": FORMAT,
        "class": type(loaded).__name__,
        "parameters": loaded.get_params(),
        "training": convergence(loaded),
        "ratings": facts_of(loaded.matrix),
        "titles": len(loaded.titles),
        "written with": dict(loaded.versions),
    }
    if as_json:
        print_json(facts)
        return
    rows = {
        "file": f"{model} ({facts['bytes'] / 1e6:.1f} MB, format {FORMAT})",
        "model": facts["class"],
        "parameters": ", ".join(f"{name}={value}" for name, value in facts["parameters"].items()),
        "training": convergence_in_words(loaded),
        "ratings": in_words(loaded.matrix),
        "titles": f"{facts['titles']:,} of {loaded.matrix.n_items:,} items",
        "versions": ", ".join(f"{name} {version}" for name, version in loaded.versions.items()),
    }
    for name, text in rows.items():
        click.echo(click.wrap_text(f"{name:<11} {text}", width=80, subsequent_indent=" " * 12))
