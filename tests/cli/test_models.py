"""The commands that use a model file."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import lbg_recsys
from lbg_recsys.columns import with_distribution


def read_table(path, separator=","):
    """A table whose numbers are read to the last bit, which pandas does not promise in every version."""
    table = pd.read_csv(path, sep=separator, dtype=str)
    return table.apply(
        lambda column: column if column.name in ("title", "unknown") else [float(value) for value in column]
    )


# -- predict -----------------------------------------------------------------------------------------------------


def test_predict_one_pair(model, run):
    facts = json.loads(run("predict", "model.lbg", "--user", 3, "--item", "crimson comet", "--json").stdout)[0]
    assert (facts["user"], facts["item"], facts["title"]) == (3, 3, "Crimson Comet")
    assert facts["prediction"] == model.predict_batch([(3, 3)])[0]
    assert list(facts["distribution"].values()) == model.predict_distribution([(3, 3)])[0].tolist()
    assert [facts["low"], facts["high"]] == model.interval([(3, 3)])[0].tolist()
    shown = run("predict", "model.lbg", "--user", 3, "--item", 3).stdout
    assert "Crimson Comet: prediction 4 (mode)" in shown and shown.count("%\n") == 5 and "█" in shown


def test_ids_are_told_as_they_are(desk, run):
    wide = 2**53 + 1  # a floating-point number would be another
    lbg_recsys.save(lbg_recsys.LBGModel(n_topics=1).fit(([wide, 2], [8, 9], [1, 5])), "wide.lbg")
    shown = run("predict", "wide.lbg", "--user", wide, "--item", 8, "--json").stdout
    assert f'"user": {wide},' in shown and '"item": 8,' in shown


def test_predict_a_user_that_the_model_does_not_know(model, run):
    result = run("predict", "model.lbg", "--user", 77777, "--item", 8, "--json")
    assert "Note: the model knows no user '77777'" in result.stderr
    (facts,) = json.loads(result.stdout)
    assert facts["user"] == 77777
    assert list(facts["distribution"].values()) == model.predict_distribution([(77777, 8)])[0].tolist()
    assert "--drop-users" not in result.stderr


def test_predict_from_a_file_without_users(desk, run):
    run("fit", "ratings.csv", "--algo", "lbg", "-o", "mine.lbg", "--drop-users", "-q")
    told = " ".join(run("predict", "mine.lbg", "--user", 3, "--item", 8).stderr.split())
    assert "knows no user '3', because it was saved without its users (fit --drop-users)" in told
    assert "--new-user FILE predicts from a user's own ratings" in told
    assert run("predict", "model.lbg", "--user", "nobody", "--item", 8, "-q").stderr == ""


def test_titles_in_a_file_of_pairs(model, desk, run):
    (desk / "titles.csv").write_text("user,item\n3,crimson comet\n3,Crimson Comt\n3,Crimson\n")
    done = run("predict", "model.lbg", "titles.csv", "--json")
    known, misspelt, part = json.loads(done.stdout)
    assert model.titles[known["item"]] == "Crimson Comet" != misspelt["title"]
    assert known["prediction"] == model.predict_batch([(3, known["item"])])[0]
    assert part["prediction"] == misspelt["prediction"] == model.predict_batch([(3, "nothing")])[0]
    noted = " ".join(done.stderr.split())
    assert "'Crimson' is in" in noted  # a part of several titles
    assert "2 pairs with items that the model does not know: 'Crimson Comt' (nearest title: 'Crimson Comet')" in noted


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_titles_serves_as_the_item_of_pairs(kind, model, desk, run):
    table = pd.DataFrame({"title": ["Crimson Comet"], "user": [3]})
    if kind == "csv":
        table.to_csv("asked", index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet("asked")
    (found,) = json.loads(run("predict", "model.lbg", "asked", "--json").stdout)
    assert (found["user"], found["title"]) == (3, "Crimson Comet")
    (desk / "both.csv").write_text("user,title,item\n3,Crimson Comet,9\n")
    (found,) = json.loads(run("predict", "model.lbg", "both.csv", "--json").stdout)
    assert found["item"] == 9


def test_an_unknown_number_is_no_title(desk, run):
    numbered = lbg_recsys.LBGModel(n_topics=1).fit(([1, 2], [8, 9], [1, 5]))
    lbg_recsys.save(numbered, "numbered.lbg", titles={8: "300", 9: "Star Wars (1977)"})
    (desk / "pairs.csv").write_text("user,item\n1,300\n1,301\n1,302\n1,303\n")
    done = run("predict", "numbered.lbg", "pairs.csv", "--json")
    assert [one["item"] for one in json.loads(done.stdout)] == [300, 301, 302, 303]
    assert done.stderr.endswith("4 pairs with items that the model does not know: 300; 301; 302;\nand 1 more.\n")
    (desk / "pairs.csv").write_text("user,item\n1,Star Wars\n")
    noted = " ".join(run("predict", "numbered.lbg", "pairs.csv").stderr.split())
    assert "'Star Wars' (nearest title: 'Star Wars (1977)')." in noted


def test_unknown_numbers_beside_titles_stay_numbers(model, desk, run):
    (desk / "mixed.csv").write_text("user,item\n3,Crimson Comet\n999,999\n")
    known, unknown = json.loads(run("predict", "model.lbg", "mixed.csv", "--json").stdout)
    assert known["title"] == "Crimson Comet" and (unknown["user"], unknown["item"]) == (999, 999)
    assert unknown["unknown"] == "both"


def test_a_title_that_two_items_have_is_not_unknown(desk, run):
    amy = lbg_recsys.LBGModel(n_topics=1).fit(([1, 2, 2], [246, 268, 9], [1, 5, 3]))
    titles = {246: "Chasing Amy (1997)", 268: "Chasing Amy (1997)", 9: "Alien (1979)"}
    lbg_recsys.save(amy, "amy.lbg", titles=titles)
    title = "Chasing Amy (1997)"
    (desk / "amy.csv").write_text(f"user,item\n1,Alien (1979)\n1,{title}\n")
    (desk / "mine.csv").write_text(f"item,rating\n{title},5\n")
    (desk / "both.csv").write_text(f"item,rating\n{title},5\n9,3\n")
    expected = f"'{title}': 2 items have this title: give the id, 246 or 268"

    def said(*arguments, code=1):
        return " ".join(run(*arguments, code=code).stderr.split())

    assert said("predict", "amy.lbg", "amy.csv", "-o", "out.csv") == f"Error: amy.csv: {expected}"
    assert not (desk / "out.csv").exists()
    assert said("predict", "amy.lbg", "--user", 1, "--item", title) == f"Error: {expected}"
    assert said("predict", "amy.lbg", "--new-user", "both.csv", "--item", title, code=1).endswith(expected)
    new = said("recommend", "amy.lbg", "--new-user", "mine.csv")
    assert new == f"Error: mine.csv: the model cannot tell which item is meant: {expected}"
    left = said("recommend", "amy.lbg", "--new-user", "both.csv", code=0)
    assert f"both.csv: 1 of 2 items is unclear and left out: {expected}" in left


def test_a_first_pair_that_may_be_a_header_is_pointed_out(model, desk, run):
    """Only a model knows which ids are ids: known ones are no names of columns."""

    def said(text, *more):
        (desk / "odd.csv").write_text(text)
        return " ".join(run("predict", "model.lbg", "odd.csv", *more).stderr.split())

    note = "Note: odd.csv, line 1: 'foo', 'bar' are taken for ids, and are in no other line: if they name the columns"
    assert note in said("foo,bar\nann,Crimson Comet\nbob,Crimson Comet\n")
    assert f"{note}, say so with --columns foo,bar" in said("foo,bar\nann,Crimson Comet\n")
    assert "1 pair with users that the model does not know: 'ann'." in said(
        "foo,bar\nann,Crimson Comet\n", "--columns", "foo,bar"
    )
    assert said("foo,bar\nann,Crimson Comet\n", "-q") == ""
    for known in ("ann,Crimson Comet\nbob,Crimson Comt\n", "foo,bar\nfoo,Crimson Comet\n", "foo,bar\n"):
        assert "line 1" not in said(known)


def test_predict_a_file(model, desk, run):
    result = run("predict", "model.lbg", "pairs.csv", "-o", "out.csv", "--point", "mean", "--mass", 0.5)
    assert "Wrote 3 predictions to out.csv." in result.stderr
    assert "Note: pairs.csv: 1 pair with users that the model does not know: 999." in result.stderr
    table = read_table("out.csv")
    pairs = [(1, 5), (3, 8), (999, 1)]
    model.point = "mean"
    assert table["prediction"].tolist() == model.predict_batch(pairs).tolist()
    assert (table[[f"p_{level}" for level in range(1, 6)]].to_numpy() == model.predict_distribution(pairs)).all()
    assert (table[["low", "high"]].to_numpy() == model.interval(pairs, 0.5)).all()


def test_predict_to_standard_output_and_json(model, run):
    rows = list(csv.DictReader(io.StringIO(run("predict", "model.lbg", "pairs.csv", "-q").stdout)))
    assert [row["item"] for row in rows] == ["5", "8", "1"]
    found = json.loads(run("predict", "model.lbg", "pairs.csv", "--json").stdout)
    assert [(one["user"], one["unknown"]) for one in found] == [(1, None), (3, None), (999, "user")]
    assert [row["unknown"] for row in rows] == ["", "", "user"]
    assert json.loads(run("predict", "model.lbg", "--user", 3, "--item", 8, "--json").stdout) == [found[1]]
    table = model.predictions([(3, 8)])
    assert list(rows[1]) == list(table) and found[1] == with_distribution(table.to_dict(orient="records")[0])
    written = json.loads(run("predict", "model.lbg", "pairs.csv", "-o", "out.csv", "--json").stdout)
    assert written == {"output": "out.csv", "n_predictions": 3}


def test_ids_of_another_type_are_the_same_ids(model, desk, run):
    (desk / "mixed.csv").write_text("user,item\n1,5\nbob,8\n")  # "bob" makes the whole column text
    table = pd.read_csv(io.StringIO(run("predict", "model.lbg", "mixed.csv", "-q").stdout))
    assert table["prediction"][0] == model.predict_batch([(1, 5)])[0]
    assert table["std"][0] != table["std"][1]


# -- recommend ---------------------------------------------------------------------------------------------------


def test_recommend_is_the_models(model, run):
    found = json.loads(run("recommend", "model.lbg", "--user", 3, "-n", 4, "--by", "rating", "--json").stdout)
    expected = model.recommend(3, 4, by="rating")
    assert [line["item"] for line in found] == expected["item"].tolist()
    assert [line["expected_rating"] for line in found] == expected["expected_rating"].tolist()
    assert found[0]["title"] == model.titles[found[0]["item"]]


def test_recommend_table(run, desk):
    lines = run("recommend", "model.lbg", "--user", 3, "-n", 2).stdout.splitlines()
    assert lines[0].split() == ["rank", "item", "title", "score", "expected_rating"] and len(lines) == 3
    lines = run("recommend", "model.lbg", "--user", 3, "--user", 4, "-n", 2, "--by", "rated").stdout.splitlines()
    assert lines[0].split()[0] == "user" and len(lines) == 5


@pytest.mark.parametrize("name", ["recs.csv", "recs.tsv", "recs.jsonl", "recs.parquet"])
def test_recommend_to_all(name, model, run, monkeypatch):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(
        "lbg_recsys.ratings.questions.recommend._BLOCK_NUMBERS", 120 * 7 * model.numbers_per_pair
    )  # many blocks
    assert "2,000 recommendations for 200 users" in run("recommend", "model.lbg", "--all-users", "-o", name).stderr
    read = {
        "recs.csv": lambda: read_table(name),
        "recs.tsv": lambda: read_table(name, "\t"),
        "recs.jsonl": lambda: pd.read_json(name, lines=True, precise_float=True),
        "recs.parquet": lambda: pd.read_parquet(name),
    }[name]()
    expected = model.recommend(list(model.matrix.users), 10)
    assert (
        read[["user", "rank", "item"]].to_numpy().tolist() == expected[["user", "rank", "item"]].to_numpy().tolist()
    )
    assert read["score"].tolist() == expected["score"].tolist()  # all digits
    assert read["title"][0] == model.titles[read["item"][0]]


def test_recommend_streams(model, desk, run, monkeypatch):
    """Each block is written before the next is made: memory holds one of them."""
    from lbg_recsys.cli.writing import BlockWriter

    monkeypatch.setattr("lbg_recsys.ratings.questions.recommend._BLOCK_NUMBERS", 120 * 50 * model.numbers_per_pair)
    seen = []
    write, block = BlockWriter.write, lbg_recsys.ratings.questions.recommend._block
    monkeypatch.setattr(BlockWriter, "write", lambda self, frame: (seen.append("written"), write(self, frame))[1])
    monkeypatch.setattr(
        "lbg_recsys.ratings.questions.recommend._block", lambda *given: (seen.append("made"), block(*given))[1]
    )
    run("recommend", "model.lbg", "--all-users", "-o", "recs.csv")
    assert seen == ["made", "written"] * 4


@pytest.mark.parametrize("name", ["title", "unknown"])
def test_a_first_block_without_titles_in_parquet(name):
    from io import BytesIO

    from lbg_recsys.cli.writing import BlockWriter

    pytest.importorskip("pyarrow")
    stream = BytesIO()
    writer = BlockWriter(stream, ".parquet")
    for item, text in ((2, None), (3, "Tea")):
        writer.write(pd.DataFrame({"user": [1], "item": [item], name: pd.Series([text], dtype=object)}))
    writer.close()
    first, second = pd.read_parquet(BytesIO(stream.getvalue()))[name]
    assert pd.isna(first) and second == "Tea"


def test_ids_of_both_types_in_parquet(desk, run):
    pytest.importorskip("pyarrow")
    model = lbg_recsys.LBGModel(n_topics=1).fit(([1, "a", 1, "a"], [1, 1, "x", 2], [1, 2, 3, 4]))
    lbg_recsys.save(model, "mixed.lbg")
    run("recommend", "mixed.lbg", "--all-users", "-o", "recs.parquet")
    assert sorted(pd.read_parquet("recs.parquet")["user"]) == ["1", "a"]


def test_new_user(model, run, desk):
    found = json.loads(run("recommend", "model.lbg", "--new-user", "my_ratings.csv", "--json").stdout)
    expected = model.fold_in({1: 5.0, 2: 4.0, 40: 1.0}).recommend(10)
    assert [line["item"] for line in found] == expected["item"].tolist()
    (desk / "odd.csv").write_text("item,rating\n1,5\nunknown film,4\n")
    result = run("recommend", "model.lbg", "--new-user", "odd.csv")
    assert "Note: odd.csv: 1 of 2 items is unknown to the model and left out: 'unknown" in result.stderr
    (desk / "twice.csv").write_text("item,rating\n1,5\n1,4\n")
    assert "rated twice" in run("recommend", "model.lbg", "--new-user", "twice.csv", code=1).stderr
    (desk / "off.csv").write_text("item,rating\n1,50\n")
    said = run("recommend", "model.lbg", "--new-user", "off.csv", code=1).stderr
    assert "off the scale" in said and "1 such rating)" in said and "--scale LOW HIGH" in said


def test_predict_for_new_users(model, run, desk):
    arguments = ["predict", "model.lbg", "--new-user", "my_ratings.csv", "--item", 8]
    (facts,) = json.loads(run(*arguments, "--json").stdout)
    expected = model.fold_in({1: 5, 2: 4, 40: 1}).distribution(8)
    assert facts["user"] == "new user" and list(facts["distribution"].values()) == expected.tolist()
    assert run(*arguments).stdout.startswith(f"New user, item {model.titles[8]}: prediction ")
    (desk / "people.csv").write_text("user,item,rating\nann,1,5\nbob,40,5\nbob,1,1\ncid,999,3\n")
    arguments[3] = "people.csv"
    shown = run(*arguments)
    assert shown.stdout.count("prediction ") == 2 and "\n\nNew user bob, item" in shown.stdout
    assert "the user cid has no known item and is left out" in shown.stderr
    run(*arguments, "--point", "mean", "-o", "both.csv")
    table = pd.read_csv("both.csv")
    assert table["user"].tolist() == ["ann", "bob"]
    probability = model.fold_in({40: 5, 1: 1}).distribution(8)
    assert table["prediction"][1] == pytest.approx(probability @ model.levels)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--item", 8, "--user", 3], "give either --user ID or --new-user FILE"),
        (["pairs.csv"], "give either a file of PAIRS"),
        ([], "needs both --user (or --new-user) and --item"),
        (["--feature", "year=1999"], "needs both --user (or --new-user) and --item"),
    ],
)
def test_predict_for_a_new_user_needs_an_item_and_nobody_else(more, said, run, desk):
    assert said in " ".join(run("predict", "model.lbg", "--new-user", "my_ratings.csv", *more, code=2).stderr.split())


def test_lists_of_pLSA_for_a_new_user_go_by_popularity_in_training(desk, run):
    run("fit", "sample", "-o", "p.lbg", "--algo", "plsa", "-p", "n_topics=2", "-p", "max_iter=3", "-q")
    arguments = ["recommend", "p.lbg", "--new-user", "my_ratings.csv", "--json"]
    assert min(line["score"] for line in json.loads(run(*arguments).stdout)) > 0.0
    found = json.loads(run(*arguments, "--by", "rated", "-n", 3).stdout)
    matrix = lbg_recsys.load("p.lbg").matrix
    share = np.bincount(matrix.item_codes) / matrix.n_users
    assert [line["score"] for line in found] == [share[matrix.items.code(line["item"])] for line in found]


def test_seen_items_only_when_asked_for(model, run):
    seen = {model.matrix.items.raw(code) for code in model.matrix.seen(model.matrix.users.code(3))}
    found = json.loads(run("recommend", "model.lbg", "--user", 3, "-n", 120, "--json").stdout)
    assert not seen & {line["item"] for line in found}
    found = json.loads(run("recommend", "model.lbg", "--user", 3, "-n", 120, "--include-seen", "--json").stdout)
    assert seen <= {line["item"] for line in found}


def test_liked_moves_the_lists_and_stays_on_the_scale(model, run):
    low = run("recommend", "model.lbg", "--user", 3, "--liked", 2, "--json").stdout
    high = run("recommend", "model.lbg", "--user", 3, "--liked", 5, "--json").stdout
    assert low != high
    assert (
        "off the model's rating scale 1..5" in run("recommend", "model.lbg", "--user", 3, "--liked", 9, code=2).stderr
    )


def test_standard_input_is_called_so(desk, run):
    amy = lbg_recsys.LBGModel(n_topics=1).fit(([1, 2, 2], [246, 268, 9], [1, 5, 3]))
    lbg_recsys.save(amy, "amy.lbg", titles={246: "Amy", 268: "Amy", 9: "Alien"})
    for command, rows in (
        (("predict", "amy.lbg", "-"), "user,item\n1,Amy\n"),
        (("update", "amy.lbg", "-"), "user,item,rating\n1,Amy,3\n"),
        (("recommend", "amy.lbg", "--new-user", "-"), "item,rating\nAmy,3\n"),
        (("recommend", "amy.lbg", "--user", 1, "--only", "-"), "Amy\n"),
    ):
        said = run(*command, code=1, input=rows).stderr
        assert "Error: standard input: " in said and "'Amy': 2 items have this title" in " ".join(said.split())
