"""Ids and titles cannot steer a terminal: not in tables, sentences, errors or JSON."""

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import lbg_recsys
from lbg_recsys.cli import main

EVIL = "Alien\x1b]0;owned\x07\x9b2J\u202edne"
SHOWN = r"Alien\u001b]0;owned\u0007\u009b2J\u202edne"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    users, items = ["ann", "ann", "bob", "bob", EVIL], ["x", "y", "x", EVIL, "y"]
    fitted = lbg_recsys.LBGModel(n_topics=1).fit((users, items, [5, 4, 1, 2, 3]))
    return str(lbg_recsys.save(fitted, tmp_path_factory.mktemp("evil") / "model.lbg", titles={"x": EVIL}))


@pytest.mark.parametrize(
    "arguments",
    [
        ["recommend", "--user", "bob"],
        ["recommend", "--user", "ann", "--json"],
        ["recommend", "--user", f"nobody {EVIL}"],
        ["predict", "--user", EVIL, "--item", "x"],
        ["explain", "--user", "bob", "--item", "x"],
        ["explain", "--user", "bob", "--item", f"unknown {EVIL}"],
        ["similar", "--item", EVIL],
        ["topics"],
        ["info"],
        [f"--{EVIL}"],
    ],
)
def test_what_commands_print(model, arguments):
    command, *rest = arguments
    found = CliRunner().invoke(main, [command, model, *rest])
    printed = found.stdout + found.stderr
    assert printed
    assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert found.exception is None or isinstance(found.exception, SystemExit)


def test_they_are_shown_as_escapes(model):
    found = CliRunner().invoke(main, ["predict", model, "--user", EVIL, "--item", "x"])
    assert SHOWN in found.stdout


def test_json_gives_the_id_back(model):
    found = CliRunner().invoke(main, ["recommend", model, "--user", "ann", "--json"])
    assert EVIL in str(json.loads(found.stdout)) or repr(EVIL)[1:-1] in str(json.loads(found.stdout))


def test_commands_print_through_the_one_function():
    folder = Path(lbg_recsys.__file__).parent / "cli"
    for path in folder.rglob("*.py"):
        if path.name != "terminal.py":
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
            assert not [node.lineno for node in calls if node.attr in ("echo", "secho")], path.name
