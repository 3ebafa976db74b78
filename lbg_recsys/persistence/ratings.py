"""What rating models share in a file: ids, titles and scale in the header, the ratings as arrays."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lbg_recsys.core.levels import LARGEST_LEVEL, MOST_LEVELS, SMALLEST_STEP
from lbg_recsys.errors import DataError, NotFittedError, ParameterError
from lbg_recsys.persistence import crowd
from lbg_recsys.persistence.container import Container
from lbg_recsys.persistence.kind import Extras, Kind
from lbg_recsys.persistence.schema import AnyArray, Array, Layout, State, check_contents, check_shapes, check_values
from lbg_recsys.schema import defaults_of, signature_of
from lbg_recsys.words import class_of

if TYPE_CHECKING:
    from lbg_recsys.ratings.ids import RawId
    from lbg_recsys.ratings.matrix import RatingMatrix
    from lbg_recsys.ratings.model import RatingModel

FACTS = {
    "users": list[int | str],
    "items": list[int | str],
    "titles": list[str | None] | None,
    "discrete": bool,
    "n_duplicates": int,
    "crowd": dict[str, Any] | None,  # of users that are left out; other files do not have it
}

LEVELS = {"levels": Array("f8", ("levels",), -LARGEST_LEVEL, LARGEST_LEVEL)}
USERS = {
    "indptr": Array("i8", ("users + 1",), low=0),
    "items_of": Array("i4", ("ratings",), low=0),
    "values": Array("f8", ("ratings",), -1.1 * LARGEST_LEVEL, 1.1 * LARGEST_LEVEL),
}


class RatingFile(Kind):
    """A rating model in a file. A subclass says what a model has beside its matrix and its constructor's arguments.

    ``arrays`` may use the sizes "users", "items", "levels", "ratings" and those of ``sizes``.
    """

    section = "ratings"
    arrays: ClassVar[Mapping[str, Array]]
    has_chains: ClassVar[bool] = False

    @abstractmethod
    def state_of(self, model: Any, extras: Extras) -> State:
        """All that makes a fitted model besides its matrix."""

    @abstractmethod
    def assemble(self, model: Any, state: State, matrix: "RatingMatrix") -> None:
        """Make the unfitted ``model`` the fitted one that `state_of` took apart."""

    def own_layout(self, parameters: Mapping[str, Any], header: Mapping[str, Any]) -> Layout:
        """The arrays of the model besides those of the ratings."""
        return Layout(self.arrays, {size: parameters[name] for size, name in self.sizes.items()})

    def check_fitted(self, model: "RatingModel") -> None:
        """A fitted rating model has a matrix."""
        if not hasattr(model, "matrix"):
            raise NotFittedError(f"this {type(model).__name__} is not fitted: call fit before save")

    def take_apart(self, model: "RatingModel", extras: Extras) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The header and the arrays of a fitted model, its ratings and the titles of its items."""
        if extras.vectorizer is not None or extras.vocabulary is not None:
            raise ParameterError(f"vectorizer and vocabulary are for text models, and this is {class_of(model)}")
        if extras.chains and not self.has_chains:
            raise ParameterError(
                f"chains=True keeps the chains of a BayesianLBGModel, and {class_of(model)} has none: leave it out"
            )
        if not extras.ratings:
            if extras.chains:
                raise ParameterError(
                    "chains=True keeps what a fit continues from, which needs the ratings, and ratings=False leaves "
                    "them out: choose one of them"
                )
            model = model.without_users()
        state = self.state_of(model, extras)
        section, entries = _taken_apart(model.matrix, model.titles if extras.titles is None else extras.titles)
        return {"parameters": state.parameters, "facts": state.facts, "ratings": section}, entries | state.arrays

    def check_section(self, section: Any) -> None:
        """Raise `DataError` unless ids, titles and the facts about the scale are plain values of their types."""
        check_values({"crowd": None, **section} if isinstance(section, dict) else section, FACTS, "the header")
        if section.get("crowd") is not None:
            crowd.check_facts(section["crowd"])
            if section["users"]:
                raise DataError("the file has users although it says that users are left out")
        titles, items = section["titles"], section["items"]
        if titles is not None and len(titles) != len(items):
            raise DataError(f"there are {len(titles)} titles for {len(items)} items")

    def about(self, header: Mapping[str, Any], file: Container) -> dict[str, Any]:
        """How many users, items, ratings and titles there are, and on which scale."""
        section = header["ratings"]
        expected, left_out = _arrays(section), section.get("crowd")
        directory = {name: file.directory[name] for name in expected if name in file.directory}
        sizes = check_shapes(directory, Layout(expected, _sizes(section), _limits(section)))
        read = file.read({"levels", "item_counts"})
        check_contents(read, expected)
        levels = read["levels"]
        if not len(levels):
            raise DataError("the rating scale has no levels")
        return {
            "n_users": len(section["users"]) if left_out is None else left_out["users"],
            "n_items": len(section["items"]),
            "n_ratings": sizes["ratings"] if left_out is None else int(read["item_counts"].sum()),
            "users_in_file": left_out is None,
            "n_duplicates": section["n_duplicates"],
            "scale": {
                "low": float(levels[0]),
                "high": float(levels[-1]),
                "n_levels": len(levels),
                "discrete": section["discrete"],
            },
            "n_titles": sum(title is not None for title in section["titles"] or ()),
        }

    def layout(self, header: Mapping[str, Any]) -> Layout:
        """The arrays of the ratings and of the model."""
        parameters = self._parameters(header)
        check_values(parameters, signature_of(self.model_class), "the model's parameters")
        section, own = header["ratings"], self.own_layout(parameters, header)
        return Layout(
            {**_arrays(section), **own.arrays},
            {**_sizes(section), **own.sizes},
            {**_limits(section), **own.limits},
        )

    def put_together(self, header: Mapping[str, Any], arrays: dict[str, AnyArray]) -> "RatingModel":
        """The model, with its titles and the versions of the libraries that it was saved with."""
        section = header["ratings"]
        shared = _arrays(section)
        own = {name: array for name, array in arrays.items() if name not in shared}
        matrix = _put_together(section, arrays)
        model: RatingModel = self.model_class(**self._parameters(header))
        self.assemble(model, State(header["parameters"], header["facts"], own), matrix)
        named = zip(section["items"], section["titles"] or (), strict=False)
        model.titles = {item: title for item, title in named if title is not None}
        model.versions = header["versions"]
        return model

    def _parameters(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """The constructor's arguments; one that came after the file has its default, which does what was done."""
        return {**defaults_of(self.model_class), **header["parameters"]}


def _arrays(section: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays that all rating models have: the levels, and the ratings or what is kept of them."""
    return {**LEVELS, **(USERS if section.get("crowd") is None else crowd.ARRAYS)}


def _sizes(section: Mapping[str, Any]) -> dict[str, int]:
    return {"users": len(section["users"]), "items": len(section["items"])}


def _limits(section: Mapping[str, Any]) -> dict[str, int]:
    n_users, n_items = _sizes(section).values()
    return {"ratings": n_users * n_items, "levels": MOST_LEVELS, **crowd.limits(n_items)}


def _taken_apart(matrix: "RatingMatrix", titles: "Mapping[RawId, str]") -> tuple[dict[str, Any], dict[str, AnyArray]]:
    section: dict[str, Any] = {
        "users": savable(matrix.users, "user"),
        "items": savable(matrix.items, "item"),
        "titles": _titles_of(matrix.items, titles) if titles else None,
        "discrete": bool(matrix.scale.discrete),
        "n_duplicates": int(matrix.n_duplicates),
    }
    if matrix.left_out is not None and matrix.left_out.choices is not None:
        section["crowd"], kept = crowd.take_apart(matrix.left_out, matrix.left_out.choices)
        return section, {"levels": matrix.scale.levels, **kept}
    arrays: dict[str, AnyArray] = {
        "levels": matrix.scale.levels,
        "indptr": matrix.rows.indptr,
        "items_of": matrix.rows.columns,
        "values": matrix.values,
    }
    return section, arrays


def _put_together(section: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "RatingMatrix":
    """The matrix that `_taken_apart` took apart, if it is one; else `DataError`."""
    from lbg_recsys.core.sparse import SparseRows
    from lbg_recsys.ratings.ids import IdIndex
    from lbg_recsys.ratings.matrix import RatingMatrix
    from lbg_recsys.ratings.scale import RatingScale

    users, items, levels = section["users"], section["items"], arrays["levels"]
    if not len(levels) or (np.diff(levels) <= 0).any():
        raise DataError("the levels of the rating scale do not ascend")
    scale = RatingScale(levels, section["discrete"])
    if scale.step < SMALLEST_STEP:
        raise DataError(f"the levels of the rating scale are {scale.step:g} apart, which is too little")
    if section.get("crowd") is not None:
        left_out = crowd.put_together(section["crowd"], arrays, scale)
        return RatingMatrix.of_crowd(IdIndex(items), scale, left_out, section["n_duplicates"])
    indptr, items_of = arrays["indptr"], arrays["items_of"]
    if indptr[0] != 0 or indptr[-1] != len(items_of) or (np.diff(indptr) < 0).any() or not len(items_of):
        raise DataError("the users' ratings do not add up")
    ascends = np.append(True, np.diff(items_of) > 0)
    ascends[indptr[indptr < len(items_of)]] = True  # a user begins
    if items_of.max() >= len(items) or not ascends.all():
        raise DataError("a rating names an item that does not exist, or the ratings of a user are not in order")
    scale.refuse_outsiders(arrays["values"], lambda entry: f"number {entry}")
    rows = SparseRows.from_csr(indptr, items_of, arrays["values"], len(items))
    return RatingMatrix(IdIndex(users), IdIndex(items), scale, rows, section["n_duplicates"])


def _titles_of(items: "Iterable[RawId]", titles: "Mapping[RawId, str]") -> list[str | None]:
    found = [titles.get(item) for item in items]
    for item, title in zip(items, found, strict=True):
        if title is not None and not isinstance(title, str):
            raise DataError(
                f"the title of the item {item!r} is {title!r} ({type(title).__name__}): titles must be strings"
            )
    return found


def savable(ids: "Iterable[RawId]", what: str) -> list[int | str]:
    """Ids that a file can keep; `DataError` names the first that it cannot."""
    for raw_id in ids:
        if type(raw_id) not in (int, str):
            shown = "NaN" if isinstance(raw_id, float) and math.isnan(raw_id) else repr(raw_id)
            raise DataError(
                f"the {what} id {shown} is {class_of(raw_id)}, and a model file keeps integers and strings: "
                "make the ids one of these before fitting"
            )
    return list(ids)
