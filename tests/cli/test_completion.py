"""Shell completion of users and items from a model file, of names and parameters, as bash and zsh ask for it."""

import pytest
from click.shell_completion import BashComplete, ZshComplete

from lbg_recsys import LBGModel, save
from lbg_recsys.cli import main


@pytest.fixture
def model(tmp_path):
    rows = [("ann", 1, 5), ("ann", 2, 3), ("bob", 1, 4), ("bob", 12, 2), ("al", 2, 1), ("al", 12, 5)]
    fitted = LBGModel(n_topics=1, random_state=0).fit(tuple(zip(*rows, strict=True)))
    fitted.titles = {1: "Crimson Comet", 2: "Crimson Starship (1999)", 12: "Alien\x1b[2J"}
    save(fitted, tmp_path / "model.lbg")
    return str(tmp_path / "model.lbg")


def completions(words, typed, shell=ZshComplete):
    found = shell(main, {}, "lbg-recsys", "_LBG_RECSYS_COMPLETE").get_completions(words, typed)
    return [(one.value, one.help) for one in found]


@pytest.mark.parametrize("command", ["recommend", "predict", "explain", "similar"])
def test_users_begin_with_what_was_typed(model, command):
    assert completions([command, model, "--user"], "a") == [("ann", None), ("al", None)]


@pytest.mark.parametrize("command", ["predict", "explain", "similar"])
def test_items_by_title_and_by_id(model, command):
    ask = [command, model, "--item"]
    assert completions(ask, "crimson c") == [("Crimson Comet", "1")]
    assert completions(ask, "1") == [("1", "Crimson Comet"), ("12", None)]
    assert completions(["items", model], "crimson c") == [("Crimson Comet", "1")]


def test_bash_gets_spaces_and_brackets_escaped(model, monkeypatch):
    monkeypatch.setenv("_LBG_RECSYS_COMPLETE", "bash_complete")
    found = completions(["predict", model, "--item"], "Crimson S", BashComplete)
    assert found == [(r"Crimson\ Starship\ \(1999\)", "2")]


def test_a_title_that_would_move_the_cursor_is_not_offered(model):
    assert completions(["predict", model, "--item"], "Al") == []


@pytest.mark.parametrize("content", [None, b"", b"no model"])
def test_a_bad_file_completes_nothing(tmp_path, content):
    path = tmp_path / "bad.lbg"
    if content is not None:
        path.write_bytes(content)
    assert completions(["predict", str(path), "--item"], "C") == []
    assert completions(["predict", "--user"], "C") == []


def test_algorithms_and_data_sets_by_name():
    for words in (["params"], ["evaluate", "sample", "-a"], ["forced-prediction", "sample", "--algo"]):
        assert [name for name, _ in completions(words, "bay")] == ["bayesian", "bayesian-strong"]
    assert [name for name, _ in completions(["params"], "LBG")] == ["LBGMixture", "LBGClassifier"]
    assert completions(["evaluate", "sample", "-a"], "LBG") == []
    for command in ("fetch", "path"):
        assert [name for name, _ in completions(["datasets", command], "ml-")] == ["ml-100k", "ml-1m"]


@pytest.mark.parametrize("words", [["fit"], ["evaluate"], ["demo"], ["forced-prediction"], ["update", "model.lbg"]])
def test_ratings_are_data_sets_or_files(words, monkeypatch):
    def asked(typed, shell=ZshComplete):
        found = shell(main, {}, "lbg-recsys", "_LBG_RECSYS_COMPLETE").get_completions(words, typed)
        return [one.value for one in found if one.type == "plain"], [one.type for one in found][-1]

    assert asked("ml-") == (["ml-100k", "ml-1m"], "file")
    assert "sample" in asked("")[0] and "reuters" not in str(asked("")[0]) and asked("mine.c") == ([], "file")
    monkeypatch.setenv("_LBG_RECSYS_COMPLETE", "bash_complete")
    assert asked("sam", BashComplete)[0] == ["sample"]
    assert asked("", BashComplete) == ([], "file")  # names would keep bash from completing files


@pytest.mark.parametrize("command", ["cluster", "select", "classify", "apply"])
def test_documents_are_data_sets_of_texts_or_files(command):
    words = ["text", command, *(["topics.lbg"] if command == "apply" else [])]
    found = ZshComplete(main, {}, "lbg-recsys", "_LBG_RECSYS_COMPLETE").get_completions(words, "r")
    assert [one.value for one in found] == ["r8", "r52", "r"] and found[-1].type == "file"


def test_parameters_of_the_algorithm():
    (found,) = completions(["fit", "sample", "--algo", "lbg", "-p"], "n_top")
    assert found[0] == "n_topics=" and "topics" in found[1]
    assert completions(["fit", "sample", "--algo", "lbg:point=mean", "-p"], "n_top") == [found]
    assert [name for name, _ in completions(["fit", "sample", "-p"], "n_sw")] == ["n_sweeps="]  # the default's
