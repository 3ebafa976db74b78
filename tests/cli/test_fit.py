"""`lbg-recsys fit` and the parameters of algorithms."""

import gzip
import json

import pytest

import lbg_recsys
from lbg_recsys.cli.algorithms import ALGORITHMS, MODELS, factory, named_class, parse_value


def test_the_model_is_the_one_that_python_fits(desk, run, sample):
    run(
        "fit", "--algo", "paper", "ratings.csv", "-o", "mine.lbg", "-p", "n_topics=3", "-p", "point=mean", "--seed", 7
    )
    again = lbg_recsys.load("mine.lbg")
    model = lbg_recsys.LBGModel(n_topics=3, point="mean", random_state=7).fit(sample.ratings)
    pairs = sample.ratings[["user", "item"]]
    assert (again.predict_distribution(pairs) == model.predict_distribution(pairs)).all()
    assert again.titles == {}


def test_it_says_what_was_read_and_how_it_went(desk, run):
    with open("ratings.csv", "a") as file:
        file.write("1,2,5\n")
    result = run("fit", "--algo", "paper", "ratings.csv", "-o", "mine.lbg")
    assert "6,065 ratings of 120 items by 200 users, on the scale 1..5 (5 levels)" in result.stderr
    assert "1 repeated a (user, item) pair, of which the last counts" in result.stderr
    assert "converged after" in result.stdout and "Saved mine.lbg" in result.stdout
    assert lbg_recsys.load("mine.lbg").matrix.n_duplicates == 1


def test_a_rating_far_from_all_others_is_named(desk, run):
    rows = (desk / "ratings.csv").read_text()
    (desk / "slip.csv").write_text(rows + "1,999,50\n")
    told = run("fit", "slip.csv", "-a", "lbg", "-o", "slip.lbg").stderr
    told = " ".join(told.split())
    assert "highest rating is 50, and all others are between 1 and 5: correct it if it is a mistake; --scale" in told
    assert "; --scale LOW HIGH refuses ratings that are off the scale" in told
    refused = run("fit", "slip.csv", "-a", "lbg", "-o", "no.lbg", "--scale", 1, 5, code=1).stderr
    assert "the rating 50 of user 1 for item 999 is off the scale 1..5" in refused
    assert "highest rating" not in run("fit", "ratings.csv", "-a", "lbg", "-o", "fine.lbg").stderr


def test_json_and_quiet(desk, run):
    result = run("fit", "--algo", "paper", "sample", "-o", "mine.lbg", "--json", "--quiet")
    facts = json.loads(result.stdout)
    assert result.stderr == ""
    assert facts == json.loads(run("info", "mine.lbg", "--json").stdout)
    assert facts["ratings"] == {
        "n_users": 200,
        "n_items": 120,
        "n_ratings": 6065,
        "n_duplicates": 0,
        "scale": {"low": 1.0, "high": 5.0, "n_levels": 5, "discrete": True},
        "users_in_file": True,
    }
    assert facts["training"]["converged"] is True and facts["n_titles"] == 120
    assert facts["parameters"]["random_state"] == 0


@pytest.mark.parametrize("layout", ["tsv", "movielens", "gz", "no header", "parquet", "standard input", "columns"])
def test_the_layouts_people_have(layout, desk, run, sample):
    text = (desk / "ratings.csv").read_text()
    source, options, stdin = "given", [], None
    if layout == "tsv":
        (desk / source).write_text(text.replace(",", "\t"))
    elif layout == "movielens":
        (desk / source).write_text("\n".join(f"{line.replace(',', '::')}::978300760" for line in text.split()[1:]))
    elif layout == "gz":
        (desk / source).write_bytes(gzip.compress(text.encode()))
    elif layout == "no header":
        (desk / source).write_text(text.partition("\n")[2])
    elif layout == "parquet":
        pytest.importorskip("pyarrow")
        sample.ratings.to_parquet(desk / source)
    elif layout == "standard input":
        source, stdin = "-", text
    else:
        turned = (";".join(line.split(",")[::-1]) for line in text.split()[1:])
        (desk / source).write_text("\n".join(["stars;what;who", *turned]))
        options = ["--columns", "who,what,stars", "--delimiter", ";"]
    run("fit", "--algo", "paper", source, "-o", "mine.lbg", "-p", "n_topics=4", "--quiet", *options, input=stdin)
    run("fit", "--algo", "paper", "ratings.csv", "-o", "same.lbg", "-p", "n_topics=4", "--quiet")
    assert (desk / "mine.lbg").read_bytes() == (desk / "same.lbg").read_bytes()


