"""``lbg-recsys params``: the parameters of an algorithm, for ``--param`` and for Python."""

import inspect
from typing import Any

import click

from lbg_recsys.cli.algorithms import Algorithm, algorithm, named_class, settings_listed
from lbg_recsys.cli.common import WIDTH, json_option, print_json, quiet_option
from lbg_recsys.cli.terminal import echo


@click.command()
@click.argument("algo")
@quiet_option
@json_option
def params(algo: str, quiet: bool, as_json: bool) -> None:
    """List the parameters of ALGO: type, default and meaning.

    Set them with --param NAME=VALUE, or as keyword arguments in Python. ALGO is any name that fit or evaluate takes.

    \b
    Examples:
      lbg-recsys params lbg
      lbg-recsys params bayesian --json
    """
    shown = _parameters(algorithm(algo, hint="ALGO"))
    if as_json:
        print_json(shown)
        return
    for one in shown:
        kind = f" : {one['type']}" if one["type"] else ""
        echo(f"{one['name']}{kind}, default={one['default']!r}")
        if one["description"]:
            echo(click.wrap_text(" ".join(one["description"].split()), WIDTH, "    ", "    "))


def _parameters(named: Algorithm) -> list[dict[str, Any]]:
    """Name, type, default and description of every parameter; other libraries' have no type and no description."""
    if named.settings:
        return [
            {
                "name": one.name,
                "type": one.kind,
                "default": named.preset.get(one.name, one.default),
                "description": one.description,
            }
            for one in settings_listed(named)
        ]
    signature = inspect.signature(named_class(named.surprise)).parameters.values()
    named_ones = [one for one in signature if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return [{"name": one.name, "type": "", "default": one.default, "description": ""} for one in named_ones]
