"""Text estimators in a file, described by their fitted attributes.

An estimator inside another, an argument or a fitted attribute, is a record of its class, parameters and facts in the
header; the names of its arrays begin with the name of the attribute that holds it.
"""

import math
from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from lbg_recsys.errors import DataError, NotFittedError, ParameterError
from lbg_recsys.persistence import words
from lbg_recsys.persistence.container import Container
from lbg_recsys.persistence.kind import CLASSES, Extras, Kind, kind_of, with_later_facts
from lbg_recsys.persistence.schema import AnyArray, Array, Layout, check_values
from lbg_recsys.schema import defaults_of, fits
from lbg_recsys.words import an, class_of

# Parameters become array sizes and floating-point numbers, which cannot represent larger integers.
_LARGEST = 2**63
_RECORD = {"class": str, "parameters": dict, "facts": dict | None}
_LABELS = {"kind": str, "values": list}
# The types of labels: what they are in Python, and the dtypes that an array of them may have.
_KINDS: dict[str, type] = {"str": str, "object": str, "bool": bool, "int64": int, "int32": int, "float64": float}
# Meta-estimators hold estimators, which hold none.
_DEEPEST = 2

# What every fitted text estimator has.
COMMON = {"n_features_in_": int, "feature_names_in_": list[str] | None}
FITTED = COMMON | {"lower_bound_": float, "n_iter_": int, "converged_": bool, "history_": list[float]}


