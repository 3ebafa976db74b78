"""Data for everybody's tests. Tests are skipped, with the reason, if theirs is not available."""

import os
import signal
import tempfile
from pathlib import Path

import hypothesis
import pytest

from lbg_recsys import datasets
from lbg_recsys.errors import DatasetError
from tests.browser import installed, started

# What decides whether a change lands tries the same cases every time; `make test` and `make fuzz` try new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")
# A shell starts what runs in the background with Ctrl-C ignored, and processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _or_skip(load):
    try:
        return load()
    except DatasetError as error:
        pytest.skip(str(error).replace("\n", " "))


@pytest.fixture
def folder_to_lock():
    """The folder that `locked_folder` locks: fixtures that a test names before that one can put files there."""
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        folder = Path(home, "locked")
        folder.mkdir()
        yield folder


@pytest.fixture
def locked_folder(folder_to_lock):
    """A folder that may be read but not written. Root may write anywhere, so root is nobody while it is open."""
    nobody = 65534
    folder_to_lock.chmod(0o555)
    is_root = getattr(os, "geteuid", lambda: 1)() == 0
    if is_root:
        os.seteuid(nobody)
    try:
        yield folder_to_lock
    finally:
        if is_root:
            os.seteuid(0)
        folder_to_lock.chmod(0o755)


@pytest.fixture(scope="session")
def sample():
    """The shipped sample: always there."""
    return datasets.load_sample()


@pytest.fixture(scope="session")
def available():
    """``available("ml-100k")`` skips the test if a data set is not available."""
    return lambda name: _or_skip(lambda: datasets.find_dataset(name))


@pytest.fixture(scope="session")
def movielens():
    """MovieLens-100K as `lbg_recsys.datasets.MovieLens100K`."""
    return _or_skip(datasets.load_movielens_100k)


@pytest.fixture(scope="session")
def spambase():
    """Spambase with its 54 frequencies."""
    return _or_skip(datasets.load_spambase)


@pytest.fixture(scope="session")
def newsgroups(available):
    """A loader for subsets of 20 Newsgroups, so that a test asks only for the groups it needs.

    ``newsgroups(subset="train", categories=[...])``
    """
    available("20newsgroups")  # looked for once; a skip here is remembered
    return datasets.load_20newsgroups


@pytest.fixture(scope="module")
def chromium():
    """Debian's chromium by selenium, skipped with its reason where there is none."""
    pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install '.[dev]'")
    if not installed():
        pytest.skip("there is no chromium with chromedriver: apt-get install chromium chromium-driver")
    found = started()
    yield found
    found.quit()
