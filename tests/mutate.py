"""Mutation testing: change one thing in the package, and see whether a test notices.

``python -m tests.mutate --sample 150`` draws that many changes of ``core`` and ``ratings`` at random, runs the tests
of the changed file's room on a copy of the package for each, and prints those that no test noticed. A survivor is
either equivalent (the change alters nothing that can be seen) or a test that is missing.

A change takes seconds instead of minutes where these can be spared: every test process is a fork of one that has
imported the libraries; compiled code is kept for all but the files that depend on the changed one; and with
``--coverage FILE``, a data file of coverage.py with ``dynamic_context = test_function``, the tests that run the
changed line are tried first. Such a file has the lines of compiled functions if tests of ``core`` were run once more
as `tests.uncompiled` says; for a line that it does not have, all tests are tried.
"""

import argparse
import ast
import importlib
import math
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "lbg_recsys"
# The rooms that are changed, and those with tests of them.
ROOMS = {
    "core": ("core", "ratings", "algorithms", "properties", "text"),
    "ratings": ("ratings", "algorithms", "properties", "persistence"),
}
_LIBRARIES = ("numba", "pandas", "scipy.stats", "sklearn.feature_extraction.text", "surprise", "hypothesis", "polars")
_ENDLESS = 99  # the exit code of tests that did not end in time: a loop without an end is noticed, a slow test is not
_UNSEEN = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
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
    """The tests of a file: those of its own name first, then those of its folder, its room, and other rooms."""
    inside = path.relative_to(PACKAGE)
    found = [*(ROOT / "tests").rglob(f"test_{path.stem}.py")]
    for folder in (str(inside.parent), *ROOMS[inside.parts[0]]):
        found += sorted((ROOT / "tests" / folder).rglob("test_*.py"))
    return list(dict.fromkeys(str(one.relative_to(ROOT)) for one in found))


class Touching:
    """Leaves out the tests of which the data of coverage.py knows that they do not run a statement."""

    def __init__(self, data, contexts: set[str]):
        self.names = {_test_of(one) for one in contexts}
        self.others = {_test_of(one) for one in data.measured_contexts()} - self.names
        self.measured = Path(data.data_filename()).stat().st_mtime

    def files(self, tests: list[str]) -> list[str]:
        """Those of these files that may have such a test: collecting all of them takes seconds."""
        stems = {name.partition(".")[0] for name in self.names}
        return [one for one in tests if Path(one).stem in stems or (ROOT / one).stat().st_mtime > self.measured]

    def pytest_collection_modifyitems(self, config, items):
        """Called by pytest."""
        items[:] = [one for one in items if f"{one.path.stem}.{one.originalname}" not in self.others]


def _test_of(context: str) -> str:
    """File and function of a context of coverage.py."""
    return ".".join(context.split(".")[-2:])


def touching(data, path: Path, tree: ast.Module, node: ast.AST) -> Touching | None:
    """The tests that run the statement of this node; None if it runs on import, or if no test is known to run it."""
    within = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and node in ast.walk(one)]
    found = set(data.contexts_by_lineno(str(path)).get(within[-1].lineno, ())) - {""} if data else set()
    return Touching(data, found) if found else None


def dependents(path: Path) -> set[Path]:
    """The file and all that import it, directly or not: numba's cache does not notice edits in called files."""
    texts = {one: one.read_text("utf-8") for one in PACKAGE.rglob("*.py")}
    found, wanted = set(), {path}
    while wanted:
        one = wanted.pop()
        found.add(one)
        module = ".".join(one.relative_to(ROOT).with_suffix("").parts)
        parent, _, name = module.rpartition(".")
        said = re.compile(rf"(from {re.escape(module)} import|from {re.escape(parent)} import .*\b{name}\b)")
        wanted |= {other for other, text in texts.items() if said.search(text)} - found
    return found


def stale(path: Path) -> Callable[[str, list[str]], list[str]]:
    """For `shutil.copytree` of numba's cache: the compiled code that a change of this file may alter."""
    changed = {(one.parent.name, one.stem) for one in dependents(path)}

    def ignored(folder: str, names: list[str]) -> list[str]:
        room = Path(folder).name.rpartition("_")[0]  # numba adds a hash of the folder
        return [one for one in names if one.startswith("test_") or (room, one.partition(".")[0]) in changed]

    return ignored


