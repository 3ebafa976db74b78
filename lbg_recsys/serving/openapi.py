"""The OpenAPI description of the endpoints, made from the same fields that requests are read by."""

from collections.abc import Sequence
from typing import Any

from lbg_recsys import __version__
from lbg_recsys.serving.endpoints import ENDPOINTS, Endpoint
from lbg_recsys.serving.fields import Field

_ERROR = {
    "description": "What is wrong, in a sentence.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
        }
    },
}
_HEALTH = (
    Field("status", "text", "ok."),
    Field("model", "object", "sha256 of the model file, and when it was loaded."),
    Field("refused", "boolean", "Whether a later file was refused; the log says why."),
)
_ERRORS = {
    "400": "The request cannot be used.",
    "401": "The bearer token is missing or wrong.",
    "404": "The model knows no such user or item.",
    "413": "The body is too large.",
    "503": "The server is busy, or the answer took too long.",
}


def document(*, with_token: bool) -> dict[str, Any]:
    """The document that ``/openapi.json`` serves."""
    paths: dict[str, dict[str, Any]] = {
        "/health": {
            "get": {
                "summary": "Whether the server answers, and which model it has.",
                "responses": {"200": _answer(_HEALTH)},
            }
        }
    }
    for one in ENDPOINTS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, with_token)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "lbg-recsys",
            "version": __version__,
            "description": "Recommendations, predictions and explanations of one model. No request is stored.",
        },
        "paths": paths,
    }
    if with_token:
        found["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"token": []}]
    return found


def _operation(one: Endpoint, with_token: bool) -> dict[str, Any]:
    errors = {
        code: {**_ERROR, "description": about} for code, about in _ERRORS.items() if code != "401" or with_token
    }
    found: dict[str, Any] = {"summary": one.about, "responses": {"200": _answer(one.returns), **errors}}
    if one.method == "POST":
        schema = {**_object(one.fields), "additionalProperties": False}
        return found | {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    found["parameters"] = [
        {
            "name": field.name,
            "in": "path" if field is one.in_path else "query",
            "required": field is one.in_path,
            "description": field.about,
            "schema": field.schema,
        }
        for field in one.fields
    ]
    return found


def _answer(fields: Sequence[Field]) -> dict[str, Any]:
    return {"description": "The answer.", "content": {"application/json": {"schema": _object(fields)}}}


def _object(fields: Sequence[Field]) -> dict[str, Any]:
    return {"type": "object", "properties": {one.name: {**one.schema, "description": one.about} for one in fields}}
