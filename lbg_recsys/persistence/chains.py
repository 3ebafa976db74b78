"""The Markov chains of a `BayesianLBGModel` in a file: what a further ``fit`` with ``warm_start=True`` continues.

Whatever follows from the ratings and the seed (the traced pairs, the counts of classes) is not kept: the chains are
begun again as the fit began them, and then given their state.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lbg_recsys.errors import DataError, ParameterError
from lbg_recsys.persistence.schema import AnyArray, Array, check_values

if TYPE_CHECKING:
    from lbg_recsys.core.gibbs.chain import Chain
    from lbg_recsys.core.gibbs.chains import Run
    from lbg_recsys.core.gibbs.features import Regressions
    from lbg_recsys.ratings.bayesian import BayesianLBGModel
    from lbg_recsys.ratings.bayesian.training import Training

_TINY = 1e-30
# The largest cut point and trace, in standard deviations of the ratings: levels are at most 1e9 from their mean.
_FAR = 1e12
# The largest bias and coefficient, and the largest residual of a rating: kept sweeps are in half precision, which
# holds numbers up to 65504. A standardised rating is at most the root of the number of ratings.
_NEAR = 6e4
# The largest precision of a prior. It is drawn from Gamma(1/2 + n/2, 1/200 + half a sum of squares), so it is 100 n
# at most, for n below 10^10 numbers.
_PRECISE = 1e15
# The largest noise precision, and the largest squared residual times the noise precisions of its row and column. Both
# precisions are drawn given the residuals: the product is around 1, and sums of 10^8 such numbers must be finite.
_QUIET, _MISFIT = 1e24, 1e30
_MOST_SWEEPS = 2**48
_LARGEST = 2**128
_FACTS = {
    "sweeps": int,
    "row_tau": float,
    "col_tau": float,
    "noise_rate": float,
    "noise_shapes": list[float] | None,
    "stride": int,
    "met": int,
    "kept": int,
    "errors": list[float],
    "rng": list[int],
}
_PRECISIONS = ("row_tau", "col_tau", "noise_rate")
_STATE = (
    *("z", "c", "lam", "tau", "eta", "omega", "row_bias", "col_bias", "row_weight", "col_weight"),
    *("eta_shrinkage", "omega_shrinkage"),
)
# the arrays that files of chains without features may lack
_OF_FEATURES = ("eta_shrinkage", "omega_shrinkage", "beta", "kappa")


# what a chain holds of the factors of a side; files of chains without factors may lack them
_OF_FACTORS = ("value", "push", "line", "precision", "push_precision")
# and of their regressions on features
_OF_FACTOR_FEATURES = ("factor_beta", "factor_kappa")


def _factor_arrays(side: str, own: str, partners: str) -> dict[str, Array]:
    shapes = ((own, "factors"), (partners, "factors"), ("line", "factors"), ("factors",), ("factors",))
    bounds = (*[(-_NEAR, _NEAR)] * 3, *[(_TINY, _PRECISE)] * 2)
    return {
        f"{side}_{name}": Array("f4", shape, *ends, optional=True)
        for name, shape, ends in zip(_OF_FACTORS, shapes, bounds, strict=True)
    } | {
        f"{side}_factor_beta": Array("f4", ("factors", f"features of {own}"), -_NEAR, _NEAR, optional=True),
        f"{side}_factor_kappa": Array("f8", (f"features of {own}",), _TINY, _PRECISE, optional=True),
    }


def _arrays(prefix: str, rows: str, cols: str) -> dict[str, Array]:
    arrays = {
        "z": Array("i1", (rows, "components"), 0, 126),
        "c": Array("f4", ("components", "classes", cols), -_NEAR, _NEAR),
        "lam": Array("f8", ("components", "classes"), 0, 1, distribution=True),
        "tau": Array("f8", ("components",), _TINY, _PRECISE),
        "eta": Array("f4", ("components", "classes", f"profile of {cols}"), -_NEAR, _NEAR),
        "omega": Array("f4", (f"profile of {cols}",), -_NEAR, _NEAR),
        "eta_shrinkage": Array("f8", (f"profile of {cols}",), _TINY, _PRECISE, optional=True),
        "omega_shrinkage": Array("f8", (f"profile of {cols}",), _TINY, _PRECISE, optional=True),
        "beta": Array("f4", (f"features of {rows}",), -_NEAR, _NEAR, optional=True),
        "kappa": Array("f8", (f"features of {rows}",), _TINY, _PRECISE, optional=True),
        "row_bias": Array("f4", (rows,), -_NEAR, _NEAR),
        "col_bias": Array("f4", (cols,), -_NEAR, _NEAR),
        "row_weight": Array("f4", (rows,), _TINY, _QUIET),
        "col_weight": Array("f4", (cols,), _TINY, _QUIET),
        "cuts": Array("f8", ("levels - 1",), -_FAR, _FAR),
        "matched": Array("f8", ("levels - 1",), -_FAR, _FAR),
        "own_cuts": Array("f4", ("levels + 1", f"{prefix}owners"), -_FAR, _FAR),
        "cut_tau": Array("f8", ("levels + 1",), _TINY, _PRECISE),
        "utility": Array("f4", ("ratings",), -_NEAR, _NEAR, optional=True),
        "trace": Array("f4", (f"{prefix}traces", "traced"), -_FAR, _FAR),
        **_factor_arrays("row", rows, cols),
        **_factor_arrays("col", cols, rows),
    }
    return {prefix + name: array for name, array in arrays.items()}


def layout(parameters: Mapping[str, Any], facts: list[Any]) -> dict[str, Array]:
    """The arrays of these numbers of chains: those with users as rows come first."""
    orientation = parameters["orientation"]
    n_users = {"users": len(facts), "items": 0}.get(orientation, len(facts) // 2)
    arrays: dict[str, Array] = {}
    for number in range(len(facts)):
        arrays |= _arrays(f"chain{number}_", *(("users", "items") if number < n_users else ("items", "users")))
    return arrays


def take_apart(model: "BayesianLBGModel") -> tuple[list[dict[str, Any]], dict[str, AnyArray]]:
    """Facts and arrays of the chains of a model, if it has any that agree with its parameters."""
    training = model._training
    if training is None:
        raise ParameterError(
            "chains=True, but this model has no chains: it was loaded from a file that was saved without them; fit "
            "it again or leave chains out"
        )
    if training.times is not None:
        raise ParameterError("chains=True, but chains of a fit with times cannot be saved: leave chains out")
    if not training.serves(model.get_params(), model.matrix, model.features_):
        raise ParameterError(
            "chains=True, but a parameter that the chains were made with was changed after the fit: set it back, fit "
            "again, or leave chains out"
        )
    facts: list[dict[str, Any]] = []
    arrays: dict[str, AnyArray] = {}
    for number, run in enumerate(training.runs):
        chain, prefix = run.chain, f"chain{number}_"
        generator: dict[str, Any] = dict(chain.rng.bit_generator.state)
        state = generator["state"]
        facts.append(
            {
                "sweeps": chain.sweeps,
                **{name: float(getattr(chain, name)) for name in _PRECISIONS},
                "noise_shapes": [chain.user_noise_shape, chain.item_noise_shape],
                "stride": run.stride,
                "met": run._met,
                "kept": run.n_gathered,
                "errors": run.errors,
                "rng": [state["state"], state["inc"], generator["has_uint32"], generator["uinteger"]],
            }
        )
        own = {name: getattr(chain, name) for name in (*_STATE, "own_cuts", "cut_tau")}
        own |= {"cuts": chain.cuts[1:-1], "matched": run._cuts[1:-1]}
        own |= {"beta": chain.row_features.beta[0], "kappa": chain.row_features.kappa}
        for side, factors in (("row", chain.row_factors), ("col", chain.col_factors)):
            own |= {f"{side}_{name}": array for name, array in zip(_OF_FACTORS, factors.drawn, strict=True)}
        for side, known in _factor_features(chain).items():
            own |= dict(
                zip((f"{side}_{name}" for name in _OF_FACTOR_FEATURES), (known.beta, known.kappa), strict=True)
            )
        own["trace"] = np.array(run.trace, np.float32).reshape(len(run.trace), len(run.rows))
        if chain.settings.ordinal:
            own["utility"] = chain.utility
        arrays |= {prefix + name: array for name, array in own.items()}
    return facts, arrays


def _factor_features(chain: "Chain") -> "dict[str, Regressions]":
    return {"row": chain.row_factor_features, "col": chain.col_factor_features}


def put_together(model: "BayesianLBGModel", facts: list[Any], arrays: Mapping[str, AnyArray]) -> "Training":
    """The chains of an assembled model; `DataError` where they are not chains of it."""
    from lbg_recsys.ratings.bayesian.training import LIKELIHOODS, ORIENTATIONS, Training

    if model.matrix.left_out is not None:
        raise DataError("there are chains, but not the ratings that they were fitted to")
    n_chains = len(ORIENTATIONS[model.orientation]) * len(LIKELIHOODS[model.likelihood]) * model.n_chains
    if len(facts) != (0 if model.matrix.is_constant else n_chains):
        raise DataError(f"there are {len(facts)} chains where {n_chains} are needed")
    for number, one in enumerate(facts):
        one.setdefault("noise_shapes", None)  # older files lack them
        check_values(one, _FACTS, f"chain {number}")
    training = Training({**model.get_params(), "random_state": model.seed_}, model.matrix, model.features_)
    training.made_of["random_state"] = model.random_state
    for number, (run, one) in enumerate(zip(training.begin(), facts, strict=True)):
        prefix = f"chain{number}_"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        _set(run, one, own, f"chain {number}")
        run.chain.rest()
    for side, draws in model._draws.items():
        kept = sum(run.n_gathered for run in training._sides()[side])
        if kept != len(draws):
            raise DataError(f"the chains have kept {kept} sweeps, not {len(draws)}")
    return training


def _set(run: "Run", facts: Mapping[str, Any], arrays: dict[str, AnyArray], what: str) -> None:
    chain = run.chain
    if ("utility" in arrays) != chain.settings.ordinal or arrays["trace"].shape[1] != len(run.rows):
        raise DataError(f"{what} is not of the kind that the parameters say")
    if arrays["z"].max() >= chain.settings.n_classes or arrays["own_cuts"].shape != chain.own_cuts.shape:
        raise DataError(f"{what} has a class or a user that does not exist")
    for name in ("cuts", "matched"):
        if (np.diff(arrays[name]) < 0).any():
            raise DataError(f"{what}: the cut points between levels do not ascend")
    if not all(_TINY <= facts[name] <= 1 / _TINY for name in _PRECISIONS) or not 1 <= facts["stride"] < _MOST_SWEEPS:
        raise DataError(f"{what} has an impossible precision or stride")
    shapes = facts["noise_shapes"] or [chain.user_noise_shape, chain.item_noise_shape]
    if len(shapes) != 2 or not all(_TINY <= shape <= 1 / _TINY for shape in shapes):
        raise DataError(f"{what} has impossible shapes of noise")
    if not 0 <= facts["kept"] <= run.most or not all(0 <= facts[name] < _MOST_SWEEPS for name in ("met", "sweeps")):
        raise DataError(f"{what} counts its sweeps wrongly")
    if not all(0 <= error <= _FAR for error in facts["errors"]):
        raise DataError(f"{what} has an impossible training error")
    known = chain.row_features
    if known.design.width + chain.col_design.width and not set(_OF_FEATURES) <= set(arrays):
        raise DataError(f"{what} lacks the coefficients of features")
    for name in (*_STATE, "own_cuts", "cut_tau", *(("utility",) if chain.settings.ordinal else ())):
        if name in arrays:  # a sweep writes into them: they are not the model's that is saved
            setattr(chain, name, np.array(arrays[name]))
    if "beta" in arrays and "kappa" in arrays:
        known.beta, known.kappa = np.array(arrays["beta"])[np.newaxis], np.array(arrays["kappa"])
    for side, regression in _factor_features(chain).items():
        beta, kappa = (f"{side}_{name}" for name in _OF_FACTOR_FEATURES)
        if beta in arrays and kappa in arrays:  # older files lack them: these chains continue from zero
            regression.beta, regression.kappa = np.array(arrays[beta]), np.array(arrays[kappa])
    for side, factors in (("row", chain.row_factors), ("col", chain.col_factors)):
        names = [f"{side}_{name}" for name in _OF_FACTORS]
        if chain.settings.n_factors and not set(names) <= set(arrays):
            raise DataError(f"{what} lacks its factors")
        for name, array in zip(names, factors.drawn, strict=True):
            if name in arrays:
                array[:] = arrays[name]
    for name in ("sweeps", *_PRECISIONS):
        setattr(chain, name, facts[name])
    chain.user_noise_shape, chain.item_noise_shape = shapes
    chain.cuts[1:-1], run._cuts[1:-1] = arrays["cuts"], arrays["matched"]
    _check_fit(chain, what)
    run.stride, run._met, run.n_gathered = facts["stride"], facts["met"], facts["kept"]
    run.trace, run.errors = list(arrays["trace"]), list(facts["errors"])
    chain.rng.bit_generator.state = _generator(facts["rng"], what)


def _check_fit(chain: "Chain", what: str) -> None:
    """Raise `DataError` if the numbers do not agree with each other: the next sweep could overflow."""
    ratings = chain.utility if chain.settings.ordinal else chain.entries.values
    largest = [_largest(one) for one in (ratings, chain.row_bias, chain.col_bias, *chain.c)]
    if chain.settings.n_factors:
        sides = (max(map(_largest, own.drawn[:3])) for own in (chain.row_factors, chain.col_factors))
        largest.append(chain.settings.n_factors * math.prod(sides))
    reach = sum(largest)
    if not reach <= _NEAR:
        raise DataError(f"{what} has residuals of up to {reach:g} standard deviations, beyond {_NEAR:g}")
    if not reach**2 * _largest(chain.row_weight) * _largest(chain.col_weight) <= _MISFIT:
        raise DataError(f"{what} has noise precisions that do not agree with its residuals")
    if chain.settings.ordinal:
        # the cut points around each rating: its utility is drawn between them
        low, high = (chain.cuts[chain.level + i] + chain.own_cuts[chain.level + i, chain.owner] for i in (0, 1))
        if not (low.max() <= _NEAR and high.min() >= -_NEAR):
            raise DataError(f"{what} has ratings beyond cut points that are out of reach")


def _largest(array: AnyArray) -> float:
    return float(np.abs(array).max(initial=0.0))


def _generator(numbers: list[int], what: str) -> dict[str, Any]:
    """The state of NumPy's PCG64, of four plain integers."""
    limits = (_LARGEST, _LARGEST, 2, 2**32)
    if len(numbers) != 4 or not all(0 <= one < limit for one, limit in zip(numbers, limits, strict=True)):
        raise DataError(f"{what} has no state of a random generator")
    state, increment, has_half, half = numbers
    if increment % 2 == 0:
        raise DataError(f"{what} has a random generator with an even increment")
    return {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": increment},
        "has_uint32": has_half,
        "uinteger": half,
    }
