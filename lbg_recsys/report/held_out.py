"""Ratings that a model has not seen, and the model that is evaluated on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lbg_recsys.catalogue import known_ids
from lbg_recsys.core.types import Codes, Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.evaluation.splits import random_share
from lbg_recsys.progress import Progress
from lbg_recsys.ratings import RatingMatrix
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.words import counted

# The share that is held out where the model has seen all ratings, as one of five folds.
SHARE = 0.2
# Pairs whose distributions are held at once.
_BLOCK = 50_000


@dataclass(frozen=True)
class HeldOut:
    """A model and ratings that it was not fitted to.

    Attributes
    ----------
    model : RatingModel or ChoiceModel
        The model of the file, or one like it that was fitted to a part of the ratings.
    users, items : int array of shape (n_ratings,)
        Codes among the ids of the model, below 0 where it does not know the id.
    values : float array of shape (n_ratings,)
        The ratings.
    how : tuple of str
        Sentences on where they come from.
    """

    model: Any
    users: Ints | Codes
    items: Ints | Codes
    values: Floats
    how: tuple[str, ...]

    def probability(self) -> Floats:
        """The predicted distribution of every rating, (n_ratings, levels)."""
        blocks = (slice(first, first + _BLOCK) for first in range(0, len(self.values), _BLOCK))
        found = [self.model.distribution_of(self.users[one], self.items[one]).probability for one in blocks]
        return np.concatenate(found)


def unseen(model: Any, ratings: RatingMatrix, name: str) -> HeldOut | None:
    """The given ratings without those that the model was fitted to; None if nothing is left.

    Raises
    ------
    OffScaleError
        If a rating is not on the scale of the model.
    """
    values = ratings.values
    if len(model.matrix.scale.levels) > 1:
        model.matrix.scale.refuse_outsiders(values, ratings.name_of_entry)
    users = known_ids(model.matrix.users, ratings.users.raws(ratings.user_codes))
    items = known_ids(model.matrix.items, ratings.items.raws(ratings.item_codes))
    if isinstance(model, RatingModel):
        codes = model.codes(users, items)
    else:
        codes = model.matrix.users.codes(users), model.matrix.items.codes(items)
    known = np.flatnonzero((codes[0] >= 0) & (codes[1] >= 0))
    if not len(known):
        raise DataError(
            f"the model knows no pair of a user and an item in {name}: are the ids those that it was fitted to?"
        )
    new = np.ones(len(values), dtype=np.bool_)
    new[known] = ~model.matrix.is_rated(codes[0][known], codes[1][known])
    if not new.any():
        return None
    what = _what(model)
    how = [f"The figures below are from {new.sum():,} {what} in {name} that the model was not fitted to."]
    if not new.all():
        how.append(f"{(~new).sum():,} others in it are {what} that it was fitted to, and are not used here.")
    return HeldOut(model, codes[0][new], codes[1][new], values[new], tuple(how))


def refitted(model: Any, seed: int, progress: Progress, before: Sequence[str] = ()) -> HeldOut:
    """A model like this one, fitted with the same settings to four fifths of its ratings, and the others.

    Raises
    ------
    DataError
        If there are too few ratings to hold some out.
    """
    matrix = model.matrix
    out = random_share(matrix.n_ratings, SHARE, seed)
    if out.all() or not out.any():
        raise DataError(f"the model was fitted to {counted(matrix.n_ratings, 'rating')}, too few to hold some out")
    train = replace(matrix, rows=matrix.rows.filtered(~out))
    known = {"item_features": "item_features_", "user_features": "user_features_"}
    features = {name: getattr(model, own) for name, own in known.items() if hasattr(model, own)}
    fitted = type(model)(**model.get_params()).fit(train, progress=progress, **features)
    fitted.titles = model.titles
    if getattr(model, "calendar_", None) is not None:
        before = [
            *before,
            "The file does not keep when each rating was given, so the evaluation has no times.",
        ]
    how = (
        *before,
        f"The model in the file has seen all its {_what(model)}. So a fifth of them ({out.sum():,}, at random) was "
        "held out, a model with the same settings was fitted to the others, and that one is evaluated below. The "
        "model in the file, which knows more, can be expected to be a little better.",
    )
    return HeldOut(fitted, matrix.user_codes[out], matrix.item_codes[out], matrix.values[out], how)


def _what(model: Any) -> str:
    return "ratings" if len(model.matrix.scale.levels) > 1 else "choices"
