"""A fitted `BayesianLBGModel` in a file: the kept sweeps of every orientation, as they are in memory.

The chains are kept only on request: a model without them predicts and folds in, and another ``fit``
starts again.
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.errors import DataError
from lbg_recsys.persistence import chains, features, times
from lbg_recsys.persistence.container import Container
from lbg_recsys.persistence.kind import Extras
from lbg_recsys.persistence.ratings import RatingFile
from lbg_recsys.persistence.schema import AnyArray, Array, Layout, State
from lbg_recsys.settings import AUTO

if TYPE_CHECKING:
    from lbg_recsys.core.gibbs.draws import Draws
    from lbg_recsys.ratings.bayesian import BayesianLBGModel
    from lbg_recsys.ratings.bayesian.kept import KeptOfUsers
    from lbg_recsys.ratings.matrix import RatingMatrix

_TINY = 1e-30  # the smallest precision that is accepted: nothing could be drawn with a precision of 0
_FAR = 1e12  # the largest class mean and cut point, in standard deviations: their squares are floats of any kind
# the fields of `Draws` that are the columns of the array ``scalars`` of a file
_SCALARS = ("row_tau", "col_tau", "noise_rate")
_SMALLEST = float(np.finfo(np.float16).smallest_subnormal)
# the arrays that older files do not have, the latest first: learned shapes of noise, features in factors, factors,
# times, features, own cuts
_FACTORS = ("row_factor", "col_factor", "row_push", "col_push", "factor_step", "factor_line", "factor_tau")
_LATER = (
    ("noise_shape",),
    ("row_factor_beta", "col_factor_beta"),
    _FACTORS,
    ("occasion", "occasion_step", "occasion_tau"),
    ("beta",),
    ("own_cuts", "cut_tau"),
)
# what every column has besides its classes: a constant, and how many ratings it has
_CONSTANT_AND_AMOUNT = 2
_RHAT_LIMIT = 1.1


def _arrays(side: str, other: str) -> dict[str, Array]:
    """The fields of `Draws` for one side; ``sweeps`` of one side need not be as many as those of the other."""
    sweeps, rows, cols = f"sweeps of {side}", f"{side} + 1", f"{other} + 1"
    shapes: dict[str, tuple[str, tuple[str, ...], float, float]] = {
        "z": ("i1", (rows, "components"), 0, 126),
        "c": ("i1", (cols, "components", "classes"), -127, 127),
        "c_step": ("f4", ("components",), 0, _FAR),
        "row_bias": ("f2", (rows,), -np.inf, np.inf),
        "col_bias": ("f2", (cols,), -np.inf, np.inf),
        "row_weight": ("f2", (rows,), _SMALLEST, np.inf),
        "col_weight": ("f2", (cols,), _SMALLEST, np.inf),
        "cuts": ("f4", ("levels - 1",), -_FAR, _FAR),
        "ordinal": ("?", (), 0, 1),
        "lam": ("f4", ("components", "classes"), 0, 1),
        "tau": ("f4", ("components",), _TINY, 1 / _TINY),
        "eta": ("f2", ("components", "classes", f"profile of {other}"), -np.inf, np.inf),
        "omega": ("f2", (f"profile of {other}",), -np.inf, np.inf),
        "beta": ("f2", (f"features of {side}",), -np.inf, np.inf),
        "share": ("f4", ("components", "classes"), 0, 1),
        "base": ("f4", ("components", "classes"), -1 / _TINY, 1 / _TINY),
        "scalars": ("f4", ("scalars",), _TINY, 1 / _TINY),
        "noise_shape": ("f4", ("users and items",), _TINY, 1 / _TINY),
        "own_cuts": ("f2", ("users + 1", "own cuts"), -np.inf, np.inf),
        "cut_tau": ("f4", ("own cuts",), _TINY, 1 / _TINY),
        "occasion": ("i1", ("occasions",), -127, 127),
        "occasion_step": ("f4", (), 0, _FAR),
        "occasion_tau": ("f4", ("kinds of occasions",), _TINY, 1 / _TINY),
        "row_factor": ("i1", (rows, "factors"), -127, 127),
        "col_factor": ("i1", (cols, "factors"), -127, 127),
        "row_push": ("i1", (cols, "factors"), -127, 127),
        "col_push": ("i1", (rows, "factors"), -127, 127),
        "factor_step": ("f4", ("factor steps", "factors"), 0, _FAR),
        "factor_line": ("f4", ("factor steps", "factors"), -_FAR, _FAR),
        "factor_tau": ("f4", ("rows and columns", "factors"), _TINY, 1 / _TINY),
        "row_factor_beta": ("f2", ("factors", f"features of {side}"), -np.inf, np.inf),
        "col_factor_beta": ("f2", ("factors", f"features of {other}"), -np.inf, np.inf),
    }
    return {
        f"{side}_{name}": Array(dtype, (sweeps, *shape), low, high, distribution=name == "lam", optional=True)
        for name, (dtype, shape, low, high) in shapes.items()
    }


# What is kept of users that are left out.
KEPT = {
    "averages": Array("f8", ("items", "levels"), low=0.0, distribution=True, optional=True),
    "grams": Array("f8", ("compared sweeps", "features of all", "features of all"), -_FAR, _FAR, optional=True),
    "evidence": Array("i1", ("sweeps of users", "items", "components", "classes - 1"), -127, 127, optional=True),
    "evidence_unit": Array("f4", ("sweeps of users", "components"), 0, _FAR, optional=True),
    "missed": Array("f8", ("numbers of the missed",), -_FAR, _FAR, optional=True),
}


class BayesianFile(RatingFile):
    """`BayesianLBGModel`: the kept sweeps, the seed, and how training went."""

    model = "lbg_recsys.ratings.bayesian.model:BayesianLBGModel"
    has_chains = True
    sizes: ClassVar[Mapping[str, str]] = {
        "components": "n_components",
        "classes": "n_classes",
        "factors": "n_factors",
    }
    facts: ClassVar[Mapping[str, Any]] = {
        "converged": bool,
        "training_error": list[float],
        "rhat": list[float | None],
        "monte_carlo_error": float | None,
        "seed": int | None,
        "size": list[int] | None,
        "chains": list[dict[str, Any]] | None,
        "features": dict[str, Any] | None,
        "occasions": list[int] | None,
    }
    arrays = _arrays("users", "items") | _arrays("items", "users")

    def about(self, header: Mapping[str, Any], file: Container) -> dict[str, Any]:
        """Facts about the ratings and the features."""
        return {**super().about(header, file), "features": features.summary(header["facts"]["features"])}

    def own_layout(self, parameters: Mapping[str, Any], header: Mapping[str, Any]) -> Layout:
        """The kept sweeps; there may be at most as many as the parameters allow."""
        parameters = {**parameters, **_size(parameters, header["facts"])}
        own, facts = super().own_layout(parameters, header), header["facts"]
        profile = parameters["n_components"] * parameters["n_classes"] + _CONSTANT_AND_AMOUNT
        known, width = features.layout(facts["features"])
        calendar, numbers = times.layout(facts["occasions"])
        most = parameters["max_kept"] * parameters["n_chains"] * 2  # chains of both likelihoods
        return Layout(
            {
                **own.arrays,
                **(KEPT if header["ratings"].get("crowd") else {}),
                **known,
                **calendar,
                **chains.layout(parameters, facts["chains"] or []),
            },
            {
                **own.sizes,
                **numbers,
                "scalars": len(_SCALARS),
                "numbers of the missed": 3,
                "features of all": parameters["n_components"] * parameters["n_classes"] + parameters["n_factors"],
                "factor steps": 4,
                "rows and columns": 2,
                "users and items": 2,
                "line": 2,
                **{f"features of {side}": width[side] for side in width},
                **{f"profile of {side}": profile + width[side] for side in width},
            },
            {"sweeps of users": most, "sweeps of items": most, "compared sweeps": 2 * most},
        )

    def _parameters(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """The constructor's arguments: before there were factors there were none."""
        return super()._parameters(header) | {"n_factors": header["parameters"].get("n_factors", 0)}

    def state_of(self, model: "BayesianLBGModel", extras: Extras) -> State:
        """All that makes a fitted model besides its matrix."""
        facts = {
            "converged": model.converged_,
            "training_error": model.training_error_,
            "seed": model.seed_,
            "size": list(model.size_),
        }
        error = model.monte_carlo_error_
        facts["monte_carlo_error"] = error if np.isfinite(error) else None  # JSON has no NaN
        facts["rhat"] = [float(one) if np.isfinite(one) else None for one in model.rhat_]
        arrays = {
            f"{side.value}_{name}": array
            for side, draws in model._draws.items()
            for name, array in _arrays_of(draws).items()
        }
        kept = None if model.matrix.left_out is None else model._kept_of_users()
        if kept is not None:
            arrays |= {"averages": kept.averages, "grams": kept.grams, "missed": np.array(kept.missed)}
            if kept.evidence is not None:
                arrays |= {"evidence": kept.evidence.steps, "evidence_unit": kept.evidence.unit}
        facts["features"], of_features = features.take_apart(model.features_)
        arrays |= of_features
        facts["occasions"], of_times = times.take_apart(model.calendar_)
        arrays |= of_times
        facts["chains"] = None
        if extras.chains:
            facts["chains"], of_chains = chains.take_apart(model)
            arrays |= of_chains
        return State(model.get_params(), facts, arrays)

    def assemble(self, model: "BayesianLBGModel", state: State, matrix: "RatingMatrix") -> None:
        """The kept sweeps of the sides that the model has, and how training went."""
        from lbg_recsys.ratings.bayesian.size import Size
        from lbg_recsys.ratings.bayesian.training import ORIENTATIONS

        model.check_settings()
        if (state.facts["seed"] or 0) < 0:
            raise DataError(f"the seed is {state.facts['seed']}, and it must be at least 0")
        kept = {name: array for name, array in state.arrays.items() if name in self.arrays}
        # older files have sweeps of ratings that are all equal; ratings that are left out had sweeps
        sampled = bool(kept) or matrix.left_out is not None or not matrix.is_constant
        sides = ORIENTATIONS[model.orientation] if sampled and len(matrix.scale.levels) > 1 else ()
        known = features.put_together(state.facts["features"], state.arrays)
        draws, size = _draws_of(kept, sides), Size(**_size(model.get_params(), state.facts))
        model.assemble(matrix, draws, state.facts["seed"], size, known, _kept_of(state.arrays, matrix, draws))
        model.calendar_ = times.put_together(state.facts["occasions"], state.arrays, matrix)
        model.converged_, model.training_error_ = state.facts["converged"], state.facts["training_error"]
        model.interrupted_ = False
        model.rhat_ = np.array(state.facts["rhat"], dtype=np.float64)
        error = state.facts["monte_carlo_error"]
        model.monte_carlo_error_ = math.nan if error is None else error
        if state.facts["chains"] is not None:
            model._training = chains.put_together(model, state.facts["chains"], state.arrays)

    def summary(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """How training went, as `BayesianLBGModel` says it."""
        rhat = [one for one in facts["rhat"] if one is not None]  # None: the traces were too short to compute it
        return {
            "converged": facts["converged"],
            "n_sweeps": len(facts["training_error"]),
            "monte_carlo_error": math.nan if facts["monte_carlo_error"] is None else facts["monte_carlo_error"],
            "rhat_median": float(np.median(rhat)) if rhat else math.nan,
            "rhat_share": sum(one > _RHAT_LIMIT for one in rhat) / len(rhat) if rhat else math.nan,
        }


def _kept_of(arrays: dict[str, AnyArray], matrix: "RatingMatrix", draws: "dict[Side, Draws]") -> "KeptOfUsers | None":
    """What is kept of users that are left out; `DataError` if the draws need more or other arrays."""
    from lbg_recsys.core.missing import MissedShare
    from lbg_recsys.ratings.bayesian.item_rates import Evidence
    from lbg_recsys.ratings.bayesian.kept import KeptOfUsers
    from lbg_recsys.ratings.bayesian.some_sweeps import SomeSweeps
    from lbg_recsys.ratings.bayesian.tastes import n_compared

    needed: set[str] = set()
    if matrix.left_out is not None and draws:
        needed = {"averages", "grams", "missed"} | ({"evidence", "evidence_unit"} if Side.USERS in draws else set())
    found = {name: array for name, array in arrays.items() if name in KEPT}
    if set(found) != needed:
        raise DataError(
            f"there are {len(found)} arrays about the users that are left out where {len(needed)} are needed"
        )
    if not needed:
        return None
    compared = n_compared(SomeSweeps(draws))
    if len(found["grams"]) != compared:
        raise DataError(f"items are compared in {len(found['grams'])} sweeps where {compared} are needed")
    evidence = Evidence(found["evidence"], found["evidence_unit"]) if "evidence" in found else None
    return KeptOfUsers(found["averages"], found["grams"], evidence, MissedShare(*found["missed"].tolist()))


def _size(parameters: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, int]:
    """The sizes by the names of the parameters: those that are given, and where one is "auto" that of the fit."""
    names = ("n_components", "n_classes", "n_factors")
    found = facts["size"] or [AUTO] * len(names)
    if len(found) != len(names):
        raise DataError(f"there are {len(found)} sizes where {len(names)} are needed")
    size = {
        name: fitted if parameters[name] == AUTO else parameters[name]
        for name, fitted in zip(names, found, strict=True)
    }
    for name, value in size.items():
        if not isinstance(value, int) or value < 0:
            raise DataError(f"{name} is {value!r:.40}, which is not a size")
    return size


def _arrays_of(draws: "Draws") -> dict[str, AnyArray]:
    """The arrays of one side by their names in a file, without the prefix."""
    scalars = np.column_stack([getattr(draws, name) for name in _SCALARS])
    return {name: array for name, array in vars(draws).items() if name not in _SCALARS} | {"scalars": scalars}


def _draws_of(arrays: dict[str, AnyArray], sides: tuple[Side, ...]) -> "dict[Side, Draws]":
    """The kept sweeps of some sides; ``arrays`` have been checked with the layout, and the rest is checked here."""
    from lbg_recsys.core.gibbs.draws import Draws
    from lbg_recsys.core.gibbs.noise_shapes import USUAL_SHAPE

    names = {*(field.name for field in fields(Draws)), "scalars"} - {*_SCALARS}
    needed = {f"{side.value}_{name}" for side in sides for name in names}
    allowed = [needed]
    for later in _LATER:
        allowed.append(allowed[-1] - {f"{side.value}_{name}" for side in sides for name in later})
    if set(arrays) not in allowed:
        raise DataError(f"there are {len(arrays)} arrays of kept sweeps where {len(needed)} are needed")
    draws = {}
    for side in sides:
        prefix = f"{side.value}_"
        found = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        with_users, _ = side.rows_and_columns("z", "c")
        kept, users = found[with_users].shape[:2]
        found.setdefault("noise_shape", np.full((kept, 2), USUAL_SHAPE, np.float32))
        found.setdefault("own_cuts", np.empty((kept, users, 0), np.float16))
        found.setdefault("cut_tau", np.empty((kept, 0), np.float32))
        found.setdefault("occasion", np.empty((kept, 0), np.int8))
        found.setdefault("occasion_step", np.ones(kept, np.float32))
        found.setdefault("occasion_tau", np.empty((kept, 0), np.float32))
        found.setdefault("beta", np.empty((kept, 0), np.float16))
        rows, cols = found["z"].shape[1], found["c"].shape[1]
        for name, n in (("row_factor", rows), ("col_factor", cols), ("row_push", cols), ("col_push", rows)):
            found.setdefault(name, np.empty((kept, n, 0), np.int8))
        for name, n in (("factor_step", 4), ("factor_line", 4), ("factor_tau", 2)):
            found.setdefault(name, np.empty((kept, n, 0), np.float32))
        # in the fits of older files features had no part in the factors
        n_factors, n_classes = found["factor_tau"].shape[2], found["share"].shape[1] * found["share"].shape[2]
        of_columns = found["omega"].shape[1] - n_classes - _CONSTANT_AND_AMOUNT
        for name, n in (("row_factor_beta", found["beta"].shape[1]), ("col_factor_beta", of_columns)):
            found.setdefault(name, np.zeros((kept, n_factors, n), np.float16))
        scalars = np.ascontiguousarray(found.pop("scalars").T)  # contiguous as after a fit: kernels compile once
        draws[side] = _checked(Draws(**found, **dict(zip(_SCALARS, scalars, strict=True))))
    return draws


def _checked(draws: "Draws") -> "Draws":
    n_classes = draws.lam.shape[2]
    if not len(draws):
        raise DataError("there are no kept sweeps")
    if draws.z.max() >= n_classes:
        raise DataError(f"a class is {draws.z.max()} where there are {n_classes} (counted from 0)")
    if draws.own_cuts.shape[2] not in (0, draws.cuts.shape[1]):
        raise DataError(f"users have {draws.own_cuts.shape[2]} cut points of their own, not {draws.cuts.shape[1]}")
    if (np.diff(draws.cuts, axis=1) < 0).any() or (np.diff(draws.own_cuts, axis=2) < 0).any():
        raise DataError("the cut points between levels do not ascend")
    return draws
