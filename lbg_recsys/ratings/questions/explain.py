"""Why a prediction is what it is.

LBG is explained by exact sums. The posterior log-odds of the leading topic s against the next one r that differs
from it are a sum over the user's own ratings,

    log mu_s/mu_r = beta [ log lam_s/lam_r + w sum_i log (1 - p_si)/(1 - p_ri)
                           + sum over rated i of ( w (logit p_si - logit p_ri)  +  log N_s(m_i)/N_r(m_i) ) ],

and the expected rating is a sum over topics, share_s * mean_s. Any other model is explained by the change in the
expected rating if each of the user's ratings were removed, its parameters held fixed: `RatingModel.influence`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from lbg_recsys.core import levels
from lbg_recsys.core.em.bernoulli_gauss import posterior
from lbg_recsys.core.em.predict_ratings import level_density
from lbg_recsys.core.sparse import SparseRows
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.ratings.choice_scores import ChoiceExplanation
from lbg_recsys.ratings.ids import UNKNOWN, IdIndex, RawId
from lbg_recsys.ratings.matrix import RatingMatrix
from lbg_recsys.ratings.questions.copies import copies_of, warn_of_copies
from lbg_recsys.ratings.questions.showing import (
    SHOWN,
    distribution_html,
    frame_of,
    heading_html,
    item_of,
    name_of,
    pair_of,
    table_html,
    titled,
)

if TYPE_CHECKING:
    import pandas as pd

    from lbg_recsys.ratings.lbg import LBGModel
    from lbg_recsys.ratings.model import RatingModel

_USUAL_ITEMS = 500  # the most rated ones, from which the average rating is computed
_BLOCK_RATINGS = 1 << 20  # folded in at a time by `leave_one_out`: a user with n ratings is folded in n times


@dataclass(frozen=True)
class _Evidence:
    """One of the user's ratings, with what it adds because the item is rated, and by its value."""

    item: RawId
    rating: float
    from_rating_it: float
    from_its_value: float
    title: str | None = None

    @property
    def both(self) -> float:
        """What the rating adds; a subclass names the quantity."""
        return self.from_rating_it + self.from_its_value


class RatingEvidence(_Evidence):
    """What one of the user's ratings adds to the log-odds of an `Explanation`."""

    @property
    def log_odds(self) -> float:
        """``from_rating_it`` + ``from_its_value``."""
        return self.both


class RatingEffect(_Evidence):
    """What one of the user's ratings adds to the expected rating of `Influences`."""

    @property
    def effect(self) -> float:
        """``from_rating_it`` + ``from_its_value``."""
        return self.both


E = TypeVar("E", RatingEvidence, RatingEffect)


@dataclass(frozen=True)
class FeatureEffect:
    """What a feature of the item or the user (``of``) adds to the expected rating, relative to the average one."""

    of: str
    feature: str
    effect: float


@dataclass(frozen=True)
class TopicShare:
    """One topic's part in the prediction; share * mean, summed over topics, is the expected rating."""

    topic: int
    probability: float
    share: float
    mean: float


