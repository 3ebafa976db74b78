"""Files appear whole or not at all; what killed processes left is removed, and nothing else."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from lbg_recsys.files import atomic_write, private_folder, remove

LONG_AGO = time.time() - 3600
KILLED_WHILE_WRITING = """
import os, signal, sys
from lbg_recsys.files import {function}
with {function}({argument}) as held:
    print("held", flush=True)
    if sys.stdin.read(1) == "k":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def writer(function, argument, **options):
    """A process in the middle of a write."""
    code = KILLED_WHILE_WRITING.format(function=function, argument=argument)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_the_next_write_removes_what_a_killed_one_left(tmp_path):
    target = tmp_path / "model[1].lbg"
    target.write_bytes(b"old")
    process = writer("atomic_write", repr(str(target)))
    process.communicate("k")
    (left,) = tmp_path.glob(".*.part")
    with atomic_write(target) as stream:  # it may belong to a process that is about to lock it
        stream.write(b"new")
    assert left.exists()
    os.utime(left, (LONG_AGO, LONG_AGO))
    with atomic_write(target) as stream:
        stream.write(b"newer")
    assert os.listdir(tmp_path) == [target.name]
    assert target.read_bytes() == b"newer"


def test_removing_a_file_removes_what_a_killed_writer_of_it_left(tmp_path):
    target = tmp_path / "model.lbg.checkpoint"
    target.write_bytes(b"old")
    writer("atomic_write", repr(str(target))).communicate("k")
    (left,) = tmp_path.glob(".*.part")
    os.utime(left, (LONG_AGO, LONG_AGO))
    remove(target)
    assert os.listdir(tmp_path) == []


def test_a_write_in_progress_keeps_its_file_however_old(tmp_path):
    target = tmp_path / "model.lbg"
    process = writer("atomic_write", repr(str(target)))
    (held,) = tmp_path.glob(".*.part")
    os.utime(held, (LONG_AGO, LONG_AGO))
    with atomic_write(target) as stream:
        stream.write(b"mine")
    assert held.exists()
    process.communicate("go on")
    assert process.returncode == 0
    assert os.listdir(tmp_path) == [target.name]


def test_files_of_others_stay(tmp_path):
    others = [tmp_path / ".other.lbg.abc.part", tmp_path / ".model.lbg.notes", tmp_path / "model.lbg.part"]
    link = tmp_path / ".model.lbg.link.part"
    for path in others:
        path.write_bytes(b"")
        os.utime(path, (LONG_AGO, LONG_AGO))
    link.symlink_to(others[0])
    with atomic_write(tmp_path / "model.lbg") as stream:
        stream.write(b"")
    assert all(path.exists() for path in [*others, link])


@pytest.mark.parametrize("killed", [True, False])
def test_folders_of_killed_processes_are_removed_and_those_in_use_kept(tmp_path, monkeypatch, killed):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    process = writer("private_folder", "", env=os.environ | {"TMPDIR": str(tmp_path)})
    (folder,) = tmp_path.iterdir()
    if killed:
        process.communicate("k")
    os.utime(folder, (LONG_AGO, LONG_AGO))
    with private_folder() as own:
        assert own.is_dir()
        assert folder.exists() is not killed
    if not killed:
        process.communicate("end")
    assert os.listdir(tmp_path) == []
