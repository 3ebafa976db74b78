"""Topics that are copies of each other: more topics were fitted than the ratings tell apart."""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.core.types import Bools
from lbg_recsys.ratings.ids import UNKNOWN

if TYPE_CHECKING:
    from lbg_recsys.ratings.model import RatingModel
    from lbg_recsys.ratings.topic_model import TopicRatingModel

# In nats: below this, all ratings of a user hardly distinguish the two topics.
_NOTHING = 0.02


def copies_of(model: "TopicRatingModel", topic: int) -> Bools:
    """Which topics are copies of one, itself included, (k,).

    These are topics whose log-odds against it, by all that an average user rates, are expected to be close to zero:
    half of the symmetrised Kullback-Leibler divergence, tempered as the posterior is.
    """
    parameters, (mean, var) = model.parameters_, model.item_gaussians()
    items, own = np.arange(parameters.n_columns), [topic]
    rate = model.rated_probability(np.full(len(items), UNKNOWN), items)
    spread = np.square(var - var[:, own]) / (var * var[:, own])
    values = np.square(mean - mean[:, own]) * (1.0 / var + 1.0 / var[:, own]) + spread
    divergence = 0.25 * rate @ values
    if weight := getattr(model, "indicator_weight", 0.0):  # else it does not count who rates what
        p, logit = parameters.p, parameters.logit_p()
        divergence += 0.5 * weight * ((p - p[:, own]) * (logit - logit[:, own])).sum(axis=0)
    found = np.asarray(getattr(model, "temperature", 1.0) * divergence < _NOTHING)
    found[topic] = True  # the numbers of a damaged file may overflow
    return found


def n_different(model: "TopicRatingModel") -> int:
    """How many topics there are if copies count once."""
    left, found = np.ones(model.parameters_.n_topics, dtype=np.bool_), 0
    while left.any():
        left &= ~copies_of(model, int(left.argmax()))
        found += 1
    return found


def warn_of_copies(model: "RatingModel") -> None:
    """Warn if topics are copies of each other: explanations by topics then mean little."""
    from lbg_recsys.ratings.topic_model import TopicRatingModel

    if not isinstance(model, TopicRatingModel):
        return
    n_topics, different = model.parameters_.n_topics, n_different(model)
    if different < n_topics:
        found = (
            f"all {n_topics} topics are copies of one"
            if different == 1
            else f"only {different} of the {n_topics} topics differ, and the others are copies of them"
        )
        warnings.warn(
            f"{found}: topics and similarities may become clearer with fewer topics; fit with n_topics={different}"
            f"{' or less' if different > 2 else ''} (fit --param n_topics={different})",
            UserWarning,
            stacklevel=4,
        )
