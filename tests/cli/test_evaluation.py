"""`evaluate`, `forced-prediction`, `demo`, and the pictures."""

import json
import shlex
import sys

import pandas as pd
import pytest

from lbg_recsys.algorithms import to_surprise
from lbg_recsys.cli.evaluate import SPLITS, best_in_words
from lbg_recsys.evaluation import splits
from lbg_recsys.evaluation.compare import Comparison
from lbg_recsys.evaluation.lists import GroupReport, ListReport

PNG = b"\x89PNG"


def test_evaluate_is_the_comparison(desk, run, sample):
    from lbg_recsys.algorithms import LBGAlgo
    from lbg_recsys.evaluation.compare import compare

    arguments = ["evaluate", "ratings.csv", "-a", "paper:n_topics=4", "-a", "svd", "--folds", 2, "--list-users", 5]
    facts = json.loads(run(*arguments, "--seed", 3, "--json", "-q").stdout)
    ours, svd, *rivals = facts["results"]
    make = {"paper:n_topics=4": lambda seed: LBGAlgo(n_topics=4, random_state=seed)}
    (expected,) = compare(to_surprise(sample), make, n_folds=2, seed=3, list_users=5)
    for metric in ("algorithm", "rmse", "mae", "log_score", "coverage"):
        assert ours[metric] == getattr(expected, metric)
    assert ours["lists"] == json.loads(json.dumps(expected.lists.to_dict()))
    assert svd["log_score"] is None and svd["rmse"] > 0
    assert {"popularity", "EASE, liked", "EASE, all", "EASE, graded"} <= {rival["algorithm"] for rival in rivals}
    assert all(rival["rmse"] is None and rival["lists"]["ndcg"] > 0 for rival in rivals)


def test_evaluate_prints_three_tables(desk, run):
    arguments = ["evaluate", "ratings.csv", "-a", "paper:n_topics=4", "-a", "baseline", "--folds", 2]
    ratings, lists, activity = run(*arguments, "--list-users", 5).stdout.split("\n\n")
    assert (
        " ".join(ratings.splitlines()[0].split()) == "algorithm rmse mae log_score coverage fit_seconds test_seconds"
    )
    assert len(ratings.splitlines()) == 4
    assert ratings.splitlines()[-1] == "coverage: share of the ratings inside their 90% intervals"
    title, head, *rows = lists.splitlines()
    assert title.startswith("Lists of 10 items, 10 evaluated; standard error of NDCG at most 0.")
    assert head.split() == ["algorithm", "ndcg", "recall", "map", "catalogue", "novelty", "similarity", "popular"]
    assert [row.partition("  ")[0] for row in rows][:3] == ["paper:n_topics…", "baseline", "popularity"]
    assert "light (" in activity and "heavy (" in activity
    assert max(map(len, [*ratings.splitlines(), *lists.splitlines(), *activity.splitlines()])) <= 80
    alone = run(*arguments, "--list-users", 5, "--no-rivals").stdout
    assert "EASE" not in alone and "Lists of 10" in alone
    assert "Lists" not in run(*arguments, "--list-users", 0).stdout


@pytest.mark.parametrize("split", SPLITS)
def test_clicks_are_evaluated_by_their_lists(desk, run, sample, split):
    from lbg_recsys.evaluation.compare import compare_lists
    from lbg_recsys.evaluation.rivals import ease, popularity

    clicks = sample.ratings[["user", "item"]].assign(time=range(len(sample.ratings)))
    clicks.sample(frac=1, random_state=1).to_csv(desk / "clicks.csv", index=False)
    arguments = ["evaluate", "clicks.csv", "--split", split, "--folds", 2, "--list-users", 30]
    told = run(*arguments)
    assert "clicks.csv has no rating column: only lists are evaluated" in " ".join(told.stderr.split())
    assert "rmse" not in told.stdout and "Next: lbg-recsys fit clicks.csv -o model.lbg --algo choice" in told.stderr
    facts = json.loads(run(*arguments, "--json", "-q").stdout)
    found = {one["algorithm"]: one["lists"]["ndcg"] for one in facts["results"]}
    assert list(found)[:3] == ["choice", "popularity", "EASE"]
    table = pd.read_csv(desk / "clicks.csv").rename(columns={"time": "timestamp"})
    makers = {"popularity": popularity, "EASE": lambda matrix, seed: ease(matrix, seed, variant="all")}
    expected = compare_lists(table, makers, split=split, n_folds=2, list_users=30)
    assert [found[one.algorithm] for one in expected] == [one.ndcg for one in expected]


