"""The questions that can be asked over HTTP: paths, fields, and the function of `Service` that answers each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lbg_recsys.ratings.questions.showing import SHOWN
from lbg_recsys.serving import returned
from lbg_recsys.serving.answers import Service
from lbg_recsys.serving.fields import Field
from lbg_recsys.serving.people import PERSON

_N = Field("n", "integer", "How many items at most.", 10)
_ITEM = Field("item", "id", "An item: its id or title.")
_LIST = (
    _N,
    Field(
        "by",
        "text",
        "What the list is ranked by: what the user will take and like (liked), will take (rated), the expected "
        "rating, or the lower end of the rating's 90% interval (sure). The default is liked, for clicks rated.",
        choices=("liked", "rated", "rating", "sure"),
    ),
    Field("liked", "number", "The lowest rating that counts as liked; the scale's upper quarter by default."),
    Field("items", "ids", "Recommend only these items (ids or titles)."),
    Field("exclude", "ids", "Recommend none of these items (ids or titles)."),
    Field("exclude_seen", "boolean", "Leave out items that the user has rated already.", True),
    Field("min_probability", "number", "Leave out items with a lower probability of being liked, from 0 to 1.", 0.0),
    Field("diversity", "number", "From 0 to below 1: rank an item lower if it is similar to items above it.", 0.0),
    Field("distribution", "boolean", "Add the distribution and the 90% interval of each predicted rating.", False),
)
_BATCH = Field("batch", "people", "Several users at once, known or new: a list of {user}, {ratings} or {choices}.")
_PREDICTED = (
    Field("items", "ids", "The items whose ratings to predict (ids or titles)."),
    Field("mass", "number", "The mass of the interval from low to high.", 0.9),
)
_PAIRS = Field("pairs", "pairs", "Many pairs at once: a list of [user, item].")
_STRONGEST = Field(
    "n", "integer", "How many of the user's own items, topics and features to give, the strongest first.", SHOWN
)


@dataclass(frozen=True)
class Endpoint:
    """A path with a method, its fields, what answers it, and what the answer may contain.

    A name in braces in the path is a field too.
    """

    method: str
    path: str
    about: str
    fields: tuple[Field, ...]
    answer: Callable[[Service, dict[str, Any]], dict[str, Any]]
    returns: tuple[Field, ...]

    @property
    def in_path(self) -> Field | None:
        """The field that is a part of the path."""
        return next((one for one in self.fields if f"{{{one.name}}}" in self.path), None)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/recommend/{user}",
        "The best items for a known user.",
        (PERSON[0], *_LIST),
        Service.recommend,
        returned.LISTS,
    ),
    Endpoint(
        "POST",
        "/recommend",
        "The best items for a new user (nothing is stored), a known one, or several.",
        (*PERSON, _BATCH, *_LIST),
        Service.recommend,
        returned.LISTS,
    ),
    Endpoint(
        "GET",
        "/predict",
        "Predicted ratings of a known user.",
        (PERSON[0], *_PREDICTED),
        Service.predict,
        returned.PREDICTIONS,
    ),
    Endpoint(
        "POST",
        "/predict",
        "Predicted ratings of a new or a known user, or of many pairs.",
        (*PERSON, *_PREDICTED, _PAIRS),
        Service.predict,
        returned.PREDICTIONS,
    ),
    Endpoint(
        "GET",
        "/explain",
        "Why an item is recommended to a known user, and its rating predicted as it is.",
        (PERSON[0], _ITEM, _STRONGEST),
        Service.explain,
        returned.EXPLANATION,
    ),
    Endpoint(
        "POST",
        "/explain",
        "The same for a new or a known user.",
        (*PERSON, _ITEM, _STRONGEST),
        Service.explain,
        returned.EXPLANATION,
    ),
    Endpoint(
        "GET",
        "/similar",
        "Items rated similarly by the same people, or users with similar tastes.",
        (_ITEM, PERSON[0], _N, Field("metric", "text", "hellinger or kl; taste for a Bayesian model.")),
        Service.similar,
        returned.SIMILAR,
    ),
    Endpoint(
        "GET",
        "/topics",
        "Topics, which are groups of users, with the items that each rates, loves and hates.",
        (
            Field("n", "integer", "Items of each kind.", 5),
            Field("n_topics", "integer", "How many topics (groups of users) to find, for a Bayesian model."),
        ),
        Service.topics,
        returned.TOPICS,
    ),
    Endpoint(
        "GET",
        "/profile/{user}",
        "A profile of a known user: use of the scale, and the topics (groups of users) the user is in.",
        (PERSON[0], Field("n", "integer", "How many of the user's ratings to list.", 20)),
        Service.profile,
        returned.PROFILE,
    ),
    Endpoint(
        "POST",
        "/profile",
        "The same for a new user.",
        (*PERSON, Field("n", "integer", "How many of the user's ratings to list.", 20)),
        Service.profile,
        returned.PROFILE,
    ),
    Endpoint(
        "GET",
        "/items",
        "Search items by a part of the title; without it, the items rated most often.",
        (Field("search", "text", "An id, or a part of the title."), Field("n", "integer", "How many at most.", 20)),
        Service.items,
        returned.ITEMS,
    ),
    Endpoint(
        "GET",
        "/model",
        "Facts about the model, its rating scale, and the limits of this server.",
        (),
        Service.about,
        returned.MODEL,
    ),
)
