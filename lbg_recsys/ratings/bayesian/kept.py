"""What a Bayesian LBG without its users keeps of them, for new users."""

from typing import NamedTuple

from lbg_recsys.core.missing import MissedShare
from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.bayesian.item_rates import Evidence


class KeptOfUsers(NamedTuple):
    """Averages and sums over the users of the training."""

    averages: Floats  # (items, levels): the distribution of each item's ratings by an unknown user
    grams: Floats  # (sweeps, D, D): the feature products of users, which compare items
    evidence: Evidence | None  # how often classes of users rate each item; None if users are rows of no sweep
    missed: MissedShare  # how likely ratings of items that the data missed are
