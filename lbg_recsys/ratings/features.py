"""What is known about users or items besides their ratings: tables by id, encoded as the columns of a regression.

Numbers are standardised, the values of categories and the members of sets become one column each, centred: a column
has the mean 0, and 0 stands for a missing value.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from lbg_recsys.columns import find_role
from lbg_recsys.core.gibbs.features import Design
from lbg_recsys.core.gibbs.kinds import Side
from lbg_recsys.core.types import Floats, Ints
from lbg_recsys.errors import DataError
from lbg_recsys.ratings.ids import UNKNOWN, IdIndex, RawId, plain_ids
from lbg_recsys.ratings.tables import is_table
from lbg_recsys.words import class_of, did_you_mean, shown

# A draw of the coefficients takes time proportional to the third power of the number of columns.
MOST_COLUMNS = 300
# The smallest number of rated users or items with a value of a category: with one, its own ratings say as much.
FEWEST = 2
# Numbers are clipped at this many standard deviations from their mean: effects are linear in the model, and far from
# the mean they are not. Without this, held-out films of MovieLens-100K have a log score that is worse by .015 (one
# inner split, genres and year: some films are from the thirties).
FURTHEST = 2.5
_MISSING = (None, "")
_SEPARATOR = "|"  # of the members of a set that is written as one string


@dataclass(frozen=True)
class Feature:
    """One column of a table and how it is encoded.

    ``labels`` are the values of a category or the members of a set that have a column, and None for a number.
    ``centre`` (one per label, or one) is subtracted from the values, which are clipped to ``low`` and ``high`` before
    and divided by ``scale`` afterwards. The coefficients of all features of a ``group`` have the same prior.
    """

    name: str
    group: str
    labels: tuple[str, ...] | None
    centre: tuple[float, ...]
    scale: float = 1.0
    low: float = 0.0
    high: float = 1.0

    @property
    def names(self) -> list[str]:
        """The names of the encoded columns."""
        return [self.name] if self.labels is None else [f"{self.name}={label}" for label in self.labels]

    def strange(self, value: Any) -> list[str]:
        """The value of a category, or the members of a set, that have no column."""
        return [] if self.labels is None else sorted((_members(value) or frozenset()) - set(self.labels))

    def encode(self, values: Sequence[Any]) -> Floats:
        """Values of the column, encoded, (n, columns)."""
        if self.labels is None:
            number = as_numbers(values, self.name)
            encoded = (np.clip(number, self.low, self.high) - self.centre[0]) / self.scale
            return np.where(np.isnan(number), 0.0, encoded)[:, np.newaxis]
        return np.asarray(np.nan_to_num(_membership(values, self.labels) - np.array(self.centre)))


class FeatureTable:
    """Encoded features of users or items by their ids.

    Attributes
    ----------
    features : tuple of Feature
        The columns of the table that are used.
    ids : IdIndex
        All ids of the table, those that were not rated too.
    values : ndarray of shape (ids, columns)
        The encoded features.
    """

    def __init__(self, features: Sequence[Feature], ids: IdIndex, values: npt.NDArray[np.float32]) -> None:
        self.features, self.ids, self.values = tuple(features), ids, values

    def __repr__(self) -> str:
        return f"<FeatureTable: {len(self.names)} columns of {len(self.ids):,} ids>"

    def without_rows(self) -> "FeatureTable":
        """The same columns of no id: how new ids are encoded."""
        return FeatureTable(self.features, IdIndex(), self.values[:0])

    @classmethod
    def of(cls, given: Any, rated: IdIndex, role: str) -> "FeatureTable":
        """Encode a table of the ``role`` "user" or "item"; ``rated`` are the ids that have ratings.

        Raises
        ------
        DataError
            If an id comes twice or no id is rated, a column cannot be encoded, or there are too many columns.
        """
        if given is None:
            return NOTHING
        if isinstance(given, FeatureTable):
            return given
        ids, columns = _parts(given, role)
        if not len(ids):
            raise DataError(f"the {role} features have no rows: give a table with one row per {role}")
        is_rated = rated.codes(list(ids)) != UNKNOWN
        if not is_rated.any():
            raise DataError(
                f"none of the {len(ids):,} ids of the {role} features has a rating: ids, {shown(list(ids), 3)}, "
                f"must be the same, also in type, as those of the ratings, {shown(list(rated), 3)}"
            )
        features, left_out, notes = [], [], []
        for name, group, values in columns:
            feature = _feature(name, group, values, is_rated)
            features += [feature] if feature.centre else []
            left_out += [] if feature.centre else [name]
            if texts := _texts_among_numbers(values):
                notes.append(
                    f"the {role} feature {name!r} is taken as categories because of values that are no numbers "
                    f"({len(texts):,} of {len(values):,}, for example {texts[0]!r}): leave these empty if it is one"
                )
        if left_out:
            notes.append(
                f"{role} features without information are not used: {shown(left_out)} (a constant, or a category of "
                f"which no value is shared by {FEWEST} rated {role}s)"
            )
        if not is_rated.all() and _is_numbered(given, role):
            notes.append(
                f"the {role} features have no column {role}, so the numbers of the rows are the ids, and "
                f"{np.count_nonzero(~is_rated):,} of {len(ids):,} have no rating: give ids as a column {role}"
            )
        if not columns:
            notes.append(f"the {role} features have no column besides the ids: there is nothing to learn from")
        for note in notes:
            warnings.warn(note, UserWarning, stacklevel=5)
        width = sum(len(one.centre) for one in features)
        if width > MOST_COLUMNS:
            widest = max(features, key=lambda one: len(one.centre))
            raise DataError(
                f"the {role} features have {width:,} columns when encoded, {len(widest.centre):,} of them from "
                f"{widest.name!r}, and at most {MOST_COLUMNS} can be used: leave columns out or group rare values"
            )
        by_name = {name: values for name, _, values in columns}
        encoded = [one.encode(by_name[one.name]) for one in features]
        return cls(features, ids, np.hstack([np.empty((len(ids), 0)), *encoded]).astype(np.float32))

    @property
    def names(self) -> list[str]:
        """The names of the encoded columns."""
        return [name for one in self.features for name in one.names]

    @cached_property
    def groups(self) -> Ints:
        """The group of each encoded column, numbered from 0."""
        number = {group: n for n, group in enumerate(dict.fromkeys(one.group for one in self.features))}
        return np.array([number[one.group] for one in self.features for _ in one.names], np.int64)

    def rows(self, raw_ids: Iterable[RawId]) -> npt.NDArray[np.float32]:
        """The encoded features of some ids, (n, columns); zeros where nothing is known."""
        return self.at(self.ids.codes(list(raw_ids)))

    def at(self, codes: Ints) -> npt.NDArray[np.float32]:
        """The encoded features of some rows of the table, (n, columns); zeros at -1."""
        return (
            np.where((codes >= 0)[:, np.newaxis], self.values[codes], np.float32(0.0))
            if len(self.ids)
            else (np.zeros((len(codes), self.values.shape[1]), np.float32))
        )

    def design(self, raw_ids: Iterable[RawId]) -> Design:
        """The design matrix of some ids."""
        return Design(self.rows(raw_ids), self.groups)

    def encode(self, given: Mapping[str, Any], role: str) -> npt.NDArray[np.float32]:
        """Encode the features of one new user or item, by name, (columns,); those that are not given are missing.

        A warning names values of categories that have no column.

        Raises
        ------
        DataError
            If there is no feature of a name.
        """
        if not isinstance(given, Mapping):
            raise DataError(f"{role} features are {given!r}: give {{feature: value, ...}}")
        known = [one.name for one in self.features]
        if unknown := [name for name in given if name not in known]:
            has = shown(known) or f"no {role} features"
            meant = did_you_mean(str(unknown[0]), known) or f"the model has {has}"
            raise DataError(f"there is no {role} feature {unknown[0]!r}; {meant}")
        for one in self.features:
            if strange := one.strange(given.get(one.name)):
                warnings.warn(
                    f"values of the {role} feature {one.name!r} are left out because the model did not learn them: "
                    f"{shown(strange)}; it learned {shown(one.labels or ())}, which some rated {role}s have and "
                    "others have not",
                    UserWarning,
                    stacklevel=5,
                )
        encoded = [one.encode([given.get(one.name)])[0] for one in self.features]
        return np.concatenate([np.empty(0), *encoded]).astype(np.float32)

    def with_row(self, raw_id: RawId, given: Mapping[str, Any], role: str) -> "FeatureTable":
        """The same table with the features of one more id, or with other features of an id that it has."""
        ids = self.ids.extended([raw_id])
        values = np.zeros((len(ids), self.values.shape[1]), np.float32)
        values[: len(self.values)] = self.values
        values[ids.code(raw_id)] = self.encode(given, role)
        return FeatureTable(self.features, ids, values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FeatureTable)
            and self.features == other.features
            and list(self.ids) == list(other.ids)
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]  # tables are compared by what they hold


NOTHING = FeatureTable((), IdIndex(), np.empty((0, 0), np.float32))
WITHOUT_FEATURES = dict.fromkeys(Side, NOTHING)

_Column = tuple[str, str, Sequence[Any]]  # name, group, values


def _parts(given: Any, role: str) -> tuple[IdIndex, Sequence[_Column]]:
    """The ids of a table and its other columns."""
    if hasattr(given, "toarray") or (isinstance(given, np.ndarray) and given.ndim == 2):
        if given.shape[1] > MOST_COLUMNS:
            raise DataError(
                f"the {role} features have {given.shape[1]:,} columns, and at most {MOST_COLUMNS} can be used"
            )
        dense = given.toarray() if hasattr(given, "toarray") else given
        return IdIndex(range(len(dense))), [
            (f"feature {n}", "features", dense[:, n].tolist()) for n in range(dense.shape[1])
        ]
    if not is_table(given):
        raise DataError(
            f"{role} features are {class_of(given)}: give a DataFrame with the {role} ids as its index or as "
            f"a column {role!r}, or a sparse matrix whose rows are {role}s"
        )
    names = list(getattr(given, "column_names", None) or given.columns)
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(f"the {role} features have more than one column {repeated[0]!r}: rename or drop one of them")
    at = find_role(role, names)
    if at is None and not hasattr(given, "index"):
        raise DataError(f"the {role} features need a column {role!r} with the ids; they have {shown(names)}")
    raw_ids = plain_ids(given.index if at is None else given[names[at]])
    _refuse_repeated(raw_ids, role)
    columns = [(str(name), str(name), _as_list(given[name])) for n, name in enumerate(names) if n != at]
    return IdIndex(raw_ids), columns


def _is_numbered(given: Any, role: str) -> bool:
    """Whether a table has no ids but the numbers that pandas gives to rows: the true ids may be lost."""
    index = getattr(given, "index", None)
    is_default = type(index).__name__ == "RangeIndex" and getattr(index, "name", None) is None
    return is_default and find_role(role, list(given.columns)) is None


def _refuse_repeated(raw_ids: Sequence[RawId], role: str) -> None:
    met: set[RawId] = set()
    for raw_id in raw_ids:
        if raw_id in met:
            raise DataError(f"the {role} {raw_id!r} comes twice in the {role} features: keep one row per {role}")
        met.add(raw_id)


def _as_list(column: Any) -> list[Any]:
    """The values of a column, categories as strings: numbers that name categories are no quantities."""
    if hasattr(getattr(column, "dtype", None), "categories"):
        column = column.astype(object)
        return [None if _is_missing(value) else str(value) for value in column]
    if getattr(getattr(column, "dtype", None), "kind", "") in "mM":
        raise DataError(
            f"the feature {getattr(column, 'name', '')!r} is a time: make it a number (a year, an age) or a category"
        )
    return list(plain_ids(column))


def _is_missing(value: Any) -> bool:
    """None, an empty string, NaN and pandas' NA, which is neither equal nor unequal to itself."""
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return False
    return value is None or (isinstance(value, str) and not value) or str(value) in ("nan", "<NA>", "NaT")


