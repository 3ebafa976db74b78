"""Bayesian LBG in a model file: the kept sweeps of every orientation, as they are in memory.

The chains themselves are not kept: a loaded model predicts and folds in, and another ``fit`` starts again.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from lbg_recsys.core.gibbs.chain import column_features
from lbg_recsys.core.gibbs.draws import SMALLEST, Draws
from lbg_recsys.errors import DataError
from lbg_recsys.schema import AnyArray, Array, Schema

# the prefix of a side's arrays, by whether users are the rows
SIDES = {True: "users", False: "items"}
_TINY = 1e-30  # precisions, without any of which nothing could be drawn
_FIELDS = tuple(field.name for field in fields(Draws))
# what files of the first version do not have: there everybody used the scale alike
_LATER = ("own_cuts", "cut_tau")


def _arrays(side: str, other: str) -> dict[str, Array]:
    """The fields of `Draws` for one side; ``sweeps`` of one side need not be as many as those of the other."""
    sweeps, rows, cols = f"sweeps of {side}", f"{side} + 1", f"{other} + 1"
    shapes: dict[str, tuple[str, tuple[str, ...], float, float]] = {
        "z": ("i1", (rows, "components"), 0, 126),
        "c": ("i1", (cols, "components", "classes"), -127, 127),
        "c_step": ("f4", ("components",), 0, np.inf),
        "row_bias": ("f2", (rows,), -np.inf, np.inf),
        "col_bias": ("f2", (cols,), -np.inf, np.inf),
        "row_weight": ("f2", (rows,), SMALLEST, np.inf),
        "col_weight": ("f2", (cols,), SMALLEST, np.inf),
        "cuts": ("f4", ("levels - 1",), -np.inf, np.inf),
        "ordinal": ("?", (), 0, 1),
        "lam": ("f4", ("components", "classes"), 0, 1),
        "tau": ("f4", ("components",), _TINY, np.inf),
        "eta": ("f2", ("components", "classes", "profile"), -np.inf, np.inf),
        "omega": ("f2", ("profile",), -np.inf, np.inf),
        "share": ("f4", ("components", "classes"), 0, 1),
        "base": ("f4", ("components", "classes"), -np.inf, np.inf),
        "scalars": ("f4", ("three",), _TINY, np.inf),
        "own_cuts": ("f2", ("users + 1", "own cuts"), -np.inf, np.inf),
        "cut_tau": ("f4", ("own cuts",), _TINY, np.inf),
    }
    return {
        f"{side}_{name}": Array(dtype, (sweeps, *shape), low, high, distribution=name == "lam", optional=True)
        for name, (dtype, shape, low, high) in shapes.items()
    }


STATE = Schema(
    sizes={"components": "n_components", "classes": "n_classes"},
    facts={"converged": bool, "training_error": list[float], "rhat": list[float | None], "seed": int | None},
    arrays=_arrays("users", "items") | _arrays("items", "users"),
)


def arrays_of(draws: dict[bool, Draws]) -> dict[str, AnyArray]:
    """The kept sweeps of all sides, by name."""
    return {
        f"{SIDES[side]}_{field.name}": getattr(one, field.name)
        for side, one in draws.items()
        for field in fields(Draws)
    }


def draws_of(arrays: dict[str, AnyArray], sides: tuple[bool, ...]) -> dict[bool, Draws]:
    """The kept sweeps of these sides; arrays are as `STATE` says, and here the rest is checked."""
    names = {f"{SIDES[side]}_{name}" for side in sides for name in _FIELDS}
    later = {f"{SIDES[side]}_{name}" for side in sides for name in _LATER}
    if set(arrays) not in (names, names - later):
        raise DataError(f"there are {len(arrays)} arrays of kept sweeps where {len(names)} are needed")
    return {side: _checked(_draws_of_side(arrays, side)) for side in sides}


def _draws_of_side(arrays: dict[str, AnyArray], side: bool) -> Draws:
    found = {name: arrays[f"{SIDES[side]}_{name}"] for name in _FIELDS if f"{SIDES[side]}_{name}" in arrays}
    kept, users = len(found["z"]), found["z" if side else "c"].shape[1]
    found.setdefault("own_cuts", np.empty((kept, users, 0), np.float16))
    found.setdefault("cut_tau", np.empty((kept, 0), np.float32))
    return Draws(**found)


def _checked(draws: Draws) -> Draws:
    n_sweeps, n_components, n_classes = draws.lam.shape
    profile = n_components * n_classes + column_features(np.zeros(1), np.zeros(1)).shape[1]
    if not n_sweeps or draws.omega.shape[1] != profile or draws.scalars.shape[1] != 3:
        raise DataError(f"{n_sweeps} kept sweeps with profiles of {draws.omega.shape[1]}, not {profile}, numbers")
    if draws.z.max() >= n_classes:
        raise DataError(f"a class is {draws.z.max()} where there are {n_classes} (counted from 0)")
    if draws.own_cuts.shape[2] not in (0, draws.cuts.shape[1]):
        raise DataError(f"users have {draws.own_cuts.shape[2]} cut points of their own, not {draws.cuts.shape[1]}")
    if (np.diff(draws.cuts, axis=1) < 0).any() or (np.diff(draws.own_cuts, axis=2) < 0).any():
        raise DataError("the cut points between levels do not ascend")
    return draws


def plain_rhat(rhat: Any) -> list[float | None]:
    """R-hat for JSON, which has no NaN."""
    return [float(one) if np.isfinite(one) else None for one in rhat]
