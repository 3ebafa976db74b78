"""Which items are rated alike by the same people, which users belong to the same topics."""

from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.core.mixture import level_density
from lbg_recsys.core.rows import Floats
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import IdIndex, RawId

if TYPE_CHECKING:
    from lbg_recsys.ratings.lbg import LBGModel

METRICS = ("hellinger", "kl")


def similar_items(model: "LBGModel", item: int, n: int, metric: str) -> list[tuple[RawId, float]]:
    """Items by their profile: the joint distribution of topic and level among those who rate the item."""
    parameters = model.parameters_
    level = level_density(parameters.c, parameters.var, model.levels)  # (n, k, L)
    level /= level.sum(axis=2, keepdims=True)
    profile = (level * (parameters.lam * parameters.p)[:, :, None]).reshape(parameters.n_columns, -1)
    profile /= profile.sum(axis=1, keepdims=True)
    return _nearest(profile, item, n, metric, model.matrix.items)


def similar_users(model: "LBGModel", user: int, n: int, metric: str) -> list[tuple[RawId, float]]:
    """Users by their posterior over topics."""
    return _nearest(model.posterior(), user, n, metric, model.matrix.users)


def similarity(profiles: Floats, one: Floats, metric: str) -> Floats:
    """1 for equal distributions, falling to 0: 1 - Hellinger distance, or exp(-symmetrised KL divergence)."""
    if metric == "hellinger":
        overlap = np.sqrt(profiles * one).sum(axis=1)
        return np.asarray(1.0 - np.sqrt(np.maximum(1.0 - overlap, 0.0)))
    if metric == "kl":
        tiny = 1e-12  # a certain zero would put all others infinitely far away
        difference = np.log(profiles + tiny) - np.log(one + tiny)
        return np.asarray(np.exp(-0.5 * ((profiles - one) * difference).sum(axis=1)))
    raise DataError(f"metric is {metric!r}: choose one of {', '.join(map(repr, METRICS))}")


def _nearest(profiles: Floats, own: int, n: int, metric: str, ids: IdIndex) -> list[tuple[RawId, float]]:
    score = similarity(profiles, profiles[own], metric)
    order = np.argsort(-score, kind="stable")
    return [(ids.raw(code), float(score[code])) for code in order[order != own][:n]]
