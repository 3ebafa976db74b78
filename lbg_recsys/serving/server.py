"""Runs the application: one process, or a parent that keeps several workers alive."""

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from lbg_recsys.errors import DataError
from lbg_recsys.files import private_folder
from lbg_recsys.serving.app import Options, create_app

logger = logging.getLogger("lbg_recsys.serving")

# Seconds that requests in progress get when the server stops.
_GRACE = 10
# Texts of warnings that are remembered so that none is logged twice.
_REMEMBERED = 1000


@dataclass(frozen=True)
class Log:
    """What is logged to standard error, and whether as JSON: one object per line."""

    level: str = "INFO"
    as_json: bool = False

    def start(self) -> None:
        """Log from now on in this process; warnings are logged too."""
        shown = logging.StreamHandler()
        shown.setFormatter(_JsonLines() if self.as_json else logging.Formatter("%(levelname)s: %(message)s"))
        logging.basicConfig(level=self.level, handlers=[shown], force=True)
        logging.captureWarnings(True)
        warnings.formatwarning = lambda message, *where: str(message)  # the sentence, without the line of code
        warnings.simplefilter("once")
        logging.getLogger("py.warnings").addFilter(_once)


class _Once(logging.Filter):
    """Drops texts that were logged already: Python forgets which were whenever filters of warnings change."""

    def __init__(self) -> None:
        super().__init__()
        self._logged: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if text in self._logged:
            return False
        if len(self._logged) >= _REMEMBERED:
            self._logged.clear()
        self._logged.add(text)
        return True


_once = _Once()


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        facts = {"time": self.formatTime(record), "level": record.levelname, "message": record.getMessage()}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts, ensure_ascii=False)


def run(path: str, host: str, port: int, workers: int, options: Options, log: "Log") -> None:
    """Serve a model file until SIGINT or SIGTERM. On SIGHUP every worker loads the file again.

    The log says where the page is, first when loading begins (which compiles, the first time on a machine), and again
    when a worker is ready.

    Raises
    ------
    DataError
        If the address cannot be used.
    """
    log.start()
    with contextlib.ExitStack() as stack:
        sock = stack.enter_context(_bound(host, port))
        good = None
        if workers > 1:
            good = os.path.join(stack.enter_context(private_folder()), "good.lbg")
        at = _address(sock)
        logger.info("loading %s, to be served at %s (the first time, kernels are compiled)", path, at)
        config = uvicorn.Config(
            partial(_app, path, options, good, log, at),
            factory=True,
            host=host,
            port=port,
            workers=workers,
            backlog=_AT_A_TIME if workers > 1 else _QUEUE,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        if workers > 1:
            _Workers(config, sockets=[sock]).run()
        else:
            # uvicorn raises the signal that stopped it again: neither is a mistake
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[sock])
        logger.info("stopped")


# A worker accepts as many connections at a time as its backlog, which it sets for the common socket as well. So that
# none takes all, this is 1, and the parent makes room for more connections to wait.
_AT_A_TIME = 1
_QUEUE = 2048


class _Workers(Multiprocess):
    """Several workers that share one socket; one that dies is replaced."""

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have died, and let connections wait that no worker has accepted yet.

        Workers are not pinged, as uvicorn does: waiting for the reply of one that dies would delay its replacement,
        and a worker itself ends a request that takes too long.
        """
        for sock in self.sockets:
            if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                sock.listen(_QUEUE)
        for place, old in enumerate(self.processes):
            if self.should_exit.is_set() or old.process.is_alive():
                continue
            old.kill()  # closes its pipes
            logger.error("worker %s died and is replaced", old.pid)
            self.processes[place] = Process(self.config, self.sockets)
            self.processes[place].start()

    def handle_hup(self) -> None:
        """Tell every worker to load the model again; none is restarted, so that no connection is lost."""
        for process in self.processes:
            if process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)


def _app(path: str, options: Options, good: str | None, log: Log, at: str) -> Any:
    """The application of this process. One thread for linear algebra: the workers share the cores."""
    from threadpoolctl import threadpool_limits

    log.start()
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    threadpool_limits(1)
    found = create_app(path, options, good)
    logger.info("serving %s at %s (requests: %sdocs, process %s); Ctrl-C stops it", path, at, at, os.getpid())
    return found


def _end_with_the_parent() -> None:
    """Stop this worker when its parent is gone, also by a kill: nobody else would, and it would keep the port."""
    parent = multiprocessing.parent_process()
    if parent is None:  # the only process
        return
    parent.join()
    logger.error("the server's main process is gone: worker %s stops", os.getpid())
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE + 1)  # requests in progress are answered first
    os._exit(1)


def _address(sock: socket.socket) -> str:
    """The address of the page."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _bound(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the protocol is named: an answer of two packets took 40 ms
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise DataError(
            f"the server cannot use {host}, port {port}: {error.strerror or error}; choose another --host or --port"
        ) from error
    sock.set_inheritable(True)
    return sock