@dataclass(frozen=True, repr=False)
class _Predicted(ABC):
    """The part that all explanations have; `Explanation` describes the fields."""

    user: RawId
    item: RawId
    prediction: float
    expected_rating: float
    distribution: dict[float, float]
    score: float | None
    choice: ChoiceExplanation | None
    evidence: tuple[_Evidence, ...]
    title: str | None = field(default=None, kw_only=True)

    quantity: ClassVar[str]  # what the evidence adds, as columns and JSON call it

    @property
    def seen(self) -> bool:
        """Whether the user has rated the item already."""
        return any(one.item == self.item for one in self.evidence)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: user {self.user!r}, item {item_of(self)}, prediction {self.prediction:.4g}, "
            f"expected rating {self.expected_rating:.2f}; print() shows the reasons>"
        )

    def to_frame(self) -> "pd.DataFrame":
        """The evidence as a table.

        Returns
        -------
        DataFrame
            One row per rating of the user, the strongest first. Columns item, title (if the model has titles),
            rating, from_rating_it, from_its_value and their sum: log_odds (`Explanation`) or effect (`Influences`).

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> model = LBGModel(n_topics=1).fit((["ann", "ann", "bob"], ["x", "y", "x"], [5, 1, 4]), scale=(1, 5))
        >>> model.explain("bob", "y").to_frame()[["item", "rating"]].values.tolist()
        [['x', 4.0]]
        """
        table = frame_of(self.evidence)
        return table.assign(**{self.quantity: [one.both for one in self.evidence]})

    def _repr_html_(self) -> str:
        shown = [heading_html(str(self).splitlines()[0]), distribution_html(self.distribution)]
        if self.choice is not None and self.choice.because:
            shown += [
                heading_html(f"Choice score {self.choice.choice_score:.4f}"),
                table_html(self.choice.to_frame(), SHOWN),
            ]
        if len(table := self.to_frame()):
            shown += [heading_html(self._measure), table_html(table, SHOWN)]
        return "".join(shown)

    def __str__(self) -> str:
        listed = "in no list, because it has no ratings" if self.score is None else f"list score {self.score:.4f}"
        lines = [
            f"{pair_of(self)}: prediction {self.prediction:.4g}, expected rating {self.expected_rating:.2f}, {listed}"
        ]
        if self.seen:
            lines.append("The user rated this item already")
        if self.choice is not None:
            why = "the user rated" if self.choice.because else "of how many users take it"
            lines.append(f"Choice score {self.choice.choice_score:.4f}, because {why}")
            lines += self.choice.reasons() if self.choice.because else []
        if features := getattr(self, "features", ()):
            lines.append("What features add to the expected rating, before any ratings")
            lines += [f"  {one.feature}: {one.effect:+.3f}" for one in features[:SHOWN]]
            lines += _more(features)
        lines += [] if self.score is None else [self._measure, *self._beside]
        lines += [f"  {name_of(one)} {one.rating:g}: {one.both:+.3f}" for one in self.evidence[:SHOWN]]
        return "\n".join(lines + _more(self.evidence))

    @property
    @abstractmethod
    def _measure(self) -> str:
        """What the numbers of the evidence are."""

    @property
    def _beside(self) -> list[str]:
        """Lines about what the evidence does not contain."""
        return []

    @staticmethod
    def facts(model: "RatingModel", user: int, item: int, probability: Floats) -> dict[str, Any]:
        """These fields of one pair of codes with its distribution (1, levels)."""
        rated = item >= 0
        return {
            "user": model.matrix.users.raw(user),
            "item": model.item_id(item),
            "prediction": float(levels.point(probability, model.levels, model.point)[0]),
            "expected_rating": float(levels.mean(probability, model.levels)[0]),
            "distribution": dict(zip(model.levels.tolist(), probability[0].tolist(), strict=True)),
            "score": model.list_score(user, item, probability) if rated else None,
            "choice": (
                model.choices.explain(model.matrix, user, item, ratings=True, new=model.is_new)
                if model.lists == "choice" and rated
                else None
            ),
        }


@dataclass(frozen=True, repr=False)
class Explanation(_Predicted):
    """A prediction of `LBGModel` explained by topics.

    Attributes
    ----------
    user, item, title, prediction, expected_rating, distribution
        The pair, the predicted rating, the mean of its distribution, and the probability of each level.
    score : float or None
        Of the item in the user's lists by "liked"; None for an item without ratings, which is in no list.
    choice : ChoiceExplanation or None
        The contribution of each of the user's items to the choice score; None with ``lists="bernoulli"``.
    topic, against : int
        The leading topic, and the next one that is not a copy of it (the leading one itself if there is none).
    log_odds : float
        Of ``topic`` against ``against``: the sum of the following three and of the ``log_odds`` of the evidence.
    from_prior, from_silence, from_being_rated : float
        From the weights of the topics, from what the user did not rate, and from this item being rated.
    evidence, topics : tuple of RatingEvidence, tuple of TopicShare
        The user's ratings, the strongest first; and the topics, the largest share first.

    Examples
    --------
    >>> from lbg_recsys import LBGModel
    >>> from lbg_recsys.datasets import load_sample
    >>> why = LBGModel(n_topics=2, random_state=0).fit(load_sample().ratings).explain(3, 8)
    >>> parts = why.from_prior + why.from_silence + why.from_being_rated + sum(one.log_odds for one in why.evidence)
    >>> why.topic, why.against, abs(parts - why.log_odds) < 1e-9
    (1, 0, True)
    """

    topic: int
    against: int
    log_odds: float
    from_prior: float
    from_silence: float
    from_being_rated: float
    evidence: tuple[RatingEvidence, ...]
    topics: tuple[TopicShare, ...]

    quantity: ClassVar[str] = "log_odds"

    @property
    def _measure(self) -> str:
        return f"Log-odds of topic {self.topic} against {self.against} {self.log_odds:+.2f}, by the user's ratings"

    @property
    def _beside(self) -> list[str]:
        parts = {
            "this item being rated": self.from_being_rated,
            "the weights of the topics": self.from_prior,
            "what the user did not rate": self.from_silence,
        }
        return [f"  {name}: {value:+.3f}" for name, value in parts.items() if value]


