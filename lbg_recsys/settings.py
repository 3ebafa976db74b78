"""Hyper-parameters, each defined once: name, type, range, default and description.

A class that derives from `Settings` lists its hyper-parameters as dataclass fields made by `setting`, and has the
decorators `named_arguments` and `dataclass`. From this one list come the constructor and its signature, the
parameters section of the class docstring, ``get_params`` and ``set_params``, the check at ``fit``, the check of model
files, ``--param`` and ``lbg-recsys params``.
"""

import inspect
import math
import re
from dataclasses import dataclass, field, fields
from functools import wraps
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from lbg_recsys.checks import is_finite, is_flag, is_integer, is_number
from lbg_recsys.errors import ParameterError
from lbg_recsys.words import no_parameter

S = TypeVar("S", bound="Settings")

# The value of a hyper-parameter that follows the data.
AUTO = "auto"

_SECTION = re.compile(r"^(Attributes|Raises|See Also|Notes|References|Examples)\n-+$", re.MULTILINE)


@dataclass(frozen=True)
class Setting:
    """One hyper-parameter. ``low`` and ``high`` bound its numbers; an open end is excluded itself."""

    name: str
    kinds: tuple[type, ...]
    default: Any
    description: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()

    def check(self, value: Any) -> None:
        """Raise `ParameterError` unless the value is allowed."""
        if not any(self._is(value, kind) for kind in self.kinds):
            raise ParameterError(f"{self.name} is {value!r}: {self.remedy}")

    def _is(self, value: Any, kind: type) -> bool:
        if kind is object:  # what fit checks
            return True
        if kind is NoneType:
            return value is None
        if kind is bool:
            return is_flag(value)
        if kind is str:
            return isinstance(value, str) and value in self.choices
        return (is_integer(value) if kind is int else is_number(value)) and self._inside(value)

    def _inside(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below and is_finite(value)

    @property
    def remedy(self) -> str:
        """What to give instead of a value that is not allowed."""
        if self.kinds == (str,):
            return f"choose one of {', '.join(map(repr, self.choices))}"
        return f"give {self.allowed}"

    @property
    def allowed(self) -> str:
        """The allowed values in words.

        >>> Setting("beta", (float, NoneType), 1.0, "", 0.0, 1.0, open_low=True).allowed
        'None or a number above 0 and up to 1'
        """
        words = {
            NoneType: "None",
            object: "a table",
            bool: "True or False",
            str: " or ".join(map(repr, self.choices)),
        }
        kinds = sorted(self.kinds, key=lambda kind: kind not in words)
        return " or ".join(words.get(kind) or self._numbers(kind) for kind in kinds)

    def _numbers(self, kind: type) -> str:
        what = "an integer" if kind is int else "a number"
        least = f" {'above' if self.open_low else 'of at least'} {self.low:g}" if self.low > -math.inf else ""
        most = f" and {'below' if self.open_high else 'up to'} {self.high:g}" if self.high < math.inf else ""
        return what + least + most

    @property
    def kind(self) -> str:
        """The type as numpydoc writes it.

        >>> Setting("point", (str,), "mean", "", choices=("mean", "mode")).kind
        '{"mean", "mode"}'
        """
        shown = ["{" + ", ".join(f'"{choice}"' for choice in self.choices) + "}"] if str in self.kinds else []
        shown += [kind.__name__ for kind in self.kinds if kind not in (str, NoneType)]
        return " or ".join(shown + ["None"] * (NoneType in self.kinds))

    @property
    def shown_default(self) -> str:
        """The default as numpydoc writes it."""
        return f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)


