"""Who and what a request is about: known users by id, new users by ratings or choices, items by id or title."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lbg_recsys.catalogue import Catalogue, as_known
from lbg_recsys.errors import DataError, LBGError, OffScaleError, ParameterError
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.serving.fields import Field, read_object

Json = dict[str, Any]

PERSON = (
    Field("user", "id", "A user that the model knows."),
    Field("ratings", "ratings", "A new user: ratings by item (id or title). Nothing is stored."),
    Field("choices", "ids", "A new user: the items taken, without ratings. Nothing is stored."),
)


class UnknownIdError(DataError):
    """A user or an item that the model does not know."""


@dataclass(frozen=True)
class Person:
    """Who asks: a known user by id, or a new user folded into the model."""

    known: RawId | None
    folded: Any
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> Json:
        """The id of a known user, as a part of an answer."""
        return {} if self.folded is not None else {"user": self.known}


class People:
    """Finds the users and items of a model that requests name.

    Parameters
    ----------
    model : RatingModel or ChoiceModel
        A fitted model.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.catalogue = Catalogue(model)
        self.rates = isinstance(model, RatingModel)

    @property
    def takes_ratings(self) -> bool:
        """Whether new users are described by ratings, and not only by what they took."""
        return self.rates or len(self.model.matrix.scale.levels) > 1

    def member(self, place: int, given: Mapping[str, Any]) -> Person:
        """The user that one entry of a batch is for."""
        here = f"entry {place} of batch"
        own = read_object(PERSON, given, here)
        try:
            return self.person(own)
        except UnknownIdError as error:
            raise UnknownIdError(f"{here}: {error}") from error
        except LBGError as error:
            raise DataError(f"{here}: {sentence(error)}") from error

    def person(self, given: Json) -> Person:
        """The known or the new user that a request is for."""
        if len(given) != 1:
            named = " and ".join(given) if given else "nobody"
            raise ParameterError(f"the request is for {named}: give one of user, ratings and choices")
        if "user" in given:
            return Person(self.user(given["user"]), None)
        own = given.get("ratings", given.get("choices"))
        if not own:
            return Person(None, self.model.fold_in([]))
        name = next(iter(given))
        meant, remark = self.catalogue.find_all(own, name)
        notes = [] if remark is None else [remark]
        known = {meant[item]: own[item] for item in meant} if name == "ratings" else dict.fromkeys(meant.values())
        if len(known) < len(meant):
            raise DataError(f"{name}: two names of one item are given: leave one of them out")
        if name == "ratings" and not self.takes_ratings:
            notes.append("the model was fitted to choices without ratings: only which items are named counts")
            name = "choices"
        return Person(None, self.model.fold_in(known if name == "ratings" else list(known)), tuple(notes))

    def user(self, given: Any) -> RawId:
        """The known user that is meant."""
        users = self.model.matrix.users
        found = given if given in users else as_known(users, str(given))
        if found is None and self.model.matrix.left_out is not None:
            raise UnknownIdError("the model was saved without its users: POST ratings or choices of a new one")
        if found is None:
            raise UnknownIdError(
                f"the model knows no user {str(given)[:60]!r} (it knows {len(users):,} users); describe a new one by "
                "ratings or choices"
            )
        return found

    def item(self, given: Any) -> RawId:
        """The known item that is meant."""
        found = self.catalogue.find_any(given)
        if found is None:
            raise UnknownIdError(self.catalogue.complaint(given))
        return found

    def item_or_new(self, given: Any) -> RawId:
        """The known item that is meant, or what was given; not a title that several items have."""
        found = self.catalogue.find(given)
        if found is None and self.catalogue.is_shared(given):
            raise DataError(self.catalogue.complaint(given))
        return given if found is None else found

    def unknown(self, what: str, ids: Sequence[RawId]) -> list[str]:
        """A note about ids that the model does not know, whose predictions are those of all users or items."""
        index = self.model.matrix.users if what == "user" else self.model.matrix.items
        new = list(dict.fromkeys(one for one in ids if one not in index))
        if not new:
            return []
        some = ", ".join(repr(one)[:60] for one in new[:5]) + (", ..." if len(new) > 5 else "")
        return [f"the model does not know the {what} {some}: this is the prediction for an unknown {what}"]


def sentence(error: Exception) -> str:
    """The message of an error; the remedy for a rating off the scale is not a new fit."""
    if isinstance(error, OffScaleError):
        return f"{error.what}: give a rating on the scale of the model"
    return str(error)
