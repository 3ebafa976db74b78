"""No bar stands still while a command works: each moves with the steps of what it is about."""

import contextlib
import gzip
import importlib
import io
import pkgutil

import pytest

from lbg_recsys import cli

# command -> the least number of steps of each of its bars
COMMANDS = {
    "fit sample -o x.lbg --algo paper -p n_init=2": {"reading": 1, "fitting LBGModel": 5},
    "fit ratings.csv -o x.lbg --algo plsa": {"reading": 2, "fitting GaussianPLSAModel": 5},
    "fit sample -o x.lbg --algo bayesian -p n_sweeps=70 -p burn_in=20": {
        "reading": 1,
        "fitting BayesianLBGModel": 70,
    },
    "evaluate sample -a paper -a svd --folds 2": {"reading": 1, "evaluating": 2 * (5 + 200)},
    "forced-prediction sample -a paper -a svd --splits 1": {"reading": 1, "forced prediction": 5 + 10 + 10},
    "predict model.lbg pairs.csv": {"reading": 1, "predicting": 1},
    "recommend model.lbg --all-users": {"recommending": 1},
    "text cluster docs -k 2": {"reading": 54 + 54, "fitting LBGMixture": 4},
    "text cluster words.svmlight -k 2": {"reading": 2, "fitting LBGMixture": 4},
    "text select texts.csv -k 2 -p n_init=2": {"reading": 60, "fitting LBGMixture": 8},
    "text classify docs --folds 2 -p n_topics=[1,2]": {"reading": 54 + 54, "fitting LBGClassifier": 2 * 2 * 3 * 3},
    "text classify docs more_docs --max-false-positives 0.1": {
        "reading": 60 + 60,
        "fitting LBGClassifier": 2 * 6 * 3 + 1,
    },
}


@pytest.fixture
def bars(monkeypatch):
    """What every bar of a command is told, by its label."""
    told = {}

    @contextlib.contextmanager
    def recorded(label, quiet=False, or_lines=False):
        steps = told.setdefault(label, [])
        yield lambda done, total, note: steps.append((done, total, note))

    for module in pkgutil.walk_packages(cli.__path__, "lbg_recsys.cli."):
        loaded = importlib.import_module(module.name)
        if hasattr(loaded, "bar"):
            monkeypatch.setattr(loaded, "bar", recorded)
    return told


@pytest.mark.parametrize("command", COMMANDS)
def test_bars_move_forward_to_their_end(command, desk, run, bars):
    run(*command.split())
    assert set(bars) == set(COMMANDS[command])
    for label, least in COMMANDS[command].items():
        shares = [done / total for done, total, _ in bars[label]]
        assert shares == sorted(shares) and shares[-1] == 1.0, label
        assert len(shares) >= least, label


def test_starts_that_settle_early_leave_the_bar_where_the_next_begins(desk, run, bars):
    run("fit", "--algo", "paper", "sample", "-o", "x.lbg", "-p", "n_init=3", "-p", "max_iter=500")
    done = [done for done, _, note in bars["fitting LBGModel"] if note.startswith("log-likelihood")]
    assert {1, 501, 1001} <= set(done)  # the first iteration of each
    assert max(one % 500 for one in done) < 250  # and none needs half of its iterations


@pytest.mark.parametrize("kind", ["plain", "gzip", "parquet", "pipe"])
def test_reading_goes_by_bytes_or_rows(kind, tmp_path, monkeypatch):
    from lbg_recsys.readers import blocks as text_blocks
    from lbg_recsys.readers import read_ratings

    monkeypatch.setattr(text_blocks, "_BLOCK", 1 << 10)
    data = "user,item,rating\n" + "".join(f"{number},7,3\n" for number in range(1000))
    path, steps = tmp_path / "ratings", []
    if kind == "parquet":
        pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
        pandas.read_csv(io.StringIO(data)).to_parquet(path)
    else:
        path.write_bytes(gzip.compress(data.encode()) if kind == "gzip" else data.encode())
    source = io.BytesIO(data.encode()) if kind == "pipe" else path
    frame = read_ratings(source, progress=lambda *step: steps.append(step))
    assert len(frame) == 1000
    if kind == "pipe":  # who knows how much is to come
        assert {step[:2] for step in steps} == {(0, 1)} and steps[-1][2] == "1,000 rows"
    else:
        done = [step[0] for step in steps]
        assert done == sorted(done) and steps[-1][0] == steps[-1][1] > 0
    assert len(steps) == (1 if kind == "parquet" else 8)
