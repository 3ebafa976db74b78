"""The machinery of the reproduction on a small experiment, and its real cells on the real data."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from click.testing import CliRunner

from lbg_recsys import paper as reproduction
from lbg_recsys.cli import main
from lbg_recsys.paper import EXPERIMENTS, pictures, runner
from lbg_recsys.paper.experiment import AS_IS, LITERAL, RECOMMENDED, Cell, Experiment, Row, cells_of
from lbg_recsys.paper.output import table_of, write_all
from lbg_recsys.paper.pictures import draw_all
from lbg_recsys.paper.summary import PAPER, Line, summarise

CALLS = []


def measure(row, setting, seed, quick):
    CALLS.append((row, setting, seed, quick))
    return {"accuracy": 0.5 + 0.1 * seed + (0.2 if setting == RECOMMENDED else 0.0)}


SMALL = Experiment(
    name="table1",
    title="a small <experiment>",
    metrics={"accuracy": "accuracy", "nmi": "NMI"},
    rows=(Row("LBG", (LITERAL, RECOMMENDED), {"accuracy": 0.28}, "ours & theirs"), Row("MOU", (LITERAL,))),
    measure=measure,
    data=("spambase",),
    note="the note",
)


@pytest.fixture
def small(monkeypatch):
    CALLS.clear()
    monkeypatch.setitem(reproduction.EXPERIMENTS, "table1", SMALL)
    return SMALL


def test_an_interrupted_run_goes_on(small, tmp_path, monkeypatch):
    cells = cells_of(small, 2, quick=True)
    assert len(cells) == 6

    def interrupted(cell):
        if cell == cells[3]:
            raise KeyboardInterrupt
        return measure(cell.row, cell.setting, cell.seed, cell.quick)

    monkeypatch.setattr(runner, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run_cells(cells, tmp_path, n_jobs=1)
    monkeypatch.undo()
    monkeypatch.setitem(reproduction.EXPERIMENTS, "table1", SMALL)
    CALLS.clear()
    figures = runner.run_cells(cells, tmp_path, n_jobs=1)
    assert len(CALLS) == 3  # the first three were kept
    assert set(figures) == set(cells)
    assert runner.run_cells(cells, tmp_path, n_jobs=1) == figures
    assert len(CALLS) == 3


def test_what_was_measured_otherwise_is_measured_again(small, tmp_path):
    (cell, *_) = cells_of(small, 1, quick=True)
    runner.run_cells([cell], tmp_path, n_jobs=1)
    place = runner._place(cell, tmp_path)
    for damage in ("not json", json.dumps({"cell": asdict(cell), "versions": {}, "figures": {"accuracy": 1}}), "[]"):
        place.write_text(damage)
        assert runner.run_cells([cell], tmp_path, n_jobs=1)[cell] == {"accuracy": 0.5}
    assert len(CALLS) == 4
    runner.run_cells([replace(cell, quick=False)], tmp_path, n_jobs=1)
    assert CALLS[-1][-1] is False


def test_summary_and_files(small, tmp_path):
    figures = runner.run_cells(cells_of(small, 3, quick=True), tmp_path / "cells", n_jobs=1)
    lines = summarise(small, figures)
    assert [(line.row, line.setting) for line in lines] == [
        ("LBG", PAPER),
        ("LBG", LITERAL),
        ("LBG", RECOMMENDED),
        ("MOU", LITERAL),
    ]
    assert lines[1].mean["accuracy"] == pytest.approx(0.6)
    assert lines[1].deviation["accuracy"] == pytest.approx(np.std([0.5, 0.6, 0.7], ddof=1))
    headers, rows = table_of(small, lines)
    assert headers == ["model", "setting", "accuracy", "NMI"]
    assert rows[0] == ["LBG", PAPER, "0.280", "-"]
    assert rows[2][2] == "0.800 ± 0.100"
    paths = write_all(tmp_path, [small], {"table1": lines}, {}, n_seeds=3, quick=True, command="lbg-recsys reproduce")
    markdown, facts, page = (path.read_text(encoding="utf-8") for path in paths)
    assert "| LBG | literal algorithm | 0.600 ± 0.100 | - |" in markdown
    assert json.loads(facts)["data"]["spambase.data"].startswith("b1ef93")
    assert json.loads(facts)["seeds"] == [0, 1, 2]
    assert json.loads(facts)["results"]["table1"]["note"] == "the note"
    assert json.loads(facts)["results"]["table1"]["remarks"]["LBG"] == "ours & theirs"
    assert "a small &lt;experiment&gt;" in page
    assert "ours &amp; theirs" in page


def test_figures_are_drawn_from_lines(tmp_path):
    pytest.importorskip("matplotlib")
    keys = EXPERIMENTS["figure1"].metrics
    curves = [Line(name, RECOMMENDED, dict.fromkeys(keys, 0.8), dict.fromkeys(keys, 0.1)) for name in ("Raw", "LBG")]
    table = {"ham_called_spam": 0.05, "spam_called_ham": 0.1, "accuracy": 0.93}
    confusion = [Line("LBG", RECOMMENDED, table, dict.fromkeys(table, 0.0))]
    drawn = draw_all(tmp_path, {"figure1": curves, "figure2": confusion})
    assert {path.name for path in tmp_path.iterdir()} == {
        f"figure{n}.{kind}" for n in (1, 2) for kind in ("png", "svg")
    }
    first = (tmp_path / "figure1.svg").read_bytes()
    draw_all(tmp_path, {"figure1": curves})
    assert (tmp_path / "figure1.svg").read_bytes() == first
    assert drawn["figure2"].read_bytes().startswith(b"\x89PNG")


def test_the_command(small, tmp_path):
    result = CliRunner().invoke(main, ["reproduce", "table1", "--quick", "--jobs", "1", "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "a small <experiment>" in result.output
    assert (tmp_path / "out" / "reproduction.html").exists()
    again = CliRunner().invoke(main, ["reproduce", "table1", "--quick", "--json", "-o", str(tmp_path / "out")])
    assert json.loads(again.stdout)["results"]["table1"]["lines"][0]["row"] == "LBG"
    assert len(CALLS) == 3  # nothing was measured again
    assert CliRunner().invoke(main, ["reproduce", "table9"]).exit_code == 2


def test_every_experiment_of_the_paper_is_there():
    assert set(EXPERIMENTS) == {"table1", "table2", "table3", "table4", "table5", "figure1", "figure2"}
    for experiment in EXPERIMENTS.values():
        for row in experiment.rows:
            assert set(row.paper) <= set(experiment.metrics)
            assert row.settings
            assert len(row.remark.split()) > 8, (experiment.name, row.name)
            # literal and recommended settings beside each other, or a word on why there is only one of them
            if len(row.settings) == 1 and AS_IS not in row.settings:
                assert re.search("are the same|no literal algorithm|the literal algorithm has no", row.remark), (
                    row.name
                )


def test_a_curve_has_the_name_of_its_setting_where_a_row_has_several():
    pytest.importorskip("matplotlib")
    keys = EXPERIMENTS["figure1"].metrics
    settings = [("Raw", AS_IS), ("LBG", LITERAL), ("LBG", RECOMMENDED)]
    figure = pictures._svm_curves([Line(name, setting, dict.fromkeys(keys, 0.8), {}) for name, setting in settings])
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown == ["Raw", f"LBG, {LITERAL}", f"LBG, {RECOMMENDED}"]


@pytest.mark.data
def test_a_cell_of_table5(movielens):
    figures = runner.measure(Cell("table5", "Baseline", LITERAL, 0, True))
    assert 0.80 < figures["mae"] < 0.88
    literal = runner.measure(Cell("table5", "LBG", LITERAL, 0, True))
    ours = runner.measure(Cell("table5", "LBG", RECOMMENDED, 0, True))
    assert ours["mae"] < literal["mae"]
    assert ours["log_score"] > literal["log_score"]


@pytest.mark.data
def test_cells_of_the_pairs(newsgroups):
    newsgroups(categories=["alt.atheism", "comp.sys.mac.hardware"])  # skips where there is no data
    ours = runner.measure(Cell("table3", "LBG", RECOMMENDED, 0, True))
    assert min(ours.values()) > 0.85
    literal = runner.measure(Cell("figure1", "LBG", LITERAL, 0, True))
    assert literal["a@5"] < literal["a@30"] and literal["a@30"] > 0.9


@pytest.mark.data
def test_cells_of_spambase(spambase):
    assert runner.measure(Cell("table4", "LBG", RECOMMENDED, 0, True))["accuracy"] > 0.8
    for setting in (LITERAL, RECOMMENDED):
        assert runner.measure(Cell("figure2", "MOU", setting, 0, True))["accuracy"] > 0.85
        for row in ("MOU", "pLSI"):
            assert 0.5 < runner.measure(Cell("table4", row, setting, 0, True))["accuracy"] < 0.87
