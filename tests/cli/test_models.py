"""The commands that use a model file."""

import csv
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import lbg_recsys
from lbg_recsys.cli.models import remarks


@pytest.fixture
def model(desk):
    return lbg_recsys.load("model.lbg")


def read_table(path, separator=","):
    """A table whose numbers are read to the last bit, which pandas does not promise in every version."""
    table = pd.read_csv(path, sep=separator, dtype=str)
    return table.apply(lambda column: column if column.name == "title" else [float(value) for value in column])


# -- predict -----------------------------------------------------------------------------------------------------


def test_predict_one_pair(model, run):
    facts = json.loads(run("predict", "model.lbg", "--user", 3, "--item", "crimson comet", "--json").stdout)
    assert (facts["user"], facts["item"], facts["title"]) == (3, 3, "Crimson Comet")
    assert facts["prediction"] == model.predict_batch([(3, 3)])[0]
    assert list(facts["distribution"].values()) == model.predict_distribution([(3, 3)])[0].tolist()
    assert [facts["low"], facts["high"]] == model.interval([(3, 3)])[0].tolist()
    shown = run("predict", "model.lbg", "--user", 3, "--item", 3).stdout
    assert "Crimson Comet: 4 (mode)" in shown and shown.count(" %") == 5 and "█" in shown


def test_ids_are_told_as_they_are(desk, run):
    wide = 2**53 + 1  # a floating-point number would be another
    lbg_recsys.save(lbg_recsys.LBGModel(n_topics=1).fit(([wide, 2], [8, 9], [1, 5])), "wide.lbg")
    shown = run("predict", "wide.lbg", "--user", wide, "--item", 8, "--json").stdout
    assert f'"user": {wide},' in shown and '"item": 8,' in shown


def test_predict_a_user_that_the_model_does_not_know(model, run):
    result = run("predict", "model.lbg", "--user", 77777, "--item", 8, "--json")
    assert "Note: the model knows no user '77777'" in result.stderr
    facts = json.loads(result.stdout)
    assert facts["user"] == 77777
    assert list(facts["distribution"].values()) == model.predict_distribution([(77777, 8)])[0].tolist()
    assert run("predict", "model.lbg", "--user", "nobody", "--item", 8, "-q").stderr == ""


def test_predict_a_file(model, desk, run):
    result = run("predict", "model.lbg", "pairs.csv", "-o", "out.csv", "--point", "mean", "--mass", 0.5)
    assert "Wrote 3 predictions to out.csv (1 with an unknown user)" in result.stderr
    table = read_table("out.csv")
    pairs = [(1, 5), (3, 8), (999, 1)]
    model.point = "mean"
    assert table["prediction"].tolist() == model.predict_batch(pairs).tolist()
    assert (table[[f"p_{level}" for level in range(1, 6)]].to_numpy() == model.predict_distribution(pairs)).all()
    assert (table[["low", "high"]].to_numpy() == model.interval(pairs, 0.5)).all()


def test_predict_to_standard_output_and_json_lines(model, run):
    rows = list(csv.DictReader(io.StringIO(run("predict", "model.lbg", "pairs.csv", "-q").stdout)))
    assert [row["item"] for row in rows] == ["5", "8", "1"]
    lines = [json.loads(line) for line in run("predict", "model.lbg", "pairs.csv", "--json").stdout.splitlines()]
    assert [line["user"] for line in lines] == [1, 3, 999]


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
    assert [line["rating"] for line in found] == expected["rating"].tolist()
    assert found[0]["title"] == model.titles[found[0]["item"]]


def test_recommend_table(run, desk):
    lines = run("recommend", "model.lbg", "--user", 3, "-n", 2).stdout.splitlines()
    assert lines[0].split() == ["rank", "item", "title", "liked", "expected", "rating"] and len(lines) == 3
    lines = run("recommend", "model.lbg", "--user", 3, "--user", 4, "-n", 2, "--by", "rated").stdout.splitlines()
    assert lines[0].split()[0] == "user" and len(lines) == 5


