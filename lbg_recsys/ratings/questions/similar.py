"""Which items are rated alike by the same people, which users are alike in topics or tastes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_choice, check_integer
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.questions.copies import warn_of_copies
from lbg_recsys.ratings.questions.showing import table_html

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.model import RatingModel
    from lbg_recsys.ratings.topic_model import TopicRatingModel


class Similar(list[tuple[RawId, float]]):
    """The most similar items or users with their similarities: a list that shows itself as a table in notebooks.

    Parameters
    ----------
    what : {"item", "user"}
        What the ids are of.
    found : iterable of (id, similarity)
        The most similar first.
    titles : mapping, default={}
        Titles of items.

    Examples
    --------
    >>> found = Similar("item", [(7, 0.5)], {7: "Alien"})
    >>> found, found.to_frame().to_dict("records")
    ([(7, 0.5)], [{'item': 7, 'title': 'Alien', 'similarity': 0.5}])
    """

    def __init__(
        self, what: str, found: Iterable[tuple[RawId, float]], titles: Mapping[RawId, str] | None = None
    ) -> None:
        super().__init__(found)
        self._what, self._titles = what, titles or {}

    def __reduce__(self) -> tuple[type["Similar"], tuple[str, list[tuple[RawId, float]], dict[RawId, str]]]:
        return Similar, (self._what, list(self), dict(self._titles))

    def to_frame(self) -> "pd.DataFrame":
        """A table of item, title (if there are titles) and similarity, or of user and similarity."""
        import pandas as pd

        ids = [one for one, _ in self]
        columns: dict[str, object] = {self._what: pd.Series(ids, dtype=None if ids else object)}
        if self._titles and self._what == "item":
            columns["title"] = pd.Series([self._titles.get(one) for one in ids], dtype=object)
        return pd.DataFrame(columns | {"similarity": pd.Series([value for _, value in self], dtype=np.float64)})

    def _repr_html_(self) -> str:
        return table_html(self.to_frame())


def nearest(model: "RatingModel", of_users: bool, own: int, n: int, metric: str | None) -> Similar:
    """The ``n`` users or items most similar to one by a metric of the model's, by default its first."""
    check_integer("n", n, 1)
    metric = model.METRICS[0] if metric is None else metric
    check_choice("metric", metric, model.METRICS)
    if own < 0:
        raise DataError(
            f"the item {model.item_id(own)!r} has features and no ratings, and similar items are those that the same "
            "people rate alike: only predict and explain take it"
        )
    warn_of_copies(model)
    score = model.similarity(of_users, own, metric)
    ids = model.matrix.users if of_users else model.matrix.items
    order = np.argsort(-score, kind="stable")
    found = [(ids.raw(code), float(score[code])) for code in order[order != own][:n]]
    return Similar("user" if of_users else "item", found, model.titles)


def item_profiles(model: "TopicRatingModel") -> Floats:
    """The joint distribution of topic and level among those who rate each item, (items, k * levels).

    The ratings are those of an average user: N(mean_si, var_si) on the scale of the ratings.
    """
    parameters, (mean, var) = model.parameters_, model.item_gaussians()
    misfit = (model.levels - mean[:, :, None]) ** 2 / var[:, :, None]
    level = np.exp(-0.5 * (misfit - misfit.min(axis=2, keepdims=True)))  # never all zero, even if a mean is far away
    level /= level.sum(axis=2, keepdims=True)
    profile = (level * (parameters.lam * parameters.p)[:, :, None]).reshape(parameters.n_columns, -1)
    return np.asarray(profile / profile.sum(axis=1, keepdims=True))


def overlap(profiles: Floats, one: Floats, metric: str) -> Floats:
    """1 for equal distributions, falling to 0: 1 - Hellinger distance, or exp(-symmetrised KL divergence)."""
    if metric == "hellinger":
        coefficient = np.sqrt(profiles * one).sum(axis=1)
        return np.asarray(1.0 - np.sqrt(np.maximum(1.0 - coefficient, 0.0)))
    tiny = 1e-12  # a probability of 0 would make all other distances infinite
    difference = np.log(profiles + tiny) - np.log(one + tiny)
    return np.asarray(np.exp(-0.5 * ((profiles - one) * difference).sum(axis=1)))
