"""Rows are kept while what they depend on stays the same, and tables show what the record holds."""

import json

import pytest

from benchmarks import records, tables, tables_readme, write_docs
from benchmarks.common import Model, installed, measure_models
from benchmarks.records import Record, complete_rows, means

HEAD = {"what": "a test", "command": "none", "seeds": [0], "data": {"ratings": "abc"}}
NOW = {
    "date": "2026-01-01",
    "commit": "c0ffee",
    "source": "one",
    "cpu": "a CPU",
    "versions": {"python": "3", "numpy": "2", "scipy": "1", "lbg-recsys": "0.1", "rival": "5"},
}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Open the same file again, under changed circumstances."""

    def open_again(head=HEAD, fresh=(), versions=None, **changed):
        now = NOW | changed | {"versions": NOW["versions"] | (versions or {})}
        monkeypatch.setattr(records, "environment", lambda libraries: now)
        return Record(tmp_path / "found.json", head, fresh=fresh)

    return open_again


def both(record, value):
    """A row of ours and one of a rival; the values that the record returns."""
    ours = record.row("part", "ours", "0", lambda: {"value": value})
    rival = record.row("part", "rival", "0", lambda: {"value": value}, by="rival", settings={"epochs": (1, 2)})
    return ours["value"], rival["value"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, (1.0, 1.0)),
        ({"date": "2026-02-02", "commit": "another"}, (1.0, 1.0)),
        ({"source": "two"}, (2.0, 1.0)),  # our code changed: rivals stay
        ({"versions": {"rival": "6"}}, (1.0, 2.0)),
        ({"versions": {"numpy": "3"}}, (2.0, 2.0)),
        ({"cpu": "another CPU"}, (2.0, 2.0)),
        ({"fresh": ("part",)}, (2.0, 2.0)),
        ({"head": HEAD | {"data": {"ratings": "other"}}}, (2.0, 2.0)),
    ],
)
def test_a_row_is_kept_while_what_it_depends_on_stays_the_same(opened, changed, expected):
    assert both(opened(), 1.0) == (1.0, 1.0)
    assert both(opened(**changed), 2.0) == expected


def test_rows_with_other_settings_are_measured_again(opened):
    record = opened()
    both(record, 1.0)
    again = record.row("part", "rival", "0", lambda: {"value": 3.0}, by="rival", settings={"epochs": (1, 3)})
    assert again == {"value": 3.0}


def test_every_row_names_the_run_that_measured_it(opened, tmp_path):
    both(opened(), 1.0)
    both(opened(source="two", date="2026-02-02"), 2.0)
    found = json.loads((tmp_path / "found.json").read_text())
    dates = {name: found["runs"][one["rows"]["0"]["run"]]["date"] for name, one in found["results"]["part"].items()}
    assert dates == {"ours": "2026-02-02", "rival": "2026-01-01"}
    both(opened(cpu="another CPU", date="2026-03-03"), 3.0)  # nobody refers to the old runs any more
    assert [run["date"] for run in json.loads((tmp_path / "found.json").read_text())["runs"]] == ["2026-03-03"]


def test_two_processes_may_write_to_one_file(opened, tmp_path):
    first, second = opened(), opened()
    first.row("a", "ours", "0", lambda: {"value": 1.0})
    second.row("b", "ours", "0", lambda: {"value": 2.0})
    first.row("a", "ours", "1", lambda: {"value": 3.0})
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["results"]["a"]["ours"]["rows"].keys() == {"0", "1"} and len(found["runs"]) == 1
    assert found["results"]["b"]["ours"]["rows"]["0"]["values"] == {"value": 2.0}


def test_a_library_that_is_not_installed_keeps_its_rows_and_is_noted(opened, tmp_path):
    def never(*_):
        raise AssertionError("fitted a model of a library that is not installed")

    record = opened()
    record.row("part", "theirs", "0", lambda: {"value": 1.0}, by="no-such-library")
    record.row("part", "no longer there", "0", lambda: {"value": 1.0})
    models = {"ours": Model("numpy", {}, lambda: 2.0), "theirs": Model("no-such-library", {}, never)}
    measure_models(record, "part", models, {"0": ()}, lambda model: {"value": model.fit()})
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["results"]["part"].keys() == {"ours", "theirs"}
    (note,) = found["missing"]["part"]
    assert note.startswith("no-such-library is not installed")
    assert list(installed(models)[0]) == ["ours"]


def test_the_circumstances_of_a_run_are_recorded():
    now = records.environment(("pytest",))
    assert now["date"] and now["cpu"] and len(now["source"]) == 64
    assert {"python", "numpy", "pytest"} <= set(now["versions"])


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


def rows(values, trials):
    return {"by": "numpy", "settings": {}, "rows": {trial: {"run": 0, "values": values} for trial in trials}}


@pytest.fixture
def accurate():
    figures = {
        "Bayesian LBG, 2 chains (gaussian)": row(0.89, fit_s=3.0),
        "bayesian (Bayesian LBG, 4 chains)": row(0.88, fit_s=10.0),
        "paper (LBG)": row(1.06),
        "myFM ordered probit": row(0.885, fit_s=6.0),
        "myFM regression": row(0.884, fit_s=12.0),
        "cornac MF": row(0.91),
        "Surprise BaselineOnly": row(0.94),
        "Surprise NMF": row(0.96),
    }
    return {
        "runs": [NOW],
        "missing": {},
        "results": {
            "random": {name: rows(one, "01234") for name, one in figures.items()}
            | {"half done": rows(row(0.5), "0")},
            "official": {name: rows(one, ("u1", "u2")) for name, one in figures.items()},
        },
    }


def test_the_readme_has_our_best_and_the_best_of_each_library(accurate):
    short = tables_readme.ratings(accurate)
    assert [line.split(" | ")[0].strip("| *") for line in short.splitlines()[2:]] == [
        "Bayesian LBG",
        "myFM regression, implicit sets",
        "Bayesian LBG, 2 Gaussian chains",
        "cornac MF",
        "Surprise BaselineOnly",
    ]
    assert "Surprise NMF" in tables.accuracy_full(accurate)


def test_models_that_saw_fewer_folds_are_not_compared(accurate):
    assert "half done" not in complete_rows(accurate, "random")
    assert "half done" not in tables.accuracy_full(accurate) + tables.accuracy_official(accurate)


def test_notes_name_the_run_and_what_is_missing(accurate):
    accurate["missing"] = {"random": ["myfm is not installed"]}
    assert tables.accuracy_notes(accurate) == (
        "Measured on 2026-01-01 at commit c0ffee (a CPU). Not measured: myfm is not installed."
    )


def test_the_sentence_about_cost_follows_the_record(accurate):
    said = tables.bayesian_cost(accurate)
    assert "0.50 of myFM's ordered probit and 0.25 of its regression" in said
    assert "10.0% of the time of the default fit" in said
    del accurate["results"]["random"]["myFM regression"]
    assert "myFM" not in tables.bayesian_cost(accurate)


def test_a_block_without_its_marker_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"text\.md lacks <!-- end figures -->"):
        write_docs.replaced("<!-- figures -->\n", {"figures": lambda _: "1"}, "text.md", tmp_path)
    document = "before\n<!-- figures -->\nold\n<!-- end figures -->\nafter"
    made = write_docs.replaced(document, {"figures": lambda _: "new"}, "", tmp_path)
    assert made == document.replace("old", "new")
