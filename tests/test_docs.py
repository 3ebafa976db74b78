"""The documentation names files and functions that exist, and its reference has everything public."""

import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "lbg_recsys"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([\w./]+)`", TEXT)))
FILES = [name for name in QUOTED if name.endswith((".py", "/")) or ("/" in name and "." not in name)]
NAMES = [name for name in QUOTED if re.fullmatch(r"[a-z_]+(\.\w+)+", name) and not name.endswith(".py")]


@pytest.mark.parametrize("name", FILES)
def test_every_file_exists(name):
    if name in ("cli/NAME.py", "bayesian.py", "mixture.py") or name.endswith("/NAME.py"):
        return
    places = (ROOT / name, PACKAGE / name, PACKAGE / f"{name}.py", *PACKAGE.rglob(name.strip("/").split("/")[-1]))
    assert any(place.exists() for place in places)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_exists(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module("lbg_recsys." + ".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            found = getattr(found, attribute)
        return
    pytest.fail(f"docs/architecture.md names {name}, which is not there")


PUBLIC = ("algorithms", "datasets", "distributed", "ratings", "readers", "text")
NOT_DESCRIBED = {"DATASETS", "RATING_SETS"}  # plain mappings


@pytest.mark.parametrize("part", PUBLIC)
def test_the_reference_has_every_public_name(part):
    reference = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    _, found, section = reference.partition(f".. currentmodule:: lbg_recsys.{part}\n")
    assert found
    listed = set(section.partition("```")[0].split())
    assert set(import_module(f"lbg_recsys.{part}").__all__) - NOT_DESCRIBED <= listed


def test_the_reference_leaves_out_what_is_not_for_users():
    pytest.importorskip("docutils")
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    from lbg_recsys.ratings import BayesianLBGModel, LBGModel, RatingMatrix, RatingScale, RatingStore

    def is_shown(cls, name):
        return conf["skip_internal"](None, "class", name, getattr(cls, name), False, None) is None

    for name in ("distribution_of", "item_code", "numbers_per_pair", "assemble", "list_score", "is_new"):
        assert not is_shown(LBGModel, name) and not is_shown(BayesianLBGModel, name)
    for name in ("fit", "recommend", "explain", "levels", "without_users", "predictions", "get_params"):
        assert is_shown(LBGModel, name) and is_shown(BayesianLBGModel, name)
    everything = (LBGModel, BayesianLBGModel, RatingMatrix, RatingScale, RatingStore)
    classes = [*everything, *(getattr(import_module("lbg_recsys.distributed"), one) for one in ("DaskBlocks",))]
    classes += [getattr(import_module("lbg_recsys.ratings"), one) for one in ("Explanation", "Influences")]
    classes.append(import_module("lbg_recsys.ratings.choice_scores").ChoiceExplanation)
    assert all(any(hasattr(cls, name) for cls in classes) for name in conf["INTERNAL"])  # none is out of date


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{one.name}" for one in sorted((ROOT / "docs").glob("*.md")))])
def test_commands_are_in_fences(page):
    """Where `tests.documents` finds them: those that are not run then say why."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ {4}(?:lbg-recsys|pip|python|curl|docker|import|from) .*", text, re.MULTILINE) == []


def test_what_examples_that_are_not_run_import_is_there():
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    imports = re.findall(r"^from (lbg_recsys[\w.]*) import (.+)$", text, re.MULTILINE)
    assert imports
    for module, names in imports:
        for name in names.split(", "):
            assert hasattr(import_module(module), name), f"docs/scaling.md imports {name} from {module}"
