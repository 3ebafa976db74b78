"""No bar stands still while a command works: each moves with the steps of what it is about."""

import contextlib
import gzip
import importlib
import io
import pkgutil

import pytest

from lbg_recsys import cli

# command -> the labels of its bars, in the order in which they appear
COMMANDS = {
    "fit sample -o x.lbg --algo paper -p n_init=2": ["reading", "fitting LBGModel"],
    "fit ratings.csv -o x.lbg --algo plsa": ["reading", "fitting GaussianPLSAModel"],
    "fit sample -o x.lbg --algo bayesian -p n_sweeps=70 -p burn_in=20": ["reading", "fitting BayesianLBGModel"],
    "evaluate sample -a paper -a svd --folds 2": ["reading", "evaluating"],
    "forced-prediction sample -a paper -a svd --splits 1": ["reading", "forced prediction"],
    "predict model.lbg pairs.csv": ["reading", "predicting"],
    "recommend model.lbg --all-users": ["recommending"],
    "text cluster docs -k 2": ["reading", "fitting LBGMixture"],
    "text cluster words.svmlight -k 2": ["reading", "fitting LBGMixture"],
    "text select texts.csv -k 2 -p n_init=2": ["reading", "fitting LBGMixture"],
    "text classify docs --folds 2 -p n_topics=[1,2]": ["reading", "fitting LBGClassifier"],
    "text classify docs more_docs --max-false-positives 0.1": ["reading", "fitting LBGClassifier"],
}
# What is done in one go has a bar that is empty or full; every other one stops on the way.
AT_ONCE = ("reading", "predicting", "recommending")


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
    assert list(bars) == COMMANDS[command]
    for label, steps in bars.items():
        shares = [done / total for done, total, _ in steps]
        assert shares == sorted(shares) and shares[-1] == 1.0, label
        assert label in AT_ONCE or any(0.0 < share < 1.0 for share in shares), label


def test_starts_that_settle_early_leave_the_bar_where_the_next_begins(desk, run, bars):
    run("fit", "--algo", "paper", "sample", "-o", "x.lbg", "-p", "n_init=3", "-p", "max_iter=500")
    shares = [done / total for done, total, note in bars["fitting LBGModel"] if note.startswith("log-likelihood")]
    thirds = [[share for share in shares if low <= 3 * share < low + 1] for low in range(3)]
    assert all(thirds) and shares == sorted(shares)  # each start has a third of the bar
    assert all(max(third) - min(third) < 1 / 6 for third in thirds)  # and none needs half of its iterations


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
        return
    shares = [done / total for done, total, _ in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert kind != "plain" or 0.0 < shares[0] < 1.0  # what is packed is so small that it is taken at once
