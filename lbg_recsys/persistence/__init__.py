"""Model files: everything a fitted model needs to predict, in one file without pickle."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from lbg_recsys.errors import DataError, ModelFileError, NotFittedError, ParameterError
from lbg_recsys.files import atomic_write
from lbg_recsys.persistence import ratings
from lbg_recsys.persistence.container import FORMAT, read_container, write_container
from lbg_recsys.provenance import library_versions
from lbg_recsys.ratings.ids import RawId
from lbg_recsys.ratings.model import RatingModel
from lbg_recsys.schema import Schema, State, check_arrays, check_values, defaults_of, fits, signature_of

__all__ = ["FORMAT", "SUFFIX", "load", "save"]

SUFFIX = ".lbg"

# The classes that a file may name, and nothing else: a file never says what to import.
CLASSES = {
    "LBGModel": "lbg_recsys.ratings.lbg",
    "BayesianLBGModel": "lbg_recsys.ratings.bayesian.model",
    "GaussianPLSAModel": "lbg_recsys.ratings.plsa",
}

_HEADER = {"class": str, "parameters": dict, "facts": dict, "ratings": dict, "versions": dict}


def save(model: Any, path: str | os.PathLike[str], *, titles: Mapping[RawId, str] | None = None) -> Path:
    """Save a fitted model, or the model of a fitted Surprise algorithm of ours; the suffix is ``.lbg`` by custom.

    The file holds parameters, ratings, ids (integers and strings keep their type), the rating scale, the titles
    (those given, else those the model was loaded with) and how training went. It is written beside ``path`` and
    renamed, so that a kill at any moment leaves the old file or the new one. The same model gives the same bytes.

    >>> import lbg_recsys, tempfile
    >>> model = lbg_recsys.LBGModel(n_topics=1).fit((["ann", "bob"], [7, 7], [5, 3]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lbg_recsys.save(model, f"{folder}/model.lbg", titles={7: "Seven"})
    ...     again = lbg_recsys.load(path)
    >>> again.titles, bool((again.predict_batch([("ann", 7)]) == model.predict_batch([("ann", 7)])).all())
    ({7: 'Seven'}, True)
    """
    model = _rating_model(model)
    state: State = model.to_state()
    _refuse_changed(model, state)
    facts, entries = ratings.take_apart(model.matrix, model.titles if titles is None else titles)
    header = {
        "class": type(model).__name__,
        "parameters": state.parameters,
        "facts": state.facts,
        "ratings": facts,
        "versions": library_versions(),
    }
    with atomic_write(path) as stream:
        write_container(stream, header, entries | state.arrays)
    return Path(path)


def load(path: str | os.PathLike[str]) -> RatingModel:
    """Load what `save` saved: it predicts the same bits.

    Nothing in the file is trusted: keys, types, dtypes, shapes, ranges and sizes are checked before use, and no code
    runs from it. Anything amiss raises `ModelFileError`; a file that cannot be opened raises `OSError`.
    """
    header, arrays = read_container(path)
    try:
        return _put_together(header, arrays)
    except DataError as error:
        raise ModelFileError(f"{os.fspath(path)} is not a model file that can be used: {error}") from error


def _put_together(header: dict[str, Any], arrays: dict[str, Any]) -> RatingModel:
    check_values(header, _HEADER, "the header")
    if header["class"] not in CLASSES:
        raise DataError(
            f"it holds a {header['class'][:40]!r}; known are {', '.join(CLASSES)} "
            "(a newer lbg-recsys may know more: pip install --upgrade lbg-recsys)"
        )
    model_class = getattr(import_module(CLASSES[header["class"]]), header["class"])
    # A parameter that came after the file was written has its default, which does what was done without it.
    schema, parameters = model_class.STATE, defaults_of(model_class) | header["parameters"]
    check_values(parameters, signature_of(model_class), "the model's parameters")
    # ... and a fact is None, of a kind that may be
    facts = {name: None for name, kind in schema.facts.items() if fits(None, kind)} | header["facts"]
    check_values(facts, schema.facts, "the training summary")
    entries = {name: arrays.pop(name) for name in ratings.ARRAYS if name in arrays}
    matrix, titles = ratings.put_together(header["ratings"], entries)
    sizes = {"users": matrix.n_users, "items": matrix.n_items, "levels - 1": len(matrix.scale.levels) - 1}
    sizes |= {"users + 1": matrix.n_users + 1, "items + 1": matrix.n_items + 1}
    sizes |= {size: parameters[name] for size, name in schema.sizes.items()}
    check_arrays(arrays, schema.arrays, sizes)
    model: RatingModel = model_class.from_state(State(parameters, facts, arrays), matrix)
    model.titles, model.versions = titles, header["versions"]
    return model


def _refuse_changed(model: RatingModel, state: State) -> None:
    """A parameter that was set after the fit to what the fitted arrays do not go with: that file could not be loaded.

    To put a model together from what is in memory costs next to nothing.
    """
    schema: Schema = type(model).STATE  # type: ignore[attr-defined]
    lengths = {
        size: length
        for name, array in state.arrays.items()
        for size, length in zip(schema.arrays[name].shape, array.shape, strict=True)
    }
    for size, name in schema.sizes.items():
        value, fitted = state.parameters[name], lengths.get(size)
        if fitted is not None and value != fitted:
            raise ParameterError(
                f"{name} is {value!r}, and the model was fitted with {fitted}: fit it again or set {name} back to "
                f"{fitted}, then save it"
            )
    try:
        type(model).from_state(state, model.matrix)  # type: ignore[attr-defined]
    except DataError as error:
        raise ParameterError(
            f"the parameters are not those that the model was fitted with ({error}): fit it again or set them back, "
            "then save it"
        ) from error


def _rating_model(model: Any) -> RatingModel:
    inner = getattr(model, "model_", model)
    if not isinstance(inner, RatingModel):
        name = type(model).__name__
        if hasattr(model, "fit") and "lbg_recsys" in type(model).__module__ and hasattr(model, "estimate"):
            raise NotFittedError(
                f"{name} cannot be saved: fit it first (what has no model_, surprise.dump.dump saves)"
            )
        raise DataError(f"a {name} cannot be saved here: give a model of lbg_recsys, or use surprise.dump.dump")
    if type(inner).__name__ not in CLASSES:
        raise DataError(f"a {type(inner).__name__} has no model file: these have {', '.join(CLASSES)}")
    if not hasattr(inner, "matrix"):
        raise NotFittedError(f"this {type(inner).__name__} is not fitted: call fit before save")
    return inner
