"""Lists for all users, by workers."""

import pandas as pd
import pytest

import lbg_recsys
from lbg_recsys.distributed import lists, lists_on_dask
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.ratings import ChoiceModel, LBGModel


@pytest.mark.parametrize("kind", [LBGModel, ChoiceModel])
def test_parts_hold_the_lists(sample, client, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(lists, "_USERS", 60)
    ratings = sample.ratings.astype({"item": object})
    ratings.loc[ratings["item"] == 7, "item"] = "seven"  # ids of both kinds
    model = kind().fit(ratings)
    lbg_recsys.save(model, tmp_path / "model.lbg", titles={1: "One"})
    model = lbg_recsys.load(tmp_path / "model.lbg")
    done = lists_on_dask(tmp_path / "model.lbg", tmp_path / "lists", client, 5)
    assert sorted(path.name for path in (tmp_path / "lists").iterdir()) == [f"part-{n:05d}.parquet" for n in range(4)]
    found = pd.read_parquet(tmp_path / "lists")
    expected = pd.DataFrame(model.recommend(list(model.matrix.users), 5))
    assert done == (200, len(expected), 200)
    assert set(found["title"].dropna()) <= {"One"}  # an item without a title has none, as elsewhere
    found, expected = found.astype({"title": "string"}), expected.astype({"title": "string"})
    expected["item"] = expected["item"].astype(str)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_refusals_leave_nothing(sample, client, tmp_path):
    model = LBGModel(random_state=0).fit(sample.ratings)
    lbg_recsys.save(model, tmp_path / "model.lbg")
    with pytest.raises(ParameterError, match="by is 'taste': choose one of"):
        lists_on_dask(tmp_path / "model.lbg", tmp_path / "lists", client, by="taste")
    assert not (tmp_path / "lists").exists()
    lbg_recsys.save(model, tmp_path / "nobody.lbg", ratings=False)
    with pytest.raises(DataError, match="it was saved without them"):
        lists_on_dask(tmp_path / "nobody.lbg", tmp_path / "lists", client)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "old").touch()
    with pytest.raises(DataError, match="is not empty"):
        lists_on_dask(tmp_path / "model.lbg", tmp_path / "full", client)
