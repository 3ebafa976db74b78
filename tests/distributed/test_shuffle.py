"""Ratings that workers sort are those that this process sorts, from any partitions."""

import numpy as np
import pandas as pd
import pytest

from lbg_recsys.core import blocks
from lbg_recsys.distributed import on_dask, store_on_dask
from lbg_recsys.errors import DataError
from lbg_recsys.ratings import LBGModel, RatingStore, as_matrix
from lbg_recsys.readers import CodedRatings

dask = pytest.importorskip("dask", reason="the extra 'dask' is not installed")
dataframes = pytest.importorskip("dask.dataframe", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:EM stopped after max_iter", "ignore:40 of 6105 ratings repeat")


@pytest.fixture(scope="module")
def frame(sample):
    """The sample in random order, with repeated pairs."""
    frame = sample.ratings.sample(frac=1, random_state=1)
    return pd.concat([frame, frame[:40].assign(rating=3.0)], ignore_index=True)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 200)


def in_files(frame, folder, n_files, suffix="csv"):
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        getattr(frame.iloc[part], f"to_{suffix}")(folder / f"{number}.{suffix}", index=False)
    return folder


def assert_same(store, matrix):
    whole = store.whole()
    assert list(whole.users) == list(matrix.users) and list(whole.items) == list(matrix.items)
    for name in ("indptr", "columns", "values"):
        np.testing.assert_array_equal(getattr(whole.rows, name), getattr(matrix.rows, name))
    np.testing.assert_array_equal(whole.scale.levels, matrix.scale.levels)
    assert whole.n_duplicates == matrix.n_duplicates and store.extremes == matrix.extremes


def test_any_partitions_make_the_same_store(client, frame, tmp_path):
    matrix = as_matrix(frame)
    sources = {
        "frame": dataframes.from_pandas(frame, npartitions=4, sort=False),
        "csv": in_files(frame, tmp_path / "log.csv", 3),
        "parquet": [in_files(frame, tmp_path / "log.parquet", 5, "parquet")],
    }
    stores = [store_on_dask(source, tmp_path / name, client) for name, source in sources.items()]
    for store in stores:
        assert_same(store, matrix)
        assert len(store.parts) > 3 and store.parts.tolist() == stores[0].parts.tolist()
        assert not list(store.folder.glob(".*"))
    alone = RatingStore.create(tmp_path / "alone", CodedRatings(tmp_path / "log.csv"))
    settings = {"n_topics": 3, "random_state": 0, "max_iter": 10, "tol": 0.0}
    models = [LBGModel(**settings).fit(data) for data in (alone, on_dask(stores[0], client), stores[1], stores[2])]
    for model in models[1:]:
        np.testing.assert_allclose(model.parameters_.c, models[0].parameters_.c, rtol=0, atol=1e-8)
        assert model.parameters_.c.tobytes() == models[1].parameters_.c.tobytes()


def test_numbers_become_names_where_one_file_has_a_name(client, tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.csv").write_text("user,item\n7,x\n8,y\n")
    (tmp_path / "log" / "b.csv").write_text("user,item\nbob,x\n7,y\n")
    store = store_on_dask(tmp_path / "log", tmp_path / "store", client)
    assert list(store.users) == ["7", "8", "bob"] and not store.has_ratings
    assert not RatingStore.open(store.folder).has_ratings


def test_empty_partitions_are_left_out(client, frame, tmp_path):
    parts = [frame[:0], frame[:3000], frame[:0], frame[3000:]]
    with pytest.warns(UserWarning, match="partition 2 has no row: it is left out"):
        store = store_on_dask(dataframes.from_map(lambda n: parts[n], range(4)), tmp_path / "store", client)
    assert_same(store, as_matrix(frame))
    with pytest.raises(DataError, match="no partition has a row"), pytest.warns(UserWarning, match="left out"):
        store_on_dask(dataframes.from_map(lambda n: parts[n], [0, 2]), tmp_path / "none", client)
    assert not (tmp_path / "none").exists()


def test_a_partition_that_differs_or_is_damaged_is_named(client, frame, tmp_path):
    log = in_files(frame, tmp_path / "log", 3, "parquet")
    good = (log / "1.parquet").read_bytes()

    def refused(message, **how):
        with pytest.raises(DataError, match=message):
            store_on_dask(log, tmp_path / "store", client, **how)
        assert not (tmp_path / "store").exists()

    pd.read_parquet(log / "1.parquet").astype({"user": str}).to_parquet(log / "1.parquet")
    refused(r"1\.parquet: the column user is text, and in .*0\.parquet it is integers")
    pd.read_parquet(log / "0.parquet").drop(columns="rating").to_parquet(log / "1.parquet")
    refused(r"1\.parquet: the column rating is missing")
    (log / "1.parquet").write_bytes(good[:100] + bytes(50) + good[150:-300])
    refused(r"1\.parquet")
    (log / "1.parquet").write_bytes(good)
    refused(r"the rating 5 in .*parquet is off the scale 1\.\.4", scale=(1, 4))
    named = pd.DataFrame({"user": [1, None], "item": [1, 2], "rating": [3.0, 4.0]})
    with pytest.raises(DataError, match="partition 0: the user id is missing in row 1"):
        store_on_dask(dataframes.from_pandas(named, npartitions=1), tmp_path / "store", client)


@pytest.mark.parametrize(
    "ids", [lambda one: one if one % 2 else str(one), lambda one: (one, 1), lambda one: one + 2**63]
)
def test_ids_that_a_store_cannot_keep_are_refused(client, frame, tmp_path, ids):
    odd = frame.assign(user=pd.Series(map(ids, range(len(frame))), dtype=object))
    with dask.config.set({"dataframe.convert-string": False}):
        partitions = dataframes.from_pandas(odd, npartitions=2, sort=False)
        with pytest.raises(DataError, match="partition 0: the user ids are not all text or all integers"):
            store_on_dask(partitions, tmp_path / "store", client)
    assert not (tmp_path / "store").exists()


def test_a_folder_in_use_is_refused(client, frame, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(DataError, match="is not empty"):
        store_on_dask(in_files(frame, tmp_path / "log", 1), tmp_path / "mine", client)
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_a_table_in_this_process_is_refused_before_a_cluster_is_started(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("lbg_recsys.distributed.shuffle.cluster_of", lambda client: pytest.fail("started"))
    with pytest.raises(DataError, match="a DataFrame is in the memory of this process: give the model's fit"):
        store_on_dask(frame, tmp_path / "store")
    assert not (tmp_path / "store").exists()
