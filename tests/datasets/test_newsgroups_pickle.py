"""A pickle is opened only when it is known, or made here from the checked archive."""

import hashlib
import io
import pickle
import tarfile
import zlib

import pytest
from sklearn.datasets import _twenty_newsgroups as theirs

from lbg_recsys.datasets import newsgroups
from lbg_recsys.datasets.registry import KnownFile
from lbg_recsys.errors import DatasetError

NAME = "20news-bydate_py3.pkz"


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No data in the environment, a fresh cache, no network."""
    for variable in ("SCIKIT_LEARN_DATA", "LBG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def no_network(source, folder, progress):
        raise DatasetError("no network in this test")

    monkeypatch.setattr(newsgroups, "fetch", no_network)


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture
def trapped(tmp_path):
    """A folder with a pickle that writes a file when it is opened."""
    folder = tmp_path / "trapped"
    folder.mkdir()
    (folder / NAME).write_bytes(zlib.compress(pickle.dumps(Trap(tmp_path / "sprung"))))
    return folder


def test_unknown_pickle_is_refused_unopened(trapped, tmp_path):
    for path in (trapped, trapped / NAME):
        with pytest.raises(DatasetError, match=r"SHA-256 .*trust_pickle=True only if you made it"):
            newsgroups.load_20newsgroups(path)
    assert not (tmp_path / "sprung").exists()


def test_unknown_pickle_in_the_environment_is_passed_over(trapped, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(trapped))
    with pytest.raises(DatasetError, match=r"environment SCIKIT_LEARN_DATA: .*SHA-256") as caught:
        newsgroups.load_20newsgroups()
    assert "no network in this test" in str(caught.value) and "get 20news-bydate.tar.gz" in str(caught.value)
    assert not (tmp_path / "sprung").exists()


def test_unknown_pickle_in_the_cache_is_not_taken_for_ours(trapped, tmp_path):
    planted = tmp_path / "cache" / "lbg-recsys" / "20newsgroups" / ("0" * 64)
    planted.mkdir(parents=True)
    (trapped / NAME).rename(planted / NAME)
    with pytest.raises(DatasetError):
        newsgroups.load_20newsgroups()
    assert not (tmp_path / "sprung").exists()


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A small archive in the official layout that stands for the official one."""
    path = tmp_path / "given" / "20news-bydate.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as tar:
        for part, texts in (("train", ["orbit", "rocket"]), ("test", ["moon"])):
            for number, text in enumerate(texts):
                data = f"From: somebody\n\n{text}".encode()
                entry = tarfile.TarInfo(f"20news-bydate-{part}/sci.space/{number}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(newsgroups, "_ARCHIVE", KnownFile(path.name, path.stat().st_size, digest))
    monkeypatch.setattr(theirs, "ARCHIVE", theirs.ARCHIVE._replace(checksum=digest))
    return path


def test_made_from_the_archive_once_then_found_in_the_cache(archive, tmp_path):
    news = newsgroups.load_20newsgroups(archive)
    assert sorted(news.data) == ["orbit", "rocket"] and news.target_names == ("sci.space",)
    again = newsgroups.load_20newsgroups(subset="test")
    assert (again.data, again.found_in) == (["moon"], "cache")
    made = list((tmp_path / "cache").rglob("*.*"))
    assert [path.name for path in made] == [NAME]
    assert made[0].parent.name == hashlib.sha256(made[0].read_bytes()).hexdigest()


def test_made_pickle_altered_later_is_not_opened(archive, tmp_path, trapped):
    newsgroups.load_20newsgroups(archive)
    (made,) = (tmp_path / "cache").rglob(NAME)
    made.write_bytes((trapped / NAME).read_bytes())
    with pytest.raises(DatasetError):
        newsgroups.load_20newsgroups()
    assert not (tmp_path / "sprung").exists()


def test_altered_archive_is_refused(archive):
    archive.write_bytes(archive.read_bytes() + b"x")
    with pytest.raises(DatasetError, match="SHA-256"):
        newsgroups.load_20newsgroups(archive)


def test_own_pickle_opens_when_trusted(archive, tmp_path):
    newsgroups.load_20newsgroups(archive)
    (made,) = (tmp_path / "cache").rglob(NAME)
    mine = tmp_path / "mine"
    mine.mkdir()
    made.rename(mine / NAME)
    with pytest.raises(DatasetError, match="trust_pickle"):
        newsgroups.load_20newsgroups(mine)
    assert len(newsgroups.load_20newsgroups(mine, trust_pickle=True).data) == 2
