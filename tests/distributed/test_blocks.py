"""A fit on a cluster is the fit here: whatever the number of workers, and if one of them dies."""

import os
import signal

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.core import blocks
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.distributed import blocks as on_workers
from lbg_recsys.distributed import on_dask
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import ChoiceModel, LBGModel, RatingStore
from lbg_recsys.readers import CodedRatings

distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
SETTINGS = {"n_topics": 3, "random_state": 0, "max_iter": 15, "tol": 0.0, "baseline": True}
pytestmark = pytest.mark.filterwarnings("ignore:EM stopped after max_iter")


@pytest.fixture(scope="module")
def store(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ratings")
    sample.ratings.to_csv(folder / "ratings.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_ENTRIES", 500)
        return RatingStore.create(folder / "store", CodedRatings(folder / "ratings.csv"))


@pytest.fixture(scope="module")
def local(store):
    return LBGModel(**SETTINGS).fit(store)


def cluster(n_workers, **how):
    return distributed.Client(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, **how)


@pytest.fixture(scope="module")
def client():
    with cluster(2, processes=False) as client:
        yield client


def test_workers_give_the_bits_of_one_process(store, local, client):
    found = LBGModel(**SETTINGS).fit(on_dask(store, client))
    assert found.history_ == local.history_
    assert found.parameters_.c.tobytes() == local.parameters_.c.tobytes()
    assert found.posterior().tobytes() == local.posterior().tobytes()


def test_choices_on_workers(store, client):
    here, there = (ChoiceModel().fit(data) for data in (store, on_dask(store, client)))
    users = np.arange(50)
    # the inverse is kept in single precision: sums of another order can change its last digit
    scores = [model._choices.scores(here.matrix, users) for model in (here, there)]
    np.testing.assert_allclose(*scores, atol=1e-7)


@pytest.mark.slow
def test_a_killed_worker_costs_time_and_not_the_result(store, local):
    with cluster(2, processes=True) as client:
        pids = list(client.run(os.getpid).values())

        def kill(done, total, note):
            if done == 5:
                os.kill(pids[0], signal.SIGKILL)

        found = LBGModel(**SETTINGS).fit(on_dask(store, client), progress=kill)
        assert pids[0] not in client.run(os.getpid).values()
    assert found.parameters_.c.tobytes() == local.parameters_.c.tobytes()


def test_nobody_answers(store, monkeypatch):
    monkeypatch.setattr(on_workers, "_SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(DataError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9: start one"):
        on_dask(store, "127.0.0.1:9")


def test_workers_that_cannot_serve_are_named(store, client, monkeypatch):
    monkeypatch.setattr(on_workers, "_probe", lambda path: ("0.0.0", True))
    with pytest.raises(DataError, match=r"has lbg-recsys 0\.0\.0, and here it is"):
        on_dask(store, client)
    monkeypatch.setattr(on_workers, "_probe", lambda path: (lbg_recsys.__version__, False))
    with pytest.raises(DataError, match="put the store into a folder that all workers see"):
        on_dask(store, client)

    def without_numba(path):
        raise ModuleNotFoundError("No module named 'numba'")

    monkeypatch.setattr(on_workers, "_probe", without_numba)
    with pytest.raises(DataError, match="cannot run lbg-recsys: No module named 'numba'; install"):
        on_dask(store, client)


def test_a_damaged_block_is_named(store, client, monkeypatch):
    def damaged(self, number):
        raise DataError(f"ratings.parquet, block {number}, cannot be read")

    monkeypatch.setattr("lbg_recsys.ratings.store.BlockReader.__call__", damaged)
    with pytest.raises(DataError, match=r"block \d+, cannot be read"):
        LBGModel(**SETTINGS).fit(on_dask(store, client))


def test_sums_are_those_of_one_process(store, client):
    here, there = store.blocks(), on_dask(store, client).blocks()
    assert here.total(SparseRows.column_counts).tolist() == there.total(SparseRows.column_counts).tolist()
    lengths = [np.concatenate(list(one.fetch(one.map(len_of)))).tolist() for one in (here, there)]
    assert lengths[0] == lengths[1] == np.diff(store.indptr).tolist()


def len_of(rows):
    return rows.lengths
