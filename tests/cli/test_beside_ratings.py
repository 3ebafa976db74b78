"""Features of items and users, and new items, on the command line."""

import json

import pytest

import lbg_recsys

FAST = ["--param", "n_sweeps=12", "--param", "burn_in=6", "--param", "n_components=2"]


def write_features(desk):
    rows = "".join(f"{item},{1950 + item % 40},{'Drama|War' if item % 2 else 'Drama'}\n" for item in range(1, 122))
    (desk / "films.csv").write_text("movieId,year,genres\n" + rows)
    users = "".join(f"{user},{'F' if user % 2 else 'M'}\n" for user in range(1, 201))
    (desk / "people.csv").write_text("user,sex\n" + users)


def test_fit_with_features_predicts_items_without_ratings(desk, run):
    write_features(desk)
    fitted = run(
        "fit", "ratings.csv", "-o", "f.lbg", *FAST, "--item-features", "films.csv", "--user-features", "people.csv"
    )
    assert "Read features of 120 of 120 items and 1 id without ratings." in fitted.stderr
    model = lbg_recsys.load("f.lbg")
    assert model.item_features_.names == ["year", "genres=War"] and model.user_features_.names == ["sex=F", "sex=M"]
    (desk / "some.csv").write_text("user,item\n3,121\n3,nothing\n")
    lines = run("predict", "f.lbg", "some.csv", "-q").stdout.splitlines()[1:]
    known, unknown = (float(line.split(",")[2]) for line in lines)
    assert known == model.predict_batch([(3, 121)])[0] != unknown
    noted = run("predict", "f.lbg", "some.csv").stderr
    assert noted == "Note: some.csv: 1 pair with items that the model does not know: 'nothing'.\n"
    one = json.loads(run("predict", "f.lbg", "--user", 3, "--item", 121, "--json").stdout)[0]
    assert one["item"] == 121 and one["prediction"] == known
    assert "knows 120 items, and not '122'" in run("predict", "f.lbg", "--user", 3, "--item", 122, code=1).stderr
    assert (
        "Wrote 1 prediction to one.csv."
        in run("predict", "f.lbg", "--user", 3, "--item", 121, "-o", "one.csv").stderr
    )
    assert (desk / "one.csv").read_text().splitlines()[1] == lines[0]
    shown = json.loads(run("explain", "f.lbg", "--user", 3, "--item", 7, "--json").stdout)[0]
    assert {one["feature"] for one in shown["features"]} >= {"year", "genres=War"}
    assert "feature  " in run("explain", "f.lbg", "--user", 3, "--item", 7).stdout


def test_features_that_cannot_be_used(desk, run):
    write_features(desk)
    asked = ("fit", "ratings.csv", "-o", "f.lbg", "-q")
    assert "gone.csv" in run(*asked, "--item-features", "gone.csv", code=1).stderr
    assert "column of user ids" in run(*asked, "--user-features", "films.csv", code=1).stderr
    wrong = run(*asked, "--algo", "lbg", "--item-features", "films.csv", code=2).stderr
    assert "--item-features needs --algo bayesian or bayesian-strong, not lbg" in " ".join(wrong.split())
    (desk / "twice.csv").write_text("item,year\n1,1990\n1,1991\n")
    assert "comes twice" in run(*asked, "--item-features", "twice.csv", code=1).stderr
    (desk / "none.csv").write_text("item,year\n")
    assert "none.csv has a header but no rows" in run(*asked, "--item-features", "none.csv", code=1).stderr
    (desk / "missing.csv").write_text("item,year\n1,1990\n2.5,1991\n")
    assert "has the id 2.5: ids are integers or texts" in run(*asked, "--item-features", "missing.csv", code=1).stderr


def test_ids_that_pandas_reads_as_floats_are_integers(desk, run):
    (desk / "floats.csv").write_text("item,year\n1.0,1990\n2.0,1991\n3.0,1995\n999.0,1990\n")
    run("fit", "ratings.csv", "-o", "f.lbg", "-q", *FAST, "--item-features", "floats.csv")
    assert 999 in lbg_recsys.load("f.lbg").item_features_.ids


