"""`fit` beyond memory, interrupted fits, and `update`."""

import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.cli.reading import parse_size

pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")


def test_a_budget_does_not_change_the_model(desk, run):
    run("fit", "--algo", "paper", "ratings.csv", "-o", "here.lbg")
    (desk / "parts").mkdir()
    shutil.copy("ratings.csv", "parts")
    result = run("fit", "--algo", "paper", "parts", "-o", "there.lbg", "--memory", "1MB", "--store", "sorted")
    assert "6,065 ratings of 120 items by 200 users" in result.stderr
    again = run("fit", "--algo", "paper", "sorted", "-o", "again.lbg")
    assert "6,065 ratings" in again.stderr
    assert (desk / "here.lbg").read_bytes() == (desk / "there.lbg").read_bytes() == (desk / "again.lbg").read_bytes()
    with open("parts/ratings.csv", "a") as stream:
        stream.write("1,2,5\n1,2,4\n")
    twice = run("fit", "--algo", "paper", "parts", "-o", "twice.lbg")
    assert twice.stderr.count("pair") == 1 and "2 repeated a (user, item) pair" in twice.stderr
    run("fit", "clicks.csv", "--algo", "choice", "-o", "clicks.lbg", "--memory", "1MB")
    assert lbg_recsys.load("clicks.lbg").recommend(1, 3)["item"].size == 3