@pytest.mark.parametrize("name", ["recs.csv", "recs.tsv", "recs.jsonl", "recs.parquet"])
def test_recommend_to_all(name, model, run, monkeypatch):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(
        "lbg_recsys.ratings.recommend._BLOCK_NUMBERS", 120 * 7 * model.numbers_per_pair
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
    np.testing.assert_allclose(read["score"], expected["score"], rtol=1e-14)
    assert read["title"][0] == model.titles[read["item"][0]]


def test_recommend_streams(model, desk, run, monkeypatch):
    """Each block is written before the next is made: memory holds one of them."""
    from lbg_recsys.cli.writing import BlockWriter

    monkeypatch.setattr("lbg_recsys.ratings.recommend._BLOCK_NUMBERS", 120 * 50 * model.numbers_per_pair)
    seen = []
    write, block = BlockWriter.write, lbg_recsys.ratings.recommend._block
    monkeypatch.setattr(BlockWriter, "write", lambda self, frame: (seen.append("written"), write(self, frame))[1])
    monkeypatch.setattr("lbg_recsys.ratings.recommend._block", lambda *given: (seen.append("made"), block(*given))[1])
    run("recommend", "model.lbg", "--all-users", "-o", "recs.csv")
    assert seen == ["made", "written"] * 4


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
    assert "Note: 1 of 2 rated items are unknown to the model and left out: ['unknown film']" in result.stderr
    (desk / "twice.csv").write_text("item,rating\n1,5\n1,4\n")
    assert "rated twice" in run("recommend", "model.lbg", "--new-user", "twice.csv", code=1).stderr
    (desk / "off.csv").write_text("item,rating\n1,50\n")
    said = run("recommend", "model.lbg", "--new-user", "off.csv", code=1).stderr
    assert "off the scale" in said and "1 such rating)" in said and "--scale LOW HIGH" in said


def test_lists_of_pLSA_for_a_new_user_go_by_popularity_in_training(desk, run):
    run("fit", "sample", "-o", "p.lbg", "--algo", "plsa", "-p", "n_topics=2", "-p", "max_iter=3", "-q")
    arguments = ["recommend", "p.lbg", "--new-user", "my_ratings.csv", "--json"]
    assert min(line["score"] for line in json.loads(run(*arguments).stdout)) > 0.0
    found = json.loads(run(*arguments, "--by", "rated", "-n", 3).stdout)
    matrix = lbg_recsys.load("p.lbg").matrix
    share = np.bincount(matrix.items_of) / matrix.n_users
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


# -- explain, topics, similar, info, doctor -----------------------------------------------------------------------


def test_explain(model, run):
    facts = json.loads(run("explain", "model.lbg", "--user", 3, "--item", 8, "--json").stdout)
    expected = model.explain(3, 8)
    assert facts["log_odds"] == expected.log_odds
    assert [one["item"] for one in facts["evidence"]] == [one.item for one in expected.evidence]
    assert facts["evidence"][0]["title"] == model.titles[expected.evidence[0].item]
    shown = run("explain", "model.lbg", "--user", 3, "--item", 8, "-n", 2).stdout
    assert f"Why topic {expected.topic} and not {expected.against}" in shown
    assert f"and {len(expected.evidence) - 2} more" in shown
    assert model.titles[expected.evidence[0].item][:10] in shown


def test_explain_a_new_user_and_a_single_topic(run, desk):
    shown = run("explain", "model.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert "New user, item Silent Comet" in shown and "Crimson Orbit" in shown
    run("fit", "sample", "-o", "one.lbg", "-p", "n_topics=1", "-q")
    assert "Why topic" not in run("explain", "one.lbg", "--user", 3, "--item", 8).stdout


@pytest.fixture
def bayesian(desk, run):
    parameters = ("n_components=2", "n_sweeps=20", "burn_in=10")
    run("fit", "sample", "-o", "bayes.lbg", "--algo", "bayesian", *(x for p in parameters for x in ("-p", p)), "-q")
    return lbg_recsys.load("bayes.lbg")


def test_explain_a_bayesian_model(bayesian, run):
    expected = bayesian.explain(3, 8)
    facts = json.loads(run("explain", "bayes.lbg", "--user", 3, "--item", 8, "--json").stdout)
    assert facts["expected"] == expected.expected and facts["from_taste"] == expected.from_taste
    assert facts["evidence"][0]["title"] == bayesian.titles[expected.evidence[0].item]
    assert [one["from_its_value"] for one in facts["evidence"]] == [one.from_its_value for one in expected.evidence]
    shown = run("explain", "bayes.lbg", "--user", 3, "--item", 8, "-n", 2).stdout
    assert "█" in shown and "how the user's taste meets the item" in shown and f"={expected.expected:.3f}" in shown
    assert f"{expected.evidence[0].total:+.3f}" in shown and f"and {len(expected.evidence) - 2} more" in shown
    assert "`lbg-recsys topics`" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_explain_a_rated_item_and_a_new_user_of_a_bayesian_model(bayesian, run):
    rated = bayesian.matrix.items.raw(int(bayesian.matrix.seen(0)[0]))
    user = bayesian.matrix.users.raw(0)
    assert "too: that rating is among them" in run("explain", "bayes.lbg", "--user", user, "--item", rated).stdout
    shown = run("explain", "bayes.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert "New user, item Silent Comet" in shown and "among them" not in shown
    assert shown.count("Crimson Orbit") == 1


def test_topics_find_what_was_planted(model, run, sample):
    found = json.loads(run("topics", "model.lbg", "--json").stdout)
    assert len(found) == 4 and abs(sum(topic["weight"] for topic in found) - 1) < 1e-9
    assert [topic["weight"] for topic in found] == sorted((t["weight"] for t in found), reverse=True)
    planted = sample.items["topic"]
    kinds = set()
    for topic in found:
        (kind,) = {planted[one["item"]] for one in topic["typical"]}  # the items of one planted topic
        kinds.add(kind)
        assert kind in {planted[one["item"]] for one in topic["loves"]}
        assert kind not in {planted[one["item"]] for one in topic["hates"]}
        assert all(one["rating"] > one["rating_of_all"] for one in topic["loves"])
        assert all(one["rating"] < one["rating_of_all"] for one in topic["hates"])
        assert all(one["title"] == model.titles[one["item"]] for one in topic["typical"])
    assert len(kinds) == 4
    assert run("topics", "model.lbg", "-n", 2).stdout.count("typical") == 4


def test_similar(model, run):
    found = json.loads(run("similar", "model.lbg", "--item", 3, "-n", 3, "--metric", "kl", "--json").stdout)
    assert [(line["item"], line["similarity"]) for line in found] == model.similar_items(3, 3, metric="kl")
    found = json.loads(run("similar", "model.lbg", "--user", 3, "--json").stdout)
    assert [(line["user"], line["similarity"]) for line in found] == model.similar_users(3)


EVERY_MODEL = ["model.lbg", "bayesian.lbg", "plsa.lbg"]


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_every_model_says_what_is_similar(name, desk, run):
    model = lbg_recsys.load(name)
    for option, ask in (("--item", model.similar_items), ("--user", model.similar_users)):
        found = json.loads(run("similar", name, option, 3, "-n", 4, "--json").stdout)
        assert [(line[option[2:]], line["similarity"]) for line in found] == ask(3, 4)
        shown = run("similar", name, option, 3).stdout.splitlines()
        assert len(shown) == 11 and max(map(len, shown)) <= 80
        for metric in ("hellinger", "kl", "taste"):
            result = run("similar", name, option, 3, "--metric", metric, code=0 if metric in model.METRICS else 2)
            if metric not in model.METRICS:
                assert f"metric is {metric!r}: choose one of {model.METRICS[0]!r}" in result.stderr


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_every_model_shows_its_topics(name, desk, run):
    model = lbg_recsys.load(name)
    found = json.loads(run("topics", name, "-n", 3, "--json").stdout)
    expected = model.topics(3)
    assert [topic["number"] for topic in found] == [topic.number for topic in expected]
    assert [one["item"] for one in found[0]["loves"]] == [one.item for one in expected[0].loves]
    assert [topic["weight"] for topic in found] == sorted((t["weight"] for t in found), reverse=True)
    shown = run("topics", name).stdout
    assert shown.count("typical") == len(found) and max(map(len, shown.splitlines())) <= 80
    if name == "bayesian.lbg":
        assert len(found) == 5
        assert run("topics", name, "-k", 3).stdout.count("typical") == 3
    else:
        assert "has 4 topics of its own" in run("topics", name, "--groups", 3, code=2).stderr


def test_topics_of_a_bayesian_model_find_what_was_planted(desk, run, sample):
    planted = sample.items["topic"]
    kinds = set()
    for topic in json.loads(run("topics", "bayesian.lbg", "-k", 4, "--json").stdout):
        loved = [planted[one["item"]] for one in topic["loves"]]
        kinds.add(max(loved, key=loved.count))
        assert loved.count(max(loved, key=loved.count)) >= 4
    assert len(kinds) == 4


def test_info(model, run):
    facts = json.loads(run("info", "model.lbg", "--json").stdout)
    assert facts["class"] == "LBGModel" and facts["parameters"] == model.get_params()
    assert facts["training"]["n_iter"] == model.n_iter_ and facts["written with"]["numpy"] == np.__version__
    assert max(map(len, run("info", "model.lbg").stdout.splitlines())) <= 80


def test_doctor(run, monkeypatch):
    facts = json.loads(run("doctor", "--json").stdout)
    assert facts["packages"]["numpy"] == np.__version__ and facts["data"]["sample"] == "the package"
    assert facts["problems"] == []
    monkeypatch.setenv("OMP_NUM_THREADS", "17")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    rows = [line.split() for line in run("doctor").stdout.splitlines()]
    assert ["OMP_NUM_THREADS", "17"] in rows and ["MKL_NUM_THREADS", "not", "set"] in rows
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    result = run("doctor", code=1)
    assert "set NUMBA_CACHE_DIR" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model.lbg"],
        ["predict", "model.lbg", "--user", "3"],
        ["predict", "model.lbg", "pairs.csv", "--user", "3", "--item", "8"],
        ["predict", "model.lbg", "--user", "3", "--item", "8", "--mass", "1"],
        ["recommend", "model.lbg"],
        ["recommend", "model.lbg", "--user", "3", "--all-users"],
        ["recommend", "model.lbg", "--user", "3", "-n", "0"],
        ["recommend", "model.lbg", "--user", "3", "--by", "luck"],
        ["explain", "model.lbg", "--item", "8"],
        ["similar", "model.lbg"],
        ["similar", "model.lbg", "--user", "3", "--item", "8"],
        ["recommend", "model.lbg", "--user", "3", "-o", "recs.xyz"],
        ["predict", "model.lbg", "pairs.csv", "-o", "out.xlsx"],
        ["topics", "model.lbg", "--plot", "topics.jpg"],
        ["fit", "sample", "-o", "x.lbg", "--param", "n_topics=0"],
        ["fit", "sample", "-o", "x.lbg", "--algo", "bayesian", "--param", "n_sweeps=40"],
        ["fit", "sample", "-o", "x.lbg", "--algo", "plsa", "--param", "holdout=2"],
        ["evaluate", "sample", "-a", "lbg:n_topics=0"],
        ["forced-prediction", "sample", "-a", "lbg", "-o", "table.txt"],
        ["text", "cluster", "docs", "--param", "init=foo"],
        ["text", "cluster", "docs", "-o", "topics.xyz"],
        ["fit", "sample"],
        ["evaluate", "sample", "-a", "svm"],
        ["evaluate", "sample", "--folds", "1"],
    ],
)
def test_bad_use_is_exit_code_2(arguments, desk, run):
    assert "Error" in run(*arguments, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recommend", "--user", "nobody"], "the model knows no user 'nobody' (it knows 200: 1, 2, 3, ...)"),
        (["predict", "--user", "3", "--item", "Casablanca"], "the model knows no item 'Casablanca'"),
        (["predict", "--user", "3", "--item", "Crimson"], "'Crimson' is in 5 titles: "),
    ],
)
def test_unknown_ids_are_named(arguments, message, desk, run):
    command, *options = arguments
    assert message in run(command, "model.lbg", *options, code=1).stderr