@pytest.mark.parametrize("header", ["id,what", "item,what"])
def test_columns_of_titles_without_known_names(desk, run, monkeypatch, header):
    (desk / "films.csv").write_text(f"{header}\n1,Alien\n2,Brazil\n")
    asked = ["fit", "ratings.csv", "--algo", "lbg", "-o", "x.lbg", "--titles", "films.csv", "-q"]
    with monkeypatch.context() as patched:
        patched.setattr(lbg_recsys.LBGModel, "fit", None)  # titles are read before
        said = run(*asked, code=1).stderr
    assert "films.csv" in said and "call the columns item and title there" in said and "--columns" not in said
    (desk / "films.csv").write_text("item,title\n1,Alien\n2,Brazil\n")  # what it says to do
    run(*asked)
    assert lbg_recsys.load("x.lbg").titles == {1: "Alien", 2: "Brazil"}


def test_titles_meet_ids_of_another_type(desk, run):
    lines = (desk / "ratings.csv").read_text().split()
    (desk / "ratings.csv").write_text("\n".join([*lines, "1,x7,3"]))  # one id of letters makes all of them text
    run("fit", "--algo", "paper", "ratings.csv", "-o", "mine.lbg", "--titles", "titles.csv")
    assert lbg_recsys.load("mine.lbg").titles["3"] == "Crimson Comet"


def test_a_given_scale(desk, run):
    run("fit", "--algo", "paper", "ratings.csv", "-o", "mine.lbg", "--scale", 0, 10)
    assert len(lbg_recsys.load("mine.lbg").levels) == 11
    said = " ".join(
        run("fit", "--algo", "paper", "ratings.csv", "-o", "x.lbg", "--scale", 1, 4, code=1).stderr.split()
    )
    assert "off the scale 1..4 (4 levels; " in said and said.endswith("fit with the right scale (--scale LOW HIGH)")
    (desk / "one.csv").write_text("user,item,rating\n1,1,1\n1,2,2\n2,1,7\n")
    said = run("fit", "--algo", "paper", "one.csv", "-o", "x.lbg", "--scale", 1, 2, code=1).stderr
    assert "(2 levels; 1 such rating)" in said and "levels=" not in said


def test_columns_are_counted_as_they_were_given(desk, run):
    said = run("fit", "--algo", "paper", "ratings.csv", "-o", "x.lbg", "--columns", "1,2,9", code=1).stderr
    assert "ratings.csv has 3 columns, so there is no column number 9 for the rating" in said
    said = run("fit", "--algo", "paper", "ratings.csv", "-o", "x.lbg", "--columns", "1,1,2", code=1).stderr
    assert "must be different ones, not numbers 1, 1, 2" in said
    assert (
        "columns has 1 of 3 columns"
        in run("fit", "--algo", "paper", "ratings.csv", "-o", "x.lbg", "--columns", "1", code=2).stderr
    )


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("n_topic=3", "no parameter 'n_topic' (did you mean 'n_topics'?)"),
        ("n_topics=many", "n_topics is 'many': give an integer of at least 1"),
        ("n_topics=2.5", "n_topics is 2.5: give an integer of at least 1"),
        ("baseline=1", "baseline is 1: give True or False"),
        ("tol=NaN", "tol is nan: give a number of at least 0"),
        ("n_topics", "is not NAME=VALUE"),
        ("random_state=3", "--seed"),
        ("__class__=3", "no parameter '__class__'"),
        ("point=__import__('os')", "choose one of"),
        ("n_topics=0", "n_topics is 0: give an integer of at least 1"),
    ],
)
def test_parameters_are_checked(param, message, desk, run):
    assert message in " ".join(
        run("fit", "--algo", "paper", "sample", "-o", "x.lbg", "--param", param, code=2).stderr.split()
    )
    assert not (desk / "x.lbg").exists()


