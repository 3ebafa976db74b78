"""Features of items and users, and new items, on the command line."""

import json

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
    shown = json.loads(run("explain", "f.lbg", "--user", 3, "--item", 7, "--json").stdout)
    assert {one["feature"] for one in shown["features"]} >= {"year", "genres=War"}
    assert "because of the" in run("explain", "f.lbg", "--user", 3, "--item", 7).stdout


def test_features_that_cannot_be_used(desk, run):
    write_features(desk)
    asked = ("fit", "ratings.csv", "-o", "f.lbg", "-q")
    assert "gone.csv" in run(*asked, "--item-features", "gone.csv", code=1).stderr
    assert "column of user ids" in run(*asked, "--user-features", "films.csv", code=1).stderr
    assert "need --algo bayesian" in run(*asked, "--algo", "lbg", "--item-features", "films.csv", code=2).stderr
    (desk / "twice.csv").write_text("item,year\n1,1990\n1,1991\n")
    assert "comes twice" in run(*asked, "--item-features", "twice.csv", code=1).stderr


def test_new_items(desk, run):
    run("fit", "ratings.csv", "-o", "b.lbg", "-q", *FAST)
    model = lbg_recsys.load("b.lbg")
    (desk / "one.csv").write_text("user,rating\n1,5\n2,4\n5,5\n")
    given = {1: 5.0, 2: 4.0, 5: 5.0}
    found = json.loads(run("predict", "b.lbg", "--user", 3, "--new-item", "one.csv", "--json").stdout)
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