def test_clicks_that_cannot_be_evaluated(desk, run):
    (desk / "clicks.csv").write_text("user,item\n1,2\n1,3\n2,2\n")
    assert (
        "predicts ratings, and there is nothing to predict"
        in run("evaluate", "clicks.csv", "-a", "svd", code=2).stderr
    )
    assert "leaves nothing to evaluate" in run("evaluate", "clicks.csv", "--list-users", 0, code=2).stderr
    assert "--scale is for ratings" in run("evaluate", "clicks.csv", "--scale", 1, 5, code=2).stderr
    assert "looks like the timestamp" in run("evaluate", "clicks.csv", "--split", "last", code=1).stderr
    assert "cannot be split into 5 folds" in run("evaluate", "clicks.csv", code=1).stderr
    (desk / "apart.csv").write_text("user,item\n1,2\n2,3\n")
    assert "no list can be evaluated" in run("evaluate", "apart.csv", "--folds", 2, code=1).stderr
    (desk / "counts.csv").write_text("user,item,count\n1,2,0\n2,3,1\n")
    assert "the count" in run("evaluate", "counts.csv", "--folds", 2, code=1).stderr
    (desk / "equal.csv").write_text(
        "user,item,rating\n" + "".join(f"{u},{i},1\n" for u in range(9) for i in range(u))
    )
    found = run("evaluate", "equal.csv", "--folds", 2)
    assert "all ratings are 1: only lists are evaluated" in found.stderr and "rmse" not in found.stdout
    assert "there is nothing to predict" in run("evaluate", "equal.csv", "-a", "svd", "--folds", 2, code=2).stderr


def test_evaluate_by_time(desk, run):
    assert SPLITS == splits.SPLITS
    rows = [(user, item, 1 + (user + item) % 5, 100 * user + item) for user in range(8) for item in range(user, 10)]
    text = "".join(f"{u},{i},{r},{t}\n" for u, i, r, t in rows)
    (desk / "timed.csv").write_text("user,item,rating,timestamp\n" + text)
    arguments = ["evaluate", "timed.csv", "-a", "movie-mean", "--json", "-q"]
    last = json.loads(run(*arguments, "--split", "last").stdout)
    held_out = [row for row in rows if row[1] == 9]
    kept = [row for row in rows if row[1] < 9]
    mean = sum(row[2] for row in kept) / len(kept)  # the last item has no other ratings
    expected = sum(abs(row[2] - mean) for row in held_out) / len(held_out)
    assert last["split"] == "last" and last["results"][0]["mae"] == pytest.approx(expected)
    assert json.loads(run(*arguments, "--split", "time", "--folds", 4).stdout)["results"][0]["rmse"] > 0
    assert "looks like the timestamp" in run("evaluate", "ratings.csv", "--split", "time", code=1).stderr
    assert "'sample' has no timestamps" in run("evaluate", "sample", "--split", "last", code=1).stderr


def test_lists_that_nobody_can_get_are_not_passed_over(desk, run):
    rows = [(user, item, 1 + (user + item) % 5, 100 * user + item) for user in range(8) for item in range(10)]
    (desk / "timed.csv").write_text(
        "user,item,rating,timestamp\n" + "".join(f"{u},{i},{r},{t}\n" for u, i, r, t in rows)
    )
    command = ("evaluate", "timed.csv", "-a", "movie-mean", "--split", "time", "--folds", 4)
    said = "No list was evaluated: no user has both a training rating and a held-out one that is liked"
    assert said in " ".join(run(*command).stderr.split()) and "No list" not in run(*command, "-q").output
    found = json.loads(run(*command, "--json").stdout)
    assert found["results"][0]["lists"] is None and found["left_out"][-1].startswith(said)
    assert "No list" not in run(*command, "--list-users", 0).output + run(*command[:-4]).output