class EstimatorFile(Kind, ABC):
    """A text estimator in a file. To add a fitted attribute, name it in one of these mappings.

    Attributes
    ----------
    facts : mapping
        Attributes that are plain values, by type. ``a.b`` is the field ``b`` of the dataclass that ``a`` is.
    arrays : mapping
        Attributes that are arrays. Sizes: "words", those of ``sizes``, and any other name.
    groups : mapping
        The dataclasses of attributes whose fields are facts or arrays, as ``module:class``.
    parts : mapping
        Attributes that are a fitted estimator (True) or a list of them (False).
    labels : tuple
        Attributes that are arrays of class labels: strings, integers, floats or booleans.
    """

    section = "words"
    arrays: ClassVar[Mapping[str, Array]] = {}
    groups: ClassVar[Mapping[str, str]] = {}
    parts: ClassVar[Mapping[str, bool]] = {}
    labels: ClassVar[tuple[str, ...]] = ()

    def check(self, estimator: Any) -> None:
        """Raise `DataError` where the attributes of an estimator that was put together do not agree."""

    # -- out of a model ------------------------------------------------------------------------------------------

    def check_fitted(self, model: Any) -> None:
        """Raise `NotFittedError` unless the estimator is fitted."""
        if not hasattr(model, "n_features_in_"):
            raise NotFittedError(f"this {type(model).__name__} is not fitted: call fit before save")

    def take_apart(self, model: Any, extras: Extras) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The header and the arrays of a fitted estimator and its words."""
        if extras.titles is not None or extras.chains or not extras.ratings:
            raise ParameterError(f"titles, chains and ratings are for rating models, and this is {class_of(model)}")
        vectorizer, vocabulary = extras.vectorizer, extras.vocabulary
        if vectorizer is None and vocabulary is None:  # those that it was loaded with
            vectorizer = getattr(model, "vectorizer_", None)
            vocabulary = getattr(model, "vocabulary_", None) if vectorizer is None else None
        section, arrays = words.take_apart(vectorizer, vocabulary, model.n_features_in_)
        record, own = self.record_of(model)
        return {"parameters": record["parameters"], "facts": record["facts"], "words": section}, arrays | own

    def record_of(self, model: Any, prefix: str = "") -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """The record of a fitted estimator, and its arrays."""
        facts = {name: _attribute(model, name) for name in self._plain()}
        facts |= {name: _labels_taken_apart(getattr(model, name)) for name in self.labels}
        if facts["feature_names_in_"] is not None:
            facts["feature_names_in_"] = list(facts["feature_names_in_"])
        arrays = {prefix + name: np.asarray(attrgetter(name)(model)) for name in self.arrays}
        for name, single in self.parts.items():
            records = []
            for number, part in enumerate([getattr(model, name)] if single else getattr(model, name)):
                record, own = _kind_inside(part).record_of(part, f"{prefix}{name}.{number}.")
                records.append(record)
                arrays |= own
            facts[name] = records
        parameters = {name: _plain(value, name) for name, value in model.get_params(deep=False).items()}
        return {"class": type(model).__name__, "parameters": parameters, "facts": facts}, arrays

    # -- into a model --------------------------------------------------------------------------------------------

    def check_section(self, section: Any) -> None:
        """Raise `DataError` unless vocabulary and vectorizer are as they must be."""
        words.check(section)

    def layout(self, header: Mapping[str, Any]) -> Layout:
        """The arrays of the words and of the estimator with all that are in it."""
        n_words = header["facts"]["n_features_in_"]
        vocabulary = header["words"]["vocabulary"]
        if n_words < 1 or (vocabulary is not None and len(vocabulary) != n_words):
            raise DataError(f"the model has {n_words} words, which is not what its vocabulary says")
        arrays, sizes = dict(words.ARRAYS), {"words": n_words}
        self._add_layout(header, "", arrays, sizes)
        return Layout(arrays, sizes)

    def _add_layout(
        self, record: Mapping[str, Any], prefix: str, arrays: dict[str, Array], sizes: dict[str, int]
    ) -> None:
        """Add the arrays of a record. Sizes of an estimator inside another begin with its prefix, but for "words"."""
        facts, parameters = with_later_facts(self.facts, record["facts"]), self._parameters(record)
        check_values(facts, self.facts, "the training summary")
        if facts["n_features_in_"] != sizes["words"]:
            raise DataError(f"an estimator has {facts['n_features_in_']} words, not {sizes['words']}")
        names = facts["feature_names_in_"]
        if names is not None and len(names) != sizes["words"]:
            raise DataError(f"there are {len(names)} names of {sizes['words']} words")
        for size, name in self.sizes.items():
            if not fits(parameters[name], int):
                raise DataError(f"{name} is {str(parameters[name])[:40]!r}, not int")
            sizes[prefix + size] = parameters[name]
        for name, array in self.arrays.items():
            shape = tuple(size if size == "words" else prefix + size for size in array.shape)
            arrays[prefix + name] = replace(array, shape=shape)
        for name, number, part in self._records(facts, prefix):
            _kind_named(part["class"])._add_layout(part, f"{prefix}{name}.{number}.", arrays, sizes)

    def put_together(self, header: Mapping[str, Any], arrays: dict[str, AnyArray]) -> Any:
        """The estimator; ``vectorizer_`` and ``vocabulary_`` are what it was saved with, or None."""
        vectorizer = words.put_together(header["words"], arrays)
        model = self.assemble(header, arrays)
        model.vectorizer_, model.vocabulary_ = vectorizer, header["words"]["vocabulary"]
        return model

    def assemble(self, record: Mapping[str, Any], arrays: Mapping[str, AnyArray], prefix: str = "") -> Any:
        """The fitted estimator of a record whose arrays are as the layout says."""
        model = _unfitted(self, self._parameters(record))
        facts = with_later_facts(self.facts, record["facts"])
        found = {name: facts[name] for name in self._plain()}
        found |= {name: arrays[prefix + name] for name in self.arrays}
        precise = {found[name].dtype for name, array in self.arrays.items() if array.dtype == "f4 f8"}
        if len(precise) > 1:
            raise DataError("the parameters are not all of one precision")
        found |= {name: _labels_put_together(facts[name]) for name in self.labels}
        for group, path in self.groups.items():
            fields = {name.partition(".")[2]: found.pop(name) for name in list(found) if name.startswith(f"{group}.")}
            found[group] = _named(path)(**fields)
        for name, single in self.parts.items():
            parts = [
                _kind_named(part["class"]).assemble(part, arrays, f"{prefix}{name}.{number}.")
                for number, part in enumerate(facts[name])
            ]
            if single and len(parts) != 1:
                raise DataError(f"{name} is {len(parts)} estimators, not one")
            found[name] = parts[0] if single else parts
        if "history_" in found:
            found["history_"] = tuple(found["history_"])
        if found["feature_names_in_"] is None:
            del found["feature_names_in_"]
        else:
            found["feature_names_in_"] = np.array(found["feature_names_in_"], dtype=object)
        vars(model).update(found)
        self.check(model)
        return model

    def about(self, header: Mapping[str, Any], file: Container) -> dict[str, Any]:
        """How many words there are, and what is known of them."""
        file.read(())
        section = header["words"]
        kept = section["vectorizer"]
        return {
            "n_words": header["facts"]["n_features_in_"],
            "vocabulary": section["vocabulary"] is not None,
            "vectorizer": None if kept is None else kept["class"],
        }

    def summary(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """How training went."""
        return super().summary({name.rstrip("_"): fact for name, fact in facts.items()})

    def _plain(self) -> list[str]:
        return [name for name in self.facts if name not in self.parts and name not in self.labels]

    def _records(self, facts: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
        for name in self.parts:
            for number, part in enumerate(facts[name]):
                check_values(part, _RECORD, f"{name} {number}")
                if part["facts"] is None or prefix.count(".") >= 2 * (_DEEPEST - 1):
                    raise DataError(f"{name} {number} is not fitted, or an estimator inside too many others")
                yield name, number, part

    def _parameters(self, record: Mapping[str, Any]) -> dict[str, Any]:
        defaults = defaults_of(self.model_class)
        if not set(record["parameters"]) <= set(defaults):
            raise DataError(f"the model's parameters are not those of {self.model}")
        for name, value in record["parameters"].items():
            if isinstance(value, int) and abs(value) >= _LARGEST:
                raise DataError(f"{name} is a number of {value.bit_length()} bits, and no parameter is so large")
        return {**defaults, **{name: _python(value) for name, value in record["parameters"].items()}}


def _unfitted(kind: EstimatorFile, parameters: Mapping[str, Any]) -> Any:
    estimator = kind.model_class(**parameters)
    try:
        estimator._validate_params()
    except Exception as error:  # scikit-learn's refusal, in words
        raise DataError(f"the parameters cannot be used: {str(error)[:200]!r}") from error
    return estimator


def _kind_inside(part: Any) -> EstimatorFile:
    """The kind of an estimator inside another that is to be saved."""
    name = type(part).__name__
    if name not in CLASSES or not type(part).__module__.startswith("lbg_recsys."):
        known = "LBGMixture, MixtureOfUnigrams and PLSI"
        raise DataError(f"{an(name)} inside the model cannot be kept in a file: {known} can")
    return _kind_named(name)


def _kind_named(name: str) -> EstimatorFile:
    kind = kind_of(name)
    if not isinstance(kind, EstimatorFile):
        raise DataError(f"{an(name)} cannot be inside a text model")
    return kind


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _attribute(model: Any, name: str) -> Any:
    if name == "feature_names_in_":
        return getattr(model, name, None)
    return attrgetter(name)(model)


def _plain(value: Any, name: str) -> Any:
    """A parameter as a header holds it."""
    if hasattr(value, "get_params"):
        _kind_inside(value)
        inner = {key: _plain(one, f"{name}__{key}") for key, one in value.get_params(deep=False).items()}
        return {"class": type(value).__name__, "parameters": inner, "facts": None}
    if isinstance(value, np.random.RandomState):
        raise DataError(f"{name} is a RandomState, and a model file keeps None or an integer: set it before save")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {"mapping": [[_plain(key, name), _plain(one, name)] for key, one in value.items()]}
    if isinstance(value, float) and math.isinf(value):
        return {"float": "inf" if value > 0 else "-inf"}
    return [_plain(one, name) for one in value] if isinstance(value, list | tuple) else value


def _python(value: Any) -> Any:
    """The parameter that `_plain` made plain."""
    if not isinstance(value, dict):
        return value
    if value in ({"float": "inf"}, {"float": "-inf"}):
        return float(value["float"])
    if set(value) == {"mapping"}:
        if not fits(value["mapping"], list[list[Any]]) or any(len(pair) != 2 for pair in value["mapping"]):
            raise DataError("a mapping is not made of pairs")
        return {_python(key): _python(one) for key, one in value["mapping"]}
    check_values(value, _RECORD, "an estimator")
    kind = _kind_named(value["class"])
    if kind.parts or value["facts"] is not None:
        raise DataError(f"{an(value['class'])} cannot be an argument of an estimator")
    return _unfitted(kind, kind._parameters(value))


def _labels_taken_apart(labels: AnyArray) -> dict[str, Any]:
    """Class labels, with what brings back their type."""
    kind = "str" if labels.dtype.kind == "U" else labels.dtype.name
    values = labels.tolist()
    if kind not in _KINDS or not all(type(value) is _KINDS[kind] for value in values):
        raise DataError(
            f"the class labels {str(values)[:60]} are {kind}, and a model file keeps strings, integers, floats and "
            "booleans: fit with one of these"
        )
    return {"kind": kind, "values": values}


def _labels_put_together(kept: Any) -> AnyArray:
    check_values(kept, _LABELS, "the class labels")
    kind, values = kept["kind"], kept["values"]
    if kind not in _KINDS or not values or not all(fits(value, _KINDS[kind]) for value in values):
        raise DataError(f"the class labels are not all {kind[:20]}")
    try:
        labels = np.array(values, dtype=kind)
    except OverflowError as error:
        raise DataError(f"a class label is too large for {kind}") from error
    if any(not one < other for one, other in pairwise(values)):
        raise DataError("the class labels do not ascend")
    return labels