def test_help_says_which_defaults_the_presets_change(run):
    shown = " ".join(run("fit", "--help").stdout.split())
    assert "lbg has other defaults: n_topics=10," in shown and "bayesian-strong has other defaults:" in shown


def test_new_items(desk, run):
    run("fit", "ratings.csv", "-o", "b.lbg", "-q", *FAST)
    model = lbg_recsys.load("b.lbg")
    (desk / "one.csv").write_text("user,rating\n1,5\n2,4\n5,5\n")
    given = {1: 5.0, 2: 4.0, 5: 5.0}
    found = json.loads(run("predict", "b.lbg", "--user", 3, "--new-item", "one.csv", "--json").stdout)[0]
    assert found["prediction"] == model.fold_in_item(given).predict(3)
    (desk / "several.csv").write_text("item,user,rating\nfresh,1,5\nfresh,2,5\nother,1,1\n")
    listed = run(
        "recommend", "b.lbg", "--user", 3, "--new-item", "several.csv", "-n", 200, "--by", "rating", "--json"
    )
    items = [line["item"] for line in json.loads(listed.stdout)]
    assert {"fresh", "other"} <= set(items) and items.index("fresh") < items.index("other")
    (desk / "twice.csv").write_text("user,rating\n1,5\n1,4\n")
    assert (
        "rated the new item twice" in run("predict", "b.lbg", "--user", 3, "--new-item", "twice.csv", code=1).stderr
    )


def test_a_new_item_that_only_strangers_rated(desk, run):
    run("fit", "ratings.csv", "-o", "b.lbg", "-q", *FAST)
    (desk / "strangers.csv").write_text("user,rating\nnobody,5\nno one,4\n")
    told = run("predict", "b.lbg", "--user", 3, "--new-item", "strangers.csv", code=1).stderr
    assert "strangers.csv: no rating of the new item is by a user that the model knows" in " ".join(told.split())


def test_times(desk, run):
    run("fit", "timed_ratings.csv", "-o", "timed.lbg", "-q", "--time", *FAST)
    model = lbg_recsys.load("timed.lbg")
    (desk / "asked.csv").write_text("user,item,timestamp\n3,4,1970-01-04T00:00:04\n3,4,1999-01-01\n")
    lines = run("predict", "timed.lbg", "asked.csv", "--time", "-q").stdout.splitlines()[1:]
    known, later = (float(line.split(",")[2]) for line in lines)
    # Two sums of the same products: their order, and so the last digit, is the processor's.
    expected = model.predict_distribution([(3, 4)], time=3 * 86400 + 4)[0] @ model.levels
    assert known == pytest.approx(expected, rel=1e-14)
    assert later == pytest.approx(model.predict_batch([(3, 4)])[0], rel=1e-14) != known
    assert "was fitted without times" in _of_plain_model(run, "asked.csv")
    assert "need" in run("predict", "timed.lbg", "--user", 3, "--item", 4, "--time", code=2).stderr
    asked = ("fit", "ratings.csv", "-o", "t.lbg", "-q", "--time")
    assert "--time needs --algo bayesian" in run(*asked, "--algo", "lbg", code=2).stderr
    assert "timestamp" in run(*asked, code=1).stderr
    (desk / "bad.csv").write_text("user,item,rating,time\n1,1,3,soon\n1,2,4,later\n")
    assert "bad.csv" in run("fit", "bad.csv", "-o", "t.lbg", "--time", "-q", code=1).stderr
    assert not (desk / "t.lbg").exists()


def _of_plain_model(run, pairs):
    run("fit", "ratings.csv", "-o", "b.lbg", "-q", *FAST)
    return run("predict", "b.lbg", pairs, "--time", code=1).stderr


