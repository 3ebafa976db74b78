"""Every example in a docstring runs."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "lbg_recsys"


def with_examples():
    """Modules with an example that is not skipped, found by their text: importing them all would take seconds."""
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(">>> " in line and "+SKIP" not in line for line in lines):
            yield ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(with_examples()))
def test_examples_run(name):
    if ".distributed." in name:
        pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
        pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    result = doctest.testmod(import_module(name))
    assert result.failed == 0 < result.attempted
