"""Every example in every --help runs, in the order in which they are shown."""

import re
import shlex

import click
import pytest

from lbg_recsys.cli import COMMANDS, main

# what an example needs besides the sample
PUBLIC_DATA = {"ml-100k": "ml-100k", "spambase": "spambase", "20newsgroups": "20newsgroups", "table4": "spambase"}


def commands(command, path):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))
    yield path, command


ALL = [pytest.param(*found, id=" ".join(found[0])) for found in commands(main, ("lbg-recsys",))]


def examples():
    seen = set()
    for path, command in commands(main, ("lbg-recsys",)):
        for example in re.findall(r"^ +(lbg-recsys .*)$", command.help or "", flags=re.MULTILINE):
            if example in seen:
                continue
            seen.add(example)
            yield pytest.param(example, id=f"{' '.join(path[1:]) or 'main'}: {example[11:]}")


@pytest.mark.parametrize(("path", "command"), ALL)
def test_every_command_shows_an_example(path, command, run):
    shown = run(*path[1:], "--help").stdout
    assert "Examples:" in shown and "\n    lbg-recsys " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(parameter.help for parameter in command.params if isinstance(parameter, click.Option))


@pytest.mark.parametrize(("path", "command"), [one for one in ALL if not isinstance(one.values[1], click.Group)])
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_every_command_can_be_quiet_and_speak_to_machines(path, command, option):
    (found,) = [one for one in command.params if option in one.opts]
    assert found.is_flag


LETTERS = {
    "-a": "--algo",
    "-p": "--param",
    "-n": "--number",
    "-k": "--topics",
    "-q": "--quiet",
    "-o": "--output",
    "-h": "--help",
}


@pytest.mark.parametrize(("path", "command"), ALL)
def test_a_letter_means_the_same_in_every_command(path, command):
    for names in (set(one.opts) for one in command.params if isinstance(one, click.Option)):
        assert {name for name in names if len(name) == 2} <= LETTERS.keys()
        for letter, long in LETTERS.items():
            assert (letter in names) == (long in names)


def test_every_command_is_reached():
    assert {path[1] for path, _ in commands(main, ("lbg-recsys",)) if len(path) > 1} == set(COMMANDS)


@pytest.mark.parametrize("example", list(examples()))
def test_the_examples_run(example, desk, run, available, monkeypatch):
    program, *arguments = shlex.split(example)
    for name in PUBLIC_DATA.keys() & set(arguments):
        available(PUBLIC_DATA[name])
    assert program == "lbg-recsys"
    if arguments[0] == "serve":  # it would serve for ever; tests/serving starts it
        pytest.importorskip("uvicorn", reason="the extra serve is not installed: pip install '.[serve]'")
        monkeypatch.setattr("lbg_recsys.serving.server.run", lambda *options: None)
    result = run(*arguments)
    assert "Traceback" not in result.output
    assert max(map(len, result.stdout.splitlines()), default=0) <= 80 or any(
        ending in example for ending in ("pairs.csv", "--json", "datasets path")
    )
