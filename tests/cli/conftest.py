"""A folder such as a new user has: ratings, titles, pairs, own ratings; and models fitted to them."""

import csv
import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import lbg_recsys
from lbg_recsys import datasets
from lbg_recsys.cli import common, main

SAMPLE = Path(datasets.__file__).parent / "sample"


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    """Tables as a person sees them: `CliRunner` is a pipe, in which they are not cut."""
    monkeypatch.setattr(common, "is_terminal", lambda: True)


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Kernels as if they were compiled already: what else is said must not depend on what ran before."""
    monkeypatch.setattr(common, "when_compiling", lambda listener: lambda: None)


def fill(folder):
    for name in ("ratings.csv", "titles.csv"):
        shutil.copy(SAMPLE / name, folder / name)
    (folder / "pairs.csv").write_text("user,item\n1,5\n3,8\n999,1\n")
    (folder / "its_ratings.csv").write_text("user,rating\n1,5\n2,4\n3,1\n")
    timed = "".join(
        f"{user},{item},{1 + (user + item) % 5},{86400 * user + item}\n" for user in range(9) for item in range(8)
    )
    (folder / "timed_ratings.csv").write_text("user,item,rating,timestamp\n" + timed)
    (folder / "item_facts.csv").write_text("item,year,genres\n1,1999,Drama|War\n2,1979,War\n3,,Comedy\n")
    (folder / "my_ratings.csv").write_text("item,rating\n1,5\n2,4\n40,1\n")
    (folder / "in_stock.txt").write_text("3\n8\nCrimson Orbit\n17\n25\n")
    rows = (SAMPLE / "ratings.csv").read_text().split()[1:]
    (folder / "clicks.csv").write_text("user,item\n" + "".join(row.rpartition(",")[0] + "\n" for row in rows))
    fill_with_texts(folder)


WORDS = {
    "garden": ("rose", "tulip", "soil", "spade", "seed", "bloom", "hedge", "lawn", "prune", "compost", "petal"),
    "harbour": ("anchor", "sail", "tide", "mast", "deck", "harbour", "rope", "keel", "captain", "buoy", "crew"),
}


def fill_with_texts(folder, n=30):
    """Two kinds of texts in class folders, in a CSV and as svmlight, and a few more to classify."""
    generator = random.Random(0)
    rows = [
        (kind, " ".join([*generator.choices(words, k=25), "morning", "today"]))
        for kind, words in WORDS.items()
        for _ in range(n)
    ]
    for place, (kind, text) in enumerate(rows):
        home = folder / ("more_docs" if place % n >= n - 3 else "docs") / kind
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{place:02}.txt").write_text(text)
    with open(folder / "texts.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([("label", "text"), *rows])
    everything = sorted({word for words in WORDS.values() for word in words})
    with open(folder / "words.svmlight", "w") as stream:
        for kind, text in rows:
            counts = [(column, text.split().count(word)) for column, word in enumerate(everything, start=1)]
            numbers = " ".join(f"{column}:{count}" for column, count in counts if count)
            stream.write(f"{list(WORDS).index(kind)} {numbers}\n")


@pytest.fixture(scope="session")
def _fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    fill(folder)
    files = {
        "model.lbg": ["--algo", "paper", "--param", "n_topics=4"],
        "bayesian.lbg": ["--algo", "bayesian", "--param", "n_sweeps=40", "--param", "burn_in=20"],
        "plsa.lbg": ["--algo", "plsa", "--param", "n_topics=4", "--param", "max_iter=20"],
    }
    for name, options in files.items():
        arguments = ["fit", str(folder / "ratings.csv"), "-o", str(folder / name), *options]
        arguments += ["--titles", str(folder / "titles.csv"), "--quiet"]
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    beside = ["--item-features", str(folder / "item_facts.csv"), "-p", "n_sweeps=12", "-p", "burn_in=6"]
    arguments = ["fit", str(folder / "ratings.csv"), "-o", str(folder / "featured.lbg"), *beside, "--quiet"]
    assert CliRunner().invoke(main, arguments, catch_exceptions=False).exit_code == 0
    for command, name in ((["cluster", "-k", "2"], "topics.lbg"), (["classify"], "classes.lbg")):
        arguments = ["text", *command, str(folder / "texts.csv"), "-o", str(folder / name), "--quiet"]
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def desk(_fitted, tmp_path, monkeypatch):
    """The folder, fresh, and the one we stand in."""
    shutil.copytree(_fitted, tmp_path, dirs_exist_ok=True)
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


@pytest.fixture
def model(desk):
    return lbg_recsys.load("model.lbg")
