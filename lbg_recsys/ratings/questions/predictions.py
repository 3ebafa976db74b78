"""A table of predictions: of each pair the predicted rating, how sure it is, and the distribution."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.columns import PROBABILITY
from lbg_recsys.core import levels
from lbg_recsys.ratings.ids import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.core.types import Ints
    from lbg_recsys.ratings.ids import RawId
    from lbg_recsys.ratings.model import RatingModel


def level_names(values: Iterable[float]) -> list[str]:
    """Levels as people write them, all different.

    >>> level_names([0.5, 1.0]), level_names([1000000.1, 1000000.2])
    (['0.5', '1'], ['1000000.1', '1000000.2'])
    """
    given = [float(level) for level in values]
    short = [f"{value:g}" for value in given]
    return short if len(set(short)) == len(short) else [repr(value) for value in given]


def predictions(
    model: "RatingModel", users: "list[RawId]", items: "list[RawId]", mass: float, times: "Ints | None" = None
) -> "pd.DataFrame":
    """A table of pairs with prediction, std, low, high, unknown and the probability of each level (p_1, p_2, ...).

    ``low`` and ``high`` are the ends of the central interval that holds at least ``mass``. ``unknown`` names what the
    model does not know: "user", "item" or "both", and None if it knows both. If the model has titles, they are a
    column after the item. ``times`` are in seconds, for a model that was fitted with times.
    """
    import pandas as pd

    from lbg_recsys.ratings.questions.frames import AnswerFrame

    when = () if times is None else (times,)
    codes = model.codes(users, items)
    probability = model.distribution_of(*codes, *when).probability
    strange = (codes[0] == UNKNOWN) + 2 * (codes[1] == UNKNOWN)
    low, high = levels.interval(probability, model.levels, mass)
    table: dict[str, Any] = {"user": users, "item": items}
    if model.titles:
        table["title"] = pd.Series([model.titles.get(item) for item in items], dtype=object)
    table |= {
        "prediction": levels.point(probability, model.levels, model.point),
        "std": levels.std(probability, model.levels),
        "low": low,
        "high": high,
        "unknown": pd.Series(np.array([None, "user", "item", "both"], dtype=object)[strange], dtype=object),
    }
    table |= {f"{PROBABILITY}{name}": probability[:, column] for column, name in enumerate(level_names(model.levels))}
    return AnswerFrame(table)