@dataclass(frozen=True, repr=False)
class Influences(_Predicted):
    """A prediction explained by the user's own ratings.

    Attributes
    ----------
    user, item, title, prediction, expected_rating, distribution, score, choice, topics
        As of `Explanation`. There are no topics if the model has none.
    from_average, from_item, from_user, from_taste : float
        Parts of ``expected_rating``: an unknown user's rating of the most rated items, what this item adds to it,
        what this user adds to it, and the rest, which is the user's taste for this item.
    evidence : tuple of RatingEffect
        The change if each of the user's ratings were removed, the strongest first. They do not add up: removing one
        of several ratings that agree changes little. Empty for an item that nobody has rated.
    features : tuple of FeatureEffect
        What each feature adds to the expected rating before any ratings of the item or by the user, relative to the
        average item or user, the strongest first.

    Examples
    --------
    >>> from lbg_recsys.datasets import load_sample
    >>> from lbg_recsys.ratings import GaussianPLSAModel
    >>> why = GaussianPLSAModel(n_topics=2, random_state=0).fit(load_sample().ratings).explain(3, 8)
    >>> abs(why.from_average + why.from_item + why.from_user + why.from_taste - why.expected_rating) < 1e-9
    True
    """

    from_average: float
    from_item: float
    from_user: float
    from_taste: float
    evidence: tuple[RatingEffect, ...]
    topics: tuple[TopicShare, ...]
    features: tuple[FeatureEffect, ...] = ()

    quantity: ClassVar[str] = "effect"

    @property
    def _measure(self) -> str:
        return "What each of the user's ratings adds to the expected rating"


def influences(model: "RatingModel", user: int, item: int) -> Influences:
    """Explain the prediction of one pair of codes by any model."""
    usual, weight = _usual_items(model)
    items = np.append(item, usual)
    users = np.repeat([user, UNKNOWN], len(items))
    probability = model.distribution_of(users, np.tile(items, 2)).probability
    means = levels.mean(probability, model.levels).reshape(2, -1)
    (expected, of_item), (of_user, average) = means[:, 0].tolist(), (means[:, 1:] @ weight).tolist()
    own = model.matrix.subset(np.array([user]))
    found = Influences(
        **_Predicted.facts(model, user, item, probability[:1]),
        from_average=average,
        from_item=of_item - average,
        from_user=of_user - average,
        from_taste=expected - of_item - of_user + average,
        evidence=_strongest_first(RatingEffect, own, *model.influence(user, item)) if item >= 0 else (),
        topics=model.topic_shares(user, item),
        features=model.effects_of_features(user, item),
    )
    return titled(found, model.titles)


def _usual_items(model: "RatingModel") -> tuple[Ints, Floats]:
    """The items that are rated most, and how much of the ratings each of them has among those."""
    everything = np.arange(model.matrix.n_items)
    rate = model.rated_probability(np.full(len(everything), UNKNOWN), everything)
    usual = np.argsort(-rate, kind="stable")[:_USUAL_ITEMS]
    return usual, rate[usual] / rate[usual].sum()


