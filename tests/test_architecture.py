"""The arrows point one way.

core <- ratings, text <- algorithms, persistence, distributed, serving, evaluation <- paper, cli, benchmarks
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "lbg_recsys"
# what anybody may use
SMALL = {
    "lbg_recsys",
    "catalogue",
    "checks",
    "columns",
    "errors",
    "files",
    "progress",
    "presets",
    "provenance",
    "schema",
    "settings",
    "words",
}

# part -> the parts of ours it may import (beside itself and SMALL)
ARROWS = {
    "core": set(),
    "ratings": {"core"},
    "text": {"core"},
    "readers": {"datasets"},
    "datasets": set(),
    "persistence": {"core", "ratings", "text"},
    "algorithms": {"core", "ratings"},
    "distributed": {"core", "ratings", "text", "readers"},
    "evaluation": {"core", "ratings", "text", "algorithms", "datasets", "distributed", "persistence"},
    "serving": {"core", "ratings", "persistence"},
    "report": {"core", "ratings", "evaluation"},
    "paper": {"core", "ratings", "text", "algorithms", "datasets", "evaluation"},
    "cli": {
        *("core", "ratings", "text", "algorithms", "datasets", "distributed", "persistence", "evaluation"),
        "paper",
        "readers",
        "serving",
        "report",
    },
}
# libraries each of the lower parts must not know
FOREIGN = {
    "core": {"surprise", "sklearn", "pandas", "click", "dask", "matplotlib"},
    "ratings": {"surprise", "click", "dask", "matplotlib"},
    "serving": {"surprise", "click", "dask", "matplotlib", "pandas"},
    "report": {"surprise", "click", "dask", "matplotlib", "pandas"},
    "text": {"surprise", "click", "dask"},  # it draws its topics where matplotlib is there
    "datasets": {"click", "matplotlib", "dask"},
    "algorithms": {"click", "matplotlib", "dask"},
}


# the only parts that may import Surprise
KNOW_SURPRISE = {"algorithms", "evaluation"}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def part_of(path):
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path):
    """Absolute names of all that a module imports, anywhere in it."""
    home = ["lbg_recsys", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            # `from lbg_recsys import core` imports a part by its last name
            yield from (f"{name}.{alias.name}" for alias in node.names) if name == "lbg_recsys" else (name,)


def ours(names):
    """The parts of our own that the names belong to."""
    return {(name.split(".") * 2)[1] for name in names if name.split(".")[0] == "lbg_recsys"}


def is_part(name):
    """Not so for `from lbg_recsys import __version__`."""
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def test_imports_are_seen(tmp_path, monkeypatch):
    """The test must be able to fail: it sees every way of importing."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "core").mkdir()
    module = tmp_path / "core" / "bad.py"
    module.write_text(
        "import lbg_recsys.cli.fit\nfrom lbg_recsys import text\nfrom ..ratings import x\nfrom . import em\n"
        "def f():\n    from sklearn.mixture import y\n"
    )
    assert ours(imports(module)) == {"cli", "text", "ratings", "core"}
    assert "sklearn.mixture" in set(imports(module))


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_arrows(path):
    part = part_of(path)
    found = set(imports(path))
    if part in ARROWS:
        below = {name for name in ours(found) - SMALL if is_part(name)}
        assert below <= ARROWS[part] | {part}
    elif path.parent == PACKAGE and path.stem in SMALL - {"lbg_recsys"}:
        assert {name for name in ours(found) if is_part(name)} <= SMALL
    foreign = {name.split(".")[0] for name in found}
    assert not foreign & FOREIGN.get(part, set())


def test_every_part_has_its_arrows():
    parts = {part_of(path) for path in modules()} - SMALL
    assert parts - {"__init__", "__main__"} <= set(ARROWS)


def package(root, monkeypatch, **files):
    """A package of a few lines, to see rules fail; ``core_em_bad`` is core/em/bad.py."""
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", root)
    for name, text in files.items():
        path = root.joinpath(*name.split("_")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("core_bad", "from lbg_recsys.ratings import x"),
        ("ratings_bad", "from lbg_recsys import persistence"),
        ("text_bad", "def f():\n    import lbg_recsys.persistence.container"),
        ("datasets_bad", "from lbg_recsys.readers import read_ratings"),
        ("algorithms_bad", "from lbg_recsys.evaluation import x"),
        ("evaluation_bad", "from lbg_recsys.cli import x"),
        ("ratings_worse", "import surprise"),
    ],
)
def test_a_wrong_arrow_is_seen(tmp_path, monkeypatch, module, text):
    rooms = {f"{part}_init": "" for part in ARROWS}
    bad = next(path for path in package(tmp_path, monkeypatch, **rooms, **{module: text}) if path.stem in module)
    with pytest.raises(AssertionError):
        test_arrows(bad)