def test_a_new_user_of_whom_nothing_is_known_has_no_table_of_ratings(desk, run):
    (desk / "foreign.csv").write_text("item,rating\nunknown film,4\n")
    for model in ("model.lbg", "plsa.lbg", "bayesian.lbg"):
        said = run("explain", model, "--new-user", "foreign.csv", "--item", 8).stdout
        assert said.startswith("New user, item ") and "by its value" not in said
    known = run("explain", "model.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert known.startswith("New user, item ") and "by its value" in known


def test_topics_tell_small_differences_on_any_scale(desk, run):
    lines = (desk / "ratings.csv").read_text().splitlines()
    place = lines[0].split(",").index("rating")
    rows = [line.split(",") for line in lines[1:]]
    scaled = [[f"{float(x) / 5:.1f}" if c == place else x for c, x in enumerate(row)] for row in rows]
    (desk / "small.csv").write_text("\n".join([lines[0], *map(",".join, scaled)]) + "\n")
    run("fit", "small.csv", "-o", "small.lbg", "-p", "n_topics=4")
    told = [line.rsplit("-", 1)[1] for line in run("topics", "small.lbg").stdout.splitlines() if " -0." in line]
    assert told and all(len(one) == len("0.123") and float(one) > 0 for one in told)


def test_fits_that_have_not_converged_are_noted_once(capsys):
    from sklearn.exceptions import ConvergenceWarning

    def warn(message, category=UserWarning):
        warnings.warn(message, category, stacklevel=1)

    with remarks(quiet=False):
        for share in (34, 33, 36):
            warn(f"{share} % have not settled", ConvergenceWarning)
        warn("one thing")
        warn("another")
    said = capsys.readouterr().err.splitlines()
    assert said == ["Note: 34 % have not settled (and 2 more such notes)", "Note: one thing", "Note: another"]
