"""How fast does `lbg-recsys serve` answer, and does it stay right under load?

MovieLens-100K, the default model (Bayesian LBG with choice), lists of ten over loopback; clients and server share
the machine. ``speed``: requests per second and latencies for known and new users, beside a plain web application
around Surprise's SVD (known users only: it has no new ones). ``memory``: the memory of a worker over 100,000
requests. ``killed``: kill -9 of one of two workers while 16 clients ask. Every answer of ours is compared with the
answer of the library.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path

from benchmarks.benchmark import Benchmark, Part
from benchmarks.load_client import request_bytes, run_load
from lbg_recsys import BayesianLBGModel, save

USERS = 100
_HZ = os.sysconf("SC_CLK_TCK")
_MEGABYTE = 1e6


# -- the model and the right answers ---------------------------------------------------------------------------------


@cache
def served_model(work):
    """The fitted model and its file."""
    short = work.size({}, {"n_components": 4, "n_sweeps": 30, "burn_in": 10})
    model = BayesianLBGModel(random_state=0, **short).fit(work.ratings)
    folder = tempfile.mkdtemp(prefix="bench-serve-")
    return model, save(model, Path(folder) / "model.lbg")


def rows_of(frame):
    """What an answer must contain, to the last bit: JSON keeps every float."""
    return frame[["rank", "item", "score", "expected_rating"]].to_dict(orient="records")


@cache
def known_users(work):
    """Requests for lists of known users, and the right answers."""
    model, _ = served_model(work)
    users = [model.matrix.users.raw(code) for code in range(min(USERS, model.matrix.n_users))]
    return [request_bytes(f"/recommend/{user}") for user in users], [rows_of(model.recommend(user)) for user in users]


@cache
def new_users(work):
    """Requests of new users who bring the 10 first ratings of a known one, and the right answers."""
    model, _ = served_model(work)
    matrix, requests, answers = model.matrix, [], []
    for user in range(min(USERS, matrix.n_users)):
        own = slice(*(matrix.rows.indptr[user] + [0, min(10, matrix.rows.lengths[user])]))
        items = matrix.items.raws(matrix.rows.columns[own])
        ratings = dict(zip(items, matrix.rows.values[own].tolist(), strict=True))
        body = json.dumps({"ratings": {str(item): rating for item, rating in ratings.items()}})
        requests.append(request_bytes("/recommend", body.encode()))
        answers.append(rows_of(model.fold_in(ratings).recommend()))
    return requests, answers


def is_right(answers):
    """A function that compares an answer with the library's."""
    return lambda number, answer: json.loads(answer)["items"] == answers[number]


# -- servers ---------------------------------------------------------------------------------------------------------


@contextmanager
def started(*command):
    """The port and the process of a server in processes of its own, one thread each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [str(port) if one == "PORT" else str(one) for one in command]
    alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-m", *arguments], env=os.environ | alone)
    try:
        _wait_for(port, process)
        yield port, process
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(port, process):
    for _ in range(3000):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with exit code {process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the server did not answer in time")


def ours(work, workers):
    """The server of this package."""
    path = served_model(work)[1]
    return started("lbg_recsys", "serve", path, "--port", "PORT", "--workers", workers, "--quiet")


def workers_of(process):
    """The processes that answer: the server itself, or the workers of the parent."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    spawned = [int(one) for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
    return spawned or [process.pid]


def cpu_seconds(pids):
    """User and system time of some processes so far."""
    fields = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(one[11]) + int(one[12]) for one in fields) / _HZ


