"""Ctrl-C while LAPACK or a kernel works."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from lbg_recsys.core.em import predict_ratings
from lbg_recsys.core.gibbs import predict_pairs
from lbg_recsys.core.interrupts import interruptible
from lbg_recsys.core.lapack import invert
from lbg_recsys.ratings import BayesianLBGModel, LBGModel


def positive_definite(n):
    part = np.random.default_rng(0).normal(size=(n, 50))
    return np.asfortranarray(part @ part.T + n * np.eye(n))


def test_the_inverse_is_the_inverse():
    sigma = positive_definite(40)
    expected = np.linalg.inv(sigma)
    assert invert(sigma)
    assert np.allclose(np.tril(sigma), np.tril(expected))
    assert not invert(np.asfortranarray(-np.eye(3)))
    assert invert(np.zeros((0, 0), order="F"))
    with pytest.raises(ValueError, match="Fortran"):
        invert(np.ones((3, 2)))


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to oneself there")
def test_an_interrupt_arrives_while_lapack_works():
    sigma = positive_definite(3000)
    finished = threading.Event()

    def work():
        interruptible(lambda: (invert(sigma), finished.set()))

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
        time.sleep(5)  # a fast machine is done before: the interrupt must not hit another test
    assert time.monotonic() - began < 1.5
    assert finished.wait(60)  # nothing of it is left behind for the next test


def test_results_errors_and_other_threads():
    assert interruptible(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]  # only the main thread hears of Ctrl-C


@pytest.mark.parametrize(
    ("model", "kernel"),
    [
        (LBGModel(n_topics=2, max_iter=2, tol=0.0), (predict_ratings, "_from_table")),
        (LBGModel(n_topics=2, max_iter=2, tol=0.0, baseline=True), (predict_ratings, "_from_offsets")),
        (BayesianLBGModel(n_sweeps=5, burn_in=1), (predict_pairs, "_add_sweeps")),
    ],
)
@pytest.mark.filterwarnings("ignore:EM stopped", "ignore:too few sweeps")
def test_many_predictions_are_made_by_another_thread_and_few_are_not(model, kernel, monkeypatch):
    model.set_params(random_state=0).fit(([0, 0, 1, 1], ["a", "b", "a", "b"], [1, 2, 3, 1]))
    original, threads = getattr(*kernel), []

    def watched(*arguments):
        threads.append(threading.current_thread())
        return original(*arguments)

    monkeypatch.setattr(*kernel, watched)
    few, many = model.predict_batch([(0, "a")] * 10), model.predict_batch([(0, "a")] * 20_000)
    assert set(few) == set(many)
    here = [thread is threading.main_thread() for thread in threads]
    assert here == [True] * (len(here) // 2) + [False] * (len(here) // 2) != []


INTERRUPTED = """
import os, signal, sys, threading, time
from lbg_recsys.core.em import predict_ratings
from lbg_recsys.core.gibbs import predict_pairs
from lbg_recsys.core.interrupts import interruptible

def work():
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    interruptible(lambda: (time.sleep(SECONDS), print("done", flush=True)))
"""


def run_interrupted(script, seconds):
    code = INTERRUPTED.replace("SECONDS", str(seconds)) + script
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to oneself there")
def test_python_exits_when_the_interrupted_call_is_done():
    ended = run_interrupted("try:\n    work()\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)", 1.5)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\ndone\n", "", 0)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to oneself there")
def test_the_command_line_exits_at_once():
    as_a_command = """
import click
from lbg_recsys.cli import COMMANDS, main
COMMANDS["work"] = "__main__:command"
command = click.command("work")(work)
main(["work"])
"""
    ended = run_interrupted(as_a_command, 600)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "\nInterrupted.\n", 130)
