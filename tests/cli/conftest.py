"""A folder such as a new user has: ratings, titles, pairs, own ratings; and a model fitted to them."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from lbg_recsys import datasets
from lbg_recsys.cli import main

SAMPLE = Path(datasets.__file__).parent / "sample"


def fill(folder):
    for name in ("ratings.csv", "titles.csv"):
        shutil.copy(SAMPLE / name, folder / name)
    (folder / "pairs.csv").write_text("user,item\n1,5\n3,8\n999,1\n")
    (folder / "my_ratings.csv").write_text("item,rating\n1,5\n2,4\n40,1\n")


@pytest.fixture(scope="session")
def _fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    fill(folder)
    arguments = ["fit", str(folder / "ratings.csv"), "-o", str(folder / "model.lbg")]
    arguments += ["--titles", str(folder / "titles.csv"), "--param", "n_topics=4", "--quiet"]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def desk(_fitted, tmp_path, monkeypatch):
    """The folder, fresh, and the one we stand in."""
    for file in _fitted.iterdir():
        shutil.copy(file, tmp_path / file.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run():
    """Run a command in this process; a traceback is never what a user sees, so it fails the test."""

    def invoke(*arguments, code=0, **options):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return invoke