def other_engine(path):
    """What a module of core.em imports of core.gibbs, or the reverse."""
    home = path.relative_to(PACKAGE).parts[:2]
    other = {("core", "em"): "lbg_recsys.core.gibbs", ("core", "gibbs"): "lbg_recsys.core.em"}.get(home)
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            inside = ["lbg_recsys", *path.relative_to(PACKAGE).parts[:-1]]
            base = ".".join([*inside[: len(inside) - node.level + 1], *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if other and f"{name}.".startswith(f"{other}.")}


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_em_and_gibbs_do_not_import_each_other(path):
    assert not other_engine(path)


@pytest.mark.parametrize(
    "text",
    ["from lbg_recsys.core.gibbs.draws import x", "from lbg_recsys.core import gibbs", "from ..gibbs import chain"],
)
def test_an_import_of_the_other_engine_is_seen(tmp_path, monkeypatch, text):
    bad, *_ = package(tmp_path, monkeypatch, core_em_bad=text, core_gibbs_good="from lbg_recsys.core import sparse")
    assert other_engine(bad) and not any(map(other_engine, _))


def knows_surprise(path):
    """Whether a module imports Surprise in a part that must not."""
    imported = "surprise" in {name.split(".")[0] for name in imports(path)}
    return imported and part_of(path) not in KNOW_SURPRISE


def test_surprise_is_known_to_few():
    assert not [path for path in modules() if knows_surprise(path)]


def test_an_import_of_surprise_is_seen(tmp_path, monkeypatch):
    files = {"readers_bad": "def f():\n    from surprise import Reader", "algorithms_good": "import surprise"}
    assert [path.stem for path in package(tmp_path, monkeypatch, **files) if knows_surprise(path)] == ["bad"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_pickle_no_eval_no_print(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {function.id for function in calls if isinstance(function, ast.Name)}
    # Surprise's test(verbose=True) promises to print each prediction; nobody else prints.
    printing = {"algorithms/base.py"}
    allowed = {"print"} if path.relative_to(PACKAGE).as_posix() in printing else set()
    assert not names & {"eval", "exec", "print"} - allowed
    assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "dill", "cloudpickle", "marshal", "shelve"}


def _fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("module", ["lbg_recsys", "lbg_recsys.datasets", "lbg_recsys.cli"])
def test_import_is_light(module):
    code = (
        f"import sys, time; start = time.process_time(); import {module}\n"
        "heavy = {'surprise', 'pandas', 'matplotlib', 'sklearn', 'numba', 'pyarrow', 'dask'}\n"
        "heavy = (heavy | {'starlette', 'uvicorn'}) & set(sys.modules)\n"
        "print(time.process_time() - start, *heavy)"
    )
    seconds, *heavy = _fresh(code)
    assert heavy == [] and float(seconds) < 1


def private_names(path):
    """What a file takes from the package by a name with an underscore: modules, names in them, attributes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lbg_recsys"):
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [
                part for alias in node.names if alias.name.startswith("lbg_recsys") for part in alias.name.split(".")
            ]
        elif isinstance(node, ast.Attribute) and not (
            isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        ):
            names = [node.attr]
        else:
            continue
        yield from (name for name in names if name.startswith("_") and not name.endswith("__"))


def test_private_names_are_seen(tmp_path):
    path = tmp_path / "bench_bad.py"
    path.write_text(
        "from lbg_recsys.text._start import a\nfrom lbg_recsys.core import _b\nimport lbg_recsys._c\n"
        "model._d()\nself._fine()\nmodel.__class__\n"
    )
    assert sorted(private_names(path)) == ["_b", "_c", "_d", "_start"]


@pytest.mark.parametrize(
    "path", sorted((PACKAGE.parent / "benchmarks").glob("*.py")), ids=lambda path: f"benchmarks/{path.name}"
)
def test_benchmarks_use_no_private_name(path):
    assert not list(private_names(path))