def leave_one_out(model: "RatingModel", user: int, item: int) -> Floats:
    """The change in an expected rating if each of the user's ratings were removed, by folding in without it."""
    own = model.matrix.subset(np.array([user]))
    n = own.n_ratings
    with_all = _expected(model, own, item)
    without = [np.zeros(0)]
    size = max(_BLOCK_RATINGS // max(n, 1), 1)
    for first in range(0, n, size):
        lacking = np.arange(first, min(first + size, n))
        kept = np.nonzero(np.arange(n) != lacking[:, None])[1]
        indptr = np.arange(len(lacking) + 1, dtype=np.int64) * (n - 1)
        users = IdIndex(range(len(lacking)))
        rows = SparseRows(indptr, own.rows.columns[kept], own.rows.values[kept], own.n_items)
        block = RatingMatrix(users, own.items, own.scale, rows)
        without.append(_expected(model, block, item))
    return np.asarray(with_all - np.concatenate(without))


def _expected(model: "RatingModel", matrix: RatingMatrix, item: int) -> Floats:
    """The expected rating of an item by every user of a matrix, folded in."""
    view = model.with_users(matrix)
    pairs = np.arange(matrix.n_users), np.full(matrix.n_users, item)
    return levels.mean(view.distribution_of(*pairs).probability, model.levels)


def _more(listed: Sequence[Any]) -> list[str]:
    """The line about what is not shown of a long list."""
    return [f"  and {len(listed) - SHOWN} more"] if len(listed) > SHOWN else []


def shares_of(posterior: Floats, density: Floats, levels: Floats) -> tuple[TopicShare, ...]:
    """The topics of one prediction, largest share first, from their posterior (k,) and densities (k, levels)."""
    mass = posterior[:, None] * density
    share = mass.sum(axis=1) / mass.sum()
    means = (density @ levels) / np.maximum(density.sum(axis=1), 1e-300)
    return tuple(
        TopicShare(s, float(posterior[s]), float(share[s]), float(means[s]))
        for s in np.argsort(-share, kind="stable").tolist()
    )


def _strongest_first(kind: type[E], own: RatingMatrix, given: Floats, valued: Floats) -> tuple[E, ...]:
    """What each rating of one user adds."""
    rated = zip(own.items.raws(own.item_codes), own.values.tolist(), given.tolist(), valued.tolist(), strict=True)
    return tuple(sorted((kind(*one) for one in rated), key=lambda one: -abs(one.both)))


def explain(model: "LBGModel", user: int, item: int) -> Explanation:
    """Explain the prediction of one pair of codes by topics."""
    warn_of_copies(model)
    parameters, beta, weight = model.parameters_, model.temperature, model.indicator_weight
    logit = parameters.logit_p()
    rated = bool(model.matrix.is_rated(np.array([user]), np.array([item]))[0])
    own = model.matrix.subset(np.array([user]))
    joint = model.log_joint(own)[0] + (0.0 if rated else weight * logit[item])
    mu = posterior(joint[None, :], beta)[0][0]
    leading = np.argsort(-joint, kind="stable")
    topic = leading[0]
    against = next(iter(leading[~copies_of(model, int(topic))[leading]]), topic)  # a copy has the same evidence

    items, values = own.item_codes, model.rows_of(own).values
    c, var = parameters.c[items], parameters.var[items]
    log_normal = -0.5 * (np.log(var) + (values[:, None] - c) ** 2 / var)
    given = beta * weight * (logit[items, topic] - logit[items, against])
    valued = beta * (log_normal[:, topic] - log_normal[:, against])
    log_lam = np.log(np.maximum(parameters.lam, 1e-300))
    silence = model.silence_weight(own.rows)[0] * parameters.log_silence()

    offset = model.origin_
    if model.biases_ is not None:
        offset = float(model.biases_.predict(np.array([user]), np.array([item]))[0])
    density = level_density(parameters.c[[item]] + offset, parameters.var[[item]], model.levels)[0]  # (k, L)
    mass = mu[:, None] * density
    probability = mass.sum(axis=0, keepdims=True) / mass.sum()
    found = Explanation(
        **_Predicted.facts(model, user, item, probability),
        topic=int(topic),
        against=int(against),
        log_odds=float(beta * (joint[topic] - joint[against])),
        from_prior=float(beta * (log_lam[topic] - log_lam[against])),
        from_silence=float(beta * weight * (silence[topic] - silence[against])),
        from_being_rated=0.0 if rated else float(beta * weight * (logit[item, topic] - logit[item, against])),
        evidence=_strongest_first(RatingEvidence, own, given, valued),
        topics=shares_of(mu, density, model.levels),
    )
    return titled(found, model.titles)
