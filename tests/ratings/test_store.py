"""Ratings on disk: the store, and fits that read it in blocks."""

import os
import tempfile
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lbg_recsys.core import blocks
from lbg_recsys.core.blocks import LocalBlocks, block_cuts, tree_sum
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation.metrics import clustering_accuracy
from lbg_recsys.persistence import FitCheckpoint, load, save
from lbg_recsys.ratings import ChoiceModel, LBGModel, RatingStore, as_matrix, sorting
from lbg_recsys.readers import CodedRatings, read_ratings

pytestmark = pytest.mark.filterwarnings("ignore:EM stopped after max_iter")
pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
SETTINGS = {"n_topics": 3, "random_state": 0, "max_iter": 12, "tol": 0.0}
RESIDUALS = {"baseline": True, "temperature": 0.3, "indicator_weight": 0.0}


@pytest.fixture
def small(monkeypatch):
    """Blocks and runs so small that the sample has many of them."""
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 500)
    monkeypatch.setattr(sorting, "_LEAST_RUN", 1000)


@pytest.fixture
def log(sample, tmp_path):
    """The sample in random order, with repeated pairs, in three Parquet files."""
    frame = sample.ratings.sample(frac=1, random_state=1)
    frame = pd.concat([frame, frame[:40].assign(rating=3.0)], ignore_index=True)
    folder = tmp_path / "log"
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(folder / f"part-{number}.parquet")
    return folder, frame


@pytest.fixture
def store(small, log, tmp_path):
    with pytest.warns(UserWarning, match="40 of 6105 ratings repeat"):
        return RatingStore.create(tmp_path / "store", CodedRatings(log[0]), memory=1)


@pytest.fixture
def matrix(small, log):
    with pytest.warns(UserWarning, match="repeat"):
        return as_matrix(log[1])


def test_trees_and_cuts():
    assert [tree_sum([np.array(1.0) for _ in range(n)]).item() for n in range(1, 9)] == list(range(1, 9))
    joined = [tree_sum([(f"({n})") for n in range(n)]) for n in (1, 5, 7)]
    assert joined == ["".join(f"({n})" for n in range(n)) for n in (1, 5, 7)]
    assert block_cuts(np.array([0, 9, 10, 30, 31]), 10).tolist() == [0, 2, 3, 4]  # a long row leaves a number out


def test_a_store_is_the_matrix(store, matrix):
    whole = RatingStore.open(store.folder).whole()
    assert list(whole.users) == list(matrix.users) and list(whole.items) == list(matrix.items)
    assert whole.n_duplicates == matrix.n_duplicates == 40
    for name in ("indptr", "columns", "values"):
        np.testing.assert_array_equal(getattr(whole.rows, name), getattr(matrix.rows, name))
    np.testing.assert_array_equal(whole.scale.levels, matrix.scale.levels)
    assert len(store.blocks().n_rows) == len(matrix.blocks().n_rows) == 16  # a power of two


@pytest.mark.parametrize("settings", [{}, RESIDUALS, {"n_init": 2}], ids=["paper", "residuals", "restarts"])
def test_a_fit_from_disk_has_the_bits_of_one_in_memory(store, matrix, settings):
    here = LBGModel(**SETTINGS, **settings).fit(matrix)
    there = LBGModel(**SETTINGS, **settings, n_jobs=3).fit(store)
    assert here.history_ == there.history_
    assert here.parameters_.c.tobytes() == there.parameters_.c.tobytes()
    assert here.posterior().tobytes() == there.posterior().tobytes()
    pairs = list(zip(list(matrix.users)[:20], list(matrix.items)[:20], strict=True))
    np.testing.assert_array_equal(here.predict_batch(pairs), there.predict_batch(pairs))


def test_blocks_change_a_fit_by_rounding_only(matrix, monkeypatch):
    blocked = LBGModel(**SETTINGS).fit(matrix)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 1 << 20)
    whole = LBGModel(**SETTINGS).fit(matrix)
    np.testing.assert_allclose(blocked.parameters_.c, whole.parameters_.c, atol=1e-8)
    assert len(LocalBlocks.of(matrix.rows).n_rows) == 1


def test_choices_from_disk(store, matrix):
    here, there = (ChoiceModel().fit(data) for data in (matrix, store))
    users = np.arange(30)
    np.testing.assert_array_equal(here._choices.scores(matrix, users), there._choices.scores(matrix, users))
    assert here.similar_items(1) == there.similar_items(1)


