"""The paper's experiments, each as a table of cells that anybody can measure again."""

from lbg_recsys.reproduction.clustering import TABLE1, TABLE4
from lbg_recsys.reproduction.experiment import Experiment
from lbg_recsys.reproduction.ratings import TABLE5
from lbg_recsys.reproduction.selection import FIGURE1, TABLE2, TABLE3
from lbg_recsys.reproduction.spam import FIGURE2

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (TABLE1, TABLE2, TABLE3, TABLE4, TABLE5, FIGURE1, FIGURE2)
}
