"""README and docs say what the results say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_tables_come_from_the_results():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.write_docs", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_that_a_document_names_exist(document):
    text = document.read_text(encoding="utf-8")
    named = [part.split(")")[0].partition("#")[0] for part in text.split("](")[1:]]
    for path in named:
        if path and not path.startswith("http"):
            assert (document.parent / path).exists(), path
