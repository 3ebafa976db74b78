"""Measurements of models on folds: a JSON file that is whole after every one, and that a further call takes up."""

import json

import numpy as np

from benchmarks.common import movielens_checksum
from lbg_recsys.evaluation.report import record, write_json


class FoldRecord:
    """Model -> fold -> measures, in a file with what somebody needs to make it again.

    ``fresh`` starts over; otherwise what the file holds is kept, and ``runs`` counts in how many calls it was
    measured, so that nobody takes figures of several runs for those of one.
    """

    def __init__(self, path, what, command, *, seeds, rivals, missing, fresh):
        self.path, self.what, self.command = path, what, command
        self.seeds, self.rivals = seeds, rivals
        self.results = {"folds": {}}
        if path.exists() and not fresh:
            self.results = json.loads(path.read_text(encoding="utf-8"))["results"]
        self.results["missing"] = missing
        self.kept = sum(map(len, self.results["folds"].values()))
        self.counted = False

    def greeting(self):
        """What is kept and who is not there, for somebody who looks on."""
        kept = [f"{self.path.name} has {self.kept} rows, which are kept: --fresh starts over"] if self.kept else []
        return "\n".join(kept + self.results["missing"])

    def has(self, model, fold):
        return fold in self.results["folds"].get(model, {})

    def add(self, model, fold, row):
        """Take a row and write the file."""
        if not self.counted:
            # records of before runs were counted hold at least one
            self.results["runs"] = self.results.get("runs", 1 if self.kept else 0) + 1
            self.counted = True
        self.results["folds"].setdefault(model, {})[fold] = row
        self.write()

    def write(self):
        write_json(
            self.path,
            record(
                self.what,
                self.command,
                self.results,
                data=movielens_checksum(),
                seeds=self.seeds,
                rivals=self.rivals,
            ),
        )


def means(rows):
    """Means of every measure over the folds of one model; None where a measure does not apply."""
    rows = list(rows)
    return {
        name: None if any(row[name] is None for row in rows) else float(np.mean([row[name] for row in rows]))
        for name in rows[0]
    }
