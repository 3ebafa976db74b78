"""Kills, full disks, locked folders, several writers, readers meanwhile, threads and forks: nothing is lost.

``LBG_STRESS`` multiplies the rounds; ``make stress`` sets it.
"""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import lbg_recsys
from lbg_recsys.cli import main
from lbg_recsys.ratings import BayesianLBGModel, LBGModel
from lbg_recsys.ratings.choice import ChoiceModel
from tests.killed import tiny_data

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs the signals and limits of POSIX"),
    pytest.mark.filterwarnings("ignore"),
]
ROOT = Path(__file__).parents[1]
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


# What a command writes, and its arguments: it is run again and again until it is done.
COMMANDS = {
    "fit": ("new.lbg", "fit sample --algo lbg -o new.lbg"),
    "resume": ("new.lbg", "fit sample --algo paper -p n_init=6 -o new.lbg --checkpoint 1 --resume"),
    "update": ("model.lbg", "update model.lbg more.csv"),
    "recommend": ("lists.csv", "recommend model.lbg --all-users -o lists.csv"),
    "report": ("page.html", "report model.lbg -o page.html --examples 2"),
    "fetch": ("cache/lbg-recsys/tiny/tiny.data", "datasets fetch tiny"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_at_any_moment_of_a_command(command, tmp_path, monkeypatch):
    """The old file is intact or the new one complete; the next run ends as if there had been none before it."""
    name, line = COMMANDS[command]
    out, arguments, scratch = tmp_path / name, [*line.split(), "--quiet"], tmp_path / "scratch"
    scratch.mkdir()
    lbg_recsys.save(small(0), tmp_path / "model.lbg")
    (tmp_path / "more.csv").write_text("user,item,rating\n" + "".join(f"{n},{n % 30},4\n" for n in range(200)))
    out.parent.mkdir(parents=True, exist_ok=True)
    if name == "new.lbg":  # only a model file may be replaced by a model
        lbg_recsys.save(small(7), out)
    elif not out.exists():
        out.write_bytes(b"old\n")
    old = out.read_bytes()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    places = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(scratch)}
    for variable, value in places.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))

    def run_to_the_end():
        begun = time.monotonic()
        with tiny_data():
            result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        return out.read_bytes(), time.monotonic() - begun

    expected, seconds = run_to_the_end()
    assert expected != old
    kept = sorted(one for one in tmp_path.rglob("*") if one.is_file())
    out.write_bytes(old)
    for share in np.random.default_rng(3).uniform(0.0, 1.2, 3 * ROUNDS):
        begin = [sys.executable, "-m", "tests.killed", *arguments]
        with subprocess.Popen(begin, stdout=subprocess.PIPE, start_new_session=True) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(float(share * seconds))
            process.kill()
        assert out.read_bytes() in (old, expected)
        out.write_bytes(old)
    for left in (*tmp_path.rglob(".*.part"), *scratch.iterdir()):
        os.utime(left, (0, 0))  # what is of the last minute may belong to a process that is about to lock it
    assert run_to_the_end()[0] == expected
    assert sorted(one for one in tmp_path.rglob("*") if one.is_file()) == kept
    assert list(scratch.iterdir()) == []


SAVE_OFTEN = """
import sys, lbg_recsys
model = lbg_recsys.load(sys.argv[1])
for _ in range(int(sys.argv[3])):
    lbg_recsys.save(model, sys.argv[2])
"""


def test_two_processes_that_write_one_file_and_a_reader_meanwhile(tmp_path):
    path = tmp_path / "shared" / "model.lbg"
    path.parent.mkdir()
    files = [lbg_recsys.save(small(seed), tmp_path / f"{seed}.lbg") for seed in (0, 1)]
    whole = [file.read_bytes() for file in files]
    lbg_recsys.save(small(0), path)
    command = [sys.executable, "-c", SAVE_OFTEN]
    writers = [subprocess.Popen([*command, str(file), str(path), str(25 * ROUNDS)]) for file in files]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(path.read_bytes())
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= set(whole) and path.read_bytes() in whole
    assert os.listdir(path.parent) == ["model.lbg"]


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


@pytest.fixture
def kept(folder_to_lock):
    """A model file in a folder that will be locked, its bytes, and another model."""
    path = lbg_recsys.save(small(0), folder_to_lock / "model.lbg")
    path.chmod(0o644)
    return path, path.read_bytes(), small(1)


def test_a_read_only_folder(kept, locked_folder):
    path, before, other = kept
    with pytest.raises(PermissionError, match="locked"):
        lbg_recsys.save(other, path)
    assert path.read_bytes() == before
    assert [one.name for one in locked_folder.iterdir()] == ["model.lbg"]


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
