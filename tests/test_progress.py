"""Bars: the time left by what is done, one line that fits a terminal, no more pictures than anybody can see."""

import io
import re
from types import SimpleNamespace

import pytest

from lbg_recsys import progress as module
from lbg_recsys.progress import bar, noted, parts


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes only when told to."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=Terminal()))
    monkeypatch.setenv("COLUMNS", "80")
    return module.sys.stderr


def pictures(terminal):
    return [line for line in re.split(r"[\r\n]", re.sub(r"\x1b\[\?25[lh]", "", terminal.getvalue())) if line.strip()]


def test_the_time_left_is_by_what_is_done(terminal, clock):
    with bar("working") as progress:
        for done, total in [(1, 1000), (100, 400), (150, 200)]:  # the measure may change, the share counts
            clock[0] += 10
            progress(done, total, "busy")
    shown = pictures(terminal)
    assert not re.search(r"\d\d:\d\d", shown[1])  # a thousandth says nothing yet
    assert "25%  00:01:00  busy" in shown[2] and "75%  00:00:10  busy" in shown[3]


def test_a_bar_is_drawn_ten_times_a_second_and_at_its_end(terminal, clock):
    with bar("working") as progress:
        for done in range(1, 10_001):
            clock[0] += 0.001
            progress(done, 10_000, "busy")
    shown = pictures(terminal)
    assert 100 <= len(shown) <= 103 and "100%" in shown[-1]


def test_a_bar_never_goes_back_and_never_wraps(terminal, clock):
    with bar("working") as progress:
        for done, total in [(50, 100), (50, 1000), (60, 100)]:
            clock[0] += 1
            progress(done, total, "a note that is far longer than all the room that there is beside a bar")
    shares = [int(found.group(1)) for found in (re.search(r"(\d+)%", line) for line in pictures(terminal)) if found]
    assert shares == [0, 50, 50, 60] and all(len(line.rstrip()) < 80 for line in pictures(terminal))


def test_nothing_is_done_yet_of_something_that_shows_already(terminal, clock):
    with bar("asking") as progress:
        clock[0] += 1
        progress(0, 1, "the registry")
    assert re.search(r"0%  the registry", pictures(terminal)[-1])


def test_parts_of_parts_add_up():
    seen = []
    for outer in parts(lambda *step: seen.append(step), 2):
        for inner in parts(noted(outer, "fit"), 3):
            inner(1, 2, "half")
            inner(2, 2, "")
    assert [done for done, _, _ in seen] == list(range(1, 13)) and {total for _, total, _ in seen} == {12}
    assert [note for _, _, note in seen] == ["fit, half", "fit"] * 6


def test_quiet_or_no_terminal_shows_nothing(terminal, monkeypatch):
    with bar("working", quiet=True) as progress:
        progress(1, 1, "")
    assert terminal.getvalue() == ""
    monkeypatch.setattr(module.sys, "stderr", io.StringIO())
    with bar("working") as progress:
        progress(1, 1, "")
    assert module.sys.stderr.getvalue() == ""