def test_forced_prediction_is_the_protocol(desk, run, sample):
    from lbg_recsys import RatingMatrix
    from lbg_recsys.algorithms import LBGAlgo
    from lbg_recsys.evaluation.forced import forced_prediction

    arguments = ["forced-prediction", "ratings.csv", "-a", "paper", "-a", "movie-mean", "--splits", 2, "--draws", 2]
    facts = json.loads(run(*arguments, "--seed", 5, "--json", "-q", "-o", "table.json").stdout)
    assert facts == json.loads((desk / "table.json").read_text())
    matrix = RatingMatrix.from_frame(sample.ratings)
    make = {"paper": lambda seed: LBGAlgo(random_state=seed)}
    (expected,) = forced_prediction(matrix, make, seeds=[5, 6], n_draws=2)
    assert facts["results"][0] == expected.to_dict()
    assert facts["paper"] == []  # the paper's figures are of MovieLens-100K
    run(*arguments, "-o", "table.md")
    assert (desk / "table.md").read_text().startswith("| algorithm | mae | rmse | mse | log_score |\n| --- ")
    assert "must end in .json or .md" in run(*arguments, "-o", "table.txt", code=2).stderr


@pytest.mark.parametrize(
    "command",
    [("evaluate", "sample", "--folds", 2, "--list-users", 0), ("forced-prediction", "sample", "--splits", 2)],
    ids=lambda command: command[0],
)
def test_ctrl_c_after_the_burn_in_gives_no_figures(command, desk, run, monkeypatch):
    """The sampler keeps what it has; a table of half-fitted models would be a wrong one."""
    from lbg_recsys.core.gibbs.chain import Chain

    sweep, left = Chain.sweep, iter(range(20))

    def interrupted_once(self, *how):
        if next(left, None) == 19:
            raise KeyboardInterrupt
        return sweep(self, *how)

    monkeypatch.setattr(Chain, "sweep", interrupted_once)
    algo = "bayesian:n_sweeps=6,burn_in=1,n_components=2"  # four chains: the fifth sweep is cut short
    result = run(*command, "-a", algo, code=130)
    assert result.stdout == "" and "Interrupted." in result.stderr


def test_a_sampler_that_had_nothing_to_sample_was_not_interrupted(desk, run):
    (desk / "same.csv").write_text("user,item,rating\n" + "".join(f"{u},{i},3\n" for u in "ab" for i in "xyz"))
    run("fit", "same.csv", "-o", "same.lbg", "--algo", "bayesian", "-q")
    assert "prediction" in run("predict", "same.lbg", "--user", "a", "--item", "x", "--json").stdout


@pytest.mark.data
def test_the_papers_rows_stand_below_ours_on_its_data(movielens, run):
    shown = run("forced-prediction", "-a", "movie-mean", "--splits", 1, "--draws", 1).stdout
    assert "LBG (paper)" in shown and "0.776" in shown


def test_demo(desk, run):
    facts = json.loads(run("demo", "sample", "--folds", 2, "--json", "-q").stdout)
    assert any(result["log_score"] is not None for result in facts["evaluate"])
    assert any(result["algorithm"] == "svd" for result in facts["evaluate"])
    assert len(facts["forced_prediction"]) >= 3
    names = [result["algorithm"] for result in facts["evaluate"]]
    assert {"bayesian", "lbg", "paper", "choice", "popularity"} <= set(names)


def test_best_is_said_beyond_the_noise_only(desk, run):
    def listed(ndcg):
        group = GroupReport("light", 9, 3.0, ndcg, ndcg)
        return ListReport(10, 9, ndcg, 0.02, *([0.5] * 6), (group,))

    compared = [
        Comparison("svd", 0.90, 0.7, lists=listed(0.20), rmse_error=0.01),
        Comparison("lbg:n_topics=3", 0.905, 0.7, lists=listed(0.30), rmse_error=0.01),
        Comparison("EASE", lists=listed(0.25)),
    ]
    assert best_in_words(compared, "x.csv").splitlines() == [
        "For ratings, the best are tied (RMSE 0.9000 ± 0.0100): svd; lbg:n_topics=3.",
        "For lists, lbg:n_topics=3 is best here (NDCG 0.3000, 0.0500 higher than EASE).",
        "Next: lbg-recsys fit x.csv -o model.lbg --algo lbg:n_topics=3",
    ]
    many = [Comparison(name, lists=listed(0.2)) for name in ("EASE, graded", "popularity", "choice", "a", "b")]
    assert best_in_words(many, "x.csv").splitlines() == [
        "For lists, the best are tied (NDCG 0.2000 ± 0.0200): EASE, graded; popularity; choice; a; 1 more.",
        "Next: lbg-recsys fit x.csv -o model.lbg --algo choice",
    ]


