"""Lists as a shop asks for them: candidates, several new users, titles, clicks."""

import json
import re

import pandas as pd
import pytest

import lbg_recsys
from lbg_recsys.serving.answers import Service


@pytest.fixture
def bayesian(desk):
    return lbg_recsys.load("bayesian.lbg")


@pytest.fixture
def clicks(desk, run):
    run("fit", "clicks.csv", "-o", "clicks.lbg", "--titles", "titles.csv", "-q")
    return lbg_recsys.load("clicks.lbg")


def listed(run, *arguments):
    return json.loads(run("recommend", *arguments, "--json").stdout)


# -- candidates --------------------------------------------------------------------------------------------------


def test_only_and_not_take_ids_and_titles(bayesian, desk, run):
    in_stock = [3, 8, 1, 17, 25]
    (desk / "sold.csv").write_text("item,title\n8,Silent Comet\n3,Crimson Comet\n")
    found = listed(run, "bayesian.lbg", "--user", 3, "--only", "in_stock.txt", "--not", "sold.csv", "--include-seen")
    expected = bayesian.recommend(3, 10, items=in_stock, exclude=[8, 3], exclude_seen=False)
    assert [line["item"] for line in found] == expected["item"].tolist()
    assert {line["item"] for line in found} == {1, 17, 25}


@pytest.mark.parametrize("whom", [["--all-users"], ["--user", 3, "--user", 4], ["--new-user", "my_ratings.csv"]])
def test_candidates_hold_for_everybody(whom, desk, run):
    run("recommend", "bayesian.lbg", *whom, "--only", "in_stock.txt", "-o", "recs.csv", "--include-seen")
    recs = pd.read_csv("recs.csv")
    assert set(recs["item"]) == {1, 3, 8, 17, 25} and (recs.groupby("user").size() == 5).all()


def test_unknown_candidates_are_counted_and_named(desk, run):
    (desk / "some.txt").write_text("3\nCrimson Commet\n999\n")
    said = " ".join(run("recommend", "model.lbg", "--user", 1, "--only", "some.txt").stderr.split())
    assert "Note: some.txt: 2 of 3 items are unknown to the model and left out" in said
    assert "'Crimson Commet' (nearest title: 'Crimson Comet'); '999'" in said
    (desk / "none.txt").write_text("998\n999\n")
    for option in ("--only", "--not"):
        said = run("recommend", "model.lbg", "--user", 1, option, "none.txt", code=1).stderr
        assert "none.txt: the model knows none of the 2 items: '998'" in said
    (desk / "all.txt").write_text("3\n")
    said = run("recommend", "model.lbg", "--user", 1, "--only", "all.txt", "--not", "all.txt", code=1).stderr
    assert said == "Error: --only and --not leave no item to recommend\n"
    (desk / "empty.txt").write_text("\n")
    assert "empty.txt is empty" in run("recommend", "model.lbg", "--user", 1, "--not", "empty.txt", code=1).stderr
    assert (
        "there is no file gone.txt" in run("recommend", "model.lbg", "--user", 1, "--only", "gone.txt", code=1).stderr
    )


def test_sure_probable_and_diverse_lists(bayesian, run):
    found = listed(run, "bayesian.lbg", "--user", 3, "--by", "sure", "--min-probability", 0.3, "--diversity", 0.5)
    expected = bayesian.recommend(3, 10, by="sure", min_probability=0.3, diversity=0.5)
    assert [line["item"] for line in found] == expected["item"].tolist()
    shown = run("recommend", "bayesian.lbg", "--user", 3, "--by", "sure", "-n", 1).stdout
    assert shown.splitlines()[0].split() == ["rank", "item", "title", "score", "expected_rating"]
    for option, value in (("--min-probability", 1.5), ("--diversity", 1), ("--diversity", "nan"), ("--by", "luck")):
        run("recommend", "bayesian.lbg", "--user", 3, option, value, code=2)


