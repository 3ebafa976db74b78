"""Features of users and items in the file of a model: how columns are encoded, ids, and the encoded values."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lbg_recsys.errors import DataError
from lbg_recsys.persistence.schema import AnyArray, Array, check_values

if TYPE_CHECKING:
    from lbg_recsys.core.gibbs.kinds import Side
    from lbg_recsys.ratings.features import FeatureTable

SIDES = ("users", "items")
# Encoded values are a few standard deviations at most; in files from before they were clipped, some are further out.
_FURTHEST = 1e4
_TABLE = {"ids": list[int | str], "columns": list[dict[str, Any]]}
_COLUMN = {
    "name": str,
    "group": str,
    "labels": list[str] | None,
    "centre": list[float],
    "scale": float,
    "low": float,
    "high": float,
}


def layout(facts: Any) -> tuple[dict[str, Array], dict[str, int]]:
    """The arrays of features, and how many encoded columns users and items have; ``facts`` are checked here."""
    tables = _checked(facts)
    width = {side: sum(len(column["centre"]) for column in table["columns"]) for side, table in tables.items()}
    arrays = {
        f"{side}_features": Array("f4", (f"rows of {side} features", f"features of {side}"), -_FURTHEST, _FURTHEST)
        for side, table in tables.items()
        if table["columns"]
    }
    return arrays, width


def summary(facts: Any) -> dict[str, Any]:
    """The names of the features of users and items, and how many ids have them; checked, without those of no side."""
    return {
        side: {"features": [column["name"] for column in table["columns"]], "n_ids": len(table["ids"])}
        for side, table in _checked(facts).items()
        if table["columns"]
    }


def take_apart(features: "Mapping[Side, FeatureTable]") -> tuple[dict[str, Any] | None, dict[str, AnyArray]]:
    """Facts and arrays of the features of a model; None and no arrays if it has no features."""
    from lbg_recsys.persistence.ratings import savable

    if not any(table.features for table in features.values()):
        return None, {}
    facts: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for side, table in features.items():
        columns = [
            {
                **vars(one),
                "labels": None if one.labels is None else list(one.labels),
                "centre": list(one.centre),
            }
            for one in table.features
        ]
        facts[side.value] = {"ids": savable(table.ids, side.value[:-1]), "columns": columns}
        if columns:
            arrays[f"{side.value}_features"] = table.values
    return facts, arrays


def put_together(facts: Any, arrays: Mapping[str, AnyArray]) -> "dict[Side, FeatureTable]":
    """The features that `take_apart` took apart; `DataError` where rows and ids do not agree."""
    from lbg_recsys.core.gibbs.kinds import Side
    from lbg_recsys.ratings.features import NOTHING, Feature, FeatureTable
    from lbg_recsys.ratings.ids import IdIndex

    tables: dict[Side, FeatureTable] = {}
    for side in Side:
        table = _checked(facts)[side.value]
        tables[side] = NOTHING
        if table["columns"]:
            values, ids = arrays[f"{side.value}_features"], IdIndex(table["ids"])
            if len(ids) != len(values):
                raise DataError(f"there are {len(values)} rows of {side.value} features for {len(ids)} ids")
            columns = [
                Feature(
                    **{
                        **one,
                        "labels": None if one["labels"] is None else tuple(one["labels"]),
                        "centre": tuple(one["centre"]),
                    }
                )
                for one in table["columns"]
            ]
            tables[side] = FeatureTable(columns, ids, values)
    return tables


def _checked(facts: Any) -> dict[str, Any]:
    """The tables by side, empty ones where there are no features; `DataError` unless their values are plain."""
    if facts is None:
        return {side: {"ids": [], "columns": []} for side in SIDES}
    check_values(facts, dict.fromkeys(SIDES, dict), "the features")
    for side, table in facts.items():
        check_values(table, _TABLE, f"the features of {side}")
        for column in table["columns"]:
            check_values(column, _COLUMN, f"a feature of {side}")
            labels, numbers = column["labels"], (*column["centre"], column["scale"], column["low"], column["high"])
            if len(column["centre"]) != (1 if labels is None else len(labels)) or not column["centre"]:
                raise DataError(f"a feature of {side} has {len(column['centre'])} centres")
            if not all(map(math.isfinite, numbers)) or column["scale"] <= 0 or column["low"] > column["high"]:
                raise DataError(f"a feature of {side} has an impossible scale")
    return dict(facts)
