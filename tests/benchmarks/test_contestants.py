"""Every benchmark can be imported, and names who takes part whether or not rivals are installed."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks

MODULES = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", MODULES)
def test_it_can_be_imported(name):
    module = import_module(f"benchmarks.{name}")
    assert module.__doc__


@pytest.mark.parametrize("name", ["bench_accuracy", "bench_calibration", "bench_topn"])
def test_contestants_are_named(name):
    taking_part, missing = import_module(f"benchmarks.{name}").contestants()
    assert any("LBG" in str(model) for model in taking_part)
    assert all("not installed" in note for note in missing)


def test_accuracy_judges_small_fits_of_what_it_compiles(sample):
    ratings = sample.ratings[["user", "item", "rating"]].astype(float)
    rows = import_module("benchmarks.bench_accuracy").warm_up(ratings)
    assert {"Bayesian LBG", "LBG", "LBG on biases"} <= set(rows)
    for row in rows.values():
        assert 0.0 < row["rmse"] < 2.0 and row["fit_s"] >= 0.0