def resident(pids):
    """The resident memory of some processes, in megabytes."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


# -- what is measured ------------------------------------------------------------------------------------------------


def speed_of(work, server, requests, right, clients):
    """Figures of one kind of request from some clients at once, after a few that warm up."""
    port, process = server.start()
    run_load(port, requests, right, count=work.size(100, 5), clients=clients, most_seconds=60)
    pids = workers_of(process)
    before = cpu_seconds(pids)
    load = run_load(port, requests, right, count=work.size(500, 64), clients=clients, most_seconds=work.size(120, 20))
    spent = cpu_seconds(pids) - before
    return load.figures() | {"clients": clients, "cpu_ms": 1000.0 * spent / max(len(load.seconds), 1)}


class OnDemand:
    """A server that is started when a row needs it, and ends with the block."""

    def __init__(self, server):
        self._server, self._found, self._stack = server, None, ExitStack()

    def __enter__(self):
        return self

    def start(self):
        """The port and the process."""
        if self._found is None:
            self._found = self._stack.enter_context(self._server())
        return self._found

    def __exit__(self, *error):
        self._stack.close()


def speed(record, work):
    """Rows by server, trials by kind of user and number of clients."""
    kinds = {"known users": known_users(work), "new users": new_users(work)}
    for workers in work.size((1, 2), (2,)):
        with OnDemand(partial(ours, work, workers)) as server:
            for kind, (requests, answers) in kinds.items():
                for clients in work.size((1, 8, 64), (64,)):
                    record.row(
                        "speed",
                        f"lbg-recsys serve, {workers} worker{'s' * (workers > 1)}",
                        f"{kind}, {clients} client{'s' * (clients > 1)}",
                        partial(speed_of, work, server, requests, is_right(answers), clients),
                    )
    requests, _ = known_users(work)
    for how, name in (
        ("items", "SVD of Surprise, item by item"),
        ("array", "SVD of Surprise, one product of arrays"),
    ):
        with OnDemand(partial(svd, work, how)) as server:
            for clients in work.size((1, 8), (8,)):
                record.row(
                    "speed",
                    name,
                    f"known users, {clients} client{'s' * (clients > 1)}",
                    partial(speed_of, work, server, requests, lambda number, answer: True, clients),
                    by="scikit-surprise",
                )


def svd(work, how):
    """A plain web application around Surprise's SVD."""
    return started("benchmarks.plain_svd", fitted_svd(work), "PORT", how)


@cache
def fitted_svd(work):
    """The file of an SVD with Surprise's defaults."""
    from surprise import SVD, Dataset, Reader, dump

    data = Dataset.load_from_df(work.ratings, Reader(rating_scale=(1, 5))).build_full_trainset()
    path = Path(tempfile.mkdtemp(prefix="bench-serve-")) / "svd"
    dump.dump(str(path), algo=SVD(random_state=0).fit(data))
    return path


def memory_of(work):
    """The memory of one worker after parts of a long load: lists for known and new users, predictions, searches."""
    known, new = known_users(work)[0], new_users(work)[0]
    cheap = [request_bytes(f"/items?search={text}&n=5") for text in ("star", "the", "a", "love", "man")]
    cheap += [request_bytes(f"/predict?user={user}&items={user}") for user in range(1, 60)]
    requests = [one for place in range(10) for one in (known[place], new[place], *cheap[5 * place : 5 * place + 16])]
    total = work.size(100_000, 200)
    found = {}
    with ours(work, 1) as (port, process):
        for part in range(11):
            count = total // 10 if part else work.size(2000, 10)
            load = run_load(port, requests, lambda *_: True, count=count, clients=16, most_seconds=work.size(400, 30))
            done = sum(one["requests"] for one in found.values()) + len(load.seconds)
            found[str(part)] = {"requests": len(load.seconds), "failed": load.failed + load.wrong}
            found[str(part)] |= {"done": done, "megabytes": resident(workers_of(process))}
    first, last = found["1"], found["10"]
    return {
        "requests": last["done"],
        "failed": sum(one["failed"] for one in found.values()),
        "megabytes_after_a_tenth": first["megabytes"],
        "megabytes_at_the_end": last["megabytes"],
        "growth": last["megabytes"] / first["megabytes"] - 1.0,
    }


def memory(record, work):
    """One row."""
    record.row("memory", "lbg-recsys serve, 1 worker", "", partial(memory_of, work))


def killed_of(work):
    """Requests that fail when one of two workers is killed, and how long it takes to replace it."""
    requests, answers = known_users(work)
    replaced = {}
    with ours(work, 2) as (port, process):
        while len(workers_of(process)) < 2:
            time.sleep(0.1)

        def kill():
            time.sleep(1.0)
            before = workers_of(process)
            os.kill(before[0], signal.SIGKILL)
            started_at = time.perf_counter()
            while len(set(workers_of(process)) - set(before)) < 1 and time.perf_counter() < started_at + 60:
                time.sleep(0.05)
            replaced["seconds"] = time.perf_counter() - started_at

        load = run_load(
            port,
            requests,
            is_right(answers),
            count=work.size(800, 200),
            clients=16,
            most_seconds=120,
            meanwhile=kill,
        )
    return load.figures() | {"clients": 16, "seconds_until_replaced": replaced["seconds"]}


def killed(record, work):
    """One row."""
    record.row("killed", "lbg-recsys serve, 2 workers", "", partial(killed_of, work))


BENCHMARK = Benchmark(
    name="serve",
    what="Serving MovieLens-100K over loopback: requests per second, latencies, memory, a killed worker",
    module="benchmarks.bench_serve",
    data=("ml-100k",),
    seeds=(0,),
    parts={
        "speed": Part(speed, timed=True),
        "memory": Part(memory, timed=True),
        "killed": Part(killed, timed=True),
    },
    libraries=("starlette", "uvicorn"),
)

if __name__ == "__main__":
    BENCHMARK.main()
