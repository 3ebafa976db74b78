"""The cluster: how to reach it, and whether its workers can do the work."""

import logging
import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lbg_recsys import __version__
from lbg_recsys.errors import DataError, MissingExtraError

NO_WORKERS = "the Dask cluster has no workers: start some (dask worker SCHEDULER)"
_SECONDS_TO_ANSWER, _SECONDS_TO_REACH = 10, 1
# How often a wait looks whether there is a worker, and how long it does without one: a lost worker that comes back
# does so in seconds.
_SECONDS_BETWEEN_LOOKS, _SECONDS_WITHOUT_WORKERS = 10.0, 300.0
# For the C library of workers: arrays of up to 32 MB take memory that was used before. With Dask's own setting it is
# returned after each block, and getting it again takes a sixth of an iteration.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": 1 << 25, "MALLOC_TRIM_THRESHOLD_": 1 << 28}


def cluster_of(client: Any) -> Any:
    """The client itself, or one of the cluster at this address; None starts one on the cores of this machine."""
    found = connected(client) if client is None or isinstance(client, str) else client
    import dask

    # the tables of an iteration are sent with its tasks: scattered as Dask advises, they would be lost with a worker
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
    return found


def connected(address: str | None, n_workers: int | None = None) -> Any:
    """Connect to the cluster at an address, or start one on this machine with one thread per worker.

    Parameters
    ----------
    address : str or None
        Where the cluster's scheduler is; None starts one on this machine.
    n_workers : int, default=None
        How many workers to start on this machine; one per core if None.

    Returns
    -------
    distributed.Client
        The connection, to be closed by the caller.

    Raises
    ------
    DataError
        If no scheduler answers at the address.
    MissingExtraError
        If Dask is not installed.

    Examples
    --------
    >>> from dask.distributed import LocalCluster
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
    ...     with connected(cluster.scheduler_address) as client:
    ...         print(len(client.nthreads()), "worker")
    1 worker
    """
    try:
        import dask
        from dask.distributed import Client
    except ImportError as error:
        raise MissingExtraError("fitting on a cluster", "dask and distributed", "dask") from error
    try:
        if address is None:
            dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": n for name, n in KEEP_MEMORY.items()})
            # what goes wrong on a worker is raised here: its own log would say it once more, with a traceback
            return Client(  # type: ignore[no-untyped-call]
                n_workers=n_workers,
                threads_per_worker=1,
                silence_logs=logging.CRITICAL,
                # no dashboard, and any port for the HTTP server that there is all the same
                dashboard_address=":0",
                scheduler_kwargs={"dashboard": False},
            )
        return Client(address, timeout=_SECONDS_TO_ANSWER)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise DataError(
            f"no Dask scheduler answers at {address}: start one (dask scheduler), or give its address as HOST:PORT"
        ) from error


def is_reached(client: Any) -> bool:
    """Whether this process can connect to the workers, and not only to the scheduler."""
    for worker in client.nthreads():
        kind, _, place = worker.partition("://")
        host, _, port = place.rpartition(":")
        try:
            if kind != "inproc":
                socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_REACH).close()
        except (OSError, ValueError):
            return False
    return True


def gathered(client: Any, futures: Sequence[Any], direct: bool = False) -> list[Any]:
    """Wait for the results of all futures; `DataError` if no worker is left to compute them.

    With ``direct``, results come from the workers themselves, which takes a fourth of the time of the way through the
    scheduler.
    """
    from dask.distributed import wait

    alone_since = None
    while not all(future.done() for future in futures):
        with suppress(TimeoutError):
            wait(futures, timeout=_SECONDS_BETWEEN_LOOKS)  # type: ignore[no-untyped-call]
            break
        now = time.monotonic()
        alone_since = None if client.nthreads() else alone_since or now
        if alone_since is not None and now - alone_since >= _SECONDS_WITHOUT_WORKERS:
            raise DataError(
                f"the Dask cluster has lost all its workers, and none came within {_SECONDS_WITHOUT_WORKERS:.0f} "
                "seconds: start some (dask worker SCHEDULER) and repeat the command"
            )
    return list(client.gather(futures, direct=direct))


def failure_in_words(error: Exception) -> str | None:
    """What happened to the cluster, if an exception is about it."""
    from dask.distributed import CancelledError, KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm.core import CommClosedError

    if isinstance(error, KilledWorker):
        return (
            f"{error.allowed_failures + 1} workers of the Dask cluster have died at the same task: their memory may "
            "be too small; give workers more memory or fewer threads"
        )
    if isinstance(error, (CancelledError, ClosedClientError, CommClosedError)):
        return "the Dask scheduler is gone: start it and its workers again, and repeat the command"
    return None


def check_workers(client: Any, path: Path = Path("/")) -> None:
    """Raise `DataError` unless all workers have this version of the package and see a file or folder."""
    found = client.run(_probe, os.path.abspath(path), on_error="return")
    if not found:
        raise DataError(NO_WORKERS)
    for worker, answer in found.items():
        if isinstance(answer, BaseException):
            raise DataError(f"the worker {worker} cannot run lbg-recsys: {answer}; install the same packages on it")
        version, sees = answer
        if version != __version__:
            raise DataError(f"the worker {worker} has lbg-recsys {version}, and here it is {__version__}")
        if not sees:
            raise DataError(f"the worker {worker} cannot read {path}: use a folder that all workers see")


def _probe(path: str) -> tuple[str, bool]:
    """The version of this package on a worker, and whether the worker sees a file."""
    import numba  # noqa: F401  # without it nothing could be computed

    return __version__, os.access(path, os.R_OK)
