"""The progress protocol, and what a person sees of it: bars on terminals, ten lines in logs, or nothing."""

import io
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from lbg_recsys.progress import bar, noted, parts

posix = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


def on_a_terminal(code, columns=80, interrupt_after=None):
    """Run Python code with standard error on a terminal; all lines that were drawn, and the exit code."""
    import fcntl
    import pty
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = f"import time\nfrom lbg_recsys.progress import bar\n{code}"
    with subprocess.Popen([sys.executable, "-c", code], stderr=slave, stdout=subprocess.PIPE) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # the terminal is closed
                break
            shown += piece
            if interrupt_after is not None and interrupt_after in shown:
                interrupt_after = None
                process.send_signal(signal.SIGINT)
            if not piece:
                break
    os.close(master)
    return shown.decode().replace("\r\n", "\n"), process.returncode


def drawn(shown):
    return [line for line in re.split(r"[\r\n]", shown) if line.strip()]


@posix
def test_the_last_line_shows_the_end_and_its_note():
    code = """
with bar("working") as progress:
    for done in range(1, 2001):
        progress(done, 2000, f"bound {done}")
"""
    shown, _ = on_a_terminal(code)
    last = drawn(shown)[-1]
    assert last.startswith("working 100%") and last.endswith("bound 2000") and shown.endswith("\n")


@posix
def test_a_bar_is_drawn_at_most_ten_times_a_second():
    code = """
begun = time.monotonic()
with bar("working") as progress:
    while time.monotonic() < begun + 1.0:
        progress(int(1e6 * (time.monotonic() - begun)), 1_000_000, "busy")
"""
    assert 3 <= len(drawn(on_a_terminal(code)[0])) <= 14  # ten, the first, its note, and the last


@posix
def test_the_first_note_shows_at_once_and_the_time_left_follows_from_what_is_done():
    code = """
with bar("working") as progress:
    progress(0, 1, "starting (compiles once)")
    time.sleep(0.4)
    progress(1, 1000, "a thousandth")  # the measure may change, the share counts
    time.sleep(0.6)
    progress(100, 2000, "a twentieth")
    time.sleep(0.2)
"""
    _, first, early, late, *_ = drawn(on_a_terminal(code)[0])
    assert "starting (compiles once)" in first and "a thousandth" in early and "left" not in early
    seconds = int(re.search(r"00:(\d\d) left, a twentieth", late).group(1))
    assert 15 <= seconds <= 45  # 1 to 2 seconds for a twentieth


@posix
def test_a_bar_never_goes_back_and_never_wraps():
    code = """
with bar("working") as progress:
    for done, total in [(50, 100), (50, 1000), (60, 100)]:
        time.sleep(0.15)
        progress(done, total, "a note that is far longer than all the room that there is beside a bar")
"""
    lines = drawn(on_a_terminal(code, columns=70)[0])
    shares = [int(re.search(r"(\d+)%", line).group(1)) for line in lines]
    assert shares == sorted(shares) and {50, 60} <= set(shares) and shares[-1] == 60
    assert all(len(line) <= 70 for line in lines)


@posix
def test_a_line_above_a_bar_does_not_break_it():
    code = """
import sys
from lbg_recsys.progress import above_bars
with bar("working") as progress:
    progress(1, 2, "half")
    with above_bars():
        sys.stderr.write("a note\\n")
    progress(2, 2, "whole")
"""
    text, _ = on_a_terminal(code)
    assert "\ra note" in text.replace("\r\n", "\n")


@posix
def test_ctrl_c_leaves_a_clean_terminal():
    code = """
with bar("working") as progress:
    progress(1, 2, "half")
    time.sleep(60)
"""
    begun = time.monotonic()
    shown, code = on_a_terminal(code, interrupt_after=b"half")
    assert code and time.monotonic() - begun < 30
    before, traceback = shown.split("Traceback", 1)
    assert before.endswith("\n") and "KeyboardInterrupt" in traceback
    assert "\x1b[?25l" not in shown  # the cursor was never hidden


def test_parts_of_parts_add_up():
    seen = []
    for outer in parts(lambda *step: seen.append(step), 2):
        for inner in parts(noted(outer, "fit"), 3):
            inner(1, 2, "half")
            inner(2, 2, "")
    assert [done for done, _, _ in seen] == list(range(1, 13)) and {total for _, total, _ in seen} == {12}
    assert [note for _, _, note in seen] == ["fit, half", "fit"] * 6


def test_off_a_terminal_there_is_nothing_or_ten_lines(capsys):
    for options in ({}, {"quiet": True}, {"quiet": True, "or_lines": True}):
        with bar("working", **options) as progress:
            progress(1, 1, "done")
    assert capsys.readouterr() == ("", "")
    with bar("working", or_lines=True) as progress:
        for done in range(101):
            progress(done, 100, f"step {done}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10 and lines[-1] == "working 100/100, step 100, 0 s left"


def test_quiet_is_quiet_on_a_terminal_too(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar("working", quiet=True, or_lines=True) as progress:
        progress(1, 1, "")
    assert sys.stderr.getvalue() == ""


def test_a_kernel_that_was_only_imported_makes_no_notebook(capsys):
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install '.[dev]'")
    with bar("reading", or_lines=True) as progress:
        progress(1, 1, "all")
    assert capsys.readouterr().err == "reading 1/1, all, 0 s left\n"