def test_a_matrix_above_the_budget_lies_in_a_file(store):
    there = RatingStore.open(store.folder, memory=1000).whole()
    assert isinstance(there.values.base, np.memmap)
    np.testing.assert_array_equal(there.values, store.whole().values)


@contextmanager
def full_disk():
    """No file may grow beyond 3,000 bytes. No fixture: pytest may write a longer file before the test."""
    resource = pytest.importorskip("resource", reason="not on Windows")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_an_error_that_says_where(store, log, tmp_path):
    with full_disk(), pytest.raises(OSError, match="too large") as raised:
        RatingStore.create(tmp_path / "another", CodedRatings(log[0]), memory=1)
    assert "another" in str(raised.value.filename)
    assert not (tmp_path / "another").exists()
    with full_disk(), pytest.raises(OSError, match="too large") as raised:
        RatingStore.open(store.folder, memory=1000).whole()  # written before it is mapped: no signal kills later
    assert raised.value.filename == str(store.folder)


def test_a_store_that_is_only_read_needs_no_room_of_its_own(store, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(_refused, store.folder, tempfile.TemporaryFile))
    there = RatingStore.open(store.folder, memory=1000).whole()
    np.testing.assert_array_equal(there.values, store.whole().values)


def _refused(folder, make, dir):
    assert dir != folder
    return make(dir=dir)


class Killed(Exception):
    pass


@pytest.mark.parametrize("settings", [{}, RESIDUALS, {"n_init": 3}], ids=["paper", "residuals", "restarts"])
def test_a_fit_goes_on_to_the_same_bits(store, matrix, tmp_path, settings):
    whole = LBGModel(**SETTINGS, **settings).fit(matrix)
    file = tmp_path / "fit.checkpoint"
    at = 8 if "n_init" not in settings else 20  # steps; the latter is in the second restart

    def kill(done, total, note):
        if done == at:
            raise Killed

    with pytest.raises(Killed):
        LBGModel(**SETTINGS, **settings).fit(store, progress=kill, checkpoint=FitCheckpoint(file, 3))
    steps = []
    rest = LBGModel(**SETTINGS, **settings, n_jobs=2).fit(
        matrix, progress=lambda *step: steps.append(step), checkpoint=FitCheckpoint(file, 3, resume=True)
    )
    assert rest.history_ == whole.history_
    assert rest.parameters_.c.tobytes() == whole.parameters_.c.tobytes()
    assert not any("log-likelihood" in note and done < at - 3 for done, _, note in steps)


def test_a_checkpoint_of_another_fit_is_refused(matrix, tmp_path):
    file = tmp_path / "fit.checkpoint"
    LBGModel(**SETTINGS).fit(matrix, checkpoint=FitCheckpoint(file, 3))
    again = FitCheckpoint(file, resume=True)
    with pytest.raises(DataError, match="n_topics=3, which cannot be continued with 4"):
        LBGModel(**{**SETTINGS, "n_topics": 4}).fit(matrix, checkpoint=again)
    with pytest.raises(DataError, match="a fit with other ratings"):
        LBGModel(**SETTINGS).fit(matrix.subset(np.arange(50)), checkpoint=again)
    with pytest.raises(DataError, match="needs a random_state"):
        LBGModel().fit(matrix, checkpoint=again)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ValueError, match="damaged or cut short"):
        LBGModel(**SETTINGS).fit(matrix, checkpoint=again)


def test_damage_is_named(store, tmp_path):
    file = store.folder / "ratings.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"ratings\.parquet, block \d+ of \d+, cannot be read"):
        LBGModel(**SETTINGS).fit(store)
    (store.folder / "store.json").write_text("{}")
    with pytest.raises(DataError, match="is not a store of ratings, or it is damaged"):
        RatingStore.open(store.folder)
    with pytest.raises(DataError, match="is not empty"):
        RatingStore.create(store.folder, CodedRatings("nothing"))


def test_damage_that_only_a_checksum_shows_is_named(log):
    folder, frame = log
    path = folder / "part-1.parquet"
    frame.to_parquet(path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"part-1\.parquet is not a Parquet file that can be read: .*checksum"):
        list(CodedRatings(folder))


