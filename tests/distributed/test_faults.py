"""What goes wrong on a cluster, with real processes: it costs time or a sentence, never the result."""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.core import blocks
from lbg_recsys.distributed import cluster, fit_chains, on_dask, store_on_dask
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import BayesianLBGModel, GaussianPLSAModel, LBGModel, RatingStore
from lbg_recsys.readers import CodedRatings

distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:EM stopped after max_iter", "ignore:.*sampler has not converged")
LBG = LBGModel(n_topics=3, random_state=0, max_iter=15, tol=0.0, baseline=True)
PLSA = GaussianPLSAModel(n_topics=3, random_state=0, max_iter=15)
CHAINS = BayesianLBGModel(n_sweeps=40, burn_in=20, n_factors=4, random_state=0)


@pytest.fixture
def store(sample, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 500)
    sample.ratings.to_csv(tmp_path / "ratings.csv", index=False)
    return RatingStore.create(tmp_path / "store", CodedRatings(tmp_path / "ratings.csv"))


@contextmanager
def two_processes():
    """A cluster of two processes, and a callback that kills one of them once, one at work if there is one."""
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        before, killed = client.run(os.getpid), []

        def kill(done, total, note):
            if done >= 5 and not killed:
                busy = sorted(worker for worker, tasks in client.processing().items() if tasks)
                killed.append(before[(busy or sorted(before))[0]])
                os.kill(killed[0], signal.SIGKILL)

        yield client, kill
        assert killed, "nobody was killed"
        after = eventually(lambda: replaced(client, killed[0]))
        assert len(set(before.values()) & after) == 1


def replaced(client, killed):
    """The processes of both workers, once the scheduler has noticed the kill and the worker is replaced."""
    found = set(client.run(os.getpid, on_error="ignore").values())
    return found if len(found) == 2 and killed not in found else None


def eventually(answer, seconds=60):
    """What ``answer`` returns as soon as it is something."""
    end = time.monotonic() + seconds
    while not (found := answer()):
        assert time.monotonic() < end, f"nothing after {seconds} s"
        time.sleep(0.1)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("model", [LBG, PLSA], ids=["lbg", "plsa"])
def test_a_killed_worker_costs_time_and_not_the_result(store, model):
    here = type(model)(**model.get_params()).fit(store)
    with two_processes() as (client, kill):
        there = type(model)(**model.get_params()).fit(on_dask(store, client), progress=kill)
    assert there.parameters_.c.tobytes() == here.parameters_.c.tobytes() and there.history_ == here.history_


@pytest.mark.slow
def test_a_killed_chain_begins_again(sample):
    here = BayesianLBGModel(**CHAINS.get_params()).fit(sample.ratings)
    with two_processes() as (client, kill):
        there = fit_chains(BayesianLBGModel(**CHAINS.get_params()), sample.ratings, client, progress=kill)
    assert there.training_error_ == here.training_error_


@pytest.mark.slow
def test_a_worker_killed_while_sorting(sample, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 50)
    log = tmp_path / "log"
    log.mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(sample.ratings)), 12)):
        sample.ratings.iloc[part].to_csv(log / f"{number:02d}.csv", index=False)
    with two_processes() as (client, kill):
        there = store_on_dask(log, tmp_path / "there", client, progress=kill)
    here = RatingStore.create(tmp_path / "here", CodedRatings(log)).whole()
    assert there.whole().rows.values.tobytes() == here.rows.values.tobytes()
    assert {path.name for path in there.folder.iterdir()} == {
        "store.json",
        "users.parquet",
        "items.parquet",
        *(f"ratings-{number:05d}.parquet" for number in range(len(there.parts) - 1)),
    }


