"""`lbg-recsys datasets`, and what every command shares: errors, exit codes, start-up, tables, JSON."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import click
import pytest
from click.testing import CliRunner

from lbg_recsys.cli import COMMANDS, LazyGroup, common, main
from lbg_recsys.datasets import DATASETS
from lbg_recsys.errors import DataError, MissingExtraError


def run(*arguments, **options):
    return CliRunner().invoke(main, list(arguments), **options)


@pytest.fixture
def empty_machine(tmp_path, monkeypatch):
    """No data in the environment, an empty cache, no way to download."""
    for variable in ("SURPRISE_DATA_FOLDER", "SCIKIT_LEARN_DATA", "LBG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_list_names_every_data_set_in_80_columns():
    result = run("datasets", "list")
    assert result.exit_code == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *DATASETS]
    assert max(map(len, lines)) <= 80


def test_list_json(empty_machine):
    listed = json.loads(run("datasets", "list", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(DATASETS)
    assert set(run("datasets", "list").stdout.splitlines()[0].split()) <= set(listed[0])  # the same names
    by_name = {entry["name"]: entry for entry in listed}
    assert by_name["ml-100k"]["path"] is None and by_name["ml-100k"]["sha256"].startswith("06416e59")
    assert by_name["sample"]["path"].endswith("ratings.csv")
    assert all(entry["licence"] and entry["citation"] and entry["origin"] for entry in listed)


def test_list_its_json_and_doctor_say_the_same_about_where_data_is(empty_machine):
    listed = {entry["name"]: entry["found_in"] for entry in json.loads(run("datasets", "list", "--json").stdout)}
    assert listed["sample"] == "the package" and listed["ml-100k"] is None
    assert json.loads(run("doctor", "--json").stdout)["data"] == listed
    lines = {line.split()[0]: line for line in run("datasets", "list").stdout.splitlines()}
    assert all(f"  {where or 'not here'}  " in lines[name] for name, where in listed.items())


def test_path_prints_only_the_path():
    result = run("datasets", "path", "sample")
    assert result.exit_code == 0 and os.path.isfile(result.stdout.rstrip("\n"))
    assert json.loads(run("datasets", "path", "sample", "--json").stdout)["found_in"] == "the package"


def test_path_of_what_is_not_here_says_how_to_get_it(empty_machine):
    result = run("datasets", "path", "spambase")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: Spambase is not on this machine; lbg-recsys datasets fetch spambase gets it\n"


def test_fetch_prints_path_and_licence():
    result = run("datasets", "fetch", "sample")
    assert result.exit_code == 0 and result.stdout.strip().endswith("ratings.csv")
    assert "Licence: BSD-3-Clause" in result.stderr and "Cite:" in result.stderr
    assert run("datasets", "fetch", "sample", "--quiet").stderr == ""
    assert json.loads(run("datasets", "fetch", "sample", "--json").stdout)["name"] == "sample"


@pytest.mark.parametrize("action", ["fetch", "path"])
def test_unknown_name(action):
    result = run("datasets", action, "movielens-100")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("no data set is called 'movielens-100'; did you mean 'ml-100k'?\n")


@pytest.mark.parametrize("arguments", [["datasets", "fetch"], ["nonsense"], ["datasets", "list", "--wrong"]])
def test_bad_use_is_exit_code_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2 and "Usage:" in result.stderr and result.stdout == ""


def test_misspelt_command_suggests_the_nearest():
    assert "did you mean 'datasets'?" in run("dataset", "list").stderr


def _examples(command, path=("lbg-recsys",)):
    """Every command line shown under ``Examples:`` in the help of every command."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _examples(command.get_command(context, name), (*path, name))
    if len(path) > 1:
        yield path, re.findall(r"^ +(lbg-recsys .*)$", command.help or "", flags=re.MULTILINE)


@pytest.mark.parametrize("command", ["datasets"])
def test_help_has_examples(command):
    for path, examples in _examples(main.get_command(click.Context(main), command), ("lbg-recsys", command)):
        assert examples, f"{' '.join(path)} --help shows no example"
        for example in examples:
            if "ml-100k" not in example and "spambase" not in example:
                assert run(*example.split()[1:]).exit_code == 0, example


def _with(error):
    """The group with a command that raises."""

    @click.command()
    def fails():
        raise error

    class Failing(LazyGroup):
        def resolve_command(self, ctx, args):
            return "fails", fails, []

    return CliRunner().invoke(Failing(name="lbg-recsys"), ["fails"])


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (DataError("line 3: the rating is 'x'"), 1, "Error: line 3: the rating is 'x'\n"),
        (
            MissingExtraError("drawing", "matplotlib", "plot"),
            1,
            "Error: drawing needs matplotlib: install the extra",
        ),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "Error: there is no file a.csv\n"),
        (OSError(28, "No space left on device"), 1, "Error: No space left on device\n"),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
)
def test_errors_are_sentences(error, code, message):
    result = _with(error)
    assert result.exit_code == code and message in result.stderr and "Traceback" not in result.output


def test_an_error_of_ours_that_nobody_expected_keeps_its_traceback():
    assert isinstance(_with(ZeroDivisionError("a bug")).exception, ZeroDivisionError)


def test_broken_pipe_is_quiet():
    shell = f"{sys.executable} -m lbg_recsys datasets list --json | head -c 1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[", "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_is_exit_code_130():
    code = (
        "import time, lbg_recsys.cli.datasets as d\n"
        "def slow(*a, **k): print('ready', flush=True); time.sleep(60)\n"
        "d.find_dataset = slow\n"
        "from lbg_recsys.cli import main; main(['datasets', 'fetch', 'sample'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130 and error == "\nInterrupted.\n"


def test_help_starts_quickly_and_imports_nothing_heavy():
    code = (
        "import sys, time; start = time.process_time()\n"
        "from click.testing import CliRunner; from lbg_recsys.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'numba', 'surprise', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "print(time.process_time() - start, *heavy)"
    )
    seconds, *heavy = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy == [] and float(seconds) < 0.5


def test_every_registered_command_exists():
    context = click.Context(main)
    for name in COMMANDS:
        assert isinstance(main.get_command(context, name), click.Command)
    assert run("--version").stdout.startswith("lbg-recsys, version ")


def test_table_fits_and_aligns():
    rows = [["a" * 50, 1, 0.5, "b" * 90], ["c", 20, None, "d"]]
    lines = common.format_table(["text", "n", "score", "more"], rows).splitlines()
    assert max(map(len, lines)) == 80 and "…" in lines[1]
    assert lines[1].index(" 1  0.5000") == lines[2].index("20       -")
    assert common.format_table(["a", "b"], []) == "a  b"


def test_json_is_strict(capsys):
    import numpy as np

    common.print_json({"x": np.float64("nan"), "y": np.arange(2), 3: (np.int64(1), float("inf"))})
    assert json.loads(capsys.readouterr().out) == {"x": None, "y": [0, 1], "3": [1, None]}


def test_start_up_is_fast_for_a_user():
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "lbg_recsys", "--help"], capture_output=True, check=True)
    assert time.perf_counter() - start < 5  # a loaded machine; the CPU time is held above
