"""Tables of 80 columns, whatever letters are in them."""

import unicodedata

from lbg_recsys.cli import common
from lbg_recsys.cli.common import display_width, format_table, print_table

TITLES = ("千と千尋の神隠し", "기생충", "Ame\u0301lie", "Ｗｉｄｅ", "Crimson Comet", "🎬 a film")


def in_terminal(text):
    """Columns taken, letter by letter as terminals do it."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def test_columns_stand_below_each_other():
    lines = format_table(["title", "score"], [[title, 0.5] for title in TITLES]).splitlines()
    assert {in_terminal(line) for line in lines} == {in_terminal(TITLES[0]) + len("  0.5000")}
    assert all(title in line for title, line in zip(TITLES, lines[1:], strict=True))


def test_wide_letters_are_cut_in_time():
    for width in (20, 21, 80):
        lines = format_table(["title", "score"], [[title * 20, 0.5] for title in TITLES], width=width).splitlines()
        assert max(map(in_terminal, lines)) <= width
        assert all(line.endswith("0.5000") and "…" in line for line in lines[1:])


def test_marks_take_no_room():
    assert display_width("e\u0301") == 1 and display_width("\u200b") == 0


def test_a_piped_table_is_not_cut(capsys, monkeypatch):
    rows = [["title " * 30, 0.5]]
    monkeypatch.setattr(common, "is_terminal", lambda: False)
    print_table(["title", "score"], rows)
    assert rows[0][0].strip() in capsys.readouterr().out
    monkeypatch.setattr(common, "is_terminal", lambda: True)
    print_table(["title", "score"], rows)
    shown = capsys.readouterr().out.splitlines()
    assert "…" in shown[1] and max(map(len, shown)) == 80
