"""Ctrl-C in the middle of a sweep: the chain stops soon, and where it can go on."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from lbg_recsys.core.gibbs import chain as gibbs
from lbg_recsys.core.gibbs.chain import Chain, ChainSettings
from lbg_recsys.core.gibbs.chains import run_all
from lbg_recsys.core.gibbs.kinds import Likelihood
from lbg_recsys.core.gibbs.threads import threads_for
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.ratings import BayesianLBGModel

MIDDLES = np.array([-0.5, 0.5])


class Stop(Exception):
    pass


def make_chain():
    rng = np.random.default_rng(2)
    row, col = np.nonzero(rng.random((70, 20)) < 0.4)
    entries = SparseRows.from_entries(row, col, rng.normal(size=len(row)), 70, 20)
    level = np.searchsorted(MIDDLES, entries.values).astype(np.int16)
    settings = ChainSettings(n_components=4, n_classes=3, n_factors=2, likelihood=Likelihood.ORDINAL)
    return Chain(entries, level, MIDDLES, settings, np.random.SeedSequence(0)), entries, level


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("at_once", [600, 2000])
def test_a_sweep_in_many_calls_has_the_bits_of_one_in_few(n_jobs, at_once, monkeypatch):
    whole, in_parts = make_chain()[0], make_chain()[0]
    calls = [], []
    for chain, counted in zip((whole, in_parts), calls, strict=True):
        with threads_for(1, n_jobs) as threads:
            for _ in range(15):
                chain.sweep(threads, lambda counted=counted: counted.append(1))
        monkeypatch.setattr(gibbs, "_ENTRIES_AT_ONCE", at_once)
    assert len(calls[1]) > len(calls[0])
    for name in ("z", "c", "lam", "tau", "eta", "res", "row_bias", "col_weight", "cuts", "utility"):
        np.testing.assert_array_equal(getattr(in_parts, name), getattr(whole, name))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_chain_can_be_stopped_anywhere_and_goes_on(n_jobs, monkeypatch):
    monkeypatch.setattr(gibbs, "_ENTRIES_AT_ONCE", 1)
    chain, entries, level = make_chain()
    rows, met = entries.row_of_entry(), []

    def stop_at(place):
        met.append(place)
        if len(met) == place:
            raise Stop

    with threads_for(1, n_jobs) as threads:
        for _ in range(12):  # cut points move only then
            met.clear()
            chain.sweep(threads, lambda: met.append(0))
        n_places, sweeps = len(met), chain.sweeps
        assert n_places >= 4 + 2 + 2 + 2  # components, factors of both sides, effects, cut points
        for place in range(1, n_places + 1):
            met.clear()
            with pytest.raises(Stop):
                chain.sweep(threads, lambda place=place: stop_at(place))
            np.testing.assert_allclose(chain.utility - chain.means(rows, entries.columns), chain.res, atol=1e-4)
            points = chain.cuts[1:-1, None] + chain.own_cuts[1:-1, rows]
            np.testing.assert_array_equal((points < chain.utility).sum(axis=0), level)
            chain.rest()
            chain.wake(entries, level)
        assert chain.sweeps == sweeps
        chain.sweep(threads)
    np.testing.assert_allclose(chain.utility - chain.means(rows, entries.columns), chain.res, atol=1e-4)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to oneself there")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ctrl_c_does_not_wait_for_the_end_of_a_sweep(sample, n_jobs, monkeypatch):
    """A sweep of which each call takes a fifth of a second, and all together a minute."""
    table = sample.ratings[["user", "item", "rating"]].head(1200)
    model = BayesianLBGModel(n_components=3, n_sweeps=12, burn_in=4, n_chains=1, n_jobs=n_jobs, random_state=0)
    model.fit(table)
    chains = len(model._training.runs)
    seen = model.predict_batch(table[["user", "item"]])

    def slowly(self, threads, between):
        sent.append(threading.current_thread())
        if len(sent) == 6 * chains + 1:  # in the seventh sweep; two were kept
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        if len(sent) > 6 * chains:
            for _ in range(300):
                between()
                time.sleep(0.2)
        sweep(self, threads, between)

    sent, sweep = [], Chain.sweep
    monkeypatch.setattr(Chain, "sweep", slowly)
    started = time.monotonic()
    model.fit(table)
    assert time.monotonic() - started < 30
    assert model.interrupted_ and model.n_sweeps_ == 6
    assert set(sent[:chains]) == {threading.main_thread()} and threading.main_thread() not in sent[chains:]
    monkeypatch.undo()
    model.warm_start = True
    model.fit(table)  # goes on
    assert model.n_sweeps_ == 18 and not model.interrupted_
    assert np.abs(model.predict_batch(table[["user", "item"]]) - seen).mean() < 0.3


def test_an_error_in_a_sweep_is_raised(monkeypatch):
    def fail(self, threads, between):
        raise MemoryError

    monkeypatch.setattr(Chain, "sweep", fail)
    run = type("Run", (), {"chain": make_chain()[0], "step": lambda self, *how: self.chain.sweep(*how[1:])})()
    with pytest.raises(MemoryError):
        run_all([run], 3, 1, 1)
