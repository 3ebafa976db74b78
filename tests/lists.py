"""What a list must be: every item scored by itself, then all of them sorted."""

import numpy as np

from lbg_recsys.core import levels


def brute_force_list(model, user, n, by, exclude_seen=True):
    """The items of a user's list with their scores and expected ratings."""
    code = model.user_code(user)
    items = np.arange(model.matrix.n_items)
    if exclude_seen:
        items = np.setdiff1d(items, model.matrix.seen(code))
    pairs = np.full(len(items), code), items
    probability = model.distribution_of(*pairs).probability
    rating, rated = levels.mean(probability, model.levels), model.rated_probability(*pairs)
    liked = levels.at_least(probability, model.levels, model.matrix.scale.liked)
    power = 1.0
    if model.lists == "choice":
        rated = np.maximum(model.choices.scores(model.matrix, np.array([code]))[0, items], 1e-9)
        power = 0.5
    if len(set(model.matrix.values.tolist())) == 1:  # of equal ratings nobody knows what is liked
        power = 0.0
    score = {"rating": rating, "rated": rated, "liked": rated * liked**power}[by]
    best = np.argsort(-score, kind="stable")[:n]
    return model.matrix.items.raws(items[best]), score[best], rating[best]