@pytest.mark.parametrize("by", ["liked", "rated", "rating", "sure"])
def test_a_list_has_the_same_columns_on_screen_in_files_and_in_json(bayesian, run, by):
    question = ["bayesian.lbg", "--user", 3, "--user", 4, "--by", by, "-n", 2]
    names = list(bayesian.recommend([3, 4], 2, by=by))
    assert names == ["user", "rank", "item", "title", "score", "expected_rating"]
    assert run("recommend", *question).stdout.splitlines()[0].split() == names
    assert list(listed(run, *question)[0]) == names
    written = json.loads(run("recommend", *question, "-o", "columns.csv", "--json").stdout)
    assert written == {"output": "columns.csv", "n_recommendations": 4, "n_users": 2}
    assert list(pd.read_csv("columns.csv")) == names


def test_lists_of_all_users_are_json_like_those_of_one(desk, run):
    every = listed(run, "bayesian.lbg", "--all-users", "-n", 2)
    assert len(every) == 400 and [one for one in every if one["user"] == 3] == listed(
        run, "bayesian.lbg", "--user", 3, "-n", 2
    )


# -- new users ---------------------------------------------------------------------------------------------------


def test_several_new_users_get_a_list_each(bayesian, desk, run):
    (desk / "people.csv").write_text("user,item,rating\nann,1,5\nann,2,4\nbob,40,5\nbob,1,1\ncid,999,3\n")
    arguments = ["bayesian.lbg", "--new-user", "people.csv", "-n", 3]
    found = pd.DataFrame(listed(run, *arguments))
    assert found["user"].tolist() == ["ann"] * 3 + ["bob"] * 3
    for user, ratings in {"ann": {1: 5, 2: 4}, "bob": {40: 5, 1: 1}}.items():
        expected = bayesian.fold_in(ratings).recommend(3)["item"].tolist()
        assert found.loc[found["user"] == user, "item"].tolist() == expected
    said = run("recommend", *arguments).stderr
    assert "1 of 4 items is unknown" in said and "the user cid has no known item and is left out" in said
    run("recommend", *arguments, "-o", "recs.csv", "-q")
    assert pd.read_csv("recs.csv")["user"].unique().tolist() == ["ann", "bob"]


def test_new_users_may_give_titles(bayesian, desk, run):
    (desk / "titles_rated.csv").write_text("title,rating\ncrimson ORBIT,5\nCrimson Comet,4\n")
    found = listed(run, "bayesian.lbg", "--new-user", "titles_rated.csv")
    assert [line["item"] for line in found] == bayesian.fold_in({1: 5, 3: 4}).recommend(10)["item"].tolist()
    facts = json.loads(
        run("explain", "bayesian.lbg", "--new-user", "titles_rated.csv", "--item", 8, "--json").stdout
    )[0]
    assert {one["item"] for one in facts["choice"]["because"]} == {1, 3}


@pytest.mark.parametrize(
    "text",
    [
        "1\n3\n",
        "Crimson Orbit\nCrimson Comet\n",
        "item\n1\n3\n",
        "user,movie,date\nann,1,2024-05-01\nann,3,2024-05-02\n",
    ],
)
def test_new_users_without_ratings_get_lists_from_who_takes_what(text, bayesian, desk, run):
    (desk / "taken.csv").write_text(text)
    expected = bayesian.fold_in([1, 3])
    found = listed(run, "bayesian.lbg", "--new-user", "taken.csv", "-n", 4)
    assert [line["item"] for line in found] == expected.recommend(4)["item"].tolist()
    said = " ".join(run("recommend", "bayesian.lbg", "--new-user", "taken.csv").stderr.split())
    assert "has no ratings: lists follow from the items alone, and ratings are predicted for an unknown user" in said
    assert "because the user took" in run("explain", "bayesian.lbg", "--new-user", "taken.csv", "--item", 8).stdout


def test_a_column_of_new_users_that_may_be_the_rating_is_not_passed_over(desk, run):
    (desk / "odd.csv").write_text("item,mine\n1,5\n")
    assert "'item', 'mine'" in run("recommend", "bayesian.lbg", "--new-user", "odd.csv", code=1).stderr