def test_algo_takes_parameters_as_in_evaluate_and_param_wins(desk, run):
    run("fit", "sample", "-o", "x.lbg", "-a", "paper:n_topics=4,max_iter=2", "-p", "max_iter=3", "-q")
    model = lbg_recsys.load("x.lbg")
    assert (model.n_topics, model.max_iter) == (4, 3)
    said = run("fit", "nothing.csv", "-o", "y.lbg", "-a", "paper:n_topic=4", code=2).stderr
    assert "-a/--algo" in said and "did you mean 'n_topics'?" in said
    assert "there is no model 'papre' (did you mean 'paper'?)" in " ".join(
        run("fit", "sample", "-o", "y.lbg", "-a", "papre:n_topics=4", code=2).stderr.split()
    )


@pytest.mark.parametrize("param", ["n_sweep=3", "n_sweeps=none"])
def test_parameters_are_checked_before_the_ratings_are_read_without_a_named_model_too(param, desk, run):
    said = run("fit", "nothing.csv", "-o", "x.lbg", "--param", param, code=2).stderr
    assert param.partition("=")[0] in said and "nothing.csv" not in said
    assert "nothing.csv" in run("fit", "nothing.csv", "-o", "x.lbg", "--param", "penalty=3", code=1).stderr


@pytest.mark.parametrize("algo", ["svd:n_factors=-1", 'knn:sim_options={"name":"none"}'])
def test_settings_that_another_library_refuses(algo, desk, run):
    for command in ("evaluate", "forced-prediction"):
        said = run(command, "sample", "-a", algo, "-q", code=2)
        assert "does not work with its settings" in said.stderr and said.stdout == ""


def test_messages_name_the_option(desk, run):
    said = run("evaluate", "sample", "-a", "svd:n_factor=3", code=2).stderr
    assert "Invalid value for -a/--algo: svd has no parameter 'n_factor'" in said
    assert (
        "Invalid value for -a/--algo: there is no algorithm" in run("evaluate", "sample", "-a", "svm", code=2).stderr
    )
    (desk / "odd.csv").write_text("who,item,rating\n1,2,3\n")
    assert "--columns" in run("fit", "--algo", "paper", "odd.csv", "-o", "x.lbg", code=1).stderr


def test_one_of_a_kind(desk, run):
    (desk / "one.csv").write_text("user,item,rating\n1,2,3\n")
    assert (
        "Read 1 rating of 1 item by 1 user,"
        in run("fit", "--algo", "paper", "one.csv", "-o", "x.lbg", "-p", "n_topics=1").stderr
    )


def test_values_are_read_and_never_run():
    assert [parse_value(text) for text in ("1", "1.5", "true", "False", "None", "null", "a b", "[1, 2]")] == [
        *(1, 1.5, True, False, None, None, "a b", [1, 2])
    ]
    assert parse_value("().__class__") == "().__class__"
    assert parse_value("[" * 100_000) == "[" * 100_000


def test_every_name_is_a_class():
    for name, named in ALGORITHMS.items():
        places = filter(None, (named.surprise, named.model))
        assert all(isinstance(named_class(place), type) for place in places)
        if named.surprise:
            shown, make = factory(name)
            assert shown == name and make(0) is not make(0)


