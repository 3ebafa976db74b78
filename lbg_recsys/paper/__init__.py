"""The paper's experiments, each as a table of cells that can be measured again."""

from lbg_recsys.paper.clustering import TABLE1, TABLE4
from lbg_recsys.paper.experiment import Experiment
from lbg_recsys.paper.ratings import TABLE5
from lbg_recsys.paper.selection import FIGURE1, TABLE2, TABLE3
from lbg_recsys.paper.spam import FIGURE2

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (TABLE1, TABLE2, TABLE3, TABLE4, TABLE5, FIGURE1, FIGURE2)
}