@contextmanager
def worker_with(folder):
    """A cluster with one worker, a process that finds packages in a folder first."""
    with distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=False, protocol="tcp") as local:
        command = ["dask", "worker", local.scheduler_address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        search = os.pathsep.join([str(folder), str(Path(lbg_recsys.__file__).parents[1])])
        with (
            subprocess.Popen(
                [sys.executable, "-m", *command],
                env={**os.environ, "PYTHONPATH": search},
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as worker,
            distributed.Client(local) as client,
        ):
            try:
                client.wait_for_workers(1, timeout=60)
                yield client
            finally:
                worker.kill()


@pytest.mark.slow
def test_a_worker_with_another_version_is_named(store, tmp_path):
    ours = Path(lbg_recsys.__file__).parent
    shutil.copytree(ours, tmp_path / "other" / "lbg_recsys", ignore=shutil.ignore_patterns("__pycache__"))
    init = tmp_path / "other" / "lbg_recsys" / "__init__.py"
    init.write_text(init.read_text().replace(lbg_recsys.__version__, "0.0.7"))
    message = rf"the worker tcp://\S+ has lbg-recsys 0\.0\.7, and here it is {lbg_recsys.__version__}"
    with worker_with(tmp_path / "other") as client, pytest.raises(DataError, match=message):
        on_dask(store, client)


@pytest.mark.slow
def test_a_worker_without_numba_is_named(store, tmp_path):
    (tmp_path / "other" / "numba").mkdir(parents=True)
    (tmp_path / "other" / "numba" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'numba'\")"
    )
    message = r"the worker tcp://\S+ cannot run lbg-recsys: .*No module named 'numba'.*; install the same packages"
    with worker_with(tmp_path / "other") as client, pytest.raises(DataError, match=message):
        on_dask(store, client)


def test_a_store_that_a_worker_does_not_see_is_named(store, client, monkeypatch):
    monkeypatch.setattr(cluster, "_probe", lambda path: (lbg_recsys.__version__, False))
    with pytest.raises(DataError, match="use a folder that all workers see"):
        on_dask(store, client)


def test_nobody_answers(store, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(DataError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9: start one"):
        on_dask(store, "127.0.0.1:9")


@pytest.mark.slow
def test_a_second_cluster_on_this_machine_needs_no_port_of_the_first():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":8787"),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        cluster.connected(None).close()
    assert not [one for one in said if "8787" in str(one.message)]


def test_a_cluster_without_workers(store):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, processes=False) as local,
        distributed.Client(local) as client,
        pytest.raises(DataError, match="has no workers: start some"),
    ):
        on_dask(store, client)


def test_all_workers_gone_for_good(client, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.setattr(cluster, "_SECONDS_WITHOUT_WORKERS", 0.3)
    waiting = client.map(_too_late, [1], resources={"what no worker has": 1}, pure=False)
    monkeypatch.setattr(client, "nthreads", dict)
    with pytest.raises(DataError, match="has lost all its workers, and none came within 0 seconds: start some"):
        cluster.gathered(client, waiting)


def test_all_workers_gone_before_the_fit(store, client, monkeypatch):
    ratings = on_dask(store, client)
    monkeypatch.setattr(client, "nthreads", dict)
    with pytest.raises(DataError, match="has no workers: start some"):
        LBG.fit(ratings)


def test_workers_that_only_the_scheduler_reaches(store, client, monkeypatch):
    here = LBGModel(**LBG.get_params()).fit(store)
    assert cluster.is_reached(client)
    monkeypatch.setattr(cluster, "_SECONDS_TO_REACH", 0.1)
    assert not cluster.is_reached(SimpleNamespace(nthreads=lambda: {"tcp://192.0.2.1:9": 1}))
    assert not cluster.is_reached(SimpleNamespace(nthreads=lambda: {"odd": 1}))
    monkeypatch.setattr("lbg_recsys.distributed.blocks.is_reached", lambda client: False)
    there = LBGModel(**LBG.get_params()).fit(on_dask(store, client))
    assert there.parameters_.c.tobytes() == here.parameters_.c.tobytes()


def _too_late(*_):
    raise TimeoutError("of a task")


def test_a_task_that_times_out_is_not_waited_for(client):
    with pytest.raises(TimeoutError, match="of a task"):
        cluster.gathered(client, client.map(_too_late, [1], pure=False))


def test_a_damaged_block_is_named(store, client):
    path = store.folder / "ratings.parquet"
    content = bytearray(path.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 40] = bytes(40)
    path.write_bytes(content)
    model = LBGModel(random_state=0)
    with pytest.raises(
        DataError, match=r"ratings\.parquet, block \d+ of \d+, cannot be read: .*make the store again"
    ):
        model.fit(on_dask(store, client))
    assert not hasattr(model, "parameters_")
