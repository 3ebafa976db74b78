"""`lbg-recsys text`: documents as people have them."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

from lbg_recsys.errors import DataError
from lbg_recsys.files import MAGIC
from lbg_recsys.persistence import load
from lbg_recsys.readers.documents import read_documents
from lbg_recsys.text import LBGClassifier, LBGMixture


@pytest.mark.parametrize("source", ["docs", "texts.csv", "words.svmlight"])
def test_cluster_finds_the_two_kinds(source, desk, run):
    facts = json.loads(run("text", "cluster", source, "-k", 2, "--json", "-q").stdout)
    assert facts["accuracy"] == 1.0
    assert sum(topic["n_documents"] for topic in facts["topics"]) == facts["n_documents"]
    shown = run("text", "cluster", source, "-k", 2)
    assert "Accuracy under the best mapping of topics to the classes: 1.0000" in shown.stdout
    assert "documents of 2 classes" in shown.stderr


def test_cluster_is_the_mixture(desk, run):
    from sklearn.feature_extraction.text import TfidfVectorizer

    run("text", "cluster", "texts.csv", "-k", 2, "-o", "out.csv", "--seed", 3, "--param", "n_keywords=6", "-q")
    texts = pd.read_csv("texts.csv")
    matrix = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english").fit_transform(texts["text"])
    model = LBGMixture(2, n_keywords=6, random_state=3).fit(matrix)
    out = pd.read_csv("out.csv")
    assert out["topic"].tolist() == model.labels_.tolist() and out["label"].tolist() == texts["label"].tolist()
    np.testing.assert_allclose(out["probability"], model.predict_proba(matrix).max(axis=1), rtol=1e-12)


def test_select(desk, run):
    facts = json.loads(run("text", "select", "docs", "-k", 2, "-n", 10, "--json", "-q").stdout)
    assert facts["n_selected"] == 10 and len({one["topic"] for one in facts["selected"]}) == 2
    scores = [one["score"] for one in facts["selected"]]
    assert scores == sorted(scores, reverse=True)
    count, head, *rows = run("text", "select", "docs", "-k", 2, "-n", 10).stdout.splitlines()
    assert count.startswith("10 of ") and head.split() == ["word", "score", "topic"]
    assert [row.split() for row in rows] == [
        [one["word"], f"{one['score']:.4f}", str(one["topic"])] for one in facts["selected"]
    ]
    assert "Wrote 10 of " in run("text", "select", "docs", "-k", 2, "-n", 10, "-o", "words.csv").stderr
    few = json.loads(run("text", "select", "docs", "-k", 2, "--delta", 0.99, "--json", "-q").stdout)
    assert all(one["score"] >= 0.99 for one in few["selected"])


def test_classify_by_cross_validation_and_new_documents(desk, run):
    facts = json.loads(run("text", "classify", "docs", "--folds", 3, "-p", "n_topics=1", "--json", "-q").stdout)
    assert facts["accuracy"] > 0.9 and facts["classes"] == ["garden", "harbour"]
    assert np.sum(facts["confusion"]) == 54
    facts = json.loads(run("text", "classify", "docs", "more_docs", "-p", "n_topics=1", "--json", "-q").stdout)
    assert [one["prediction"] for one in facts["documents"]] == ["garden"] * 3 + ["harbour"] * 3
    shown = run("text", "classify", "docs", "more_docs", "-p", "n_topics=1").stdout
    assert "garden/27.txt" in shown and "Accuracy 1.0000 of 6 documents" in shown and "probability" in shown


def test_probabilities_of_cross_validated_documents(desk, run):
    """Every document by a model without it; a class of one document cannot be known while it is held out."""
    (desk / "docs" / "lone").mkdir()
    (desk / "docs" / "lone" / "one.txt").write_text("harbour garden harbour")
    said = " ".join(run("text", "classify", "docs", "--folds", 3, "-o", "out.csv").stderr.split())
    assert "Wrote the classes of 55 documents to out.csv." in said
    assert "fewer documents than the 3 folds are not tested in every fold: 'lone'; never found: 'lone'" in said
    assert "n_splits" not in said
    out = pd.read_csv("out.csv").set_index("document")
    shares = out[["p_garden", "p_harbour", "p_lone"]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.idxmax(axis=1) == "p_" + out["prediction"]).all()
    assert out.loc[out["label"] == "lone", "p_lone"].tolist() == [0.0]
    facts = json.loads(run("text", "classify", "docs", "--folds", 3, "--json", "-q").stdout)
    first = facts["documents"][0]["distribution"]
    assert list(first) == facts["classes"] and list(first.values()) == pytest.approx(shares.iloc[0].tolist())


def test_too_few_documents_to_cross_validate(desk, run):
    (desk / "two.svmlight").write_text("1 1:0.5 30000000:0.25\n0 2:1.0 5:0.5\n")
    said = " ".join(run("text", "classify", "two.svmlight", "--folds", 2, code=1).stderr.split())
    assert "--folds 2 needs a class of at least 2 documents; the largest, '1', has 1: give more documents" in said


def test_a_single_class_of_several_documents_is_not_cross_validated(desk, run):
    """The part with the only document of the other class would leave one class to learn."""
    (desk / "lone.csv").write_text("text,label\n" + "car engine,a\n" * 6 + "goal keeper,b\n")
    said = " ".join(run("text", "classify", "lone.csv", "--min-df", 1, code=1).stderr.split())
    assert "needs two classes of at least 2 documents; only 'a' has as many: give more documents, or NEW" in said
    run("text", "classify", "lone.csv", "lone.csv", "--min-df", 1, "-q")


def test_classify_passes_parameters_to_the_mixture(desk, run):
    from sklearn.base import clone

    from lbg_recsys.cli.text.classify import _classifier

    given = _classifier(("n_topics=1", "estimator__n_keywords=3", "estimator__prior_gauss=7"), None, 0)
    usual = LBGClassifier()._template().get_params()
    assert given.n_topics == 1
    assert clone(given).estimator.get_params() == usual | {"n_keywords": 3, "prior_gauss": 7}
    run("text", "classify", "docs", "--folds", 3, "-p", "n_topics=1", "-p", "estimator__n_keywords=3", "-q")
    assert "n_topics" not in run("text", "classify", "docs", "--folds", 3, "-p", "n_topics=[1, 2]", "-q").stderr


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("estimator__n_keyword=3", "LBGMixture has no parameter 'n_keyword' (did you mean 'n_keywords'?)"),
        ("estimator__prior_gauss=much", "prior_gauss is 'much', not float"),
        ("estimator__prior_gauss=-1", "prior_gauss"),
        ("estimator__n_components=3", "n_components is set by n_topics"),
        ("estimator=3", "estimator is set by estimator__NAME=VALUE"),
        ("max_false_positive_rate=0.1", "is set by --max-false-positives"),
        ("n_topics=foo", "parameter of LBGClassifier must be a str among {'auto'}"),
        ("n_topics=[0]", "n_topics is [0]; give whole numbers from 1 up"),
        ("n_topics=[]", "n_topics is []; give whole numbers from 1 up"),
        ("n_topics=0", "n_topics"),
        ("class_prior=[0.5]", "class_prior is [0.5]; it must have 2 positive numbers"),
        ("estimator__n_keywords=paper", "give the estimator a whole number of keywords"),
    ],
)
def test_parameters_of_a_classifier_are_checked(param, message, desk, run):
    said = run("text", "classify", "docs", "--param", param, "-q", code=2).stderr
    assert message in " ".join(said.split())


def test_too_few_documents_for_a_threshold(desk, run):
    rows = [f"{kind},{kind} word{number % 2}" for kind in ("one", "two") for number in range(4)]
    (desk / "few.csv").write_text("\n".join(["label,text", *rows]))
    arguments = ["text", "classify", "few.csv", "--min-df", 1, "--max-false-positives", 0.5, "--folds", 2]
    said = run(*arguments, code=1).stderr
    assert "inner cross-validation of 5 parts" in said and "--param cv=2" in said
    run(*arguments, "-p", "n_topics=1", "-p", "cv=2")


def test_texts_with_line_breaks_and_their_columns(tmp_path):
    path = tmp_path / "given.csv"
    path.write_text('id,Kind,Words\n1,a,"one\ntwo, ""three"""\n2,b,four\n')
    read = read_documents(str(path), text_column="words", label_column="kind")
    assert read.texts == ['one\ntwo, "three"', "four"] and read.labels == ["a", "b"]


