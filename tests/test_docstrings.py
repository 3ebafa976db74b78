"""The docstrings of public names follow numpydoc: a summary, parameters with types, what is returned, an example."""

import inspect
import re
import runpy
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest
from numpydoc.validate import validate

ROOMS = ("algorithms", "datasets", "distributed", "ratings", "readers", "text")
MODULES = ["lbg_recsys", *(f"lbg_recsys.{room}" for room in ROOMS)]
DOCS = Path(__file__).parents[1] / "docs"
REFERENCE = DOCS / "api" / "index.md"
# No docstring or summary; unknown, untyped or undescribed parameters; an undescribed result; sections out of order.
EVERYWHERE = {"GL07", "GL08", "SS01", "PR02", "PR04", "PR05", "PR07", "PR10", "RT03"}
# For everything in the reference also: all parameters, the result, an example. Records list their fields under
# Attributes or in the class itself.
EXAMPLE = {"EX01"}
COMPLETE = {"PR01", "PR03", "RT01", "YD01", *EXAMPLE}
# Methods of the reference that need less, with the reason.
EXCEPTIONS = {
    # one function that raises an error whatever its arguments are
    "lbg_recsys.ratings.choice.ChoiceModel.interval": {"PR01"},
    "lbg_recsys.ratings.choice.ChoiceModel.predict_batch": {"PR01"},
    "lbg_recsys.ratings.choice.ChoiceModel.predict_distribution": {"PR01"},
    # called by a fit; the example of the class shows how
    "lbg_recsys.persistence.checkpoint.FitCheckpoint.load": {"EX01"},
    "lbg_recsys.persistence.checkpoint.FitCheckpoint.save": {"EX01"},
    # needs a data set that is not shipped
    "lbg_recsys.datasets.movielens.MovieLens100K.split": {"EX01"},
}


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


@cache
def methods():
    """The methods of public classes, as `described`, inherited ones too; and whether the reference shows them."""
    skipped = runpy.run_path(str(DOCS / "conf.py"))["skip_internal"]
    found = {}
    for owner in filter(inspect.isclass, public().values()):
        for name in dir(owner):
            held = getattr(owner, name)
            if not name.startswith("_") and inspect.isroutine(held) and is_ours(held):
                is_shown = not skipped(None, "method", name, held, None, None)
                path = described(owner, name)
                found[path] = found.get(path, False) or is_shown
    return found


def is_ours(value):
    return (getattr(value, "__module__", None) or "").startswith("lbg_recsys.")


def described(owner, name):
    """The method whose docstring a method has: its own, or that of a base class, as Sphinx shows it."""
    homes = [base for base in owner.__mro__ if name in vars(base)]
    home = next((base for base in homes if getattr(base, name).__doc__), homes[0])
    return f"{home.__module__}.{home.__qualname__}.{name}"


def inheriting():
    """Methods without a docstring of their own."""
    classes = {base for value in public().values() if inspect.isclass(value) for base in value.__mro__}
    for owner in filter(is_ours, classes):
        for name, held in vars(owner).items():
            if not name.startswith("_") and inspect.isfunction(held) and not held.__doc__:
                yield owner, name


def faults(path, codes):
    return [f"{code}: {text}" for code, text in validate(path)["errors"] if code in codes]


@pytest.mark.parametrize("path", sorted(public()))
def test_public_names(path):
    value = public()[path]
    is_record = is_dataclass(value) or (inspect.isclass(value) and issubclass(value, tuple | Exception))
    assert faults(path, EVERYWHERE | (EXAMPLE if is_record else COMPLETE)) == []


@pytest.mark.parametrize(("path", "is_shown"), sorted(methods().items()))
def test_public_methods(path, is_shown):
    codes = EVERYWHERE | COMPLETE if is_shown else EVERYWHERE
    assert faults(path, codes - EXCEPTIONS.get(path, set())) == []


@pytest.mark.parametrize("path", sorted(EXCEPTIONS))
def test_exceptions_are_needed(path):
    assert methods()[path]
    assert {fault.split(":")[0] for fault in faults(path, EXCEPTIONS[path])} == EXCEPTIONS[path]


def test_inherited_docstrings_have_all_parameters():
    found = list(inheriting())
    assert found
    for owner, name in found:
        base = resolve_name(described(owner, name))
        own, known = (list(inspect.signature(one).parameters) for one in (getattr(owner, name), base))
        assert own == known, f"{owner.__name__}.{name}"


def test_the_reference_is_read():
    assert {"coverage", "bar", "DataError"} <= {value.__name__ for value in public().values()}


def test_a_fault_is_found(monkeypatch):
    from lbg_recsys.readers import read_pairs

    monkeypatch.setattr(read_pairs, "__doc__", "Read pairs.")
    assert any("PR01" in fault for fault in faults("lbg_recsys.readers.ratings.read_pairs", COMPLETE))
