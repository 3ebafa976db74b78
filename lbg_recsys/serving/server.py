"""Runs the application: one process, or a parent that keeps several workers alive."""

import logging
import os
import signal
import socket
import tempfile
from functools import partial
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from lbg_recsys.errors import DataError
from lbg_recsys.serving.app import Options, create_app

# Seconds that requests in progress get when the server stops.
_GRACE = 10
# Seconds in which a worker must answer its parent; loading a large model takes some.
_HANGS = 120


def run(path: str, host: str, port: int, workers: int, options: Options, log_level: str = "info") -> None:
    """Serve a model file until SIGINT or SIGTERM. On SIGHUP every worker loads the file again.

    Raises
    ------
    DataError
        If the address cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="lbg-serve-") as folder:
        good = os.path.join(folder, "good.lbg") if workers > 1 else None
        config = uvicorn.Config(
            partial(_app, path, options, good, log_level),
            factory=True,
            host=host,
            port=port,
            workers=workers,
            log_level=log_level,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            timeout_worker_healthcheck=_HANGS,
        )
        sock = _bound(host, port)
        try:
            if workers == 1:
                uvicorn.Server(config).run(sockets=[sock])
            else:
                _Workers(config, sockets=[sock]).run()
        finally:
            sock.close()


class _Workers(Multiprocess):
    """Several workers that share one socket; one that dies is replaced."""

    def handle_hup(self) -> None:
        """Tell every worker to load the model again; none is restarted, so that no connection is lost."""
        for process in self.processes:
            if process.pid is not None:
                os.kill(process.pid, signal.SIGHUP)


def _app(path: str, options: Options, good: str | None, log_level: str) -> Any:
    """The application of this process. One thread for linear algebra: the workers share the cores."""
    from threadpoolctl import threadpool_limits

    logging.basicConfig(level=log_level.upper(), format="%(levelname)s:     %(message)s")
    logging.captureWarnings(True)
    threadpool_limits(1)
    return create_app(path, options, good)


def _bound(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
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
