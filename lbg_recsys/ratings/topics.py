"""What a topic is, in items: whom it gathers, what it loves and hates against the average."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.core.rows import Floats
from lbg_recsys.ratings.ids import RawId

if TYPE_CHECKING:
    from lbg_recsys.ratings.lbg import LBGModel

# Ratings at the average that a topic's opinion of an item is mixed with: three fives are not yet love.
_DOUBT = 10.0


@dataclass(frozen=True)
class ItemOfTopic:
    """An item as a topic sees it: how probably it rates it, and how; both also for everybody.

    ``rating`` is the mean of the topic's users, drawn towards everybody's where they are few.
    """

    item: RawId
    probability: float
    probability_of_all: float
    rating: float
    rating_of_all: float


@dataclass(frozen=True)
class Topic:
    """A topic: its weight, the items most typical of it, and those it rates furthest above and below the average."""

    number: int
    weight: float
    typical: tuple[ItemOfTopic, ...]
    loves: tuple[ItemOfTopic, ...]
    hates: tuple[ItemOfTopic, ...]


def topics(model: "LBGModel", n: int = 5) -> list[Topic]:
    """Every topic with ``n`` items of each kind, the heaviest topic first.

    Typical items are those that tell the topic from the rest by being rated at all: p_si log(p_si / p_i). Loved and
    hated items are judged by the ratings of the topic's users, of which a few do not yet count for much.
    """
    rate = model.parameters_.p
    overall = rate @ model.parameters_.lam
    typical = rate * np.log(rate / overall[:, None])
    mean, mean_of_all, count = _means(model)
    opinion = (mean - mean_of_all[:, None]) * count / (count + _DOUBT)

    def item(i: int, s: int) -> ItemOfTopic:
        return ItemOfTopic(
            model.matrix.items.raw(i),
            float(rate[i, s]),
            float(overall[i]),
            float(mean_of_all[i] + opinion[i, s]),
            float(mean_of_all[i]),
        )

    def best(score: Floats, s: int) -> tuple[ItemOfTopic, ...]:
        order = np.argsort(-score, kind="stable")[:n]
        return tuple(item(i, s) for i in order.tolist() if score[i] > 0.0)

    heaviest_first = np.argsort(-model.parameters_.lam, kind="stable").tolist()
    return [
        Topic(
            s,
            float(model.parameters_.lam[s]),
            best(typical[:, s], s),
            best(opinion[:, s], s),
            best(-opinion[:, s], s),
        )
        for s in heaviest_first
    ]


def _means(model: "LBGModel") -> tuple[Floats, Floats, Floats]:
    """Mean ratings of every item: by each topic's users (items, k) and by all (items,); and how many, softly."""
    matrix, mu = model.matrix, model.posterior()
    count, total = np.zeros((2, matrix.n_items, mu.shape[1]))
    users = matrix.user_codes()
    for s in range(mu.shape[1]):
        count[:, s] = np.bincount(matrix.items_of, mu[users, s], minlength=matrix.n_items)
        total[:, s] = np.bincount(matrix.items_of, mu[users, s] * matrix.values, minlength=matrix.n_items)
    everybody = count.sum(axis=1)
    average = np.where(everybody > 0, total.sum(axis=1) / np.maximum(everybody, 1e-300), matrix.values.mean())
    mean = np.where(count > 1e-9, total / np.maximum(count, 1e-300), average[:, None])
    return mean, average, count
