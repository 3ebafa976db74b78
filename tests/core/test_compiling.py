"""Compiled functions work without a cache, with a full one and with a damaged one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lbg_recsys

PACKAGE = Path(lbg_recsys.__file__).parent
SMALL = (
    "import numpy as np\n"
    "from lbg_recsys.core.sparse import SparseRows\n"
    "rows = SparseRows.from_entries(np.array([0, 1]), np.array([1, 0]), np.array([5.0, 3.0]), 2, 2)\n"
    "print(rows.contains(np.array([0]), np.array([1])))\n"
)


@pytest.fixture
def read_only(tmp_path):
    """A copy of the package beside which nothing can be stored, not even by root: files are where folders must be."""
    copy = tmp_path / "lbg_recsys"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        (folder / "__pycache__").touch()
    (tmp_path / "home").touch()
    return tmp_path


def run(code, folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_"))}
    environment |= {"HOME": str(folder / "home"), "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False, cwd=folder
    )


def test_the_package_works_where_nothing_can_be_written(read_only):
    done = run(SMALL, read_only)
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout
    assert done.stderr.count("UserWarning") == 1
    assert "no folder for compiled code can be written to" in done.stderr
    assert "set NUMBA_CACHE_DIR to a folder" in done.stderr
    done = run("from lbg_recsys.cli import main; main(['doctor'])", read_only)
    assert done.returncode == 1
    assert "Problem: no folder for compiled code can be written to" in done.stderr


def test_a_damaged_cache_is_replaced(tmp_path):
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))

    def again():
        return subprocess.run(
            [sys.executable, "-c", SMALL], capture_output=True, text=True, env=environment, check=True
        )

    assert again().stderr == ""
    files = list(tmp_path.rglob("*.nb?"))
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for suffix in (".nbi", ".nbc"):
        for path in tmp_path.rglob(f"*{suffix}"):
            path.write_bytes(path.read_bytes()[:-40])
        done = again()
        assert "True" in done.stdout and done.stderr.count("UserWarning") == 1
        assert "is damaged" in done.stderr and "Traceback" not in done.stderr
        assert again().stderr == ""


def test_a_full_disk_is_told_and_done_without(tmp_path):
    code = (
        "import numba.core.caching as c, errno, os\n"
        "def full(self, name, data):\n"
        "    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "c.IndexDataCacheFile._save_data = full\n"
    )
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code + SMALL], capture_output=True, text=True, env=environment, check=True
    )
    assert "True" in done.stdout and done.stderr.count("UserWarning") == 1
    assert "No space left on device" in done.stderr and "set NUMBA_CACHE_DIR" in done.stderr


def test_a_listener_hears_of_the_first_kernel_that_is_compiled(tmp_path):
    code = "from lbg_recsys.progress import when_compiling\nwhen_compiling(lambda: print('compiling'))\n"
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    said = [
        subprocess.run(
            [sys.executable, "-c", code + SMALL], capture_output=True, text=True, env=environment, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert [one.count("compiling") for one in said] == [1, 0]
