"""Functions take a readable number of arguments: arrays that belong together are grouped."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "lbg_recsys"
MOST = 10


def too_many(source):
    """Names of functions with more than ten positional arguments, constructors aside."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name == "__init__":
            continue
        if len(node.args.posonlyargs) + len(node.args.args) > MOST:
            yield node.name


def modules():
    return sorted(path for part in ("core", "ratings", "text") for path in (PACKAGE / part).rglob("*.py"))


def test_long_signatures_are_seen():
    names = [f"a{n}" for n in range(MOST + 1)]
    long, short = ", ".join(names), ", ".join(names[1:])
    assert list(too_many(f"def f({long}): pass\nclass C:\n    def g(self, {short}): pass\n")) == ["f", "g"]
    fine = f"def f({short}, *, key=1): pass\nclass C:\n    def __init__(self, {long}): pass\n"
    assert not list(too_many(fine))


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_function_takes_more_than_ten_positional_arguments(path):
    assert not list(too_many(path.read_text(encoding="utf-8")))
