"""Results: a JSON file of rows that is complete after each of them, and that a further call continues.

A row is identified by the part of the benchmark, the name of what is measured (a model) and the trial (a fold or a
seed). Beside its values it refers to the run that measured it: date, commit, source code, CPU and versions.
"""

import copy
import fcntl
import hashlib
import json
import os
import platform
import subprocess
import traceback
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from lbg_recsys.evaluation.report import write_json
from lbg_recsys.provenance import library_versions

OURS = "lbg-recsys"
PACKAGE = Path(__file__).parents[1] / "lbg_recsys"
# Versions that decide whether a row of a rival may be kept, beside the rival's own.
BELOW = ("python", "numpy", "scipy")


def environment(libraries=()):
    """The circumstances of a run: what a reader needs to repeat it."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "commit": commit(),
        "source": source_checksum(),
        "cpu": cpu_model(),
        "versions": library_versions(*libraries),
    }


def commit():
    """The checked-out commit, marked where code was changed since; None outside a repository."""

    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
        ).stdout

    try:
        changed = git("status", "--porcelain", "--", "lbg_recsys", "benchmarks/*.py").strip()
        return git("rev-parse", "HEAD").strip() + ("-dirty" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def source_checksum():
    """SHA-256 of the package's source code."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cpu_model():
    """The name of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


class Record:
    """The rows of one benchmark in one file. Several processes may write to the same file.

    Parameters
    ----------
    path : Path
        The JSON file.
    head : dict
        What the rows have in common: ``what``, ``command``, ``data`` (checksums), ``seeds``.
    libraries : sequence of str
        Distributions whose versions matter, beside those that the package builds on.
    fresh : sequence of str, default=()
        Parts whose rows are measured again even where they could be kept.
    ours : bool, default=False
        Keep the rows of rivals whatever processor and versions they were measured with.
    """

    def __init__(self, path, head, *, libraries=(), fresh=(), ours=False):
        self.path, self.head, self.ours = path, head, ours
        self.now = environment(libraries)
        self.failures, self.measured, self.kept = [], 0, 0
        with self._changing() as document:
            for part in fresh:
                document["results"].pop(part, None)

    def row(self, part, name, trial, measure, *, by=OURS, settings=None):
        """The values of one row: kept ones where nothing changed that they depend on, or else those of ``measure()``.

        ``by`` is the distribution that is measured. A row of ours is kept while the package's source code stays the
        same, a row of a rival while the rival's version does. A failure is noted, and None is returned.
        """
        settings = json.loads(json.dumps(settings or {}))
        kept = self._kept(part, name, trial, by, settings)
        if kept is not None:
            self.kept += 1
            return kept
        try:
            values = json.loads(json.dumps(measure(), allow_nan=False))
        except Exception:
            self.failures.append(f"{part}, {name}, {trial}")
            print(f"FAILED: {self.failures[-1]}\n{traceback.format_exc()}", flush=True)
            return None
        with self._changing() as document:
            if self.now not in document["runs"]:
                document["runs"].append(self.now)
            names = document["results"].setdefault(part, {})
            if (names.get(name, {}).get("by"), names.get(name, {}).get("settings")) != (by, settings):
                names[name] = {"by": by, "settings": settings, "rows": {}}
            names[name]["rows"][trial] = {"run": document["runs"].index(self.now), "values": values}
        self.measured += 1
        print(f"{part} | {name} | {trial} | {_short(values)}", flush=True)
        return values

    def finish(self, part, names, missing=()):
        """Forget the rows of names that the part no longer has, and note the libraries that are not installed."""
        with self._changing() as document:
            found = document["results"].get(part, {})
            document["results"][part] = {name: found[name] for name in names if name in found}
            document["missing"][part] = list(missing)

    def _kept(self, part, name, trial, by, settings):
        document = self._read()
        found = document["results"].get(part, {}).get(name, {})
        row = found.get("rows", {}).get(trial)
        if row is None or (found["by"], found["settings"]) != (by, settings) or document["data"] != self.head["data"]:
            return None
        if self.ours and by != OURS:
            return row["values"]
        then = document["runs"][row["run"]]
        same = then["cpu"] == self.now["cpu"] and all(
            then["versions"].get(library) == self.now["versions"].get(library) for library in (*BELOW, by)
        )
        return row["values"] if same and (by != OURS or then["source"] == self.now["source"]) else None

    def _read(self):
        empty = {**self.head, "runs": [], "missing": {}, "results": {}}
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else copy.deepcopy(empty)

    @contextmanager
    def _changing(self):
        """Change the file as one step: no other process writes meanwhile, and nobody reads half of it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            document = self._read()
            if document["data"] != self.head["data"]:  # rows of other data compare with nothing
                document = {**document, "runs": [], "results": {}}
            yield document
            _drop_unused_runs(document)
            write_json(self.path, document | self.head)
        finally:
            os.close(folder)


def _drop_unused_runs(document):
    """Leave only the runs that some row refers to, and number the rows' references anew."""
    rows = [row for names in document["results"].values() for one in names.values() for row in one["rows"].values()]
    used = sorted({row["run"] for row in rows})
    for row in rows:
        row["run"] = used.index(row["run"])
    document["runs"] = [document["runs"][run] for run in used]


def _short(values):
    """Values for somebody who looks on."""
    if isinstance(values, dict):
        return ", ".join(f"{name} {_short(value)}" for name, value in values.items() if not isinstance(value, list))
    return f"{values:.4g}" if isinstance(values, float) else str(values)


# -- reading -------------------------------------------------------------------------------------------------


def rows_of(found, part):
    """Name -> trial -> values of one part of a results file."""
    names = found["results"].get(part, {})
    return {name: {trial: row["values"] for trial, row in one["rows"].items()} for name, one in names.items()}


def complete_rows(found, part):
    """The same, without names that lack a trial that others have: means over different trials do not compare."""
    rows = rows_of(found, part)
    trials = {trial for one in rows.values() for trial in one}
    return {name: one for name, one in rows.items() if set(one) == trials}


def same_processor(found, part, *names):
    """Whether all rows of these names are of one kind of processor: only then do their times compare."""
    rows = [row for name in names for row in found["results"][part][name]["rows"].values()]
    return len({found["runs"][row["run"]]["cpu"] for row in rows}) == 1


def means(rows):
    """Means of every measure over trials; None where a measure does not apply."""
    rows = list(rows)
    return {
        name: None
        if any(row[name] is None for row in rows)
        else np.mean([row[name] for row in rows], axis=0).tolist()
        for name in rows[0]
    }