def test_an_item_without_ratings_in_the_other_commands(desk, run):
    write_features(desk)
    run("fit", "ratings.csv", "-o", "f.lbg", "-q", *FAST, "--item-features", "films.csv")
    shown = run("explain", "f.lbg", "--user", 3, "--item", 121).stdout
    assert "The item has no ratings, so it is in no list." in shown and "item  year" in shown
    assert "has no ratings that could explain" not in shown  # the user has some
    told = json.loads(run("explain", "f.lbg", "--user", 3, "--item", 121, "--json").stdout)[0]
    asked = json.loads(run("predict", "f.lbg", "--user", 3, "--item", 121, "--json").stdout)[0]
    assert told["distribution"] == asked["distribution"] and told["prediction"] == asked["prediction"]
    assert told["item"] == 121 and told["score"] is None and told["choice"] is None and told["n_evidence"] == 0
    parts = sum(told[f"from_{part}"] for part in ("average", "item", "user", "taste"))
    assert abs(parts - told["expected_rating"]) < 1e-9
    new = json.loads(run("explain", "f.lbg", "--new-user", "my_ratings.csv", "--item", 121, "--json").stdout)[0]
    assert new["item"] == 121 and {one["of"] for one in new["features"]} == {"item"}
    (desk / "taken.txt").write_text("1\n2\n")  # items without ratings: how the user rates is unknown
    taken = json.loads(run("explain", "f.lbg", "--new-user", "taken.txt", "--item", 121, "--json", "-q").stdout)[0]
    assert taken["item"] == 121 and taken["features"]
    told = " ".join(run("similar", "f.lbg", "--item", 121, code=1).stderr.split())
    assert "the item 121 has features and no ratings, and similar items are those that the same people rate" in told
    (desk / "some.txt").write_text("121\n3\n8\n")
    listed = run("recommend", "f.lbg", "--user", 3, "--only", "some.txt")
    assert (
        "1 of 3 items is unknown or without ratings and left out: '121' (it has features and no ratings: only "
        "predict and explain take it)" in " ".join(listed.stderr.split())
    )
    (desk / "none.txt").write_text("121\n")
    alone = run("recommend", "f.lbg", "--user", 3, "--only", "none.txt", code=1).stderr
    assert "none.txt: the model has no ratings of the item: '121' (it has features" in " ".join(alone.split())


def test_info_and_report_name_features(desk, run):
    write_features(desk)
    given = ("--item-features", "films.csv", "--user-features", "people.csv")
    run("fit", "ratings.csv", "-o", "f.lbg", "-q", *FAST, *given)
    shown = " ".join(run("info", "f.lbg").stdout.split())
    assert "features of users: 'sex' (200 ids); of items: 'year', 'genres' (121 ids)" in shown
    facts = json.loads(run("info", "f.lbg", "--json").stdout)
    assert facts["features"]["items"] == {"features": ["year", "genres"], "n_ids": 121}
    assert json.loads(run("info", "bayesian.lbg", "--json").stdout)["features"] == {}
    assert "features" not in run("info", "bayesian.lbg").stdout
    run("report", "f.lbg", "-o", "f.html", "-q", "--no-refit", "--examples", 0)
    page = (desk / "f.html").read_text()
    assert "features of 121 items" in page and "features of 200 users" in page and "genres" in page


def test_evaluate_with_features(desk, run):
    write_features(desk)
    algo = "bayesian:n_sweeps=12,burn_in=6,n_components=2"
    asked = ("evaluate", "ratings.csv", "-a", algo, "--folds", 2, "--list-users", 0, "--no-rivals")
    with_features = run(*asked, "-a", "movie-mean", "--item-features", "films.csv", "--json")
    assert "Read features of 120 of 120 items and 1 id without ratings." in with_features.stderr
    (ours, mean), (alone,) = (
        json.loads(one.stdout)["results"] for one in (with_features, run(*asked, "-q", "--json"))
    )
    assert ours["rmse"] != alone["rmse"] and mean["algorithm"] == "movie-mean"
    told = run(*asked, "--item-features", "films.csv").stderr
    assert f"--algo {algo} --item-features films.csv" in told
    needs = run("evaluate", "ratings.csv", "-a", "lbg", "--user-features", "people.csv", code=2).stderr
    assert "--user-features needs an algorithm that learns from features: -a bayesian" in needs
    clicks = run("evaluate", "clicks.csv", "--item-features", "films.csv", code=2).stderr
    assert "--item-features needs ratings" in clicks


