"""Data for everybody's tests. What cannot be had here is skipped, with the reason."""

import pytest

from lbg_recsys import datasets
from lbg_recsys.errors import DatasetError


def _or_skip(load):
    try:
        return load()
    except DatasetError as error:
        pytest.skip(str(error).replace("\n", " "))


@pytest.fixture(scope="session")
def sample():
    """The shipped sample: always there."""
    return datasets.load_sample()


@pytest.fixture(scope="session")
def movielens():
    """MovieLens-100K as `lbg_recsys.datasets.MovieLens100K`."""
    return _or_skip(datasets.load_movielens_100k)


@pytest.fixture(scope="session")
def spambase():
    """Spambase with its 54 frequencies."""
    return _or_skip(datasets.load_spambase)


@pytest.fixture(scope="session")
def newsgroups():
    """A loader for subsets of 20 Newsgroups, so that a test asks only for the groups it needs.

    ``newsgroups(subset="train", categories=[...])``
    """
    _or_skip(lambda: datasets.find_dataset("20newsgroups"))  # looked for once; a skip here is remembered
    return datasets.load_20newsgroups
