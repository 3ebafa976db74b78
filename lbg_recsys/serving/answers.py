"""Answers to requests: functions of a loaded model, without any HTTP. See `Service`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lbg_recsys.catalogue import known_ids, with_titles
from lbg_recsys.columns import with_distribution
from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.ratings.choice import ChoiceModel
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.ratings.questions.facts import explanation_facts, item_facts, topic_facts
from lbg_recsys.ratings.questions.predictions import level_names
from lbg_recsys.ratings.questions.recommender import CRITERIA
from lbg_recsys.ratings.questions.showing import SHOWN
from lbg_recsys.serving.people import PERSON, People, Person
from lbg_recsys.serving.profile import profile
from lbg_recsys.words import class_of

Json = dict[str, Any]
# Arguments of `recommend` that a model of choices without ratings does not have.
_OF_RATINGS = ("by", "liked", "min_probability", "distribution")
# Topics are computed once for each number of items and topics; at most this many results are kept.
_KEPT_TOPICS = 8
_MOST_TOPICS = 50


@dataclass(frozen=True)
class Limits:
    """What one request may ask for at most."""

    n: int = 1000
    batch: int = 100
    pairs: int = 10_000  # also the items that a request may name


USUAL_LIMITS = Limits()


class Service:
    """A model and the questions about it. Each takes the fields of a request and returns what becomes JSON.

    Ids may be given as texts or numbers and items also by title, as on the command line. Items that the model does
    not know are left out, and ``notes`` in the answer name them.

    Parameters
    ----------
    model : RatingModel or ChoiceModel
        A fitted model.
    limits : Limits, default=Limits()
        What one request may ask for.
    """

    def __init__(self, model: RatingModel | ChoiceModel, limits: Limits = USUAL_LIMITS) -> None:
        if not isinstance(model, RatingModel | ChoiceModel):
            raise DataError(f"{class_of(model)} has no recommendations to serve: give a rating model")
        self.model: Any = model
        self.limits = limits
        self.rates = isinstance(model, RatingModel)
        self._people = People(model)
        self._topics: dict[tuple[int, int | None], list[Json]] = {}

    # -- questions -----------------------------------------------------------------------------------------------

    def about(self, asked: Json) -> Json:
        """What the model is: its class, data, scale, and which questions it answers."""
        matrix, scale = self.model.matrix, self.model.matrix.scale
        facts = {
            "class": type(self.model).__name__,
            "n_users": matrix.n_users,
            "n_items": matrix.n_items,
            "n_ratings": matrix.crowd.n_ratings,
            "n_titles": len(self.model.titles),
            "predicts_ratings": self.rates,
            "takes_ratings": self._people.takes_ratings,
            "by": list(CRITERIA) if self.rates else ["rated"],
            "limits": {"n": self.limits.n, "batch": self.limits.batch, "pairs": self.limits.pairs},
        }
        if self._people.takes_ratings:
            facts["scale"] = {
                "low": scale.low,
                "high": scale.high,
                "n_levels": len(scale.levels),
                "discrete": scale.discrete,
                "liked": scale.liked,
                "levels": scale.levels.tolist(),
                "names": level_names(scale.levels),
            }
        return facts

    def recommend(self, asked: Json) -> Json:
        """The best items for a user, a new user, or each of a batch."""
        self._check_names(asked, *asked.get("batch", ()))
        asked = dict(asked)
        batch = asked.pop("batch", None)
        person = {one.name: asked.pop(one.name) for one in PERSON if one.name in asked}
        distribution = asked.pop("distribution", False)
        asked["n"] = self._n(asked, 10)
        wishes, notes = self._wishes(asked, distribution)
        if batch is None:
            found = self._people.person(person)
            return self._lists([found], wishes, distribution)[0] | _notes(notes, found.notes)
        if person:
            raise ParameterError(f"the request has both batch and {next(iter(person))}: give one of them")
        self._check_size("batch", len(batch), self.limits.batch, "has {:,} entries")
        people = [self._people.member(place, one) for place, one in enumerate(batch)]
        lists = self._lists(people, wishes, distribution)
        return {"lists": [one | _notes(who.notes) for one, who in zip(lists, people, strict=True)]} | _notes(notes)

    def predict(self, asked: Json) -> Json:
        """The ratings that a user will give to items, with their distributions; or those of many pairs."""
        self._refuse_choices("predict")
        self._check_names(asked)
        mass = float(asked.get("mass", 0.9))
        if "pairs" in asked:
            if "items" in asked or any(one.name in asked for one in PERSON):
                raise ParameterError("the request has pairs and a person or items as well: give one of them")
            self._check_size("pairs", len(asked["pairs"]), self.limits.pairs, "has {:,} entries")
            users = known_ids(self.model.matrix.users, [user for user, _ in asked["pairs"]])
            items = [self._people.item_or_new(item) for _, item in asked["pairs"]]
            notes = self._people.unknown("user", users) + self._people.unknown("item", items)
            frame = self.model.predictions(list(zip(users, items, strict=True)), mass)
            return {"mass": mass, "predictions": self._predictions(frame)} | _notes(notes)
        if "items" not in asked:
            raise ParameterError("the request names no items: give items, a list of ids or titles, or pairs")
        items = [self._people.item_or_new(item) for item in asked["items"]]
        notes = self._people.unknown("item", items)
        given = {one.name: asked[one.name] for one in PERSON if one.name in asked}
        if set(given) == {"user"}:  # an unknown user is predicted as everybody, as on the command line
            (user,) = known_ids(self.model.matrix.users, [given["user"]])
            notes += self._people.unknown("user", [user])
            frame = self.model.predictions([(user, item) for item in items], mass)
            return {"user": user, "mass": mass, "predictions": self._predictions(frame, False)} | _notes(notes)
        person = self._people.person(given)
        frame = person.folded.predictions(items, mass)
        return {"mass": mass, "predictions": self._predictions(frame, False)} | _notes(person.notes, notes)

    def explain(self, asked: Json) -> Json:
        """Why an item is recommended and its rating predicted: the strongest ``n`` of the user's own items."""
        self._check_names(asked)
        person = self._people.person({one.name: asked[one.name] for one in PERSON if one.name in asked})
        if "item" not in asked:
            raise ParameterError("the request names no item: give item, an id or a title")
        n = self._n(asked, SHOWN)
        item = self._people.item(asked["item"])
        found = self.model.explain(person.known, item) if person.folded is None else person.folded.explain(item)
        return explanation_facts(self.model, found, n) | _notes(person.notes)

    def similar(self, asked: Json) -> Json:
        """Items rated similarly by the same people, or users with similar tastes."""
        if ("item" in asked) == ("user" in asked):
            raise ParameterError("give either item or user")
        n = self._n(asked, 10)
        how = {"metric": asked["metric"]} if "metric" in asked else {}
        if how or "user" in asked:
            self._refuse_choices("similar with a user or a metric")
        if "user" in asked:
            user = self._people.user(asked["user"])
            alike = self.model.similar_users(user, n, **how)
            return {"user": user, "similar": [{"user": one, "similarity": value} for one, value in alike]}
        item = self._people.item(asked["item"])
        facts = [{"item": one, "similarity": value} for one, value in self.model.similar_items(item, n, **how)]
        return {**self._named(item), "similar": with_titles(self.model, facts)}

    def topics(self, asked: Json) -> Json:
        """Topics, which are groups of users, with the items that each rates, loves and hates."""
        self._refuse_choices("topics")
        n, n_topics = self._n(asked, 5), asked.get("n_topics")
        if n_topics is not None:
            self._check_size("n_topics", n_topics, _MOST_TOPICS)
        if (n, n_topics) not in self._topics:
            found = [topic_facts(self.model, topic) for topic in self.model.topics(n, n_topics=n_topics)]
            while len(self._topics) >= _KEPT_TOPICS:
                self._topics.pop(next(iter(self._topics)))
            self._topics[n, n_topics] = found
        return {"topics": self._topics[n, n_topics]}

    def items(self, asked: Json) -> Json:
        """Items by a part of their titles, those rated most often first; or those rated most often of all."""
        n, text = self._n(asked, 20), asked.get("search", "").strip()
        return {"items": item_facts(self.model, self._people.catalogue, text, n)}

    def profile(self, asked: Json) -> Json:
        """A profile of a user: ratings, use of the scale, and topics."""
        self._check_names(asked)
        person = self._people.person({one.name: asked[one.name] for one in PERSON if one.name in asked})
        n = self._n(asked, 20)
        if person.folded is None:
            own = self.model.matrix.subset(np.array([self.model.matrix.users.code(person.known)]))
            rated = dict(zip(own.items.raws(own.item_codes), own.values.tolist(), strict=True))
            member = self._posterior[self.model.matrix.users.code(person.known)] if self.rates else None
        else:
            given = asked.get("ratings") or dict.fromkeys(asked.get("choices", []), self.model.matrix.scale.high)
            rated = {self._people.catalogue.find(item): float(value) for item, value in given.items()}
            rated = {item: value for item, value in rated.items() if item is not None}
            grouped = self.rates and "choices" not in asked and self.model.matrix.left_out is None
            member = person.folded.posterior if grouped else None
        with_levels = self._people.takes_ratings and "choices" not in asked
        facts = profile(self.model, rated, member, n, with_levels=with_levels, means=self._means)
        facts["ratings"] = with_titles(self.model, facts["ratings"])
        return person.name | facts | _notes(person.notes)

    def warm_up(self) -> None:
        """Ask the questions that are slow the first time: what they compile and compute is kept."""
        matrix = self.model.matrix
        item, held = matrix.items.raw(0), matrix.left_out is None
        quickest = int(matrix.rows.lengths.argmin()) if held else 0  # reasons take longer, the longer a history is
        new: Json = {"ratings": {item: matrix.scale.high}} if self._people.takes_ratings else {"choices": [item]}
        lists: list[Json] = [{"distribution": True}, {"by": "sure", "diversity": 0.5}] if self.rates else [{}]
        for who in [{"user": matrix.users.raw(quickest)}, new] if held else [new]:
            for wishes in lists:
                self.recommend({**who, "n": 2, **wishes})
            self.explain({**who, "item": item})
        if self.rates:
            self.profile(new)
            if held:
                self.topics({})
        self.similar({"item": item})
        self.items({})

    # -- computed once -----------------------------------------------------------------------------------

    @cached_property
    def _means(self) -> Any:
        """The mean rating of every item."""
        return self.model.matrix.crowd.means

    @cached_property
    def _posterior(self) -> Any:
        return self.model.posterior()

    # -- lists ---------------------------------------------------------------------------------------------------

    def _wishes(self, asked: Json, distribution: bool) -> tuple[Json, list[str]]:
        """The arguments of `recommend`, and notes about candidates that the model does not know."""
        if not self.rates:
            for name in _OF_RATINGS:
                if name in asked and (name, asked[name]) != ("by", "rated"):
                    self._refuse_choices(f"recommend with {name}")
            if distribution:
                self._refuse_choices("recommend with distribution")
            asked.pop("by", None)
        notes = []
        for name in ("items", "exclude"):
            if asked.get(name):
                meant, remark = self._people.catalogue.find_all(asked[name], name)
                asked[name] = list(dict.fromkeys(meant.values()))
                notes += [] if remark is None else [remark]
        return asked, notes

    def _lists(self, people: Sequence[Person], wishes: Json, distribution: bool) -> list[Json]:
        """A list for each: all known users are asked for in one call."""
        known = list(dict.fromkeys(one.known for one in people if one.folded is None))
        lists = _by_user(self.model.recommend(known, **wishes)) if known else {}
        found = []
        for one in people:
            if one.folded is None:
                rows = lists.get(one.known, [])
            else:
                rows = next(iter(_by_user(one.folded.recommend(**wishes)).values()), [])
            if distribution and rows:
                items = [row["item"] for row in rows]
                table = (
                    self.model.predictions([(one.known, item) for item in items])
                    if one.folded is None
                    else one.folded.predictions(items)
                )
                shown = self._predictions(table, False)
                rows = [row | {name: more[name] for name in _SHOWN} for row, more in zip(rows, shown, strict=True)]
            found.append({**one.name, "items": with_titles(self.model, rows)})
        return found

    def _predictions(self, frame: Any, with_user: bool = True) -> list[Json]:
        """Predictions as the command line gives them as JSON."""
        facts = []
        for row in map(with_distribution, frame.to_dict(orient="records")):
            one = {"item": row["item"], **({"user": row["user"]} if with_user else {})}
            facts.append(one | {name: row[name] for name in _NUMBERS})
        return with_titles(self.model, facts)

    def _named(self, item: RawId) -> Json:
        return with_titles(self.model, [{"item": item}])[0]

    # -- limits --------------------------------------------------------------------------------------------------

    def _n(self, asked: Json, default: int) -> Any:
        """How many are asked for, within the limit."""
        self._check_size("n", asked.get("n"), self.limits.n)
        return asked.get("n", min(default, self.limits.n))

    def _check_size(self, name: str, value: Any, most: int, said: str = "is {:,}") -> None:
        if isinstance(value, int) and value > most:
            raise ParameterError(f"{name} {said.format(value)}: this server allows at most {most:,}")

    def _check_names(self, *asked: Json) -> None:
        """Limit the number of items: each that the model does not know is searched for among all titles."""
        given = [one.get(name) or () for one in asked for name in ("ratings", "choices", "items", "exclude")]
        self._check_size("the request", sum(map(len, given)), self.limits.pairs, "names {:,} items")

    def _refuse_choices(self, question: str) -> None:
        if not self.rates:
            raise DataError(
                "the model is a ChoiceModel, which knows what people take but not how they rate it, so "
                f"{question} needs another model: fit one to ratings, or ask recommend, similar or explain"
            )


_NUMBERS = ("prediction", "std", "low", "high", "unknown", "distribution")
_SHOWN = ("low", "high", "distribution")


def _by_user(lists: Any) -> dict[RawId, list[Json]]:
    """The rows of a table of lists by user. Going through columns as lists takes a tenth of the time of pandas."""
    columns = {name: column.tolist() for name, column in lists.items()}
    users, names = columns.pop("user"), list(columns)
    found: dict[RawId, list[Json]] = {}
    for user, *values in zip(users, *columns.values(), strict=True):
        found.setdefault(user, []).append(dict(zip(names, values, strict=True)))
    return found


def _notes(*notes: Sequence[str]) -> Json:
    every = [note for some in notes for note in some]
    return {"notes": every} if every else {}
