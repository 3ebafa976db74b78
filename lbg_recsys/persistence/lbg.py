"""A fitted `LBGModel` as plain facts and arrays, for model files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.core.em.parameters import Parameters
from lbg_recsys.core.em.statistics import SufficientStatistics
from lbg_recsys.core.types import Floats
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.biases import Biases
from lbg_recsys.schema import Array, Schema, State

if TYPE_CHECKING:
    from lbg_recsys.ratings.lbg import LBGModel

PARAMETERS = ("lam", "p", "c", "var")
SUMS = ("mass", "count", "first", "second")

STATE = Schema(
    sizes={"topics": "n_topics"},
    facts={
        "converged": bool,
        "n_iter": int,
        "lower_bound": float,
        "history": list[float],
        "n_rows": int,
        "evidence": float,
        "overall": float | None,
    },
    arrays={
        "lam": Array("f8", ("topics",), low=0.0, distribution=True),
        "p": Array("f8", ("items", "topics"), low=1e-300, high=1.0 - 1e-16),
        "c": Array("f8", ("items", "topics")),
        "var": Array("f8", ("items", "topics"), low=1e-300),
        "mu": Array("f8", ("users", "topics"), low=0.0, distribution=True),
        "mass": Array("f8", ("topics",), low=0.0),
        "count": Array("f8", ("items", "topics"), low=0.0),
        "first": Array("f8", ("items", "topics")),
        "second": Array("f8", ("items", "topics")),
        "counted": Array("f8", ("users", "topics"), low=0.0, high=1.0 + 1e-9, optional=True),
        "user_bias": Array("f8", ("users",), optional=True),
        "item_bias": Array("f8", ("items",), optional=True),
    },
)


def take_apart(model: "LBGModel") -> State:
    """All that makes a fitted model besides its matrix.

    ``counted``, the posteriors that the statistics hold the users with, is left out where it is ``mu``: until the
    first `partial_fit`.
    """
    facts = {name: getattr(model, name + "_") for name in ("converged", "n_iter", "lower_bound", "history")}
    facts |= {name: getattr(model.statistics_, name) for name in ("n_rows", "evidence")}
    facts["overall"] = None if model.biases_ is None else model.biases_.overall
    arrays = {name: getattr(model.parameters_, name) for name in PARAMETERS} | {"mu": model.posterior()}
    arrays |= {name: getattr(model.statistics_, name) for name in SUMS}
    if not np.array_equal(model.counted_, arrays["mu"]):
        arrays["counted"] = model.counted_
    if model.biases_ is not None:
        arrays |= {"user_bias": model.biases_.users[:-1], "item_bias": model.biases_.items[:-1]}
    return State(model.get_params(), facts, arrays)


def put_together(
    facts: Mapping[str, Any], arrays: Mapping[str, Floats]
) -> tuple[Parameters, SufficientStatistics, Floats]:
    """Parameters, statistics and the posteriors that the users are counted with, each a distribution or all zero."""
    counted = arrays.get("counted", arrays["mu"])
    mass = counted.sum(axis=1)
    if (np.minimum(mass, np.abs(mass - 1.0)) > 1e-6).any():
        raise DataError("the array counted has rows that sum to neither one nor zero")
    parameters = Parameters(*(arrays[name] for name in PARAMETERS))
    sums = (arrays[name] for name in SUMS)
    return parameters, SufficientStatistics(facts["n_rows"], facts["evidence"], *sums), counted


def biases_of(facts: Mapping[str, Any], arrays: Mapping[str, Floats], baseline: bool) -> Biases | None:
    """The biases of a model with a baseline."""
    if {baseline} != {name in arrays for name in ("user_bias", "item_bias")} | {facts["overall"] is not None}:
        raise DataError(f"baseline is {baseline}, and the biases do not agree with that")
    if not baseline:
        return None
    users, items = (np.append(arrays[name], 0.0) for name in ("user_bias", "item_bias"))
    return Biases(facts["overall"], users, items)
