"""A fitted `LBGModel` in a file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.kind import Extras
from lbg_recsys.persistence.ratings import RatingFile
from lbg_recsys.persistence.schema import AnyArray, Array, State

if TYPE_CHECKING:
    from lbg_recsys.core.em.statistics import SufficientStatistics
    from lbg_recsys.ratings.biases import Biases
    from lbg_recsys.ratings.lbg import LBGModel
    from lbg_recsys.ratings.matrix import RatingMatrix

PARAMETERS = ("lam", "p", "c", "var")
SUMS = ("mass", "count", "first", "second")
# How far from zero, in widths of the scale, means of ratings and biases may be: a baseline is a mean and 20 rounds of
# means of what is left, each at most a width. Squares and sums stay finite, because ratings are at most 1e100.
_FARTHEST = 1e3
# What rounding adds to sums when users are taken out of them, per user.
_ROUNDING = 1e-9
# The smallest variance, in those of rounding to the scale: fits have at least 1.
_LEAST = 1e-6
_MOST_ROWS = 2**48
# What the mixtures of rating models have in common.
TABLES = {
    "lam": Array("f8", ("topics",), low=0.0, distribution=True),
    "p": Array("f8", ("items", "topics"), low=1e-300, high=1.0 - 1e-16),
    "c": Array("f8", ("items", "topics")),
    "var": Array("f8", ("items", "topics"), low=1e-300),
}


class LBGFile(RatingFile):
    """`LBGModel`: parameters, sufficient statistics and the users' posteriors."""

    model = "lbg_recsys.ratings.lbg:LBGModel"
    sizes: ClassVar[Mapping[str, str]] = {"topics": "n_topics"}
    facts: ClassVar[Mapping[str, Any]] = {
        "converged": bool,
        "n_iter": int,
        "lower_bound": float,
        "history": list[float],
        "n_rows": float,
        "evidence": float,
        "overall": float | None,
        "origin": float | None,
    }
    arrays: ClassVar[Mapping[str, Array]] = {
        **TABLES,
        "mu": Array("f8", ("users", "topics"), low=0.0, distribution=True),
        "mass": Array("f8", ("topics",), low=0.0),
        "count": Array("f8", ("items", "topics"), low=0.0),
        "first": Array("f8", ("items", "topics")),
        "second": Array("f8", ("items", "topics")),
        "counted": Array("f8", ("users", "topics"), low=0.0, high=1.0 + 1e-9, optional=True),
        "user_bias": Array("f8", ("users",), optional=True),
        "item_bias": Array("f8", ("items",), optional=True),
    }

    def state_of(self, model: "LBGModel", extras: Extras) -> State:
        """All that makes a fitted model besides its matrix.

        ``counted``, the posteriors that the statistics hold the users with, is left out where it is ``mu``: until
        the first `partial_fit`.
        """
        facts = {name: getattr(model, name + "_") for name in ("converged", "n_iter", "lower_bound", "history")}
        facts |= {name: getattr(model.statistics_, name) for name in ("n_rows", "evidence")}
        facts["origin"] = model.origin_
        facts["overall"] = None if model.biases_ is None else model.biases_.overall
        arrays = {name: getattr(model.parameters_, name) for name in PARAMETERS} | {"mu": model.posterior()}
        arrays |= {name: getattr(model.statistics_, name) for name in SUMS}
        if not np.array_equal(model.counted_, arrays["mu"]):
            arrays["counted"] = model.counted_
        if model.biases_ is not None:
            arrays |= {"user_bias": model.biases_.users[:-1], "item_bias": model.biases_.items[:-1]}
        return State(model.get_params(), facts, arrays)

    def assemble(self, model: "LBGModel", state: State, matrix: "RatingMatrix") -> None:
        """Parameters, statistics and the posteriors that the users are counted with: distributions, or all zero."""
        from lbg_recsys.core.em.parameters import Parameters
        from lbg_recsys.core.em.statistics import SufficientStatistics

        model.check_settings()
        facts, arrays = state.facts, state.arrays
        counted = arrays.get("counted", arrays["mu"])
        mass = counted.sum(axis=1)
        if (np.minimum(mass, np.abs(mass - 1.0)) > 1e-6).any():
            raise DataError("the array counted has rows that sum to neither one nor zero")
        origin, scale = _origin_of(facts, matrix), matrix.scale
        width = max(float(np.abs(scale.levels - origin).max()), scale.high - scale.low, scale.step)
        biases = _biases_of(facts, arrays, model.baseline)
        if biases is not None:
            check_far("user_bias", biases.users, width)
            check_far("item_bias", biases.items, width)
            check_far("overall", np.array(biases.overall - scale.low), width)
        check_tables(arrays, width, scale.rounding_variance)
        statistics = SufficientStatistics(facts["n_rows"], facts["evidence"], *(arrays[name] for name in SUMS))
        check_statistics(statistics, width)
        model.assemble(
            matrix,
            biases,
            origin,
            Parameters(*(arrays[name] for name in PARAMETERS)),
            statistics,
            posterior=arrays["mu"],
            counted=counted,
        )
        model.converged_, model.n_iter_ = facts["converged"], facts["n_iter"]
        model.lower_bound_, model.history_ = facts["lower_bound"], tuple(facts["history"])


