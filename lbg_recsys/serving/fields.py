"""What a request may contain: each field once, for reading requests and for their description in OpenAPI."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lbg_recsys.errors import ParameterError
from lbg_recsys.words import did_you_mean

_ID: dict[str, Any] = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "text": {"type": "string"},
    "id": _ID,
    "ids": {"type": "array", "items": _ID},
    "ratings": {"type": "object", "additionalProperties": {"type": "number"}},
    "people": {"type": "array", "items": {"type": "object"}},
    "pairs": {"type": "array", "items": {"type": "array", "items": _ID, "minItems": 2, "maxItems": 2}},
    # only in answers
    "texts": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "objects": {"type": "array", "items": {"type": "object"}},
}
_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "id": "an id or a title: a text or a whole number",
    "ids": "a list of ids or titles",
    "ratings": "an object of ratings by item, {item: rating, ...}",
    "people": "a list of objects, each with user, ratings or choices",
    "pairs": "a list of [user, item] pairs",
}
_IN_A_QUERY = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Field:
    """One field: its name, its kind (of `_SCHEMAS`), and what it means. Objects do not fit into a query."""

    name: str
    kind: str
    about: str
    default: Any = None
    choices: tuple[str, ...] = ()
    in_query: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_query", self.kind not in ("ratings", "people", "pairs"))

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        found = dict(_SCHEMAS[self.kind])
        if self.choices:
            found["enum"] = list(self.choices)
        return found if self.default is None else found | {"default": self.default}

    def refuse(self, value: Any) -> ParameterError:
        """The error that names the value and what would be right."""
        if self.kind == "ratings" and isinstance(value, Mapping):
            item, rating = next((item, one) for item, one in value.items() if not _is_number(one))
            return ParameterError(f"the rating of {_short(item)} is {_short(rating)}: give a number")
        return ParameterError(f"{self.name} is {_short(value)}: give {_WORDS[self.kind]}")


def read_query(fields: Sequence[Field], query: Mapping[str, list[str]]) -> dict[str, Any]:
    """The fields of a query string, each in its type; a list is the same name several times."""
    known = {one.name: one for one in fields if one.in_query}
    _refuse_unknown(query, known, "the query")
    found = {}
    for name, texts in query.items():
        one = known[name]
        if one.kind != "ids" and len(texts) > 1:
            raise ParameterError(f"{name} is given {len(texts)} times: give it once")
        found[name] = list(texts) if one.kind == "ids" else _from_text(one, texts[0])
    return found


def read_object(fields: Sequence[Field], given: Any, where: str = "the body") -> dict[str, Any]:
    """The fields of a JSON object, with their types checked; null is the same as nothing."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{where} is {_short(given)}: give a JSON object")
    known = {one.name: one for one in fields}
    _refuse_unknown(given, known, where)
    for name, value in given.items():
        if value is not None and not _fits(known[name].kind, value):
            raise known[name].refuse(value)
    return {name: value for name, value in given.items() if value is not None}


def _refuse_unknown(given: Mapping[str, Any], known: Mapping[str, Field], where: str) -> None:
    for name in given:
        if name not in known:
            meant = did_you_mean(name, known) or f"it may have {', '.join(known) or 'none'}"
            raise ParameterError(f"{where} has the unknown field {name[:60]!r}: {meant}")


def _from_text(one: Field, text: str) -> Any:
    try:
        if one.kind == "integer":
            return int(text)
        if one.kind == "number":
            return float(text)
        if one.kind == "boolean":
            return _IN_A_QUERY[text.lower()]
    except (KeyError, ValueError) as error:
        raise one.refuse(text) from error
    return text


def _fits(kind: str, value: Any) -> bool:
    if kind == "ratings":
        return isinstance(value, Mapping) and all(_is_number(rating) for rating in value.values())
    if kind in ("ids", "people", "pairs"):
        return isinstance(value, list) and all(_fits_in_list(kind, one) for one in value)
    if kind == "number":
        return _is_number(value)
    types: dict[str, Any] = {"integer": int, "boolean": bool, "text": str, "id": (str, int)}
    return isinstance(value, types[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _fits_in_list(kind: str, value: Any) -> bool:
    if kind == "people":
        return isinstance(value, Mapping)
    if kind == "pairs":
        return isinstance(value, list) and len(value) == 2 and all(_fits("id", one) for one in value)
    return _fits("id", value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(value: Any) -> str:
    """A value as the request has it, in JSON; a text in the quotes of all messages."""
    try:
        text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:  # a deeper nest than one that can be read
        text = "deeply nested"
    return text if len(text) <= 60 else f"{text[:57]}..."
