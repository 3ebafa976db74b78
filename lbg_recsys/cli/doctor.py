"""``lbg-recsys doctor``: check the installation."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from lbg_recsys.cli.common import json_option, print_json, print_table, quiet_option
from lbg_recsys.cli.models import remarks
from lbg_recsys.cli.terminal import echo

_NEEDED = ("lbg-recsys", "numpy", "scipy", "pandas", "numba", "scikit-surprise", "scikit-learn", "click")
_EXTRAS = {"matplotlib": "plot", "pyarrow": "parquet", "dask": "dask", "distributed": "dask"}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@click.command()
@quiet_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, quiet: bool, as_json: bool) -> None:
    """Check whether this machine is ready.

    Shows versions, threads, the compiler's cache and which data sets this machine has.
    Exits with 1 when something that every command needs is missing or broken.

    \b
    Examples:
      lbg-recsys doctor
      lbg-recsys doctor --json
    """
    with remarks(quiet):
        facts = _facts()
    if as_json:
        print_json(facts)
    else:
        _show(facts)
    ctx.exit(1 if facts["problems"] else 0)


def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = {
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in _NEEDED},
        "extras": {
            name: _version(name) or f"missing: install the extra {e!r} of lbg-recsys" for name, e in _EXTRAS.items()
        },
        "threads": {"cores": _cores(), **{name: os.environ.get(name) for name in _THREADS}},
        "numba_cache": _numba_cache(),
        "terminal": {"encoding": sys.stdout.encoding, "is_a_terminal": sys.stderr.isatty()},
        "data": _data(),
    }
    missing = [name for name, found in facts["packages"].items() if found is None]
    facts["problems"] = [f"{name} is missing: pip install {name}" for name in missing]
    if facts["numba_cache"]["problem"]:
        facts["problems"].append(facts["numba_cache"]["problem"])
    return facts


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _numba_cache() -> dict[str, Any]:
    """Where compiled code is stored: beside the package, in the user's cache, in NUMBA_CACHE_DIR or not at all."""
    from lbg_recsys.core.compiling import cache_folder

    folder, problem = cache_folder()
    return {"folder": folder, "problem": problem}


def _data() -> dict[str, str | None]:
    """Where each data set is, as in ``datasets list``."""
    from lbg_recsys.cli.datasets import located_here
    from lbg_recsys.datasets import DATASETS

    found = {name: located_here(name) for name in DATASETS}
    return {name: None if located is None else located.found_in for name, located in found.items()}


def _show(facts: dict[str, Any]) -> None:
    from lbg_recsys.cli.datasets import NOT_HERE

    rows = [["python", facts["python"]]]
    rows += [[name, found or "missing"] for name, found in facts["packages"].items()]
    rows += [[name, found] for name, found in facts["extras"].items()]
    rows += [[name, "not set" if value is None else str(value)] for name, value in facts["threads"].items()]
    rows += [["numba cache", facts["numba_cache"]["problem"] or f"writable: {facts['numba_cache']['folder']}"]]
    rows += [
        [f"data {name}", found or f"{NOT_HERE}: lbg-recsys datasets fetch {name}"]
        for name, found in facts["data"].items()
    ]
    print_table(["what", "found"], rows)
    for problem in facts["problems"]:
        echo(f"Problem: {problem}", err=True)