def test_features_of_new_users_and_items(desk, run):
    write_features(desk)
    given = ("--item-features", "films.csv", "--user-features", "people.csv")
    run("fit", "ratings.csv", "-o", "f.lbg", "-q", *FAST, *given)
    model = lbg_recsys.load("f.lbg")
    asked = ("predict", "f.lbg", "--user", 3, "--json")
    film = ("--feature", "year=1952", "--feature", "genres=Drama|War")
    features = {"year": 1952, "genres": "Drama|War"}
    found = json.loads(run(*asked, *film).stdout)[0]
    assert found["prediction"] == model.with_item("x", {}, features=features).predict_batch([(3, "x")])[0]
    found = json.loads(run(*asked, "--new-item", "its_ratings.csv", *film).stdout)[0]
    rated = {1: 5.0, 2: 4.0, 3: 1.0}
    assert found["prediction"] == model.with_item("x", rated, features=features).predict_batch([(3, "x")])[0]
    new_user = ["predict", "f.lbg", "--new-user", "my_ratings.csv", "--item", 7, "--json"]
    folded = lbg_recsys.load("f.lbg").fold_in({1: 5, 2: 4, 40: 1}, features={"sex": "F"})
    (described,) = json.loads(run(*new_user, "--feature", "sex=F").stdout)
    assert list(described["distribution"].values()) == folded.distribution(7).tolist()
    explained = run("explain", "f.lbg", "--new-user", "my_ratings.csv", "--item", 7, "--feature", "sex=F", "--json")
    assert "sex=F" in {one["feature"] for one in json.loads(explained.stdout)[0]["features"]}
    listed = [
        run("recommend", "f.lbg", "--new-user", "my_ratings.csv", "--by", "rating", "--json", *more).stdout
        for more in ((), ("--feature", "sex=F"))
    ]
    assert listed[0] != listed[1]
    noted = " ".join(run(*asked, "--feature", "genres=Warr").stderr.split())
    assert "feature 'genres' are left out because the model did not learn them: 'Warr'; it learned 'War'" in noted
    wrong = " ".join(run(*asked, "--feature", "sex=F", code=1).stderr.split())
    assert "there is no item feature 'sex'; the model has 'year', 'genres'" in wrong
    assert "'year' is not NAME=VALUE" in run(*asked, "--feature", "year", code=2).stderr
    assert "--feature is for a new item" in run(*asked, "--item", 7, *film, code=2).stderr
    assert "--feature is for a new user" in run("recommend", "f.lbg", "--user", 3, *film, code=2).stderr
    (desk / "two.csv").write_text("user,item,rating\nann,1,5\nbob,2,4\n")
    several = run("recommend", "f.lbg", "--new-user", "two.csv", "--feature", "sex=F", code=1).stderr
    assert "--feature describes one new user, and two.csv has 2" in several
    plain = run("predict", "model.lbg", "--user", 3, *film, code=1).stderr
    assert "needs a model that learns from features, and this is an LBGModel" in " ".join(plain.split())


def test_the_one_item_of_a_file_needs_no_name(desk, run):
    run("fit", "ratings.csv", "-o", "b.lbg", "-q", *FAST)
    (desk / "one.csv").write_text("item,user,rating\nfresh,1,5\nfresh,2,5\n")
    asked = ("predict", "b.lbg", "--user", 3, "--json")
    alone, named = (run(*asked, "--new-item", "one.csv", *more).stdout for more in ((), ("--item", "fresh")))
    assert alone == named and json.loads(alone)[0]["item"] == "fresh"
    (desk / "two.csv").write_text("item,user,rating\nfresh,1,5\nother,2,5\n")
    told = run(*asked, "--new-item", "two.csv", code=2).stderr
    assert "two.csv has 2 items: name one of them with --item" in told
