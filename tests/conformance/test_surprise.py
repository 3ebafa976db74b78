"""Surprise's own tests, run against our algorithms (its source distribution is fetched, never committed)."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import lbg_recsys

ROOT = Path(lbg_recsys.__file__).parents[1]
FILES = ("test_algorithms.py", "test_dump.py", "test_validation.py")
TESTS = ("test_algorithms.py::test_unknown_user_or_item", "test_dump.py", "test_validation.py")
REPLACED = (
    "NormalPredictor BaselineOnly KNNBasic KNNWithMeans KNNBaseline SVD SVDpp NMF SlopeOne CoClustering KNNWithZScore"
)


@pytest.fixture(scope="session")
def surprise_tests(tmp_path_factory):
    """The named test files of Surprise's sdist, read out of the archive one by one."""
    folder = tmp_path_factory.mktemp("surprise")
    # pip asks the distribution for its metadata, and so compiles it. Only its tests are wanted: nothing is compiled.
    instead = folder / "Cython" / "Build"
    instead.mkdir(parents=True)
    (instead.parent / "__init__.py").touch()
    (instead / "__init__.py").write_text("def cythonize(*extensions, **options):\n    return []\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--no-binary", "scikit-surprise", "--dest", str(folder), "scikit-surprise==1.1.5"]
    try:
        subprocess.run(
            command, check=True, capture_output=True, timeout=240, env=os.environ | {"PYTHONPATH": str(folder)}
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode()
        if "No matching distribution" in said or "Could not find a version" in said:
            pytest.skip(f"no registry gave Surprise's source distribution: {said[-200:]}")
        raise AssertionError(said) from error
    except subprocess.TimeoutExpired:
        pytest.skip("no registry gave Surprise's source distribution within four minutes")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        for name in FILES:
            member = archive.extractfile(f"scikit_surprise-1.1.5/tests/{name}")
            (folder / name).write_bytes(member.read())
    return folder


@pytest.mark.registry
@pytest.mark.slow
def test_surprises_own_tests(surprise_tests):
    """One test for all classes, because each worker that ran one would fetch the distribution again."""
    for algorithm in ("LBGAlgo", "GaussianPLSAAlgo", "MovieMeanAlgo", "BayesianLBGAlgo"):
        chosen = {
            "LBG_CONFORMANCE_CLASS": algorithm,
            "LBG_CONFORMANCE_NAMES": REPLACED,
            "PYTHONPATH": str(ROOT),
        }
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "tests.conformance.surprise_alias", *TESTS],
            cwd=surprise_tests,
            env=os.environ | chosen,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, f"{algorithm}: {result.stdout[-3000:]}{result.stderr[-1000:]}"
        assert " passed" in result.stdout