def test_users_without_a_list_are_counted(bayesian, desk, run):
    (desk / "one.txt").write_text("1\n")
    seen = int(bayesian.matrix.rows.column_counts()[bayesian.matrix.items.code(1)])
    said = " ".join(
        run("recommend", "bayesian.lbg", "--all-users", "--only", "one.txt", "-o", "r.csv").stderr.split()
    )
    left = bayesian.matrix.n_users - seen
    assert f"Wrote {left} recommendations for {left} users" in said
    assert f"Nothing is left to recommend to {seen} users of {bayesian.matrix.n_users}" in said
    item = bayesian.matrix.items.code(1)
    raters = bayesian.matrix.users.raws(bayesian.matrix.rows.transposed.part(item, item + 1).columns[:2])
    some = ["--user", raters[0], "--user", raters[1], "--user", raters[0]]
    assert "to 2 users of 2" in run("recommend", "bayesian.lbg", *some, "--only", "one.txt").stderr


@pytest.mark.parametrize("command", [["recommend"], ["explain", "--item", 8]])
def test_a_new_user_of_whom_nothing_is_understood_is_an_error(command, desk, run):
    (desk / "odd.csv").write_text("item,rating\nCrimson Commet,5\nzzzz,4\n")
    said = run(*command, "model.lbg", "--new-user", "odd.csv", code=1)
    assert "odd.csv: the model knows none of the 2 items: 'Crimson Commet' (nearest title:" in said.stderr
    assert said.stdout == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("item,rating\n", "a header but no rows"),
        ("item,rating\n1,nan\n", "line 2: the rating is 'nan'"),
        ("item,rating\n1,\n", "line 2: the rating is ''"),
        ("item,rating\n1,5\nCrimson Orbit,4\n", "two names of one item"),
        ("1,5,3,4\n", "4 columns and no header"),
    ],
)
def test_damaged_new_users(text, said, desk, run):
    (desk / "new.csv").write_text(text)
    result = run("recommend", "model.lbg", "--new-user", "new.csv", code=1)
    assert said in result.stderr and result.stderr.startswith("Error: ")


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--new-user", "item,rating\n8,9\n", "f.csv: the rating 9 for item 8 is off the scale 1..5"),
        ("--new-user", "user,item,rating\nbob,8,9\n", "f.csv, user 'bob': the rating 9 for item 8 is off the scale"),
        ("--new-item", "user,rating\n3,9\n", "f.csv: the rating 9 of user 3 is off the scale 1..5"),
        ("--new-item", "user,item,rating\n3,x,9\n", "f.csv, item 'x': the rating 9 of user 3 is off the scale"),
        (
            "--new-user",
            "item,rating\n8,5\n8,4\n",
            "f.csv: the item 8 is rated twice: leave one of the ratings out; the ratings of several people need a "
            "column user\n",
        ),
        (
            "--new-user",
            "user,item,rating\nbob,8,5\nbob,8,4\n",
            "f.csv: the item 8 is rated twice by the user 'bob': leave one of the ratings out\n",
        ),
        (
            "--new-item",
            "user,item,rating\n3,x,5\n3,x,4\n",
            "f.csv: the user 3 rated the item 'x' twice: leave one of the ratings out\n",
        ),
    ],
)
def test_wrong_ratings_of_new_users_and_items_are_named_with_their_file(option, text, said, desk, run):
    (desk / "f.csv").write_text(text)
    other = ["--item", 8] if option == "--new-user" else ["--user", 3]
    assert run("predict", "model.lbg", option, "f.csv", *other, code=1).stderr.startswith(f"Error: {said}")


# -- explanations ------------------------------------------------------------------------------------------------


def test_explain_shows_the_choice_score_first(bayesian, run):
    shown = run("explain", "bayesian.lbg", "--user", 3, "--item", 8, "-n", 2).stdout
    choice = bayesian.explain(3, 8).choice
    first = choice.because[0]
    assert shown.startswith(f"User 3, item Silent Comet: choice score {choice.choice_score:.4f}\n")
    assert f"because the user rated {bayesian.titles[first.item]} {first.rating:g}" in shown
    assert f"{first.contribution:+.4f}" in shown and f"={choice.choice_score:.4f}" in shown
    others = len(choice.because) - 2
    assert (
        f"\n{others} other items " in shown
        and "contribution" in shown.split("What the expected rating is made of")[1]
    )
    assert shown.index("because the user rated") < shown.index("What the expected rating is made of")
    assert (
        "because the user rated" not in run("explain", "model.lbg", "--user", 3, "--item", 8).stdout
    )  # the paper's model