def test_an_empty_label_is_no_class(desk, run):
    (desk / "some.csv").write_text('text,Kind\n"one\ntwo",a\nthree, \nfour,b\n')
    said = " ".join(run("text", "classify", "some.csv", "--label-column", "kind", code=1).stderr.split())
    assert "some.csv, line 4: the label (column 'Kind') is empty: fill it in or leave the document out" in said
    assert read_documents("some.csv").labels is None  # the column was not asked for
    (desk / "none.csv").write_text("text,label\none,\ntwo,\n")
    assert read_documents("none.csv").labels is None


def test_documents_of_a_table_are_named_by_their_ids(desk, run):
    texts = pd.read_csv("texts.csv", dtype=str)
    texts.assign(ID=[f"00{number}" for number in range(len(texts))]).to_csv("named.csv", index=False)
    run("text", "cluster", "named.csv", "-k", 2, "-o", "topics.csv", "-q")
    assert pd.read_csv("topics.csv", dtype=str)["document"].tolist() == [
        f"00{number}" for number in range(len(texts))
    ]
    (desk / "both.csv").write_text("document,text,doc_id\nx,one,7\ny,two,8\n")
    assert read_documents("both.csv").names == ["7", "8"]
    assert read_documents("both.csv", text_column="doc_id").names == ["x", "y"]


