"""The wheel: the package, its script and its data, and no stray module beside it."""

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lbg_recsys import __version__
from lbg_recsys.datasets import dataset_info

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from the checkout as pip would build it, in a copy so that the work tree stays clean."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md", "cli.py"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    for name in ("lbg_recsys", "datasets", "benchmarks", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    command += ["--wheel-dir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as opened:
        yield opened


@pytest.fixture(scope="module")
def modules(wheel):
    """The modules that the wheel was built from."""
    source = Path(wheel.filename).parent / "source"
    return {path.relative_to(source).as_posix() for path in (source / "lbg_recsys").rglob("*.py")}


def test_top_level_is_the_package_alone(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert len(tops) == 2 and "lbg_recsys" in tops
    assert next(top for top in tops if top != "lbg_recsys").endswith(".dist-info")


def test_wheel_has_the_version_of_the_package(wheel):
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    assert f"\nVersion: {__version__}\n" in wheel.read(metadata).decode()


def test_version_stands_in_one_place():
    """Only the package states its number: a second copy would be forgotten at the next release."""
    for name in ("pyproject.toml", "CITATION.cff"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"^version\s*[=:]\s*[\"']?\d", text, re.MULTILINE), name


def test_changelog_and_citation_have_the_same_date():
    released = re.search(
        rf"^## {re.escape(__version__)} - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert released, f"CHANGELOG.md has no section of version {__version__} with a date"
    assert f"\ndate-released: {released[1]}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_script_and_type_marker_are_in(wheel):
    (entry,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "lbg-recsys = lbg_recsys.cli:main" in wheel.read(entry).decode()
    assert "lbg_recsys/py.typed" in wheel.namelist()


def test_sample_is_in_byte_for_byte(wheel):
    for file in dataset_info("sample").files:
        data = wheel.read(f"lbg_recsys/datasets/sample/{file.name}")
        assert hashlib.sha256(data).hexdigest() == file.sha256


def test_pages_of_the_server_are_in(wheel):
    assert {"lbg_recsys/serving/page.html", "lbg_recsys/serving/docs.html"} <= set(wheel.namelist())


def test_every_module_is_in(wheel, modules):
    assert "lbg_recsys/core/em/loop.py" in modules and modules <= set(wheel.namelist())


def test_nothing_else_is_in(wheel, modules):
    """Beside modules and metadata: the type marker, the sample, the pages of the server and the frame of reports."""
    others = {name for name in wheel.namelist() if name not in modules and ".dist-info/" not in name}
    files = {f"datasets/sample/{file.name}" for file in dataset_info("sample").files}
    package = ROOT / "lbg_recsys"
    pages = {path.relative_to(package).as_posix() for path in package.rglob("*.html")}
    assert {"serving/page.html", "report/frame.html"} <= pages
    assert others == {f"lbg_recsys/{name}" for name in {"py.typed"} | files | pages}


def test_sample_loads_from_the_wheel_alone(wheel, tmp_path):
    wheel.extractall(tmp_path)
    code = "import lbg_recsys, lbg_recsys.datasets as d; print(lbg_recsys.__file__, len(d.load_sample().ratings))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    place, n_ratings = done.stdout.split()
    assert place.startswith(str(tmp_path)) and int(n_ratings) == 6065