def check_far(name: str, array: AnyArray, width: float) -> None:
    """Raise `DataError` where a number is further from zero than any number of ratings on a scale of this width."""
    if array.size and not float(np.abs(array).max()) <= _FARTHEST * width:
        raise DataError(f"the array {name} has values up to {np.abs(array).max():g}, and ratings reach {width:g}")


def check_tables(arrays: Mapping[str, AnyArray], width: float, least: float) -> None:
    """Raise `DataError` unless means and variances are of ratings that reach ``width``, with a least variance."""
    check_far("c", arrays["c"], width)
    var = arrays["var"]
    if not (var.min(initial=least) >= _LEAST * least and var.max(initial=0.0) <= (_FARTHEST * width) ** 2):
        raise DataError(f"the array var has values from {var.min():g} to {var.max():g}, and ratings reach {width:g}")


def check_statistics(statistics: "SufficientStatistics", width: float) -> None:
    """Raise `DataError` unless the sums are possible for their number of rows with entries of at most ``width``."""
    n_rows, far = statistics.n_rows, _FARTHEST * width
    if not 0 <= n_rows < _MOST_ROWS:
        raise DataError(f"the statistics are of {n_rows:g} users")
    slack = _ROUNDING * (1.0 + n_rows)
    most = n_rows + slack
    if not (statistics.mass.max(initial=0.0) <= most and statistics.count.max(initial=0.0) <= most):
        raise DataError(f"the statistics count more than their {n_rows:g} users")
    entries = statistics.count + slack
    first, second = np.abs(statistics.first), np.abs(statistics.second)
    if not ((first <= far * entries).all() and (second <= far**2 * entries).all()):
        raise DataError("the arrays first and second are not sums of as many ratings as the array count says")


def _origin_of(facts: dict[str, Any], matrix: "RatingMatrix") -> float:
    origin: float = facts["origin"] or 0.0  # None in files that were written before there was one
    if origin not in (0.0, matrix.scale.origin):
        raise DataError(f"the origin of the scale is {origin:g}, and must be 0 or {matrix.scale.origin:g}")
    return origin


def _biases_of(facts: dict[str, Any], arrays: dict[str, AnyArray], baseline: bool) -> "Biases | None":
    from lbg_recsys.ratings.biases import Biases

    if {baseline} != {name in arrays for name in ("user_bias", "item_bias")} | {facts["overall"] is not None}:
        raise DataError(f"baseline is {baseline}, and the biases do not agree with that")
    if not baseline:
        return None
    users, items = (np.append(arrays[name], 0.0) for name in ("user_bias", "item_bias"))
    return Biases(facts["overall"], users, items)