@pytest.mark.parametrize(("second", "why"), [("7", "the id is used twice: '7'"), (" ", "the id is empty")])
def test_ids_that_name_no_document_are_noted(second, why, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text(f"id,text\n7,one\n{second},two\n")
    with pytest.warns(UserWarning, match=f"line 3: {why}; documents are named by the numbers of their rows"):
        assert read_documents(str(path)).names == ["1", "2"]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_table_is_found_out(sign, tmp_path):
    """By the header: texts may hold any of them."""
    rows = [["Name, Vorname", "Nachricht", "Art"], ["Ott", "rot; blau, grün", "a"], ["Ull", "eins\nzwei|drei", "b"]]
    with open(tmp_path / "given.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=sign).writerows(rows)
    read = read_documents(str(tmp_path / "given.csv"), text_column="nachricht", label_column="Art")
    assert read.texts == ["rot; blau, grün", "eins\nzwei|drei"] and read.labels == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;b\n1;2,3\n", "has no text column: it has 'a', 'b'; name it with --text-column"),
        ("text\none, two\n", r"line 2: 2 fields where the header has 1 .*quote a field"),
        ('text,label\n"one\ntwo",a\n\nthree\n', r"line 5: 1 field where the header has 2"),
        ("a,b\n1,2\n", "has no text column: it has 'a', 'b'; name it with --text-column"),
        ("text,label\n", "holds no documents"),
        ('text\n"open\n', "line 2: quotes that do not close a field"),
        ("id,text\n1\n", r"line 2: 1 field where the header has 2"),
        ("1 1:a\n", "not an svmlight file"),
        ("text\nonly one\n", "no word, stop words aside, is in at least 2 of 1 documents: lower --min-df"),
    ],
)
def test_documents_that_cannot_be_used(content, message, desk, run):
    path = desk / "given.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = run("text", "cluster", path, "-q", code=1).stderr
    assert error.startswith("Error: ")
    assert re.search(message, error), error


def test_failures_are_sentences(desk, run):
    assert "Error: there is no file gone" in run("text", "cluster", "gone", code=1).stderr
    (desk / "docs" / "loose.txt").write_text("loose")
    assert "also the file loose.txt" in run("text", "classify", "docs", code=1).stderr
    (desk / "flat").mkdir()
    assert "holds no documents" in run("text", "cluster", "flat", code=1).stderr
    (desk / "flat" / "a.txt").write_text("a text")
    assert "no classes to learn" in run("text", "classify", "flat", "--min-df", 1, code=1).stderr
    assert "of the same kind" in run("text", "classify", "texts.csv", "words.svmlight", code=1).stderr
    assert "no parameter 'n_keyword'" in run("text", "cluster", "texts.csv", "-p", "n_keyword=3", code=2).stderr
    assert (
        "is in at least 1,000 of 60 documents: lower"
        in run("text", "cluster", "texts.csv", "--min-df", 1000, code=1).stderr
    )
    for command in ("cluster", "select"):
        said = " ".join(run("text", command, "texts.csv", "-k", 1000, code=1).stderr.split())
        assert "-k 1000 asks for more topics than there are documents with words, 60: ask for fewer" in said


