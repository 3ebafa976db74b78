"""A benchmark that stops goes on where it stopped, and says who was not there."""

import json

import pytest

from benchmarks import tables, write_docs
from benchmarks.common import entrants
from benchmarks.records import FoldRecord, means


def opened(path, *, missing=(), fresh=False):
    return FoldRecord(path, "a test", "none", seeds=[0], rivals=(), missing=list(missing), fresh=fresh)


def test_rows_are_kept_until_somebody_starts_over(tmp_path):
    path = tmp_path / "found.json"
    first = opened(path)
    first.add("a model", "random 0", {"rmse": 1.0})
    first.add("a model", "random 1", {"rmse": 2.0})
    again = opened(path, missing=["nobody is not installed"])
    assert again.has("a model", "random 1") and not again.has("a model", "random 2")
    assert "2 rows" in again.greeting() and "nobody" in again.greeting()
    again.add("a model", "random 2", {"rmse": 3.0})
    results = json.loads(path.read_text())["results"]
    assert results["runs"] == 2  # calls, not rows
    assert results["missing"] == ["nobody is not installed"]
    assert results["folds"]["a model"] == {f"random {n}": {"rmse": n + 1.0} for n in range(3)}
    fresh = opened(path, fresh=True)
    fresh.add("a model", "random 0", {"rmse": 4.0})
    results = json.loads(path.read_text())["results"]
    assert results["runs"] == 1 and list(results["folds"]["a model"]) == ["random 0"]


def test_libraries_that_are_not_there_are_noted_and_not_touched():
    def never():
        raise AssertionError("asked for the models of a library that is not installed")

    table, missing = entrants({"ours": 1}, no_such_library=never, json=lambda: {"theirs": 2})
    assert table == {"ours": 1, "theirs": 2}
    assert len(missing) == 1 and "no_such_library" in missing[0]


def test_a_measure_that_does_not_apply_has_no_mean():
    assert means([{"rmse": 1.0, "log_score": None}, {"rmse": 2.0, "log_score": None}]) == {
        "rmse": 1.5,
        "log_score": None,
    }


def row(rmse, **further):
    return {
        "rmse": rmse,
        "mae": rmse,
        "mae_median": None,
        "log_score": None,
        "fit_s": 2.0,
        "predict_s": 1.0,
    } | further


def all_folds(rmse, **further):
    return {fold: row(rmse, **further) for fold in (*tables.RANDOM, *tables.OFFICIAL)}


@pytest.fixture
def accurate():
    return {
        "results": {
            "folds": {
                "Bayesian LBG, 2 chains (gaussian)": all_folds(0.89, fit_s=3.0),
                "Bayesian LBG, defaults (4 chains)": all_folds(0.88, fit_s=10.0),
                "LBG, the paper's": all_folds(1.06),
                "myFM ordered probit": all_folds(0.885, fit_s=6.0),
                "myFM regression": all_folds(0.884, fit_s=12.0),
                "cornac MF": all_folds(0.91),
                "Surprise BaselineOnly": all_folds(0.94),
                "Surprise NMF": all_folds(0.96),
                "half done": {"random 0": row(0.5)},
            }
        }
    }


def test_the_short_table_has_ours_and_the_rivals_that_beat_biases(accurate):
    short = tables.accuracy_short(accurate)
    assert "**LBG, the paper's**" in short and "cornac MF" in short
    assert "NMF" not in short and "Left out: 2 models" in short
    assert "Surprise NMF" in tables.accuracy_full(accurate)


def test_models_that_saw_fewer_folds_are_not_compared(accurate):
    assert "half done" not in tables.accuracy_full(accurate) + tables.accuracy_official(accurate)


def test_the_sentence_about_cost_follows_the_record(accurate):
    said = tables.bayesian_cost(accurate)
    assert "0.50 of myFM's ordered probit and 0.25 of its regression" in said
    assert "0.100 of the default fit" in said
    del accurate["results"]["folds"]["myFM regression"]
    assert "myFM" not in tables.bayesian_cost(accurate)


def test_a_block_without_its_marker_is_named():
    with pytest.raises(SystemExit, match=r"text\.md lacks <!-- end figures -->"):
        write_docs.replaced("<!-- figures -->\n", {"figures": lambda: "1"}, "text.md")
    document = "before\n<!-- figures -->\nold\n<!-- end figures -->\nafter"
    assert write_docs.replaced(document, {"figures": lambda: "new"}, "") == document.replace("old", "new")
