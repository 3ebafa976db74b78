"""``lbg-recsys params``: the parameters of an algorithm, for ``--param`` and for Python."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import click

from lbg_recsys.cli.algorithms import ELSEWHERE, TEXT_MODELS, Algorithm, algorithm, named_class, settings_listed
from lbg_recsys.cli.common import WIDTH, json_option, print_json, quiet_option
from lbg_recsys.cli.completion import complete_algorithm_or_text_model
from lbg_recsys.cli.terminal import echo


@click.command()
@click.argument("algo", shell_complete=complete_algorithm_or_text_model)
@quiet_option
@json_option
def params(algo: str, quiet: bool, as_json: bool) -> None:
    """List the parameters of ALGO: type, default and meaning.

    Set them with --param NAME=VALUE, or as keyword arguments in Python. ALGO is any name that fit or evaluate takes,
    or a text model: LBGMixture (text cluster, text select) or LBGClassifier (text classify).

    \b
    Examples:
      lbg-recsys params lbg
      lbg-recsys params bayesian --json
      lbg-recsys params LBGMixture
    """
    if algo in TEXT_MODELS:
        shown = _of_text_model(algo)
    else:
        shown = _parameters(algorithm(algo, hint="ALGO", others=TEXT_MODELS))
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
    return _of_class(named_class(named.surprise), {})


def _of_text_model(name: str) -> list[dict[str, Any]]:
    """The parameters of a text model, with types and descriptions from its docstring."""
    import lbg_recsys.text

    cls = getattr(lbg_recsys.text, name)
    section = (inspect.getdoc(cls) or "").split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented: dict[str, tuple[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", section):
        head, _, description = entry.partition("\n")
        parameter, _, kind = head.partition(" : ")
        documented[parameter] = kind.split(", default=")[0], " ".join(description.split())
    return [one for one in _of_class(cls, documented) if one["name"] not in ELSEWHERE]


def _of_class(cls: type, documented: Mapping[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """The parameters of a constructor; those not documented have no type and no description."""
    signature = inspect.signature(cls).parameters.values()
    named_ones = [one for one in signature if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    shown = []
    for one in named_ones:
        kind, description = documented.get(one.name, ("", ""))
        shown.append({"name": one.name, "type": kind, "default": one.default, "description": description})
    return shown
