"""The profile of a user: how the user uses the scale compared with others, and which topics the user is in."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.questions.predictions import level_names


def profile(
    model: Any,
    rated: Mapping[RawId, float],
    member: Floats | None,
    n: int,
    *,
    with_levels: bool,
    means: Floats,
) -> dict[str, Any]:
    """The highest ``n`` ratings, the use of the scale, and the probabilities of the topics (None if there are none).

    ``means`` are the mean ratings of all items, in the order of the model's matrix.
    """
    best_first = sorted(rated.items(), key=lambda one: -one[1])[:n]
    facts: dict[str, Any] = {
        "n_ratings": len(rated),
        "ratings": [{"item": item} | ({"rating": rating} if with_levels else {}) for item, rating in best_first],
    }
    if with_levels:
        facts["scale"] = _use_of_scale(model, rated, means)
    if member is not None:
        order = np.argsort(-member, kind="stable").tolist()
        facts["topics"] = [{"topic": place, "probability": float(member[place])} for place in order]
    return facts


def _use_of_scale(model: Any, rated: Mapping[RawId, float], means: Floats) -> dict[str, Any]:
    """The share of each level among the user's ratings and among all, and the means over the user's items."""
    matrix = model.matrix
    scale = matrix.scale
    own = np.array(list(rated.values()), dtype=np.float64)
    share = np.bincount(scale.nearest(own), minlength=len(scale.levels)) / max(len(own), 1)
    everybody = matrix.crowd.per_level / matrix.crowd.n_ratings
    found: dict[str, Any] = {
        "levels": [
            {"level": name, "share": one, "share_of_all": every}
            for name, one, every in zip(level_names(scale.levels), share.tolist(), everybody.tolist(), strict=True)
        ]
    }
    if len(own):
        others = float(means[matrix.items.codes(list(rated))].mean())
        found |= {"mean": float(own.mean()), "mean_of_others": others, "difference": float(own.mean()) - others}
    return found
