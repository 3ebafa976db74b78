"""The README says what the results say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_tables_come_from_the_results():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.readme", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_paths_that_the_readme_names_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = [part.split(")")[0] for part in text.split("](")[1:]]
    for path in named:
        if not path.startswith(("http", "#")):
            assert (ROOT / path).exists(), path
