"""Mutation testing: change one thing in the package, and see whether a test notices.

``python -m tests.mutate --sample 150`` draws that many changes of ``core`` and ``ratings`` at random, runs the tests
of the changed file's room on a copy of the package for each, and prints those that no test noticed. A survivor is
either equivalent (the change alters nothing that can be seen) or a test that is missing.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("core", "ratings")
_COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def mutants(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Changes that can be made to a file: the node, and what kind of change."""
    skipped = {id(node.annotation) for node in ast.walk(tree) if isinstance(node, (ast.AnnAssign, ast.arg))}
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in skipped or id(node) in texts:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
            yield node, "comparison"
        elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED and not _is_text(node):
            yield node, "arithmetic"
        elif isinstance(node, ast.BoolOp):
            yield node, "and/or"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "number"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            yield node, "sign"


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(one, (ast.JoinedStr, ast.Constant)) and not _number(one) for one in (node.left, node.right))


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def change(node: ast.AST, kind: str) -> None:
    """Make one change in the tree."""
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant):
        node.value = node.value + 1
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)


def tests_of(path: Path) -> list[str]:
    """The tests of a file: those of its own name first, then those of its room."""
    room = path.relative_to(ROOT / "lbg_recsys").parts[0]
    own = sorted((ROOT / "tests" / room).rglob(f"test_{path.stem}.py"))
    rest = [one for one in sorted((ROOT / "tests" / room).rglob("test_*.py")) if one not in own]
    return [str(one.relative_to(ROOT)) for one in (*own, *rest)]


def main() -> None:
    """Draw changes, run the tests of each, print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--within", default="", help="only files whose path contains this")
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of one change")
    options = parser.parse_args()
    files = [path for room in ROOMS for path in sorted((ROOT / "lbg_recsys" / room).rglob("*.py"))]
    files = [path for path in files if options.within in str(path)]
    places = [(path, n) for path in files for n, _ in enumerate(mutants(ast.parse(path.read_text("utf-8"))))]
    chosen = random.Random(options.seed).sample(places, min(options.sample, len(places)))
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("lbg_recsys", "tests", "benchmarks"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        for number, (path, n) in enumerate(chosen):
            tree = ast.parse(path.read_text("utf-8"))
            node, kind = list(mutants(tree))[n]
            line = getattr(node, "lineno", 0)
            change(node, kind)
            changed = copy / path.relative_to(ROOT)
            changed.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
            environment["NUMBA_CACHE_DIR"] = str(copy / f"cache-{number}")
            try:
                killed = subprocess.run(
                    [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests_of(path)],
                    cwd=copy,
                    env=environment,
                    capture_output=True,
                    timeout=options.seconds,
                ).returncode
            except subprocess.TimeoutExpired:
                killed = 1  # an endless loop would be noticed
            shutil.copy(path, changed)
            shutil.rmtree(copy / f"cache-{number}", ignore_errors=True)
            where = f"{path.relative_to(ROOT)}:{line} {kind}"
            if not killed:
                survived.append(where)
            print(f"{number + 1}/{len(chosen)} {'killed  ' if killed else 'SURVIVED'} {where}", flush=True)
    print(f"killed {len(chosen) - len(survived)} of {len(chosen)}")


if __name__ == "__main__":
    main()