# -- clicks ------------------------------------------------------------------------------------------------------


def test_clicks_are_found_out(desk, run):
    result = run("fit", "clicks.csv", "-o", "clicks.lbg")
    assert "clicks.csv has no rating column: fitting ChoiceModel to who took what." in result.stderr
    assert "Fitted ChoiceModel: 6,065 choices of 120 items by 200 users." in result.stdout
    expected = lbg_recsys.ChoiceModel().fit(pd.read_csv("clicks.csv")).recommend(3)
    assert [line["item"] for line in listed(run, "clicks.lbg", "--user", 3)] == expected["item"].tolist()


@pytest.mark.parametrize(
    "layout",
    [
        "customer,product,date\n1,2,2024-05-01\n1,3,2024-05-02\n",
        "1,2,881250949\n1,3,881250950\n",
        "1\t2\n1\t3\n",
        "user,item,count\n1,2,7\n1,3,1\n",
        "user,item,rating\n1,2,1\n1,3,1\n",
    ],
)
def test_layouts_without_ratings(layout, desk, run):
    (desk / "given").write_text(layout)
    run("fit", "given", "-o", "x.lbg", "-q")
    model = lbg_recsys.load("x.lbg")
    assert type(model).__name__ == "ChoiceModel" and model.matrix.n_ratings == 2


def test_constant_ratings_are_told(desk, run):
    (desk / "ones.csv").write_text("user,item,rating\n1,2,1\n1,3,1\n2,2,1\n")
    assert "All 3 ratings are 1 and say nothing about taste" in run("fit", "ones.csv", "-o", "x.lbg").stderr
    said = run("fit", "ones.csv", "-o", "x.lbg", "--algo", "paper", "-p", "n_topics=1").stderr
    assert (
        "All 3 ratings are 1" in said
        and "equal" not in said
        and type(lbg_recsys.load("x.lbg")).__name__ == "LBGModel"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user,item,count\n1,2,3\n1,3,-1\n", "line 3: the count is '-1', which is not a whole number"),
        ("user,item,count\n1,2,1.5\n", "line 2: the count is '1.5', which is not a whole number"),
        ("user,item,count\n1,2,nan\n", "line 2: the count is 'nan'"),
        ("user,item\n", "a header but no rows"),
        ("", "is empty"),
        ("only\n", "no delimiter"),
        ("user,item,mark\n1,2,3\n", "no column that looks like the rating"),
        ("user,item\n1,\n", "line 2: the item is ''"),
    ],
)
def test_damaged_clicks(text, said, desk, run):
    (desk / "bad.csv").write_text(text)
    result = run("fit", "bad.csv", "-o", "x.lbg", code=1)
    assert said in result.stderr and result.stderr.startswith("Error: ") and not (desk / "x.lbg").exists()


def test_a_rating_model_of_clicks_is_refused(desk, run):
    said = run("fit", "clicks.csv", "-o", "x.lbg", "--algo", "lbg", code=2).stderr
    assert "clicks.csv has no rating column, which --algo lbg needs" in said


@pytest.mark.parametrize(
    ("question", "instead"),
    [
        (["predict", "--user", 3, "--item", 8], "ask recommend, similar --item, explain or info"),
        (["topics"], "ask recommend, similar --item, explain or info"),
        (["similar", "--user", 3], "ask for similar items (--item)"),
        (["similar", "--item", 8, "--metric", "kl"], "leave out --metric"),
        (["recommend", "--user", 3, "--by", "rating"], "leave out --by rating"),
        (["recommend", "--user", 3, "--min-probability", 0.5], "leave out --min-probability"),
        (["recommend", "--user", 3, "--liked", 4], "leave out --liked"),
    ],
)
def test_questions_about_ratings_are_refused(question, instead, clicks, run):
    command, *options = question
    said = run(command, "clicks.lbg", *options, code=1).stderr
    assert said.startswith("Error: clicks.lbg holds a ChoiceModel, which knows what people take")
    assert said.endswith(f"fit one to ratings, or {instead}\n")