def _feature(name: str, group: str, values: Sequence[Any], rated: npt.NDArray[np.bool_]) -> Feature:
    """How a column is encoded, by its values for rated ids; without ``centre`` if there is no information in it."""
    present = [value for value in values if not _is_missing(value)]
    if all(isinstance(value, Real | np.bool_) for value in present):
        number = as_numbers(values, name)[rated]
        number = number[~np.isnan(number)]
        if not len(number) or number.min() == number.max():
            return Feature(name, group, None, ())
        if set(np.unique(number)) <= {0.0, 1.0}:
            return Feature(name, group, None, (float(number.mean()),))
        centre, spread = number.mean(), float(number.std())
        low = max(float(number.min()), float(centre - FURTHEST * spread))
        high = min(float(number.max()), float(centre + FURTHEST * spread))
        return Feature(name, group, None, (float(np.clip(number, low, high).mean()),), spread, low, high)
    own = [value for value, is_rated in zip(values, rated, strict=True) if is_rated]
    sets = [one for one in map(_members, own) if one is not None]
    counts: dict[str, int] = {}
    for one in sets:
        for label in sorted(one):
            counts[label] = counts.get(label, 0) + 1
    labels = tuple(label for label, n in sorted(counts.items()) if FEWEST <= n < len(sets))
    return Feature(name, group, labels, tuple(counts[label] / len(sets) for label in labels))


