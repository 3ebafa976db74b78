"""From cells to a table: means and standard deviations over the seeds, beside the paper's figures."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lbg_recsys.paper.experiment import Cell, Experiment, Figures

PAPER = "the paper"


@dataclass(frozen=True)
class Line:
    """One line of a table; ``deviation`` is empty for the paper's figures and where there was one seed."""

    row: str
    setting: str
    mean: Mapping[str, float]
    deviation: Mapping[str, float]


def summarise(experiment: Experiment, figures: Mapping[Cell, Figures]) -> list[Line]:
    """The paper's line of each row, then ours, setting by setting."""
    lines = []
    for row in experiment.rows:
        if row.paper:
            lines.append(Line(row.name, PAPER, row.paper, {}))
        for setting in row.settings:
            cells = [
                values
                for cell, values in figures.items()
                if (cell.experiment, cell.row, cell.setting) == (experiment.name, row.name, setting)
            ]
            known = [name for name in experiment.metrics if all(name in values for values in cells)]
            columns = {name: [values[name] for values in cells] for name in known}
            lines.append(
                Line(
                    row.name,
                    setting,
                    {name: float(np.mean(column)) for name, column in columns.items()},
                    {name: float(np.std(column, ddof=1)) for name, column in columns.items() if len(column) > 1},
                )
            )
    return lines


def in_words(line: Line, metric: str) -> str:
    """A figure as shown in a table: ``0.597 ± 0.020``."""
    if metric not in line.mean:
        return "-"
    value = f"{line.mean[metric]:.3f}"
    return f"{value} ± {line.deviation[metric]:.3f}" if metric in line.deviation else value
