"""README and docs say what the results say, and their examples run as they stand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.records import complete_rows, means
from benchmarks.tables import accuracy_rows, without_bins
from lbg_recsys.errors import DatasetError
from tests.documents import blocks, run_all, same

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCUMENTS = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_BLOCKS = [path for path in DOCUMENTS if any(not block.skipped for block in blocks(path.read_text("utf-8")))]


def test_tables_come_from_the_results():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.write_docs", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_that_a_document_names_exist(document):
    text = document.read_text(encoding="utf-8")
    named = [part.split(")")[0].partition("#")[0] for part in text.split("](")[1:]]
    for path in named:
        if path and not path.startswith("http"):
            assert (document.parent / path).exists(), path


@pytest.mark.slow
@pytest.mark.parametrize("document", WITH_BLOCKS, ids=lambda path: path.name)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_examples_run_and_print_what_the_document_shows(document):
    try:
        for block, said in run_all(document):
            if block.output is not None and not same(block.output, said):
                pytest.fail(
                    f"{document.name}, line {block.line}: the document shows\n{block.output}\nbut the output is\n"
                    f"{said}\nRun python -m tests.documents {document.relative_to(ROOT)} if that is intended."
                )
    except DatasetError as error:
        pytest.skip(str(error).replace("\n", " "))


def test_outputs_that_differ_are_seen():
    assert same("RMSE 0.880  ███▊ 12%\n", "RMSE 0.8802 ██ 12%")
    assert not same("RMSE 0.88", "MAE 0.88") and not same("rank 1 7", "rank 1 9") and not same("a", "a b")


def results(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def test_our_lists_are_ahead_as_the_readme_says():
    """On every data set on which a rival library was measured too."""
    for data in ("ml-100k", "ml-1m", "filmtrust", "ciao"):
        rows = complete_rows(results("topn"), data)
        ndcg = {model: means(without_bins(folds))["ndcg"] for model, folds in rows.items()}
        assert "LBG" in max(ndcg, key=ndcg.get)


def test_our_ratings_are_ahead_as_the_readme_says():
    assert next(iter(accuracy_rows(results("accuracy")))).startswith("bayesian")
