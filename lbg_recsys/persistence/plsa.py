"""A fitted `GaussianPLSAModel` in a file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.kind import Extras
from lbg_recsys.persistence.lbg import PARAMETERS, TABLES, check_tables
from lbg_recsys.persistence.ratings import RatingFile
from lbg_recsys.persistence.schema import Array, State

if TYPE_CHECKING:
    from lbg_recsys.ratings.matrix import RatingMatrix
    from lbg_recsys.ratings.plsa import GaussianPLSAModel


class PLSAFile(RatingFile):
    """`GaussianPLSAModel`: parameters in standardised units, and the users' mixing weights."""

    model = "lbg_recsys.ratings.plsa:GaussianPLSAModel"
    sizes: ClassVar[Mapping[str, str]] = {"topics": "n_topics"}
    facts: ClassVar[Mapping[str, Any]] = {
        "n_iter": int,
        "beta": float,
        "history": list[float] | None,
        "centre": float,
        "spread": float,
    }
    arrays: ClassVar[Mapping[str, Array]] = {
        **TABLES,
        "mixing": Array("f8", ("users", "topics"), low=0.0, distribution=True),
    }

    def state_of(self, model: "GaussianPLSAModel", extras: Extras) -> State:
        """All that makes a fitted model besides its matrix."""
        facts = {name: getattr(model, f"{name}_") for name in self.facts}
        arrays = {name: getattr(model.parameters_, name) for name in PARAMETERS}
        return State(model.get_params(), facts, arrays | {"mixing": model.mixing_})

    def assemble(self, model: "GaussianPLSAModel", state: State, matrix: "RatingMatrix") -> None:
        """Parameters and mixing weights; the mean and the spread must be ones of ratings on this scale."""
        from lbg_recsys.core.em.parameters import Parameters

        model.check_settings()
        facts, arrays = state.facts, state.arrays
        low, high = matrix.scale.levels[[0, -1]]
        if not (low <= facts["centre"] <= high and 0.0 < facts["spread"] <= max(high - low, 1.0)):
            raise DataError(
                f"a mean of {facts['centre']:g} with a spread of {facts['spread']:g} is impossible for ratings from "
                f"{low:g} to {high:g}"
            )
        if not 0.0 < facts["beta"] <= 1.0:
            raise DataError(f"beta is {facts['beta']:g}, and must be above 0 and at most 1")
        spread, scale = facts["spread"], matrix.scale
        width = max(float(np.abs(scale.levels - facts["centre"]).max()) / spread, 1.0)
        check_tables(arrays, width, scale.rounding_variance / spread**2)
        parameters = Parameters(*(arrays[name] for name in PARAMETERS))
        model.assemble(matrix, facts["centre"], facts["spread"], parameters, facts["beta"], arrays["mixing"])
        model.n_iter_, model.history_ = facts["n_iter"], tuple(facts["history"] or ())