@pytest.mark.parametrize("option", [["--time"], ["--seconds", 2], ["--item-features", "facts.csv"]])
def test_options_that_need_ratings_that_differ(option, desk, run):
    (desk / "same.csv").write_text("user,item,rating,timestamp\n1,1,4,1\n1,2,4,2\n2,1,4,3\n")
    (desk / "facts.csv").write_text("item,year\n1,1990\n2,1991\n")
    said = run("fit", "same.csv", "-o", "x.lbg", *option, code=2).stderr
    assert f"{option[0]} needs ratings that differ, and same.csv has none" in " ".join(said.split())


def test_questions_that_clicks_answer(clicks, desk, run):
    assert run("recommend", "clicks.lbg", "--user", 3, "-n", 1).stdout.split()[:4] == [
        "rank",
        "item",
        "title",
        "score",
    ]
    similar = json.loads(run("similar", "clicks.lbg", "--item", "Crimson Comet", "-n", 2, "--json").stdout)
    assert [one["item"] for one in similar] == [item for item, _ in clicks.similar_items(3, 2)]
    shown = run("explain", "clicks.lbg", "--user", 3, "--item", 8).stdout
    assert "because the user took " in shown and f"={clicks.explain(3, 8).choice_score:.4f}" in shown
    assert "choices     6,065 choices of 120 items by 200 users" in run("info", "clicks.lbg").stdout
    (desk / "taken.txt").write_text("Crimson Orbit\n2\n")
    found = listed(run, "clicks.lbg", "--new-user", "taken.txt")
    assert [line["item"] for line in found] == clicks.fold_in([1, 2]).recommend()["item"].tolist()
    (desk / "people.csv").write_text("user,item\nann,1\nbob,40\nbob,2\n")
    found = pd.DataFrame(listed(run, "clicks.lbg", "--new-user", "people.csv", "-n", 2))
    assert found["user"].tolist() == ["ann", "ann", "bob", "bob"]


def test_the_contributions_that_explain_prints_add_up_to_the_score(clicks, run):
    printed = run("explain", "clicks.lbg", "--user", "3", "--item", "Silent Comet", "-n", "3").stdout
    parts = [float(part) for part in re.findall(r"([+-]\d\.\d{4})$", printed, flags=re.MULTILINE)]
    (score,) = re.findall(r"=(\d\.\d{4})$", printed, flags=re.MULTILINE)
    assert "how many users take it" in printed
    assert sum(parts) == pytest.approx(float(score), abs=5e-4)


def test_the_next_command_after_evaluating_clicks_runs(desk, run):
    said = run("evaluate", "clicks.csv", "--folds", "2").stderr
    assert "lbg-recsys fit clicks.csv -o model.lbg --algo choice" in said


def test_new_users_with_columns_of_unknown_names(clicks, desk, run):
    (desk / "visits.csv").write_text("shopper,gizmo\nann,3\nann,8\nbob,17\n")
    said = run("recommend", "clicks.lbg", "--new-user", "visits.csv", code=1).stderr
    assert "if its lines have several columns, name them with --columns USER,ITEM" in said
    lists = run("recommend", "clicks.lbg", "--new-user", "visits.csv", "--columns", "shopper,gizmo", "-n", 1).stdout
    assert "ann" in lists and "bob" in lists


@pytest.mark.parametrize("model", ["model.lbg", "bayesian.lbg"])
def test_list_and_explanation_have_the_same_score(model, desk, run):
    first = json.loads(run("recommend", model, "--user", 3, "-n", 1, "--json").stdout)[0]
    why = ["explain", model, "--user", 3, "--item", first["item"]]
    assert json.loads(run(*why, "--json").stdout)[0]["score"] == pytest.approx(first["score"], rel=1e-6)
    assert f"List score: {first['score']:.4f} = " in run(*why).stdout