@pytest.mark.parametrize(
    ("target", "message"), [("gone", "there is no file .*other"), ("log", "other is a link to a folder")]
)
def test_a_link_that_gives_no_ratings_is_named(log, tmp_path, target, message):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "here.parquet").symlink_to(log[0] / "part-0.parquet")
    assert list(CodedRatings(tmp_path / "links"))
    (tmp_path / "links" / "other").symlink_to(tmp_path / target)
    with pytest.raises(DataError, match=message):
        list(CodedRatings(tmp_path / "links"))


def test_folders_of_files(tmp_path):
    for name, text in {"b.csv": "user,item,rating\n2,x,4\n", "a.csv": "user,item,rating\n1,x,5\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "c.csv").write_text("")
    ratings = CodedRatings(tmp_path)
    with pytest.warns(UserWarning, match=r"c\.csv is empty.*left out"):
        assert [batch.ratings.tolist() for batch in ratings] == [[5.0], [4.0]]
    assert ratings.users().tolist() == [1, 2]
    (tmp_path / "c.csv").unlink()
    (tmp_path / "d.csv").write_text("user,item\n3,x\n")
    with pytest.raises(DataError, match=r"d\.csv: the column rating is missing, and in .*a\.csv it is numbers"):
        list(CodedRatings(tmp_path))
    pd.DataFrame({"user": [1], "item": ["x"], "rating": [1.0]}).to_parquet(tmp_path / "d.csv")
    with pytest.raises(DataError, match=r"d\.csv: the column user is integers, and in .*a\.csv it is text of a CSV"):
        list(CodedRatings(tmp_path))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="has no file to read ratings from"):
        CodedRatings(empty)


def test_what_a_killed_sorting_left_is_swept(log, tmp_path):
    left, old = tmp_path / "store" / "lbg-recsys-killed", time.time() - 1000
    left.mkdir(parents=True)
    (left / "ratings.parquet").write_bytes(b"half")
    os.utime(left, (old, old))
    RatingStore.create(tmp_path / "store", CodedRatings(log[0]))
    assert sorted(file.name for file in (tmp_path / "store").iterdir()) == sorted(
        ["store.json", "ratings.parquet", "users.parquet", "items.parquet"]
    )


def test_a_rating_off_the_scale_is_named_and_leaves_no_store(log, tmp_path):
    folder = tmp_path / "store"
    with pytest.raises(DataError, match=r"of user .* is off the scale"):
        RatingStore.create(folder, CodedRatings(log[0]), scale=(2, 4))
    assert not (folder / "store.json").exists()


def test_a_stream_is_followed_in_bounded_memory(sample, tmp_path):
    frame = sample.ratings
    users = frame["user"].unique()
    first = frame[frame["user"].isin(users[:100])]
    model = LBGModel(n_topics=4, random_state=0, n_init=3).fit(first, scale=(1, 5))
    old = model.parameters_.lam
    for step in range(20):
        model.partial_fit(frame[frame["user"].isin(users[100 + 20 * (step % 5) :][:20])], decay=0.7)
    assert model.matrix.n_users == 20 and model.n_steps_ == 20
    assert model.statistics_.n_rows == 100 and not np.allclose(model.parameters_.lam, old)
    planted = sample.users.loc[list(model.matrix.users), "topic"].to_numpy()
    assert clustering_accuracy(planted, model.posterior().argmax(axis=1)) > 0.9
    # the statistics are a weighted mean of those before and of the last call's
    np.testing.assert_allclose(model.statistics_.mass.sum(), 100)
    np.testing.assert_allclose(model.parameters_.lam, model.statistics_.mass / 100)
    again = load(save(model, tmp_path / "model.lbg"))
    assert again.parameters_.c.tobytes() == model.parameters_.c.tobytes()
    with pytest.raises(DataError, match="decay is 0: give a number above 0 and up to 1"):
        model.partial_fit(first, decay=0)


def test_the_reader_of_batches_is_the_reader(log, tmp_path):
    file = tmp_path / "all.csv"
    log[1].to_csv(file, index=False)
    coded = CodedRatings(file)
    found = pd.concat([pd.DataFrame({"user": batch.users, "rating": batch.ratings}) for batch in coded])
    frame = read_ratings(file)
    assert coded.users()[found["user"]].tolist() == frame["user"].tolist()
    assert found["rating"].tolist() == frame["rating"].tolist()