def test_pLSA_can_be_fitted_too(desk, run):
    run("fit", "sample", "-o", "plsa.lbg", "--algo", "plsa", "-p", "n_topics=3", "-p", "max_iter=3")
    assert type(lbg_recsys.load("plsa.lbg")).__name__ == "GaussianPLSAModel"
    shown = run("explain", "plsa.lbg", "--user", 1, "--item", 3).stdout
    assert "Topics of the prediction" in shown and "from_its_value" in shown and "from_rating_it" not in shown
    run("recommend", "plsa.lbg", "--user", 1)


def test_a_model_that_did_not_converge_says_so(desk, run):
    result = run("fit", "--algo", "paper", "sample", "-o", "mine.lbg", "-p", "max_iter=2")
    assert "Note: EM stopped after max_iter=2" in result.stderr and "--param max_iter=4" in " ".join(
        result.stderr.split()
    )
    assert "stopped before convergence after 2 iterations" in result.stdout
    assert run("fit", "--algo", "paper", "sample", "-o", "mine.lbg", "-p", "max_iter=2", "-q").stderr == ""


@pytest.mark.parametrize("algo", [name for name, named in MODELS.items() if named.preset])
def test_a_name_stands_for_recommended_settings(algo, desk, run):
    short = {"n_sweeps": 4, "burn_in": 2, "max_kept": 2} if algo.startswith("bayesian") else {"max_iter": 3}
    params = [text for name, value in short.items() for text in ("--param", f"{name}={value}")]
    run("fit", "sample", "-o", "x.lbg", "--algo", algo, *params, "-q")
    parameters = json.loads(run("info", "x.lbg", "--json").stdout)["parameters"]
    expected = {**MODELS[algo].preset, **short}
    assert {name: parameters[name] for name in expected} == expected


def test_the_default_is_bayesian_and_says_what_it_costs(desk, run):
    arguments = ["fit", "ratings.csv", "-o", "mine lists.lbg", "-p", "n_sweeps=4", "-p", "burn_in=2"]
    result = run(*arguments)
    said = " ".join(result.stderr.split())
    assert "20 to 100 s of CPU time per 100,000 ratings" in said and "--algo lbg is less accurate" in said
    assert result.stderr.splitlines()[-1] == "Next: lbg-recsys recommend 'mine lists.lbg' --user 1"
    assert type(lbg_recsys.load("mine lists.lbg")).__name__ == "BayesianLBGModel"
    assert run(*arguments, "-q").stderr == ""
    assert "CPU time" not in run("fit", "ratings.csv", "-o", "x.lbg", "--algo", "paper").stderr


def test_dropped_users_are_not_in_the_file_and_new_ones_are_served(desk, run):
    with open("people.csv", "w") as file:
        file.write("user,item,rating\n")
        file.writelines(
            f"somebody-{n},film-{(n * 7 + k) % 12},{1 + (n + k) % 5}\n" for n in range(20) for k in range(6)
        )
    result = run("fit", "people.csv", "--algo", "lbg", "-o", "mine.lbg", "--drop-users")
    assert "--new-user FILE" in result.stderr
    assert lbg_recsys.load("mine.lbg").matrix.n_users == 0
    with open("mine.lbg", "rb") as file:
        assert b"somebody" not in file.read()
    shown = run("info", "mine.lbg").stdout
    assert "120 ratings of 12 items by 20 users" in shown and "left out, with their ratings" in shown
    with open("new.csv", "w") as file:
        file.write("item,rating\nfilm-1,5\nfilm-2,1\n")
    assert "film-" in run("recommend", "mine.lbg", "--new-user", "new.csv", "-n", 2).stdout
    for question in (("recommend", "mine.lbg", "--user", "somebody-3"), ("recommend", "mine.lbg", "--all-users")):
        refused = run(*question, code=1)
        assert "saved without" in refused.stderr and "(ratings=False" not in refused.stderr
    for question in (("update", "mine.lbg", "people.csv"), ("similar", "mine.lbg", "--user", "somebody-3")):
        refused = " ".join(run(*question, code=1).stderr.split())
        assert "saved without" in refused
        assert not any(words in refused for words in ("partial_fit", "--new-user", "Read "))
    assert "saved without" in run("topics", "mine.lbg", code=1).stderr