def test_titles_that_are_not_clear_are_not_called_unknown(desk, run):
    (desk / "some.csv").write_text("title,rating\nCrimson,5\nCrimson Orbit,4\n")
    said = run("recommend", "model.lbg", "--new-user", "some.csv").stderr.replace("\n", " ")
    assert "some.csv: 1 of 2 items is unknown or unclear and left out: 'Crimson' is in 5 titles" in said
    far = run("similar", "model.lbg", "--item", "Casino Comments", code=1).stderr
    # nothing is near
    assert "the model knows 120 items, and not 'Casino Comments': give the id or the title" in far


def test_what_is_in_a_file_of_clicks(clicks, desk, run):
    shown = run("info", "clicks.lbg").stdout
    assert "in the file, with their choices" in shown and "ratings" not in shown
    assert "choices     6,065 choices" in shown


def test_the_sign_of_standard_input_is_no_file_to_write(desk, run):
    said = run("recommend", "model.lbg", "--user", 3, "-o", "-", code=2).stderr
    assert "'-' does not stand for standard output here" in said and not (desk / "-").exists()


def test_items_are_listed_and_searched(desk, run, model):
    found = json.loads(run("items", "model.lbg", "--json", "-n", 200).stdout)
    assert {one["item"]: one["title"] for one in found} == model.titles
    counts = [one["n_ratings"] for one in found]
    assert counts == sorted(counts, reverse=True) and sum(counts) == model.matrix.n_ratings
    assert found == Service(model).items({"n": 200})["items"]
    comets = json.loads(run("items", "model.lbg", "comet", "--json").stdout)
    assert comets == [one for one in found if "Comet" in one["title"]] and len(comets) > 1
    assert json.loads(run("items", "model.lbg", "8", "--json").stdout)[0]["item"] == 8
    shown = run("items", "model.lbg")
    assert shown.stdout.splitlines()[0].split() == list(found[0]) and len(shown.stdout.splitlines()) == 21
    assert "20 of 120 items: -n shows more." in shown.stderr
    assert "20 of" not in run("items", "model.lbg", "-q").stderr
    said = run("items", "model.lbg", "Cromson Comet", code=1).stderr
    assert said == "Error: no id or title of the 120 items has 'Cromson Comet' (nearest title: 'Crimson Comet')\n"
    run("items", "model.lbg", "-o", "items.csv")
    pd.testing.assert_frame_equal(pd.read_csv("items.csv"), pd.DataFrame(found))


def test_items_of_clicks_have_no_mean_rating(desk, run):
    run("fit", "clicks.csv", "-o", "clicks.lbg", "-q")
    assert run("items", "clicks.lbg", "-n", 1).stdout.splitlines()[0].split() == ["item", "n_ratings"]
    assert run("items", "clicks.lbg", "zzz", code=1).stderr == "Error: no id of the 120 items has 'zzz'\n"


def test_an_item_without_a_title_has_none(desk, run):
    (desk / "few.csv").write_text("item,title\n5,Crimson Starship\n")
    run("fit", "sample", "-a", "lbg", "-o", "few.lbg", "--titles", "few.csv", "-q")
    command = ("recommend", "few.lbg", "--user", 3, "-n", 3)
    found = {line["item"]: line["title"] for line in json.loads(run(*command, "--json").stdout)}
    assert found[5] == "Crimson Starship" and set(found.values()) == {"Crimson Starship", None}
    run(*command, "-o", "few.lists.csv")
    assert pd.read_csv("few.lists.csv")["title"].isna().sum() == 2
    assert all(str(item) in run(*command).stdout for item in found)  # on screen the id stands in its place


def test_a_part_of_a_title_is_told(desk, run):
    (desk / "part.csv").write_text("title,rating\nCrimson Com,5\nthe borrowed orbit,4\n")
    said = " ".join(run("recommend", "model.lbg", "--new-user", "part.csv").stderr.split())
    assert "Note: part.csv: 'Crimson Com' is taken for 'Crimson Comet'" in said and "orbit'" not in said
    (desk / "vague.csv").write_text("title,rating\nCrimson,5\n")
    said = run("recommend", "model.lbg", "--new-user", "vague.csv", code=1).stderr.replace("\n", " ")
    assert "vague.csv: the model cannot tell which item is meant: 'Crimson' is in 5 titles" in said