def test_the_next_command_reads_the_file_as_this_one(desk, run):
    clicks = "".join(f"{u},{i},{1700000000 + u},x\n" for u in range(9) for i in range(u))
    (desk / "visits.csv").write_text("shopper,gizmo,moment,shelf\n" + clicks)
    said = run("evaluate", "visits.csv", "--columns", "shopper,gizmo", "--folds", 2).stderr
    following = said.splitlines()[-1]
    assert following == "Next: lbg-recsys fit visits.csv --columns shopper,gizmo -o model.lbg --algo choice"
    run(*shlex.split(following)[2:])
    assert (
        "only lists are evaluated"
        in run("evaluate", "visits.csv", "--columns", "1,2,3", "--header", "--folds", 2).stderr
    )
    last = ("evaluate", "visits.csv", "--columns", "shopper,gizmo,moment", "--split", "last", "--no-rivals")
    assert "the third of --columns is the time" in run(*last).stderr


def test_evaluate_says_what_is_best_and_what_comes_next(desk, run):
    arguments = ["evaluate", "ratings.csv", "-a", "paper", "-a", "choice", "--folds", 2, "--list-users", 20]
    result = run(*arguments, "--no-rivals")
    ratings, lists, following = result.stderr.splitlines()[-3:]
    as_json = run(*arguments, "--no-rivals", "--json")
    ndcg = {one["algorithm"]: one["lists"]["ndcg"] for one in json.loads(as_json.stdout)["results"]}
    assert ratings.startswith("For ratings, paper was the only algorithm (RMSE ")
    assert lists.startswith(f"For lists, {max(ndcg, key=ndcg.get)} is ")
    assert following == "Next: lbg-recsys fit ratings.csv -o model.lbg --algo paper"
    assert "For lists" not in as_json.stderr
    said = run("forced-prediction", "ratings.csv", "-a", "choice", code=2).stderr
    assert "choice predicts no ratings" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "model.lbg", "--plot"],
        ["topics", "bayesian.lbg", "-k", "2", "--plot"],
        ["topics", "plsa.lbg", "--plot"],
        ["evaluate", "sample", "-a", "lbg", "-a", "baseline", "--folds", "2", "--list-users", "20", "--plot"],
        ["forced-prediction", "sample", "-a", "lbg", "--splits", "1", "--draws", "2", "--plot"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_pictures(arguments, desk, run):
    pytest.importorskip("matplotlib")
    run(*arguments, "picture.png")
    assert (desk / "picture.png").read_bytes().startswith(PNG)
    run(*arguments, "picture.svg")
    assert "<svg" in (desk / "picture.svg").read_text()[:2000]


def test_without_matplotlib_a_sentence_before_the_work(desk, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("topics", "model.lbg", "--plot", "picture.png", code=1)
    assert result.stderr == (
        "Error: drawing a picture needs matplotlib: install the extra 'plot' of lbg-recsys (in a checkout, "
        "pip install '.[plot]')\n"
    )
    assert result.stdout == ""


def test_titles_with_signs_of_mathematics_can_be_drawn(desk, run):
    pytest.importorskip("matplotlib")
    text = (desk / "titles.csv").read_text().replace("Crimson Comet", "A $ome_what^ \\odd {title} $")
    (desk / "titles.csv").write_text(text)
    run("fit", "--algo", "paper", "ratings.csv", "-o", "odd.lbg", "--titles", "titles.csv", "-q", "-p", "n_topics=2")
    run("topics", "odd.lbg", "-n", 8, "--plot", "picture.png")
    assert (desk / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_default_evaluates_the_model_that_fit_makes_and_says_what_it_costs(desk, run, monkeypatch):
    from lbg_recsys.cli import evaluate, fit

    assert evaluate.DEFAULT[0] == fit.DEFAULT
    said = run("evaluate", "ratings.csv", "-a", "bayesian:n_sweeps=4,burn_in=2", "-a", "svd", "--folds", 2).stderr
    assert "CPU time" not in said  # a small file
    monkeypatch.setattr(evaluate, "_LONG", 0.1)
    arguments = ["evaluate", "ratings.csv", "-a", "bayesian:n_sweeps=4,burn_in=2", "-a", "svd", "--folds", 2]
    assert "of CPU time; without it: -a svd" in " ".join(run(*arguments).stderr.split())