def _texts_among_numbers(values: Sequence[Any]) -> list[str]:
    """The texts of a column that has more numbers, which may be written as texts, than texts.

    >>> _texts_among_numbers(["1999", "2001", "soon"]), _texts_among_numbers(["Drama", "War", "1984"])
    (['soon'], [])
    """
    present = [value for value in values if not _is_missing(value)]
    texts = [value for value in present if isinstance(value, str) and not _is_number(value)]
    is_set = any(_SEPARATOR in text for text in texts)
    return [] if is_set or 2 * len(texts) >= len(present) else texts


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_numbers(values: Sequence[Any], name: str) -> Floats:
    """Numbers with NaN where they are missing; `DataError` for anything else and for infinities."""
    number = np.array([_as_number(value, name) for value in values])
    if np.isinf(number).any():
        raise DataError(f"the feature {name!r} has an infinite value: leave it empty if it is not known")
    return number


def _as_number(value: Any, name: str) -> float:
    try:
        return np.nan if _is_missing(value) else float(value)
    except (TypeError, ValueError) as error:
        raise DataError(f"the feature {name!r} is {value!r}: give a number, or leave it empty") from error


def _members(value: Any) -> frozenset[str] | None:
    """The members of a set, the one value of a category, or None where it is missing.

    >>> sorted(_members("Drama|War")), sorted(_members(("Drama", "War"))), sorted(_members("Drama"))
    (['Drama', 'War'], ['Drama', 'War'], ['Drama'])
    """
    if _is_missing(value):
        return None
    if isinstance(value, str):
        return frozenset(part.strip() for part in value.split(_SEPARATOR))
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return frozenset(str(one) for one in value)
    return frozenset([str(value)])


def _membership(values: Sequence[Any], labels: Sequence[str]) -> Floats:
    """1 where a value has a label, 0 where it has not, NaN where it is missing, (n, labels)."""
    position = {label: n for n, label in enumerate(labels)}
    found = np.zeros((len(values), len(labels)))
    for row, members in zip(found, map(_members, values), strict=True):
        if members is None:
            row[:] = np.nan
        else:
            row[[position[one] for one in members if one in position]] = 1.0
    return found
