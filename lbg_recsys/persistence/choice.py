"""A fitted `ChoiceModel` in a file: who took what. The scores follow from it and are computed when needed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from lbg_recsys.persistence.kind import Extras
from lbg_recsys.persistence.ratings import RatingFile
from lbg_recsys.persistence.schema import Array, State

if TYPE_CHECKING:
    from lbg_recsys.ratings.choice import ChoiceModel
    from lbg_recsys.ratings.matrix import RatingMatrix


class ChoiceFile(RatingFile):
    """`ChoiceModel`: nothing but its matrix and its parameters."""

    model = "lbg_recsys.ratings.choice:ChoiceModel"
    facts: ClassVar[Mapping[str, Any]] = {}
    arrays: ClassVar[Mapping[str, Array]] = {}

    def state_of(self, model: "ChoiceModel", extras: Extras) -> State:
        """The parameters."""
        return State(model.get_params(), {}, {})

    def assemble(self, model: "ChoiceModel", state: State, matrix: "RatingMatrix") -> None:
        """Take the matrix."""
        model.check_settings()
        model._hold(matrix)