def run(copy: Path, cache: Path, arguments: list[str], plugins: list[object], seconds: float) -> int:
    """The exit code of pytest in a fork of this process, `_ENDLESS` if it does not end.

    It has ``seconds`` on a processor: tests that wait for a busy machine are no endless loop. A test that waits for
    what does not come is ended after ten times as long.
    """
    child = os.fork()
    if not child:
        os.setpgrp()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), resource.RLIM_INFINITY))
        quiet = os.open(copy / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        os.chdir(copy)
        for name in [one for one in sys.modules if one.split(".")[0] == "tests"]:
            del sys.modules[name]
        sys.path[:] = [str(copy), *(one for one in sys.path if one not in ("", str(ROOT)))]
        os.environ |= {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(cache)}
        sys.modules["numba"].core.config.reload_config()
        code = 3
        try:
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *arguments], plugins=plugins))
        finally:
            os._exit(code)
    end = time.monotonic() + 10 * seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return _ENDLESS if code == -signal.SIGXCPU else code
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _ENDLESS


def main() -> None:
    """Draw changes, run the tests of each, print what survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--within", default="", help="only files whose path contains this")
    parser.add_argument("--seconds", type=float, default=600, help="on a processor, for the tests of one change")
    parser.add_argument("--coverage", help="a data file of coverage.py that knows which tests run a line")
    parser.add_argument("--only", default="", help="of the sample, only these numbers: 3,17")
    parser.add_argument("--folder", help="keep the copy and its compiled code here for the next run")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without a change first")
    options = parser.parse_args()
    data = None
    if options.coverage:
        data = importlib.import_module("coverage").CoverageData(options.coverage)
        data.read()
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    files = [path for path in files if options.within in str(path)]
    places = [(path, n) for path in files for n, _ in enumerate(mutants(ast.parse(path.read_text("utf-8"))))]
    chosen = random.Random(options.seed).sample(places, min(options.sample, len(places)))
    wanted = {int(one) - 1 for one in options.only.split(",") if one} or range(len(chosen))
    for name in _LIBRARIES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as temporary:
        survived = try_all(copied(Path(options.folder or temporary)), chosen, wanted, data, options)
    print(f"killed {len(wanted) - len(survived)} of {len(wanted)}")


def copied(folder: Path) -> Path:
    """The folder, with what the tests need. Files keep their times: compiled code of an earlier run stays valid."""
    for name in ("lbg_recsys", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def try_all(copy: Path, chosen: list[tuple[Path, int]], wanted, data, options: argparse.Namespace) -> list[str]:
    """Make the changes in the copy, one at a time; those that no test noticed."""
    cache, survived = copy / "cache", []
    cache.mkdir(exist_ok=True)
    if not options.unchecked:
        began, files = time.monotonic(), dict.fromkeys(path for path, _ in chosen)
        every = ["-m", "not slow", *dict.fromkeys(one for path in files for one in tests_of(path))]
        if run(copy, cache, every, [], 3600):
            sys.exit((copy / "output.txt").read_text("utf-8")[-2000:] + "\nthe tests fail without a change")
        print(f"the tests pass without a change, in {time.monotonic() - began:.0f} s", flush=True)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for number, (path, n) in enumerate(chosen):
        if number not in wanted:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        node, kind = list(mutants(tree))[n]
        line, before = getattr(node, "lineno", 0), ast.unparse(node)
        known = touching(data, path, tree, node)
        change(node, kind)
        changed = copy / path.relative_to(ROOT)
        changed.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        own_cache = copy / "cache-of-change"
        shutil.rmtree(own_cache, ignore_errors=True)
        shutil.copytree(cache, own_cache, ignore=stale(path), copy_function=os.link)
        began = time.monotonic()
        tests, code = tests_of(path), pytest.ExitCode.OK
        if known:
            code = run(copy, own_cache, ["-m", "not slow", *known.files(tests)], [known], options.seconds)
        if code in _UNSEEN:  # by the tests known to run the line: a test that failed without compiled code is not
            code = run(copy, own_cache, ["-m", "not slow", *tests], [], options.seconds)
        shutil.copy2(path, changed)
        if code == pytest.ExitCode.USAGE_ERROR:
            sys.exit((copy / "output.txt").read_text("utf-8")[-2000:])
        unseen = code in _UNSEEN
        where = f"{path.relative_to(ROOT)}:{line} {kind}: {before} -> {ast.unparse(node)}"
        survived += [where] if unseen else []
        told = "SURVIVED" if unseen else "no end  " if code == _ENDLESS else "killed  "
        print(f"{number + 1}/{len(chosen)} {told} {time.monotonic() - began:5.1f} s {where}", flush=True)
    return survived


if __name__ == "__main__":
    main()
