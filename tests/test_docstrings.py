"""The docstrings of public names follow numpydoc: parameters with types, what is returned, a summary."""

import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest
from numpydoc.validate import validate

ROOMS = ("algorithms", "datasets", "distributed", "ratings", "readers", "text")
MODULES = ["lbg_recsys", *(f"lbg_recsys.{room}" for room in ROOMS)]
REFERENCE = Path(__file__).parents[1] / "docs" / "api" / "index.md"
# No docstring or summary; unknown, untyped or undescribed parameters; an undescribed result; sections out of order.
EVERYWHERE = {"GL07", "GL08", "SS01", "PR02", "PR04", "PR05", "PR07", "PR10", "RT03"}
# For functions and classes also: all parameters and the result. Records list their fields under Attributes or in the
# class itself; methods of the host libraries' names (fit, predict) may have a summary alone.
COMPLETE = {"PR01", "PR03", "RT01", "YD01"}


def listed():
    """What the API reference lists."""
    module = None
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif name := re.fullmatch(r"   (\w[\w.]*)", line):
            yield resolve_name(f"{module}.{name[1]}")


def public():
    """The classes and functions in ``__all__`` of the public modules, and those that the API reference lists."""
    found = {}
    exported = (getattr(module, one) for module in map(import_module, MODULES) for one in module.__all__)
    for value in (*exported, *listed()):
        if inspect.isroutine(value) or inspect.isclass(value):
            found[f"{value.__module__}.{value.__qualname__}"] = value
    return {path: value for path, value in found.items() if path.startswith("lbg_recsys.")}


def methods():
    kinds = (classmethod, staticmethod)
    return [
        f"{path}.{name}"
        for path, value in public().items()
        if inspect.isclass(value)
        for name, held in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(held) or isinstance(held, kinds))
    ]


def faults(path, codes):
    return [f"{code}: {text}" for code, text in validate(path)["errors"] if code in codes]


@pytest.mark.parametrize("path", sorted(public()))
def test_public_names(path):
    value = public()[path]
    is_record = is_dataclass(value) or (inspect.isclass(value) and issubclass(value, tuple | Exception))
    assert faults(path, EVERYWHERE if is_record else EVERYWHERE | COMPLETE) == []


@pytest.mark.parametrize("path", sorted(methods()))
def test_public_methods(path):
    assert faults(path, EVERYWHERE) == []


def test_the_reference_is_read():
    assert {"coverage", "bar", "DataError"} <= {value.__name__ for value in public().values()}


def test_a_fault_is_found(monkeypatch):
    from lbg_recsys.readers import read_pairs

    monkeypatch.setattr(read_pairs, "__doc__", "Read pairs.")
    assert any("PR01" in fault for fault in faults("lbg_recsys.readers.ratings.read_pairs", COMPLETE))
