"""``lbg-recsys info``: what is in a model file."""

from typing import Any

import click

from lbg_recsys.cli.common import counted, json_option, print_json, quiet_option, size_in_words
from lbg_recsys.cli.models import convergence_in_words, model_argument
from lbg_recsys.cli.reading import choices_in_words, in_words
from lbg_recsys.cli.terminal import echo
from lbg_recsys.words import shown


@click.command()
@model_argument
@quiet_option
@json_option
def info(model: str, quiet: bool, as_json: bool) -> None:
    """Show what is in a model file.

    Shows the model and its parameters, how the training went, the ratings or words, the features, and the versions
    that the file was written with. The model is not loaded; the checksum of the file is verified.

    \b
    Examples:
      lbg-recsys info model.lbg
      lbg-recsys info model.lbg --json
    """
    facts = file_facts(model)
    if as_json:
        print_json(facts)
        return
    rows = {
        "model": f"{model} ({size_in_words(facts['size'])}, format {facts['format']})",
        "class": facts["class"],
        "parameters": ", ".join(f"{name}={value}" for name, value in facts["parameters"].items()),
    }
    about, titles = facts.get("ratings"), facts.get("n_titles")
    if how_it_went := convergence_in_words(facts["training"], "user" if about else "document"):
        rows["training"] = how_it_went
    if about:
        only_choices = facts["class"] == "ChoiceModel" and about["scale"]["n_levels"] == 1
        what, words = ("choices", choices_in_words) if only_choices else ("ratings", in_words)
        rows[what] = words(about)
        rows["users"] = f"{'in the file' if about['users_in_file'] else 'left out'}, with their {what}"
        rows["titles"] = f"{titles:,} of {about['n_items']:,} items" if titles else "none"
        if facts["features"]:
            rows["features"] = "; ".join(
                f"of {side}: {shown(table['features'])} ({counted(table['n_ids'], 'id')})"
                for side, table in facts["features"].items()
            )
    else:
        about = facts["words"]
        known = f"vocabulary {'in' if about['vocabulary'] else 'not in'} the file"
        rows["words"] = f"{counted(about['n_words'], 'word')}, {known}; vectorizer: {about['vectorizer'] or 'none'}"
    rows["versions"] = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    for name, text in rows.items():
        echo(click.wrap_text(f"{name:<11} {text}", width=80, subsequent_indent=" " * 12))


def file_facts(path: str) -> dict[str, Any]:
    """The contents of a model file as JSON."""
    from lbg_recsys.persistence.contents import look_into

    found = look_into(path)
    about = dict(found.about)
    beside = {"n_titles": about.pop("n_titles"), "features": about.pop("features", {})} if "n_titles" in about else {}
    return {
        "model": path,
        "size": found.size,
        "format": found.version,
        "class": found.model,
        "parameters": found.parameters,
        "training": found.training,
        found.section: about,
        "versions": found.versions,
        **beside,
    }
