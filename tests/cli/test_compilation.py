"""Every command says once that it compiles, and only when it does."""

import os
import subprocess
import sys

import click
import pytest

import lbg_recsys
from lbg_recsys import progress
from lbg_recsys.cli import COMMANDS, common, main

NOTE = "Note: compiling kernels"


def commands(group, names):
    for name in names:
        found = group.get_command(click.Context(group), name)
        if isinstance(found, click.Group):
            yield from commands(found, found.list_commands(click.Context(found)))
        else:
            yield found


def test_every_command_with_quiet_listens():
    quiet = {
        command.name: option.callback
        for command in commands(main, COMMANDS)
        for option in command.params
        if option.name == "quiet"
    }
    assert {"fit", "recommend", "explain", "evaluate", "demo", "forced-prediction", "cluster"} <= set(quiet)
    assert {name for name, callback in quiet.items() if callback is None} == {"serve"}  # which has a log


@pytest.mark.parametrize(
    "arguments",
    ["recommend bayesian.lbg --new-user my_ratings.csv", "fit sample -o x.lbg -a bayesian:n_sweeps=6,burn_in=3"],
)
def test_a_run_without_stored_kernels_says_so_at_once(desk, arguments, tmp_path_factory):
    """The file of another model's kernels does not hide it; the run is stopped when it has said it."""
    kernels = tmp_path_factory.mktemp("kernels")
    (kernels / "another.nbi").touch()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    command = [sys.executable, "-m", "lbg_recsys", *arguments.split()]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as ran:
        assert ran.stderr is not None
        said = next((line for line in ran.stderr if line.startswith(NOTE)), "")
        running = ran.poll() is None
        ran.kill()
    assert said and running


@pytest.fixture
def compiles(monkeypatch):
    """Loading a model compiles two kernels."""
    load = lbg_recsys.load

    def loading(path):
        progress.compiling()
        progress.compiling()
        return load(path)

    monkeypatch.setattr(lbg_recsys, "load", loading)
    monkeypatch.setattr(common, "when_compiling", progress.when_compiling)


def test_it_is_said_once_and_not_with_quiet(desk, run, compiles):
    assert run("recommend", "model.lbg", "--user", 3).stderr.count(NOTE) == 1
    assert NOTE not in run("recommend", "model.lbg", "--user", 3, "-q").stderr
    progress.compiling()  # nobody listens to a command that has ended
