"""Ctrl-C in a run with several processes, as a terminal sends it: to all of them."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lbg_recsys.core.gibbs import chains as ensemble
from lbg_recsys.paper import ratings, runner
from lbg_recsys.paper.experiment import RECOMMENDED, Cell
from lbg_recsys.ratings.matrix import as_matrix

SCRIPT = '''
"""The command with a fake experiment: one cell is measured at once, the others would take a minute."""

import os
import sys
import time
from pathlib import Path

THREADS = os.environ.get("OPENBLAS_NUM_THREADS", "0")  # read on import, as OpenBLAS does

from lbg_recsys import paper as reproduction
from lbg_recsys.paper.experiment import LITERAL, Experiment, Row


def measure(row, setting, seed, quick):
    if seed > 0:
        Path(sys.argv[-1], f"started{seed}").touch()
        time.sleep(60)
    return {"threads": float(THREADS)}


reproduction.EXPERIMENTS["table1"] = Experiment(
    "table1", "slow", {"threads": "threads"}, (Row("LBG", (LITERAL,), {}, "a remark"),), measure, ("spambase",)
)

if __name__ == "__main__":
    from lbg_recsys.cli import main

    main()
'''


@pytest.mark.skipif(sys.platform == "win32", reason="process groups and their signals are POSIX's")
@pytest.mark.parametrize("moment", ["workers start", "cells are measured"])
def test_an_interrupt_ends_all_processes_at_once(tmp_path, moment):
    script, out = tmp_path / "slow.py", tmp_path / "out"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), "reproduce", "table1", "--jobs", "2", "--seeds", "9", "-o", str(out)]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    process = subprocess.Popen(
        command,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        if moment == "workers start":
            _wait_for(lambda: (out / "cells").is_dir())
            time.sleep(0.2)
        else:
            _wait_for(lambda: len(list(out.glob("started*"))) == 2 and list(out.glob("cells/*.json")))
        asked = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)  # to the end of stderr: until no worker has it open
        waited = time.monotonic() - asked
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 130
    assert errors.decode().strip() == "Interrupted."
    assert waited < 5.0  # about a second on an idle machine; the cells would take a minute
    kept = [json.loads(path.read_text()) for path in (out / "cells").iterdir()]
    assert [cell["figures"] for cell in kept] == ([] if moment == "workers start" else [{"threads": 1.0}])


def _wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_cell_whose_sampler_was_cut_short_is_not_kept(tmp_path, monkeypatch):
    """A sampler keeps what it has when Ctrl-C ends it; a table must not take that for a measurement."""
    generator = np.random.default_rng(0)
    cells = generator.choice(30 * 20, 240, replace=False)
    small = as_matrix((cells // 20, cells % 20, generator.integers(1, 6, len(cells)).astype(float)))
    monkeypatch.setattr(ratings, "_matrix", lambda: small)
    step = ensemble.Run.step

    def interrupted(run, *how):
        if len(run.kept) == 2:
            raise KeyboardInterrupt
        return step(run, *how)

    monkeypatch.setattr(ensemble.Run, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run_cells([Cell("table5", "Bayesian LBG", RECOMMENDED, 0, True)], tmp_path, n_jobs=1)
    assert list(tmp_path.iterdir()) == []
