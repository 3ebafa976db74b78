"""Every part of every benchmark runs: on small generated data, through the code that measures the real ones."""

import json
import shutil
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import benchmarks
from benchmarks import records, run, write_docs
from benchmarks.benchmark import RESULTS, Benchmark, Part

FILES = sorted(
    path.stem
    for pattern in ("bench_*.py", "tune_*.py", "ablate_*.py")
    for path in Path(benchmarks.__file__).parent.glob(pattern)
)


@pytest.fixture(scope="session")
def output(tmp_path_factory, worker_id):
    """One folder for all processes of pytest: a row that one test measured is kept for the others."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "quick-results"


def parts():
    """All parts of all benchmarks; a file without any is a case too, which fails."""
    for name in FILES:
        found = getattr(import_module(f"benchmarks.{name}"), "BENCHMARK", None)
        yield from ((name, part) for part in (found.parts if found else ("no BENCHMARK",)))


def benchmark_of(name):
    found = getattr(import_module(f"benchmarks.{name}"), "BENCHMARK", None)
    assert isinstance(found, Benchmark), f"benchmarks/{name}.py defines no BENCHMARK, so nothing runs it quickly"
    assert found.module == f"benchmarks.{name}"
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), list(parts()))
def test_part(name, part, output):
    benchmark = benchmark_of(name)
    record = benchmark.run([part], quick=True, output=output)
    assert record.failures == [] and record.measured + record.kept > 0
    found = json.loads((output / f"{benchmark.name}.json").read_text(encoding="utf-8"))
    assert all(set(run) == {"date", "commit", "source", "cpu", "versions"} for run in found["runs"])
    assert found["data"] and found["seeds"]
    for names in found["results"].values():
        assert all(one["rows"] and one["by"] in (*found["runs"][0]["versions"], "numpy") for one in names.values())
    for note in (note for notes in found["missing"].values() for note in notes):
        with pytest.raises(PackageNotFoundError):
            version(note.split()[0])


@pytest.mark.slow
def test_the_documents_can_be_written_from_quick_results(tmp_path, output):
    for name in reversed(FILES):  # another process of pytest may be measuring them from the first one on
        assert not benchmark_of(name).run(quick=True, output=output).failures
    shutil.copy(RESULTS / "reproduction.json", output)
    (tmp_path / "docs").mkdir()
    for where in write_docs.BLOCKS:
        shutil.copy(write_docs.ROOT / where, tmp_path / where)
    arguments = ["--results", str(output), "--root", str(tmp_path)]
    write_docs.main(arguments)
    write_docs.main([*arguments, "--check"])
    for where in write_docs.BLOCKS:
        assert "Not measured yet." not in (tmp_path / where).read_text(encoding="utf-8")
    assert (tmp_path / write_docs.PICTURE).read_bytes().startswith(b"\x89PNG")


def test_a_quick_run_cannot_become_a_result():
    with pytest.raises(ValueError, match="no result"):
        benchmark_of(FILES[0]).run(quick=True)


def small(tmp_path, parts):
    return Benchmark(name="small", what="a test", module="none", data=("sample",), seeds=(0,), parts=parts)


def test_a_row_that_fails_stops_no_other_and_is_named(tmp_path, capsys):
    broken = {"on": True}

    def figures(record, work):
        record.row("figures", "good", "0", lambda: {"value": 1.0})
        record.row("figures", "bad", "0", lambda: {"value": 1.0 / (not broken["on"])})
        record.row("figures", "good", "1", lambda: {"value": 2.0})

    def collapses(record, work):
        raise RuntimeError("no such luck")

    benchmark = small(tmp_path, {"collapses": Part(collapses), "figures": Part(figures)})
    with pytest.raises(SystemExit, match=r"small: 2 failed: collapses; figures, bad, 0"):
        benchmark.main(["--output", str(tmp_path)])
    assert "ZeroDivisionError" in capsys.readouterr().out
    broken["on"] = False
    record = benchmark.run(["figures"], output=tmp_path)  # the rows that were measured are kept
    assert (record.measured, record.kept, record.failures) == (1, 2, [])
    found = json.loads((tmp_path / "small.json").read_text())
    assert records.means(records.rows_of(found, "figures")["good"].values()) == {"value": 1.5}
    assert benchmark.run(["figures"], output=tmp_path, fresh=True).measured == 3


def test_rows_of_rivals_from_another_processor_are_kept_where_only_ours_are_wanted(tmp_path, monkeypatch):
    def figures(record, work):
        for by in ("numpy", records.OURS):
            record.row("figures", by, "0", lambda: {"value": 1.0}, by=by)

    benchmark = small(tmp_path, {"figures": Part(figures)})
    assert benchmark.run(output=tmp_path).measured == 2
    monkeypatch.setattr(records, "cpu_model", lambda: "another")
    assert (benchmark.run(output=tmp_path, ours=True).measured, benchmark.run(output=tmp_path).measured) == (1, 1)


def test_an_interruption_keeps_the_rows_before_it(tmp_path):
    def figures(record, work):
        record.row("figures", "good", "0", lambda: {"value": 1.0})
        record.row("figures", "good", "1", interrupted)

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(tmp_path, {"figures": Part(figures)}).run(output=tmp_path)
    found = json.loads((tmp_path / "small.json").read_text())
    assert records.rows_of(found, "figures") == {"good": {"0": {"value": 1.0}}}


def test_the_others_run_when_one_benchmark_fails(monkeypatch, capsys):
    ran = []

    class Done:
        def __init__(self, returncode):
            self.returncode = returncode

    def started(command, **_):
        ran.append(command[2:])
        return Done(1 if "official" in command else 0)

    monkeypatch.setattr(run.subprocess, "run", started)
    with pytest.raises(SystemExit, match=r"failed: accuracy: official \(exit code 1\)"):
        run.main([])
    jobs = [(module, part) for module, part in (one[:2] for one in ran[:-1])]
    every = {(f"benchmarks.{name}", part) for name, part in parts() if name.startswith("bench_")}
    assert set(jobs) == every and len(jobs) == len(every)
    assert ran[-1] == ["benchmarks.write_docs"]
    timed = [import_module(module).BENCHMARK.parts[part].timed for module, part in jobs]
    assert timed == sorted(timed)  # what reports times comes last, when nothing runs beside it


def test_an_unknown_part_or_benchmark_is_named(capsys):
    for call in (lambda: run.main(["speling"]), lambda: benchmark_of("bench_text").main(["speling"])):
        with pytest.raises(SystemExit):
            call()
        assert "speling" in capsys.readouterr().err