@pytest.mark.parametrize("store", [(), ("--store", "sorted")], ids=["in memory", "from disk"])
def test_an_interrupted_fit_goes_on(desk, run, monkeypatch, store):
    command = ("fit", "--algo", "paper", "ratings.csv", "-o", "mine.lbg", *store)
    run("fit", "--algo", "paper", "ratings.csv", "-o", "whole.lbg")
    steps = []

    def stop(*arguments, before=None, **keywords):
        from lbg_recsys.core.em.loop import run_em

        def counted(statistics, history):
            steps.append(len(history))
            before(statistics, history)
            if len(history) == 5:
                raise KeyboardInterrupt

        return run_em(*arguments, before=counted, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr("lbg_recsys.ratings.lbg_fit.run_em", stop)
        run(*command, "--checkpoint", 2, code=130)
    assert not (desk / "mine.lbg").exists() and (desk / "mine.lbg.checkpoint").exists()
    run(*command, "--seed", 1, "--resume", code=1)
    run(*command, "--resume")
    assert (desk / "mine.lbg").read_bytes() == (desk / "whole.lbg").read_bytes()
    assert not (desk / "mine.lbg.checkpoint").exists()


@pytest.mark.parametrize(
    ("code", "options", "message"),
    [
        (2, ["--memory", "2GB"], "--memory needs --algo lbg or paper or plsa or choice, not bayesian"),
        (2, ["--algo", "choice", "--checkpoint", "3"], "--checkpoint needs --algo lbg or paper, not choice"),
        (2, ["--algo", "lbg", "--memory", "much"], "'much' is not a size from 1MB to 1000TB"),
        (2, ["--algo", "lbg", "--memory", "9" * 400], "is not a size from 1MB to 1000TB"),
        (2, ["--algo", "lbg", "--memory", "99999999TB"], "is not a size from 1MB to 1000TB"),
        (2, ["--algo", "lbg", "--dask", "127.0.0.1:9"], "give --store FOLDER"),
        (1, ["--algo", "lbg", "--columns", "9,2,3", "--memory", "1MB"], "no column number 9"),
        (2, ["--algo", "bayesian", "--seconds", "3", "--dask"], "with --dask give --param n_sweeps=N"),
        (1, ["--dask", "127.0.0.1:9"], "no Dask scheduler answers at 127.0.0.1:9: start one"),
        (1, ["--algo", "bayesian", "--dask", "127.0.0.1:9"], "no Dask scheduler answers at 127.0.0.1:9: start one"),
        (1, ["--algo", "lbg", "--store", "docs"], "is not empty"),
    ],
)
def test_what_cannot_be_is_said(desk, run, code, options, message, monkeypatch):
    monkeypatch.setattr("lbg_recsys.distributed.cluster._SECONDS_TO_ANSWER", 1)
    result = run("fit", "ratings.csv", "-o", "mine.lbg", *options, code=code)
    assert message in " ".join(result.stderr.split())
    assert not (desk / "mine.lbg").exists()


def test_times_are_of_one_file(desk, run):
    (desk / "parts").mkdir()
    shutil.copy("timed_ratings.csv", "parts")
    assert "--time needs the ratings in memory: give one file" in " ".join(
        run("fit", "parts", "-o", "mine.lbg", "--time", code=2).stderr.split()
    )


def test_standard_input_is_sorted_on_disk_too(desk):
    command = [sys.executable, "-m", "lbg_recsys", "fit", "-", "--algo", "paper", "-o", "mine.lbg", "-q"]
    for more in ([], ["--memory", "1MB"]):
        subprocess.run([*command, *more], input=(desk / "ratings.csv").read_bytes(), check=True)
        (desk / "mine.lbg").rename(f"{len(more)}.lbg")
    assert (desk / "0.lbg").read_bytes() == (desk / "2.lbg").read_bytes()


def test_sizes():
    assert parse_size("1.5GB") == 1_500_000_000 and parse_size("64m") == 64_000_000


def test_update(desk, run, sample):
    run("fit", "--algo", "paper", "ratings.csv", "-o", "paper.lbg", "--titles", "titles.csv")
    (desk / "more.csv").write_text("user,item,rating\n1,2,5\nzoe,3,4\nzoe,novel,1\n")
    result = run("update", "paper.lbg", "more.csv", "-o", "newer.lbg")
    said = " ".join(result.stdout.split())
    assert "1 new user, 1 new item, 2 new ratings, 1 rating replaced. It has " in said and "repeated" not in said
    newer = lbg_recsys.load("newer.lbg")
    assert newer.titles and "zoe" in newer.matrix.users and 1 in newer.matrix.users
    model = lbg_recsys.load("paper.lbg").partial_fit(([1, "zoe", "zoe"], [2, 3, "novel"], [5, 4, 1]))
    np.testing.assert_array_equal(newer.parameters_.c, model.parameters_.c)
    again = json.loads(run("update", "newer.lbg", "more.csv", "--json").stdout)
    assert again["n_replaced"] == 3 and again["before"]["n_ratings"] == again["after"]["n_ratings"]
    (desk / "new.csv").write_text("user,item,rating\nzoe,7,4\n")
    assert "replaced" not in run("update", "newer.lbg", "new.csv").stdout
    before = (desk / "newer.lbg").read_bytes()
    (desk / "more.csv").write_text("user,item,rating\n1,2,9\n")
    assert "off the scale" in run("update", "newer.lbg", "more.csv", code=1).stderr
    assert (desk / "newer.lbg").read_bytes() == before
    run("fit", "clicks.csv", "-o", "clicks.lbg")
    said = " ".join(run("update", "clicks.lbg", "ratings.csv", code=1).stderr.split())
    assert "cannot be updated" in said and "--algo" not in said  # clicks cannot be fitted by another one
    said = run("recommend", "clicks.lbg", "--user", 1, "--new-item", "its_ratings.csv", code=1).stderr
    assert "leave it out, or give a model that was fitted to a file with ratings" in said and "--algo" not in said


def test_an_update_finds_items_by_their_titles(desk, run):
    amy = lbg_recsys.LBGModel(n_topics=1).fit(([1, 2, 2], [246, 268, 9], [1, 5, 3]))
    titles = {246: "Chasing Amy (1997)", 268: "Chasing Amy (1997)", 9: "Alien (1979)"}
    lbg_recsys.save(amy, "amy.lbg", titles=titles)
    before = (desk / "amy.lbg").read_bytes()

    def said(rows, code=0):
        (desk / "more.csv").write_text(f"user,item,rating\n{rows}")
        return " ".join(run("update", "amy.lbg", "more.csv", "-o", "newer.lbg", code=code).output.split())

    assert "1 new user, 1 new item, 2 new ratings" in said("7,alien (1979),5\n7,10,1\n")
    newer = lbg_recsys.load("newer.lbg").matrix
    assert sorted(newer.items.raws(newer.seen(newer.users.code(7)))) == [9, 10]
    shared = "more.csv: 'Chasing Amy (1997)': 2 items have this title: give the id, 246 or 268"
    assert shared in said("7,Chasing Amy (1997),5\n", code=1)
    twice = "the user 7 rates the item 9 by two names: leave one of the ratings out"
    assert f"more.csv: {twice}" in said("7,Alien (1979),5\n7,9,1\n", code=1)
    assert (desk / "amy.lbg").read_bytes() == before


@pytest.mark.slow
def test_a_lost_scheduler_is_said_without_a_traceback(desk):
    pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
    dask = [sys.executable, "-m", "dask"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--scheduler-file", "cluster.json", "--no-dashboard"]
    with (
        subprocess.Popen([*dask, "scheduler", "--port", "0", *where], **silent) as scheduler,
        subprocess.Popen([*dask, "worker", "--nthreads", "1", "--no-nanny", *where], **silent) as worker,
    ):
        try:
            _wait_for(desk / "cluster.json")
            address = json.loads((desk / "cluster.json").read_text())["address"]
            options = ["--algo", "paper", "-o", "mine.lbg", "--store", "sorted", "--checkpoint", "1"]
            endless = ["--param", "max_iter=1000000", "--param", "tol=0", "--dask", address]
            command = [sys.executable, "-m", "lbg_recsys", "fit", "ratings.csv", *options, *endless]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as fit:
                _wait_for(desk / "mine.lbg.checkpoint")
                scheduler.kill()
                said = fit.communicate(timeout=60)[1]
        finally:
            scheduler.kill()
            worker.kill()
    assert fit.returncode == 1 and "Traceback" not in said
    assert said.endswith("the Dask scheduler is gone: start it and its workers again, and repeat the command\n")
    assert not (desk / "mine.lbg").exists()


def _wait_for(path, seconds=120):
    end = time.monotonic() + seconds
    while not (path.exists() and path.stat().st_size):  # it may be there and still empty
        assert time.monotonic() < end, f"{path.name} was not written"
        time.sleep(0.1)


def test_a_connection_that_breaks_is_said_as_a_lost_scheduler(desk, run, monkeypatch):
    """Dask raises it as an OSError where the scheduler dies while results are fetched."""
    pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
    from distributed.comm.core import CommClosedError

    def gather(*arguments, **options):
        raise CommClosedError("in <TCP (closed) ConnectionPool.gather>: Stream is closed")

    monkeypatch.setattr("lbg_recsys.persistence.contents.look_into", gather)
    said = " ".join(run("info", "model.lbg", code=1).stderr.split())
    assert said.startswith("Error: the Dask scheduler is gone")
