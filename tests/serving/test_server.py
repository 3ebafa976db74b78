"""The server as a process: started by the command, given new models, bad ones, signals, and killed workers."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

import lbg_recsys

pytestmark = pytest.mark.slow


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    pytest.fail("it did not happen in time")


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def health(url):
    try:
        return get(f"{url}/health")
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


@contextmanager
def served(path, *options, port=0):
    """The address of a server in a process of its own, the process, and its log."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        port = free.getsockname()[1]
    log = Path(path).with_suffix(".log")
    command = [sys.executable, "-m", "lbg_recsys", "serve", str(path), "--port", str(port), *options]
    with open(log, "w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: process.poll() is not None or health(url))
        assert process.poll() is None, log.read_text()
        yield url, process, log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail(f"SIGTERM did not end the server:\n{log.read_text()}")


@pytest.fixture
def desk(tmp_path, model_files, sample, fitted):
    """A model file that is served, another one to take its place, and a bad one."""
    shutil.copy(model_files["lbg"], tmp_path / "model.lbg")
    opposite = sample.ratings.assign(rating=6 - sample.ratings["rating"])
    lbg_recsys.save(fitted("lbg", opposite), tmp_path / "other.lbg")
    good = (tmp_path / "other.lbg").read_bytes()
    (tmp_path / "bad.lbg").write_bytes(good[:-100] + bytes(100))
    return tmp_path


class Clients(threading.Thread):
    """Asks for one list again and again, and counts what came back."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.failures, self.answers, self.done = url, [], [], threading.Event()

    def run(self):
        while not self.done.is_set():
            try:
                self.answers.append(get(f"{self.url}/recommend/3?n=3")["items"])
            except Exception as error:
                self.failures.append(error)


def lists_of(path):
    frame = lbg_recsys.load(path).recommend(3, 3)
    return frame["item"].tolist()


@pytest.mark.parametrize("how", ["sighup", "watch"])
def test_a_new_model_is_taken_up_without_losing_a_request(desk, how):
    before, after = lists_of(desk / "model.lbg"), lists_of(desk / "other.lbg")
    assert before != after
    with served(desk / "model.lbg", *(["--watch"] if how == "watch" else [])) as (url, process, _):
        first = health(url)["model"]["sha256"]
        clients = [Clients(url) for _ in range(4)]
        for client in clients:
            client.start()
        os.replace(desk / "other.lbg", desk / "model.lbg")
        if how == "sighup":
            process.send_signal(signal.SIGHUP)
        wait_until(lambda: health(url)["model"]["sha256"] != first)
        time.sleep(0.3)
        for client in clients:
            client.done.set()
            client.join()
        found = [[row["item"] for row in answer] for client in clients for answer in client.answers]
        assert [client.failures for client in clients] == [[]] * 4
        assert {tuple(one) for one in found} == {tuple(before), tuple(after)}
        assert health(url)["refused"] is False


def test_a_bad_file_is_refused_and_the_old_model_stays(desk):
    before = lists_of(desk / "model.lbg")
    with served(desk / "model.lbg") as (url, process, log):
        first = health(url)
        os.replace(desk / "bad.lbg", desk / "model.lbg")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: health(url)["refused"])
        assert health(url)["model"] == first["model"]
        assert [row["item"] for row in get(f"{url}/recommend/3?n=3")["items"]] == before
        assert f"{desk / 'model.lbg'} is refused, and the old model stays" in log.read_text()
        os.replace(desk / "other.lbg", desk / "model.lbg")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: health(url)["refused"] is False)
        assert [row["item"] for row in get(f"{url}/recommend/3?n=3")["items"]] != before


def children(process):
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not found.exists():
        pytest.skip("this system has no /proc with the children of a process")
    spawned = [int(one) for one in found.read_text().split()]
    return [one for one in spawned if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def test_a_killed_worker_is_replaced_even_while_the_file_is_bad(desk):
    before = lists_of(desk / "model.lbg")
    with served(desk / "model.lbg", "--workers", "2") as (url, process, log):
        workers = wait_until(lambda: len(children(process)) == 2 and children(process))
        shutil.copy(desk / "bad.lbg", desk / "model.lbg")  # in place: the worker that starts next finds this
        os.kill(workers[0], signal.SIGKILL)
        new = wait_until(lambda: set(children(process)) - set(workers) and len(children(process)) == 2)
        assert new
        wait_until(lambda: "the old model stays" in log.read_text())
        assert ".tmp" not in log.read_text()  # the log names the file, and not the copy that was tried
        os.kill(workers[1], signal.SIGKILL)  # only the new one answers now
        answer = wait_until(lambda: health(url) and get(f"{url}/recommend/3?n=3"))
        assert [row["item"] for row in answer["items"]] == before and health(url)["refused"]


@pytest.mark.parametrize(("workers", "stop"), [(1, signal.SIGTERM), (2, signal.SIGINT)])
def test_the_log_says_where_the_page_is_and_a_signal_stops_it_without_a_trace(desk, workers, stop, monkeypatch):
    scratch = desk / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with served(desk / "model.lbg", "--workers", str(workers)) as (url, process, log):
        wait_until(lambda: log.read_text().count(f"model.lbg at {url}/ (requests: {url}/docs") == workers)
        assert f"model.lbg, to be served at {url}/" in log.read_text()
        process.send_signal(stop)
        assert process.wait(30) == 0
    assert "stopped" in log.read_text()
    assert "Aborted" not in log.read_text() and "Traceback" not in log.read_text()
    assert ".py:" not in log.read_text()  # warnings are sentences
    assert list(scratch.iterdir()) == []


def test_a_killed_server_leaves_no_worker_no_port_and_no_folder(desk, monkeypatch):
    scratch = desk / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with served(desk / "model.lbg", "--workers", "2") as (url, process, log):
        wait_until(lambda: log.read_text().count("Ctrl-C stops it") == 2)
        workers = children(process)
        assert len(workers) == 2
        process.kill()
        process.wait()
        wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), seconds=15)
    assert "Traceback" not in log.read_text()
    (left,) = scratch.iterdir()
    os.utime(left, (0, 0))  # a folder of the last minute may belong to a process that is about to lock it
    with served(desk / "model.lbg", "--workers", "2", port=int(url.rpartition(":")[2])):
        assert left not in scratch.iterdir()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("worker", ["the first appears", "a new model comes"])
def test_a_server_that_is_killed_before_it_is_ready_leaves_no_worker(desk, worker):
    command = [sys.executable, "-m", "lbg_recsys", "serve", str(desk / "model.lbg"), "--port", "0", "--workers", "2"]
    with open(desk / "log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    if worker == "a new model comes":
        wait_until(lambda: (desk / "log").read_text().count("Ctrl-C stops it") == 2)
        os.replace(desk / "other.lbg", desk / "model.lbg")
        process.send_signal(signal.SIGHUP)
    wanted = 1 if worker == "the first appears" else 2
    workers = wait_until(lambda: len(children(process)) >= wanted and children(process))
    process.kill()
    process.wait()
    wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), seconds=30)
    lbg_recsys.load(desk / "model.lbg")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host):
    """Without TCP_NODELAY the second packet of an answer waits for the client's acknowledgement, 40 ms."""
    serving = pytest.importorskip("lbg_recsys.serving.server")

    async def connected():
        met = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(lambda _, writer: met.set_result(writer), sock=serving._bound(host, 0))
        async with server:
            _, own = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            writer = await met
            at_once = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for each in (own, writer):
                each.close()
            return at_once

    assert asyncio.run(connected())


def run(*arguments):
    command = [sys.executable, "-m", "lbg_recsys", "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_what_cannot_be_served_ends_in_a_sentence(desk):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for arguments, text in (
            ((desk / "nothing.lbg",), f"there is no file {desk / 'nothing.lbg'}"),
            ((desk / "bad.lbg",), "bad.lbg"),
            ((desk / "bad.lbg", "--workers", "2"), "bad.lbg"),
            ((desk / "model.lbg", "--port", taken.getsockname()[1]), "choose another --host or --port"),
        ):
            done = run(*arguments)
            assert done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_without_the_extra_the_extra_is_named(desk):
    hide = "import sys; sys.modules['starlette'] = None; sys.argv = ['lbg-recsys', 'serve', 'model.lbg']"
    code = f"{hide}\nfrom lbg_recsys.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=desk)
    assert done.returncode == 1 and "install the extra 'serve' of" in done.stderr and "Traceback" not in done.stderr
