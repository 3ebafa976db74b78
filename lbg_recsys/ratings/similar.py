"""Which items are rated alike by the same people, which users belong to the same topics."""

from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.core.rows import Floats
from lbg_recsys.ratings.ids import IdIndex, RawId

if TYPE_CHECKING:
    from lbg_recsys.ratings.lbg import LBGModel

METRICS = ("hellinger", "kl")


def similar_items(model: "LBGModel", item: int, n: int, metric: str) -> list[tuple[RawId, float]]:
    """Items by their profile; see `item_profiles`."""
    return _nearest(item_profiles(model), item, n, metric, model.matrix.items)


def item_profiles(model: "LBGModel") -> Floats:
    """The joint distribution of topic and level among those who rate each item, (items, k * levels).

    With a baseline, the ratings are those of an unbiased user: N(g + b_i + c_si, var_si).
    """
    parameters, biases = model.parameters_, model.biases_
    offset = 0.0 if biases is None else biases.overall + biases.items[:-1, None]
    misfit = (model.levels - (parameters.c + offset)[:, :, None]) ** 2 / parameters.var[:, :, None]
    level = np.exp(-0.5 * (misfit - misfit.min(axis=2, keepdims=True)))  # never all zero, however far the mean is off
    level /= level.sum(axis=2, keepdims=True)
    profile = (level * (parameters.lam * parameters.p)[:, :, None]).reshape(parameters.n_columns, -1)
    return np.asarray(profile / profile.sum(axis=1, keepdims=True))


def similar_users(model: "LBGModel", user: int, n: int, metric: str) -> list[tuple[RawId, float]]:
    """Users by their posterior over topics."""
    return _nearest(model.posterior(), user, n, metric, model.matrix.users)


def similarity(profiles: Floats, one: Floats, metric: str) -> Floats:
    """1 for equal distributions, falling to 0: 1 - Hellinger distance, or exp(-symmetrised KL divergence)."""
    check_choice("metric", metric, METRICS)
    if metric == "hellinger":
        overlap = np.sqrt(profiles * one).sum(axis=1)
        return np.asarray(1.0 - np.sqrt(np.maximum(1.0 - overlap, 0.0)))
    tiny = 1e-12  # a certain zero would put all others infinitely far away
    difference = np.log(profiles + tiny) - np.log(one + tiny)
    return np.asarray(np.exp(-0.5 * ((profiles - one) * difference).sum(axis=1)))


def _nearest(profiles: Floats, own: int, n: int, metric: str, ids: IdIndex) -> list[tuple[RawId, float]]:
    check_integer("n", n, 1)
    score = similarity(profiles, profiles[own], metric)
    order = np.argsort(-score, kind="stable")
    return [(ids.raw(code), float(score[code])) for code in order[order != own][:n]]
