"""Kills, full disks, locked folders, several writers, readers meanwhile, threads and forks: nothing is lost.

``LBG_STRESS`` multiplies the rounds; ``make stress`` sets it.
"""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.ratings import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.choice import ChoiceModel

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs the signals and limits of POSIX"),
    pytest.mark.filterwarnings("ignore"),
]
ROUNDS = int(os.environ.get("LBG_STRESS", "1"))


def small(seed=0, kind=LBGModel, **options):
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((40, 30)) < 0.5)
    options = {"n_topics": 3, "random_state": seed} if kind is LBGModel else options
    return kind(**options).fit((users, items, rng.integers(1, 6, len(users)).astype(float)))


def bayesian():
    return small(1, BayesianLBGModel, n_components=4, n_sweeps=12, burn_in=6, random_state=1)


def predicted(model):
    return model.predict_distribution([(user, item) for user in range(5) for item in range(30)])


SAVE = """
import sys, signal, os, threading, numpy as np
import lbg_recsys
from lbg_recsys.persistence import saving
from lbg_recsys import files

phase, path = sys.argv[1], sys.argv[2]
model = lbg_recsys.load(sys.argv[3])
def dies(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if phase == "rehearsal":
    saving._rehearse = dies
elif phase == "first byte":
    saving.write_container = dies
elif phase == "half":
    write = saving.write_container
    def half(stream, header, arrays):
        class Stream:
            n = 0
            def write(self, part):
                Stream.n += 1
                if Stream.n > 4:
                    stream.flush()
                    dies()
                return stream.write(part)
        write(Stream(), header, arrays)
    saving.write_container = half
elif phase == "sync":
    os.fsync = dies
elif phase == "rename":
    files.Path.replace = dies
lbg_recsys.save(model, path)
"""


@pytest.mark.parametrize("phase", ["rehearsal", "first byte", "half", "sync", "rename"])
def test_a_kill_at_any_phase_of_save_leaves_the_old_file(phase, tmp_path):
    old, new = small(0), small(7)
    path, other = tmp_path / "model.lbg", tmp_path / "other.lbg"
    lbg_recsys.save(old, path)
    lbg_recsys.save(new, other)
    before = path.read_bytes()
    result = subprocess.run([sys.executable, "-c", SAVE, phase, str(path), str(other)], capture_output=True)
    assert result.returncode == -signal.SIGKILL, result.stderr.decode()
    assert path.read_bytes() == before
    assert np.array_equal(predicted(lbg_recsys.load(path)), predicted(old))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "recommend"])
def test_a_kill_at_any_moment_of_a_command_leaves_the_old_file(command, tmp_path):
    model = tmp_path / "model.lbg"
    lbg_recsys.save(small(0), model)
    out = tmp_path / ("model.lbg" if command == "fit" else "lists.csv")
    if command == "recommend":
        out.write_text("old\n")
    before = out.read_bytes()
    arguments = {
        "fit": ["fit", "sample", "--algo", "lbg", "-o", str(out), "--quiet"],
        "recommend": ["recommend", str(model), "--all-users", "-o", str(out), "--quiet"],
    }[command]
    rng = np.random.default_rng(3)
    for wait in rng.uniform(0.05, 3.0, 3 * ROUNDS):
        process = subprocess.Popen([sys.executable, "-m", "lbg_recsys", *arguments], start_new_session=True)
        time.sleep(float(wait))
        process.kill()
        process.wait()
        after = out.read_bytes()
        if after != before:  # it was done by then
            assert lbg_recsys.load(out).matrix.n_users == 200 if command == "fit" else after.count(b"\n") > 40
            before = after


def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path):
    path = tmp_path / "model.lbg"
    lbg_recsys.save(small(0), path)
    before, larger = path.read_bytes(), small(2)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for size in (0, 100, 3000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
            try:
                with pytest.raises(OSError, match=r"model\.lbg"):
                    lbg_recsys.save(larger, path)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            assert path.read_bytes() == before
            assert [one.name for one in tmp_path.iterdir()] == ["model.lbg"]
    finally:
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    lbg_recsys.save(small(0), folder / "model.lbg")
    before = (folder / "model.lbg").read_bytes()
    folder.chmod(0o500)
    try:
        with pytest.raises(OSError, match="locked"):
            lbg_recsys.save(small(1), folder / "model.lbg")
        assert (folder / "model.lbg").read_bytes() == before
    finally:
        folder.chmod(0o700)


def test_two_writers_and_a_reader_meanwhile(tmp_path):
    """Whoever reads sees one of the models whole; at the end one of them is there, and nothing else."""
    path, models = tmp_path / "model.lbg", [small(0), small(1)]
    expected = [predicted(model) for model in models]
    lbg_recsys.save(models[0], path)
    done, failures = threading.Event(), []

    def write(model):
        try:
            for _ in range(15 * ROUNDS):
                lbg_recsys.save(model, path)
        except Exception as error:
            failures.append(error)

    def read():
        try:
            while not done.is_set():
                found = predicted(lbg_recsys.load(path))
                assert any(np.array_equal(found, one) for one in expected)
        except Exception as error:
            failures.append(error)

    writers, reader = [threading.Thread(target=write, args=(one,)) for one in models], threading.Thread(target=read)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert not failures
    assert [one.name for one in tmp_path.iterdir()] == ["model.lbg"]


def answers(model, number):
    """What one thread asks of a model, as plain numbers; by its number threads ask different things first."""
    new = {1: 5.0, 2: 1.0, 3 + number % 5: 4.0}
    if isinstance(model, ChoiceModel):
        return [
            model.recommend(number % 20, 5)["item"].tolist(),
            model.fold_in(list(new)).recommend(5)["item"].tolist(),
            model.similar_items(number % 20, 3),
        ]
    questions = [
        lambda: model.predict_distribution([(number % 20, item) for item in range(30)]).tolist(),
        lambda: model.recommend(number % 20, 5)["item"].tolist(),
        lambda: model.fold_in(new).recommend(5)["item"].tolist(),
        lambda: model.fold_in(new).predict([4, 5, "unknown"]).tolist(),
        lambda: model.predict_batch([("nobody", number % 30), (number, "nothing")]).tolist(),
        lambda: model.similar_items(number % 20, 3),
        lambda: repr(model.topics(2)),
    ]
    turn = number % len(questions)
    found = {place: questions[place]() for place in (*range(turn, len(questions)), *range(turn))}
    return [found[place] for place in range(len(questions))]


@pytest.mark.parametrize("make", [small, bayesian, lambda: small(2, ChoiceModel)], ids=["lbg", "bayesian", "choice"])
def test_sixteen_threads_on_one_model(make):
    """Nothing that a model computes at its first question is seen half done, and no answer depends on another."""
    model = make()
    alone = [answers(model, number) for number in range(16)]
    for _ in range(ROUNDS):
        with ThreadPoolExecutor(16) as pool:
            together = list(pool.map(answers, [make()] * 16, range(16)))
        assert together == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_answers_as_its_parent():
    model = bayesian()
    expected = answers(model, 3)
    with warnings.catch_warnings(), multiprocessing.get_context("fork").Pool(2) as pool:
        warnings.simplefilter("ignore")
        found = pool.starmap_async(answers, [(model, 3)] * 4).get(timeout=120)
    assert found == [expected] * 4
