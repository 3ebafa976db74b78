"""Topics in terms of items: typical ones, and those that a topic loves or hates compared with the average."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from lbg_recsys.checks import check_integer
from lbg_recsys.core.em.telling import telling
from lbg_recsys.core.types import Floats
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.questions.copies import warn_of_copies
from lbg_recsys.ratings.questions.showing import frame_of, heading_html, name_of, table_html

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.model import RatingModel

# Pseudo-ratings at the average for each topic and item: three ratings of 5 say little.
_DOUBT = 10.0
# Pseudo-users at the average rate, where the model has none: an item that nobody rated may be rated later.
_RATE_DOUBT = 5.0


@dataclass(frozen=True)
class ItemOfTopic:
    """An item in a topic: the probability that its users rate it, and their mean rating; both also for all users.

    ``rating`` is the mean of the topic's users, drawn towards everybody's where they are few; ``difference`` is
    ``rating`` - ``rating_of_all``.
    """

    item: RawId
    probability: float
    probability_of_all: float
    rating: float
    rating_of_all: float
    difference: float
    title: str | None = None


@dataclass(frozen=True, repr=False)
class Topic:
    """A topic: its weight, the items most typical of it, and those it rates furthest above and below the average.

    ``weight`` is the share of the users who are in the topic.
    """

    topic: int
    weight: float
    typical: tuple[ItemOfTopic, ...]
    loves: tuple[ItemOfTopic, ...]
    hates: tuple[ItemOfTopic, ...]

    def __repr__(self) -> str:
        kinds = {"typical": self.typical, "loves": self.loves, "hates": self.hates}
        shown = (f"{name} {', '.join(name_of(one) for one in items[:3])}" for name, items in kinds.items() if items)
        return f"<Topic {self.topic}, weight {self.weight:.2f}: {'; '.join(shown)}>"

    def to_frame(self) -> "pd.DataFrame":
        """A table of the items, with the kind that each of them is: typical, loves or hates."""
        kinds = {"typical": self.typical, "loves": self.loves, "hates": self.hates}
        every = [(kind, one) for kind, items in kinds.items() for one in items]
        return frame_of([one for _, one in every], kind=[kind for kind, _ in every])

    def _repr_html_(self) -> str:
        return heading_html(f"Topic {self.topic}: weight {self.weight:.3f}") + table_html(self.to_frame(), 30)


class Topics(list[Topic]):
    """All topics of a model, the heaviest first: a list that shows itself as a table in notebooks."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or super().__repr__()

    def to_frame(self) -> "pd.DataFrame":
        """A table of the items of all topics: topic, weight, kind and what each topic makes of the item."""
        import pandas as pd

        tables = [one.to_frame() for one in self]
        for one, table in zip(self, tables, strict=True):
            table.insert(0, "topic", one.topic)
            table.insert(1, "weight", one.weight)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def _repr_html_(self) -> str:
        kinds = ("typical", "loves", "hates")
        cells = "".join(
            f"<tr><td>{one.topic}</td><td>{one.weight:.3f}</td>"
            + "".join(
                f"<td style='text-align:left'>{escape('; '.join(map(name_of, getattr(one, kind))))}</td>"
                for kind in kinds
            )
            + "</tr>"
            for one in self
        )
        head = "".join(f"<th>{name}</th>" for name in ("topic", "weight", *kinds))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"


@dataclass(frozen=True)
class TopicTables:
    """k topics: their ``weight`` (k,), how probably they rate each item (items, k), and who is in them (users, k)."""

    weight: Floats
    rate: Floats
    member: Floats

    @classmethod
    def of_members(cls, member: Floats, matrix: RatingMatrix) -> "TopicTables":
        """Of a model that does not say who rates what: weights and rates are those of the members."""
        size, count = member.sum(axis=0), _by_item(matrix, member, np.ones(matrix.n_ratings))
        average = (count.sum(axis=1, keepdims=True) + 0.5) / (len(member) + 1.0)
        return cls(size / len(member), (count + _RATE_DOUBT * average) / (size + _RATE_DOUBT), member)


def topics(model: "RatingModel", n: int, n_topics: int | None) -> Topics:
    """Every topic with ``n`` items of each kind, the heaviest topic first.

    Typical items are those that tell the topic from the rest by being rated at all: p_si log(p_si / p_i). Loved and
    hated items are those that the topic's users rate furthest above and below the mean of all;
    few ratings count less.
    """
    check_integer("n", n, 1)
    warn_of_copies(model)
    tables = model.topic_tables(n_topics)
    overall = tables.rate @ tables.weight
    typical = telling(tables.weight, tables.rate)
    mean, mean_of_all, count = _means(model.matrix, tables.member)
    opinion = (mean - mean_of_all[:, None]) * count / (count + _DOUBT)

    def item(i: int, s: int) -> ItemOfTopic:
        return ItemOfTopic(
            model.matrix.items.raw(i),
            float(tables.rate[i, s]),
            float(overall[i]),
            float(mean_of_all[i] + opinion[i, s]),
            float(mean_of_all[i]),
            float(opinion[i, s]),
            model.titles.get(model.matrix.items.raw(i)),
        )

    def best(score: Floats, s: int) -> tuple[ItemOfTopic, ...]:
        order = np.argsort(-score, kind="stable")[:n]
        return tuple(item(i, s) for i in order.tolist() if score[i] > 0.0)

    heaviest_first = np.argsort(-tables.weight, kind="stable").tolist()
    return Topics(
        Topic(
            s,
            float(tables.weight[s]),
            best(typical[:, s], s),
            best(opinion[:, s], s),
            best(-opinion[:, s], s),
        )
        for s in heaviest_first
    )


def _means(matrix: RatingMatrix, mu: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean ratings of every item: by each topic's users (items, k) and by all (items,); and how many, softly."""
    count, total = (_by_item(matrix, mu, value) for value in (np.ones(matrix.n_ratings), matrix.values))
    everybody = count.sum(axis=1)
    average = np.where(everybody > 0, total.sum(axis=1) / np.maximum(everybody, 1e-300), matrix.values.mean())
    mean = np.where(count > 1e-9, total / np.maximum(count, 1e-300), average[:, None])
    return mean, average, count


def _by_item(matrix: RatingMatrix, mu: Floats, value: Floats) -> Floats:
    """The sum of a value of each rating over every item's ratings, as far as they are of each topic, (items, k)."""
    users = matrix.user_codes
    sums = [np.bincount(matrix.item_codes, one[users] * value, minlength=matrix.n_items) for one in mu.T]
    return np.column_stack(sums)
