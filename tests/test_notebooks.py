"""The notebooks under examples/ run from the first cell to the last, and show titles."""

import os
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install '.[dev]'")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install '.[dev]'")
import nbformat  # noqa: E402

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch, sample):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = ["".join(one.get("data", {}).get("text/html", "") for one in cell.outputs) for cell in code]
    assert len(code) == 10 and sum(map(bool, shown)) >= 8
    assert [one for cell in code for one in cell.outputs if one.output_type == "stream"] == []  # no warning either
    titles = set(sample.items["title"])
    assert sum(any(title in html for title in titles) for html in shown) >= 6


def test_notebooks_are_kept_without_output():
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