def test_texts_that_are_not_utf_8_are_read_with_a_note(desk, run):
    """Line by line: a stray byte does not change how the other lines are read."""
    raw = "grün\n".encode() + "cœur – Blüte\n".encode("cp1252") + b"\x81\n"
    (desk / "docs" / "garden" / "old.txt").write_bytes(raw)
    with pytest.warns(UserWarning, match=r"1 of 55 files of docs, the first of them docs/garden/old.txt, line 2"):
        read = read_documents("docs")
    assert read.texts[read.names.index("garden/old.txt")] == "grün\ncœur – Blüte\n\x81\n"
    (desk / "old.csv").write_bytes(b"text\n" + raw)
    with pytest.warns(UserWarning, match=r"2 of 4 lines of old.csv, the first of them line 3; save as UTF-8"):
        assert read_documents("old.csv").texts == ["grün", "cœur – Blüte", "\x81"]
    said = " ".join(run("text", "cluster", "docs", "-k", 2).stderr.split())
    assert "Note: not UTF-8, and read as Windows-1252: 1 of 55 files of docs" in said
    run("text", "cluster", "texts.csv", "-k", 2, "-o", "topics.lbg", "-q")
    assert "Note: not UTF-8" in run("text", "apply", "topics.lbg", "old.csv").stderr
    assert not run("text", "apply", "topics.lbg", "old.csv", "-q").stderr


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("text".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (MAGIC + b"\0", "is a model file of lbg-recsys"),
        (b"a\nb\0", "line 2: a zero byte, so this is not"),
    ],
)
def test_files_that_are_no_text_are_named(raw, message, desk):
    (desk / "docs" / "garden" / "odd.txt").write_bytes(raw)
    (desk / "odd.csv").write_bytes(raw)
    for source, file in (("docs", "docs/garden/odd.txt"), ("odd.csv", "odd.csv")):
        with pytest.raises(DataError, match=f"{file}.* {message}"):
            read_documents(source)


def test_only_the_columns_that_occur_are_kept(tmp_path):
    """An index of 30,000,000 is one word, not 30,000,000; new documents are read by the words of the known ones."""
    from lbg_recsys.readers.documents import read_documents, word_frequencies

    (tmp_path / "a.svmlight").write_text("1 1:2 30000000:1\n2 2:1 30000000:3\n")
    (tmp_path / "b.svmlight").write_text("1 2:5 7:1\n")
    known, new = (read_documents(str(tmp_path / name)) for name in ("a.svmlight", "b.svmlight"))
    (first, second), names, vectorizer = word_frequencies(known, new, min_df=1, stop_words="none")
    assert vectorizer is None and names == ["word 1", "word 2", "word 30000000"]
    assert first.toarray().tolist() == [[2, 0, 1], [0, 1, 3]]
    assert second.toarray().tolist() == [[0, 5, 0]]


def test_columns_counted_from_zero_are_the_same_words_in_every_file(desk, run):
    """Also where new documents happen to have no column 0."""
    (desk / "known.svmlight").write_text("1 0:1 3:1\n0 2:1 5:1\n" * 5)
    (desk / "new.svmlight").write_text("1 3:1\n0 2:1 5:1\n")
    facts = json.loads(run("text", "classify", "known.svmlight", "new.svmlight", "--json", "-q").stdout)
    assert facts["accuracy"] == 1.0
    run("text", "classify", "known.svmlight", "-o", "known.lbg", "--folds", 2, "-q")
    found = json.loads(run("text", "apply", "known.lbg", "new.svmlight", "--json").stdout)["documents"]
    assert [one["prediction"] for one in found] == ["1", "0"]


