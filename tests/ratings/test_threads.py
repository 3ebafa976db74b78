"""Threads: the bits of one, and no threads inside of threads."""

import importlib
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import lbg_recsys
from lbg_recsys.core import blocks
from lbg_recsys.core.gibbs.threads import Threads
from lbg_recsys.ratings import BayesianLBGModel, GaussianPLSAModel, LBGModel
from lbg_recsys.ratings.questions import recommend

pytestmark = pytest.mark.filterwarnings("ignore:EM stopped", "ignore:.*sampler has not converged", "ignore:too few")
FITS = {
    LBGModel: {"n_topics": 3, "max_iter": 8},
    GaussianPLSAModel: {"n_topics": 3, "max_iter": 8},
    BayesianLBGModel: {"n_sweeps": 6, "burn_in": 2, "n_factors": 4},
}


def n_blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("kind", FITS)
def test_fits_and_lists_have_the_bits_of_one_thread(sample, monkeypatch, kind):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 500)
    monkeypatch.setattr(recommend, "_BLOCK_NUMBERS", 1 << 14)
    one, three = (kind(**FITS[kind], random_state=0, n_jobs=n).fit(sample.ratings) for n in (1, 3))
    before, within = n_blas_threads(), set()
    block = recommend._block

    def watched(*arguments):
        within.update(n_blas_threads())
        return block(*arguments)

    expected = one.recommend(list(one.matrix.users))
    monkeypatch.setattr(recommend, "_block", watched)
    found = three.recommend(list(three.matrix.users))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert within <= {1} and n_blas_threads() == before


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_within_a_chain_have_the_bits_of_one(sample, n_jobs):
    given = {"n_sweeps": 6, "n_factors": 8, "orientation": "users", "likelihood": "ordinal", "random_state": 0}
    one, several = (BayesianLBGModel(**given, n_jobs=n).fit(sample.ratings) for n in (1, n_jobs))
    pairs = sample.ratings[["user", "item"]]
    assert np.array_equal(one.predict_batch(pairs), several.predict_batch(pairs))


@pytest.mark.parametrize(("n", "step", "number"), [(0, 4, 3), (1, 4, 3), (16, 16, 2), (100, 16, 3), (33, 16, 64)])
@pytest.mark.parametrize("rounds", [1, 4])
def test_ranges_make_up_the_whole_and_are_cut_at_multiples(n, step, number, rounds):
    found = []
    indptr = np.append(0, np.cumsum(np.random.default_rng(n).integers(0, 9, n)))
    Threads(number).share_out(lambda begin, end: found.append((begin, end)), indptr, step, rounds)
    assert [row for begin, end in found for row in range(begin, end)] == list(range(n))
    assert len(found) <= number * rounds and all(begin % step == 0 for begin, _ in found)


def test_ranges_have_as_many_entries_each():
    """Items that many have rated often come first in a file: the first half of the items is not half of the work."""
    found, met = [], []
    indptr = np.append(0, np.cumsum(np.arange(1000, 0, -1)))
    work = lambda begin, end: found.append(indptr[end] - indptr[begin])  # noqa: E731
    Threads(2).share_out(work, indptr, 4, 3, lambda: met.append(len(found)))
    assert np.ptp(found) < 0.03 * indptr[-1] and met == [2, 4, 6]


def test_no_kernel_has_threads_of_its_own():
    kernels = 0
    for module in pkgutil.walk_packages(lbg_recsys.__path__, "lbg_recsys."):
        if ".core" in module.name:
            for value in vars(importlib.import_module(module.name)).values():
                options = getattr(value, "targetoptions", None)
                if options is not None:
                    kernels += 1
                    assert not options.get("parallel")
    assert kernels > 50


WATCHED = """
import os, threading, time, warnings
import numpy as np
from lbg_recsys.core import blocks
from lbg_recsys.ratings import LBGModel
from lbg_recsys.ratings.questions import recommend

warnings.simplefilter("ignore")
blocks.BLOCK_ENTRIES, recommend._BLOCK_NUMBERS = 20_000, 1 << 18
rng = np.random.default_rng(0)
ratings = rng.integers(3000, size=400_000), rng.integers(1500, size=400_000), rng.integers(1, 6, 400_000)
most, over = 0, False


def running(task):
    try:
        return open(f"/proc/self/task/{task}/stat").read().rpartition(")")[2].split()[0] == "R"
    except OSError:  # it has ended
        return False


def watch():
    global most
    while not over:
        own = str(threading.get_native_id())
        most = max(most, sum(running(task) for task in os.listdir("/proc/self/task") if task != own))
        time.sleep(0.002)


watcher = threading.Thread(target=watch)
watcher.start()
model = LBGModel(n_topics=20, max_iter=20, tol=0.0, random_state=0, n_jobs=3, lists="choice").fit(ratings)
model.recommend(list(range(2000)))
over = True
watcher.join()
print(most)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_threads_do_not_multiply():
    """No more threads of a process run at a time than were asked for, even if libraries may have eight each."""
    eight = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "8")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True, env={**os.environ, **eight}
    )
    assert 2 <= int(done.stdout) <= 1 + 3  # the main thread hands out the work