def test_a_column_of_titles_among_the_ratings_is_not_passed_over(desk, run):
    rows = "1,7,Seven,5\n1,8,Alien,3\n2,7,Seven,4\n2,8,Alien,1\n"
    (desk / "extra.csv").write_text(f"user,item,Movie Title,rating\n{rows}")
    command = ("fit", "extra.csv", "-a", "lbg:n_topics=1", "-o", "x.lbg")
    note = "Note: the column 'Movie Title' of extra.csv is not used: for titles of the items add --titles extra.csv."
    assert note in " ".join(run(*command).stderr.split())
    assert lbg_recsys.load("x.lbg").titles == {}
    assert "Note" not in run(*command, "-q").stderr + run(*command, "--titles", "extra.csv").stderr
    assert lbg_recsys.load("x.lbg").titles == {7: "Seven", 8: "Alien"}
    for source in ("ratings.csv", "sample"):
        assert "--titles" not in run("fit", source, "-a", "lbg:n_topics=1", "-o", "y.lbg").stderr


@pytest.mark.parametrize("command", [("fit", "sample", "-o", "x.lbg"), ("evaluate", "sample")])
def test_parameters_are_of_the_algorithm_that_was_typed(command, desk, run):
    for algo in ("lbg", "paper", "choice"):
        assert f"{algo} has no parameter 'foo'; it has" in " ".join(
            run(*command, "-a", f"{algo}:foo=3", code=2).stderr.split()
        )


def test_titles_of_other_items_are_refused_or_counted(desk, run):
    (desk / "padded.csv").write_text("user,item,rating\n1,001,4\n1,002,2\n2,001,5\n2,003,1\n")
    (desk / "names.csv").write_text("id,title\n1,Alien\n2,Seven\n")
    command = ("fit", "padded.csv", "-a", "lbg:n_topics=1", "-o", "p.lbg", "--titles")
    refused = run(*command, "names.csv", code=1).stderr
    assert "names.csv has titles of none of the 3 rated items: its ids are 1, 2, those of the ratings" in refused
    assert not (desk / "p.lbg").exists()
    (desk / "names.csv").write_text("id,title\n001,Aliens\n009,Seven\n001,Alien 2\n001,Alien\n001,Aliens\n")
    said = run(*command, "names.csv").stderr
    assert (
        "1 title of other items is not used" in said and "1 item has more than one title: the last one counts" in said
    )
    assert lbg_recsys.load("p.lbg").titles == {"001": "Aliens"}
    assert "title" not in run(*command, "names.csv", "-q").stderr


def test_a_file_without_titles_is_no_file_of_titles(desk, run):
    (desk / "years.csv").write_text("item,year\n1,1979\n2,1995\n")
    said = run("fit", "ratings.csv", "-a", "lbg", "-o", "y.lbg", "--titles", "years.csv", code=1).stderr
    assert "no column that looks like the title; it has 'item', 'year': call the columns item and title" in said


def test_resuming_without_a_checkpoint_is_told(desk, run):
    command = ("fit", "sample", "-a", "lbg:n_topics=1,max_iter=3", "-o", "r.lbg", "--resume")
    assert "Note: there is no r.lbg.checkpoint: the fit starts from the beginning." in run(*command).stderr
    assert "checkpoint" not in run(*command, "-q").stderr


def test_zeros_among_clicks_are_not_taken_for_clicks_in_silence(desk, run):
    (desk / "shown.csv").write_text("user,item,clicked\n1,a,1\n1,b,0\n2,a,1\n2,c,1\n")
    refused = run("fit", "shown.csv", "-o", "s.lbg", code=1).stderr
    assert "the count is '0', which is not a whole number of at least 1: leave out what was not taken" in refused
    command = ("fit", "shown.csv", "--columns", "user,item,clicked", "-a", "choice", "-o", "s.lbg")
    assert "an item with 0 counts as taken too" in " ".join(run(*command).stderr.split())