def test_a_saved_model_is_applied_to_new_documents(desk, run):
    told = run("text", "cluster", "texts.csv", "-k", 2, "-o", "topics.lbg", "-o", "topics.csv").stderr
    assert "Wrote the LBGMixture to topics.lbg." in told and "to topics.csv." in told
    found = json.loads(run("text", "apply", "topics.lbg", "texts.csv", "--json").stdout)["documents"]
    with open(desk / "topics.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [str(one["topic"]) for one in found] == [row["topic"] for row in rows]
    assert [one["label"] for one in found] == [row["label"] for row in rows]
    told = run("text", "apply", "topics.lbg", "texts.csv", "-o", "applied.csv", "--label-column", "label")
    assert told.stdout == "" and "Wrote the topics of " in told.stderr

    run("text", "classify", "docs", "more_docs", "-o", "classes.lbg", "-o", "classes.csv")
    applied = run("text", "apply", "classes.lbg", "more_docs", "-o", "again.csv")
    assert "Wrote the classes of 6 documents to again.csv." in applied.stderr
    assert "Accuracy 1.0000 of 6 documents" in applied.stdout
    with open(desk / "classes.csv", newline="") as one, open(desk / "again.csv", newline="") as other:
        first, second = list(csv.DictReader(one)), list(csv.DictReader(other))
    shares = [name for name in second[0] if name.startswith("p_")]
    assert len(shares) == 2
    for a, b in zip(first, second, strict=True):
        assert (a["prediction"], a["label"]) == (b["prediction"], b["label"])
        assert sum(float(b[name]) for name in shares) == pytest.approx(1.0)
        assert [float(a[name]) for name in shares] == pytest.approx([float(b[name]) for name in shares])

    run("text", "cluster", "words.svmlight", "-k", 2, "-o", "frequencies.lbg", "-q")
    assert (
        len(json.loads(run("text", "apply", "frequencies.lbg", "words.svmlight", "--json").stdout)["documents"]) > 5
    )
    assert "give a folder of texts or a CSV" in run("text", "apply", "topics.lbg", "words.svmlight", code=1).stderr


def test_classified_documents_have_one_shape(desk, run):
    """On screen what the files have, without a column per class; the same from both commands."""
    classified = run("text", "classify", "docs", "more_docs", "-q").stdout
    run("text", "classify", "docs", "more_docs", "-o", "classes.lbg", "-o", "classes.csv", "-q")
    assert run("text", "apply", "classes.lbg", "more_docs").stdout == classified
    header, first = classified.splitlines()[0].split(), classified.splitlines()[1].split()
    assert header == ["document", "prediction", "probability", "label"]
    table = pd.read_csv("classes.csv")
    assert list(table) == [*header, "p_garden", "p_harbour"] and f"{table['probability'][0]:.4f}" == first[2]
    found = json.loads(run("text", "apply", "classes.lbg", "more_docs", "--json").stdout)["documents"][0]
    assert list(found) == [*header, "distribution"] and found["probability"] == max(found["distribution"].values())


@pytest.mark.parametrize(("command", "model"), [("cluster", LBGMixture), ("classify", LBGClassifier)])
def test_parameters_of_the_text_models_are_listed(command, model, run):
    shown = run("text", command, "--help").stdout
    assert f"params {model.__name__}' lists them." in " ".join(shown.split())
    listed = {one["name"]: one for one in json.loads(run("params", model.__name__, "--json").stdout)}
    expected = model().get_params(deep=False)
    assert {name: one["default"] for name, one in listed.items()} == {name: expected[name] for name in listed}
    assert expected.keys() - listed.keys() <= {"random_state", "verbose"}  # --seed and --quiet
    assert all(one["type"] and one["description"] for one in listed.values())
    assert listed["n_jobs"]["type"] == "int or None" and "in threads" in listed["n_jobs"]["description"]


def test_a_misspelt_text_model_is_suggested(run):
    said = " ".join(run("params", "LBGClasifier", code=2).stderr.split())
    assert "there is no algorithm 'LBGClasifier' (did you mean 'LBGClassifier'?); there are bayesian" in said
    assert said.endswith("LBGMixture, LBGClassifier")
    assert "LBGMixture" not in run("evaluate", "sample", "-a", "LBGMixtur", code=2).stderr


@pytest.mark.parametrize("command", [("cluster", "texts.csv", "-k", 2), ("classify", "docs", "--folds", 3)])
def test_the_suffix_of_an_output_says_what_it_is(command, desk, run):
    said = run("text", *command, "-o", "out.lbg", "-o", "out.csv", "-o", "out.jsonl").stderr
    assert all(f"to out.{suffix}." in said for suffix in ("lbg", "csv", "jsonl"))
    rows = [json.loads(line) for line in (desk / "out.jsonl").read_text().splitlines()]
    assert list(rows[0]) == list(pd.read_csv("out.csv"))  # both are tables
    assert hasattr(load("out.lbg"), "vectorizer_")
    said = run("text", *command, "-o", "out.csv", "-o", "out.txt", code=2).stderr
    assert "out.txt must end in .csv or .tsv or .jsonl or .parquet or .lbg" in " ".join(said.split())


def test_documents_without_a_known_word_are_counted(desk, run):
    run("text", "classify", "texts.csv", "-o", "classes.lbg")
    (desk / "strange.csv").write_text("text\nxyzzy plugh\n")
    told = run("text", "apply", "classes.lbg", "strange.csv")
    said = "1 document without a word that the model knows: the class is a guess"
    assert said in told.stderr
    assert said in run("text", "classify", "texts.csv", "strange.csv").stderr
    assert said not in run("text", "classify", "texts.csv", "strange.csv", "-q").stderr
    assert not run("text", "apply", "classes.lbg", "strange.csv", "-q").stderr