def setting(
    default: Any,
    description: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of a `Settings` dataclass; the bounds are for its numbers, the choices for its strings."""
    low, high = (at_least if above is None else above), (at_most if below is None else below)
    rule = {
        "description": inspect.cleandoc(description),
        "low": -math.inf if low is None else low,
        "high": math.inf if high is None else high,
        "open_low": above is not None,
        "open_high": below is not None,
        "choices": tuple(choices),
    }
    return field(default=default, metadata=rule)


def named_arguments(cls: type[S]) -> type[S]:
    """Decorate a `Settings` dataclass: a wrong argument of its constructor raises an error that names the model.

    The error of a dataclass would name the class that lists the fields, which users do not see.
    """
    init = cls.__init__

    @wraps(init)
    def checked(self: S, *unnamed: Any, **given: Any) -> None:
        known, owner = settings_of(cls), type(self).__name__
        if unnamed:
            raise TypeError(f"{owner} takes its parameters by name: {next(iter(known))}=...")
        for name in given:
            if name not in known:
                raise TypeError(no_parameter(owner, name, known))
        init(self, **given)

    cls.__init__ = checked  # type: ignore[assignment]
    return cls


def settings_of(cls: type["Settings"]) -> dict[str, Setting]:
    """The hyper-parameters of a class by name, in the order of its constructor."""
    return {
        one.name: Setting(one.name, _kinds(one.type), one.default, **one.metadata)
        for one in fields(cls)  # type: ignore[arg-type]  # the classes that list fields are dataclasses
    }


def _kinds(annotation: Any) -> tuple[type, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


class Settings:
    """Base of the dataclasses that list hyper-parameters; see the module's docstring.

    The constructor stores its arguments and does nothing else, as scikit-learn's ``clone`` and Surprise's
    ``GridSearchCV`` expect. Values are checked by ``fit``.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ and hasattr(cls, "__dataclass_fields__"):
            cls.__doc__ = _with_parameters(inspect.cleandoc(cls.__doc__), settings_of(cls))

    def __post_init__(self) -> None:
        super().__init__()  # bases of other libraries, such as Surprise's AlgoBase

    def __repr__(self) -> str:
        """The class with the settings that are not at their default, as scikit-learn shows its estimators."""
        defaults = {name: one.default for name, one in settings_of(type(self)).items()}
        changed = (
            f"{name}={_shown(value)}"
            for name, value in self.get_params().items()
            if hasattr(value, "shape") or value != defaults[name]
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyper-parameters and their values.

        Parameters
        ----------
        deep : bool, default=True
            Accepted for scikit-learn; there are no nested estimators.

        Returns
        -------
        dict
            Values by name, in the order of the constructor.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> LBGModel(n_topics=4).get_params()["n_topics"]
        4
        """
        return {name: getattr(self, name) for name in settings_of(type(self))}

    def set_params(self: S, **params: Any) -> S:
        """Set hyper-parameters by name.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        object
            The object itself.

        Raises
        ------
        ParameterError
            If there is no hyper-parameter of that name.

        Examples
        --------
        >>> from lbg_recsys import LBGModel
        >>> LBGModel().set_params(n_topics=4)
        LBGModel(n_topics=4)
        """
        known = settings_of(type(self))
        for name, value in params.items():
            if name not in known:
                raise ParameterError(no_parameter(type(self).__name__, name, known))
            setattr(self, name, value)
        return self

    def check_settings(self) -> None:
        """Raise `ParameterError` for the first hyper-parameter whose value is not allowed."""
        for name, one in settings_of(type(self)).items():
            one.check(getattr(self, name))


def _shown(value: Any) -> str:
    """A value as Python writes it; of a table only its size."""
    if not getattr(value, "shape", ()):  # a scalar of NumPy as the number that it is
        return repr(value.item() if hasattr(value, "shape") else value)
    return f"<{type(value).__name__} of {' x '.join(map(str, value.shape))}>"


def _with_parameters(doc: str, settings: dict[str, Setting]) -> str:
    """The docstring with a numpydoc section of the parameters before its other sections."""
    lines = ["Parameters", "----------"]
    for one in settings.values():
        lines.append(f"{one.name} : {one.kind}, default={one.shown_default}")
        lines += [f"    {line}".rstrip() for line in one.description.splitlines()]
    section, found = "\n".join(lines) + "\n", _SECTION.search(doc)
    if found is None:
        return f"{doc}\n\n{section}"
    return f"{doc[: found.start()]}{section}\n{doc[found.start() :]}"
