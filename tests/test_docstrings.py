"""The docstrings of public names follow numpydoc: a summary, parameters with types, what is returned, an example."""

import ast
import inspect
import re
import runpy
import textwrap
from dataclasses import is_dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest
from numpydoc.docscrape import NumpyDocString
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


def described_defaults(value):
    """Each described parameter that has a default, with its type as the docstring has it, and the default."""
    found = sections(value)
    types = {name.strip(): one.type for one in found["Parameters"] for name in one.name.split(",")}
    for one in signature(value).parameters.values():
        if one.default is not inspect.Parameter.empty and one.name in types:
            yield one.name, types[one.name], one.default


def sections(value):
    return NumpyDocString(inspect.cleandoc(value.__doc__ or ""))


def signature(value):
    try:
        return inspect.signature(value)
    except ValueError:  # an error without a constructor of its own
        return inspect.Signature()


def states(kind, default):
    """Whether a type says what the default is, as in ``int, default=10``; ``ignored`` needs none."""
    if kind == "ignored":
        return True
    said = re.fullmatch(r".+, default=(.+)", kind)
    try:
        return said is not None and ast.literal_eval(said[1]) == default
    except (SyntaxError, ValueError):  # words: 1 GB, or the name of a function
        return getattr(default, "__name__", said[1]) == said[1]


def data_of(owner):
    """The public attributes of a class: annotated ones, properties, and what its constructor or fit assigns."""
    for base in filter(is_ours, owner.__mro__):
        yield from (name for name in vars(base).get("__annotations__", {}) if name.islower())
        yield from (name for name, one in vars(base).items() if isinstance(one, property | cached_property))
        yield from vars(base).get("MADE_BY_FIT", ())
        if not is_dataclass(base) and (made := vars(base).get("__init__")):
            yield from re.findall(r"\bself\.(\w+)\b[^()=]* = ", inspect.getsource(made))


def raises(value):
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(value))))
    return any(isinstance(one, ast.Raise) for one in ast.walk(tree))


def everything():
    """All that the reference shows, by path."""
    return public() | {path: resolve_name(path) for path, is_shown in methods().items() if is_shown}


@pytest.mark.parametrize("path", sorted(everything()))
def test_types_state_the_defaults(path):
    defaults = described_defaults(everything()[path])
    assert [f"{name} : {kind}" for name, kind, default in defaults if not states(kind, default)] == []


@pytest.mark.parametrize("path", [path for path, value in sorted(public().items()) if inspect.isclass(value)])
def test_classes_list_their_attributes(path):
    found = [name for name in data_of(public()[path]) if not name.startswith("_")]
    assert sections(public()[path])["Attributes"] or not found, found


@pytest.mark.parametrize("path", [path for path, value in sorted(everything().items()) if inspect.isroutine(value)])
def test_errors_are_listed(path):
    assert sections(everything()[path])["Raises"] or not raises(everything()[path])


def test_what_a_docstring_lacks_is_found():
    def wanting(n=10, k=2, y=None, many=5):
        """Fail.

        Parameters
        ----------
        n : int, default=9
        k, many : optional
        y : ignored
        """
        raise ValueError(n, k, y, many)

    assert [name for name, kind, default in described_defaults(wanting) if not states(kind, default)] == [
        "n",
        "k",
        "many",
    ]
    assert raises(wanting)


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
