"""What an experiment of the paper is: rows, settings, seeds, and one function that measures a cell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

LITERAL = "literal algorithm"
RECOMMENDED = "recommended settings"
TELLING = "recommended, telling words"
AS_IS = "as the library has it"

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """A model of a table: the settings it is measured with, the paper's figures, and why ours differ from them."""

    name: str
    settings: tuple[str, ...]
    paper: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    remark: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    ``measure(row, setting, seed, quick)`` gives the figures of one cell. It is called in processes of its own and may
    keep nothing between calls but caches. ``metrics`` maps each figure's key to the words that a reader sees.
    """

    name: str
    title: str
    metrics: Mapping[str, str]
    rows: tuple[Row, ...]
    measure: Callable[[str, str, int, bool], Figures]
    data: tuple[str, ...]  # names of the data sets
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """One measurement: all that is needed to repeat it."""

    experiment: str
    row: str
    setting: str
    seed: int
    quick: bool

    @property
    def label(self) -> str:
        """The name in the progress bar."""
        return f"{self.experiment}: {self.row}, {self.setting}, seed {self.seed}"


def cells_of(experiment: Experiment, n_seeds: int, quick: bool) -> list[Cell]:
    """All measurements of an experiment."""
    return [
        Cell(experiment.name, row.name, setting, seed, quick)
        for row in experiment.rows
        for setting in row.settings
        for seed in range(n_seeds)
    ]
