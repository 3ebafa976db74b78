"""The commands that ask a model why, what is alike and what is in it."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.cli.models import convergence, convergence_in_words, remarks
from lbg_recsys.cli.reading import facts_of
from lbg_recsys.serving.answers import Service


def test_explain(model, run):
    expected = model.explain(3, 8)
    (facts,) = json.loads(run("explain", "model.lbg", "--user", 3, "--item", 8, "-n", 999, "--json").stdout)
    assert facts["log_odds"] == expected.log_odds
    assert [one["item"] for one in facts["evidence"]] == [one.item for one in expected.evidence]
    assert facts["evidence"][0]["title"] == model.titles[expected.evidence[0].item]
    (short,) = json.loads(run("explain", "model.lbg", "--user", 3, "--item", 8, "-n", 2, "--json").stdout)
    assert short["evidence"] == facts["evidence"][:2] and short["n_evidence"] == len(expected.evidence)
    assert short["topics"] == facts["topics"][:2] and short["n_topics"] == len(expected.topics)
    assert [one["log_odds"] for one in facts["evidence"]] == [one.log_odds for one in expected.evidence]
    shown = run("explain", "model.lbg", "--user", 3, "--item", 8, "-n", 2).stdout
    assert f"Why topic {expected.topic} and not {expected.against}" in shown
    assert f"and {len(expected.evidence) - 2} more" in shown
    assert model.titles[expected.evidence[0].item][:10] in shown


def test_explain_a_new_user_and_a_single_topic(run, desk):
    shown = run("explain", "model.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert "New user, item Silent Comet" in shown and "Crimson Orbit" in shown
    run("fit", "--algo", "paper", "sample", "-o", "one.lbg", "-p", "n_topics=1", "-q")
    assert "Why topic" not in run("explain", "one.lbg", "--user", 3, "--item", 8).stdout


def test_topics_that_are_copies_are_said_and_not_weighed(desk, run):
    run("fit", "sample", "-o", "blurred.lbg", "--algo", "lbg", "-q")
    for command in (["explain", "--user", 3, "--item", 8], ["topics"], ["similar", "--item", 8]):
        said = run(command[0], "blurred.lbg", *command[1:])
        assert "Note: only 5 of the 10 topics differ" in said.stderr and "--param n_topics=5" in " ".join(
            said.stderr.split()
        )
        assert not run(command[0], "blurred.lbg", *command[1:], "-q").stderr
    shown = run("explain", "blurred.lbg", "--user", 3, "--item", 8).stdout
    assert "log-odds +0.00" not in shown and shown.count("+0.00") + shown.count("-0.00") < 4


@pytest.fixture
def bayesian(desk, run):
    parameters = ("n_components=2", "n_sweeps=20", "burn_in=10")
    run("fit", "sample", "-o", "bayes.lbg", "--algo", "bayesian", *(x for p in parameters for x in ("-p", p)), "-q")
    return lbg_recsys.load("bayes.lbg")


def test_explain_a_bayesian_model(bayesian, run):
    expected = bayesian.explain(3, 8)
    (facts,) = json.loads(run("explain", "bayes.lbg", "--user", 3, "--item", 8, "-n", 999, "--json").stdout)
    assert facts["expected_rating"] == expected.expected_rating and facts["from_taste"] == expected.from_taste
    assert facts["evidence"][0]["title"] == bayesian.titles[expected.evidence[0].item]
    assert [one["effect"] for one in facts["evidence"]] == [one.effect for one in expected.evidence]
    assert facts["log_odds"] is facts["from_being_rated"] is None  # names of the parts of log-odds alone
    shown = run("explain", "bayes.lbg", "--user", 3, "--item", 8, "-n", 2).stdout
    assert "█" in shown and "the user's taste for this item" in shown and f"={expected.expected_rating:.3f}" in shown
    assert f"{expected.evidence[0].effect:+.3f}" in shown and f"and {len(expected.evidence) - 2} more" in shown
    assert "`lbg-recsys topics`" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_explain_a_rated_item_and_a_new_user_of_a_bayesian_model(bayesian, run):
    rated = bayesian.matrix.items.raw(int(bayesian.matrix.seen(0)[0]))
    user = bayesian.matrix.users.raw(0)
    shown = run("explain", "bayes.lbg", "--user", user, "--item", rated).stdout
    assert shown.count("The user rated this item already.") == 1
    shown = run("explain", "bayes.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert "New user, item Silent Comet" in shown and "already" not in shown
    assert shown.count("Crimson Orbit") == 2  # in the choice score and in the rating


@pytest.mark.parametrize("file", ["model.lbg", "bayesian.lbg", "plsa.lbg", "clicks.lbg"])
def test_an_explanation_says_that_the_user_has_the_item_already(desk, run, file):
    run("fit", "clicks.csv", "-o", "clicks.lbg", "-q")
    model = lbg_recsys.load(file)
    has, has_not = model.matrix.items.raw(int(model.matrix.seen(0)[0])), model.recommend(model.matrix.users.raw(0), 1)
    user, new = has_not["user"][0], has_not["item"][0]
    for item, seen in ((has, True), (new, False)):
        asked = ["explain", file, "--user", user, "--item", item, "-q"]
        assert json.loads(run(*asked, "--json").stdout)[0]["seen"] is seen
        verb = "took" if file == "clicks.lbg" else "rated"
        assert run(*asked).stdout.count(f"The user {verb} this item already.\n") == seen
        assert str(model.explain(user, item)).count(f"The user {verb} this item already") == seen


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
                said = f"--metric {metric} is not for {type(model).__name__}"
                assert said in result.stderr and f": choose {model.METRICS[0]}" in result.stderr


@pytest.mark.parametrize("name", EVERY_MODEL)
def test_every_model_shows_its_topics(name, desk, run):
    model = lbg_recsys.load(name)
    found = json.loads(run("topics", name, "-n", 3, "--json").stdout)
    expected = model.topics(3)
    assert [topic["topic"] for topic in found] == [topic.topic for topic in expected]
    assert [one["item"] for one in found[0]["loves"]] == [one.item for one in expected[0].loves]
    assert [topic["weight"] for topic in found] == sorted((t["weight"] for t in found), reverse=True)
    shown = run("topics", name).stdout
    assert shown.count("typical") == len(found) and max(map(len, shown.splitlines())) <= 80
    if name == "bayesian.lbg":
        assert len(found) == 5
        assert run("topics", name, "--topics", 3).stdout.count("typical") == 3
    else:
        assert "fitted with 4 topics and cannot show 3" in run("topics", name, "--topics", 3, code=2).stderr


def test_topics_of_a_bayesian_model_find_what_was_planted(desk, run, sample):
    planted = sample.items["topic"]
    kinds = set()
    for topic in json.loads(run("topics", "bayesian.lbg", "--topics", 4, "--json").stdout):
        loved = [planted[one["item"]] for one in topic["loves"]]
        kinds.add(max(loved, key=loved.count))
        assert loved.count(max(loved, key=loved.count)) >= 4
    assert len(kinds) == 4


def test_info(model, run):
    facts = json.loads(run("info", "model.lbg", "--json").stdout)
    assert facts["class"] == "LBGModel" and facts["parameters"] == model.get_params()
    assert facts["training"]["n_iter"] == model.n_iter_ and facts["versions"]["numpy"] == np.__version__
    shown = run("info", "model.lbg").stdout.splitlines()
    assert max(map(len, shown)) <= 80
    assert {line.split()[0] for line in shown if line[0] != " "} - {"users", "titles"} <= set(facts)  # the same names


@pytest.mark.parametrize("file", ["model.lbg", "bayesian.lbg", "plsa.lbg", "clicks.lbg"])
def test_http_gives_what_the_command_line_prints(desk, run, file):
    run("fit", "clicks.csv", "-o", "clicks.lbg", "-q")
    service = Service(lbg_recsys.load(file))

    def printed(*asked):
        return json.loads(run(asked[0], file, *asked[1:], "--json", "-q").stdout)

    assert [service.explain({"user": 3, "item": 8})] == printed("explain", "--user", 3, "--item", 8)
    Path("two.txt").write_text("7\n9\n")
    assert [service.explain({"choices": [7, 9], "item": 8})] == printed(
        "explain", "--new-user", "two.txt", "--item", 8
    )
    assert service.similar({"item": 8})["similar"] == printed("similar", "--item", 8)
    if file != "clicks.lbg":
        assert service.similar({"user": 3})["similar"] == printed("similar", "--user", 3)
        assert service.topics({})["topics"] == printed("topics")


def test_one_thing_has_one_name(desk, run):
    facts = json.loads(run("info", "model.lbg", "--json").stdout)
    assert facts["size"] == Path("model.lbg").stat().st_size
    assert facts["ratings"]["scale"] == {"low": 1.0, "high": 5.0, "n_levels": 5, "discrete": True}
    assert Service(lbg_recsys.load("model.lbg")).about({})["scale"].items() >= facts["ratings"]["scale"].items()
    updated = json.loads(run("update", "model.lbg", "ratings.csv", "-o", "new.lbg", "--json", "-q").stdout)
    assert updated["size"] == Path("new.lbg").stat().st_size
    written = json.loads(run("report", "model.lbg", "ratings.csv", "-o", "report.html", "--json", "-q").stdout)
    assert written == {"output": "report.html", "size": Path("report.html").stat().st_size}
    written = json.loads(run("items", "model.lbg", "-o", "items.csv", "--json").stdout)
    assert written == {"output": "items.csv", "n_items": 120}
    compared = json.loads(run("forced-prediction", "ratings.csv", "-a", "movie-mean", "--splits", 1, "--json").stdout)
    assert set(compared["ratings"]) == set(facts["ratings"]) - {"users_in_file"} and "read" not in compared
    assert all("size" in one for one in json.loads(run("datasets", "list", "--json").stdout))


def test_the_columns_on_screen_have_the_names_of_the_json(model, run):
    (facts,) = json.loads(run("predict", "model.lbg", "--user", 3, "--item", 8, "--json").stdout)
    shown = run("predict", "model.lbg", "--user", 3, "--item", 8, "--mass", 0.8).stdout.splitlines()
    assert set(shown[1].split()) <= set(facts) and "80% interval" in shown[3]
    (facts,) = json.loads(run("explain", "model.lbg", "--user", 3, "--item", 8, "--json").stdout)
    shown = run("explain", "model.lbg", "--user", 3, "--item", 8).stdout
    (head,) = (line.split() for line in shown.splitlines() if line.startswith("title "))
    assert head == ["title", "rating", "from_rating_it", "from_its_value", "log_odds"]
    assert set(head) <= set(facts["evidence"][0]) and "from_silence" in shown and "from_silence" in facts
    topic = json.loads(run("topics", "model.lbg", "-n", 1, "--json").stdout)[0]
    first, head, *_ = run("topics", "model.lbg", "-n", 1).stdout.splitlines()
    assert first == f"Topic {topic['topic']}: weight {topic['weight']:.3f}"
    assert head.split() == ["typical", "probability", "loves", "difference", "hates", "difference"]
    for one in (*topic["typical"], *topic["loves"], *topic["hates"]):
        assert one["difference"] == pytest.approx(one["rating"] - one["rating_of_all"])


def test_a_title_is_beside_every_item_or_nowhere(model, run, desk):
    def items(facts):
        if isinstance(facts, list):
            return [one for part in facts for one in items(part)]
        if not isinstance(facts, dict):
            return []
        return [facts] * ("item" in facts) + [one for part in facts.values() for one in items(part)]

    asked = (
        ["explain", "--user", 3, "--item", 8],
        ["topics"],
        ["similar", "--item", 8],
        ["predict", "--user", 3, "--item", 8],
    )
    run("fit", "--algo", "paper", "ratings.csv", "-o", "untitled.lbg", "-p", "n_topics=4", "-q")
    for command, *options in asked:
        found = items(json.loads(run(command, "model.lbg", *options, "--json").stdout))
        assert found and all(one["title"] == model.titles[one["item"]] for one in found)
        assert all(
            "title" not in one for one in items(json.loads(run(command, "untitled.lbg", *options, "--json").stdout))
        )


def test_doctor(run, monkeypatch):
    facts = json.loads(run("doctor", "--json").stdout)
    assert facts["packages"]["numpy"] == np.__version__ and facts["data"]["sample"] == "the package"
    assert facts["problems"] == []
    monkeypatch.setenv("OMP_NUM_THREADS", "17")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    rows = [line.split() for line in run("doctor").stdout.splitlines()]
    assert ["OMP_NUM_THREADS", "17"] in rows and ["MKL_NUM_THREADS", "not", "set"] in rows


def test_doctor_tells_where_compiled_code_is_stored(run, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    result = run("doctor", code=1)
    assert "cannot be written to" in result.stderr and "is used instead" in result.stderr
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert json.loads(run("doctor", "--json").stdout)["numba_cache"]["folder"].startswith(str(tmp_path))


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
        ["fit", "sample", "-o", "x.lbg", "--algo", "bayesian", "--param", "n_sweeps=0"],
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
        (["recommend", "--user", "nobody"], "the model knows no user 'nobody' (it knows 200 users)"),
        (["predict", "--user", "3", "--item", "Casablanca"], "the model knows 120 items, and not 'Casablanca'"),
        (["predict", "--user", "3", "--item", "Crimson"], "several items may be meant: 'Crimson' is in 5 titles: "),
    ],
)
def test_unknown_ids_are_named(arguments, message, desk, run):
    command, *options = arguments
    assert message in run(command, "model.lbg", *options, code=1).stderr


def test_a_new_user_has_a_table_of_ratings(desk, run):
    known = run("explain", "model.lbg", "--new-user", "my_ratings.csv", "--item", 8).stdout
    assert known.startswith("New user, item ") and "from_its_value" in known


def test_topics_tell_small_differences_on_any_scale(desk, run):
    lines = (desk / "ratings.csv").read_text().splitlines()
    place = lines[0].split(",").index("rating")
    rows = [line.split(",") for line in lines[1:]]
    scaled = [[f"{float(x) / 5:.1f}" if c == place else x for c, x in enumerate(row)] for row in rows]
    (desk / "small.csv").write_text("\n".join([lines[0], *map(",".join, scaled)]) + "\n")
    run("fit", "--algo", "paper", "small.csv", "-o", "small.lbg", "-p", "n_topics=4")
    told = [line.rsplit("-", 1)[1] for line in run("topics", "small.lbg").stdout.splitlines() if " -0." in line]
    assert told and all(len(one) == len("0.123") and float(one) > 0 for one in told)


def test_fits_that_have_not_converged_are_noted_once(capsys):
    from sklearn.exceptions import ConvergenceWarning

    def warn(message, category=UserWarning):
        warnings.warn(message, category, stacklevel=1)

    with remarks(quiet=False):
        for share in (34, 33, 36):
            warn(f"{share}% have not settled", ConvergenceWarning)
        warn("one thing")
        warn("another")
    said = capsys.readouterr().err.splitlines()
    assert said == ["Note: 34% have not settled (and 2 more such notes)", "Note: one thing", "Note: another"]


@pytest.mark.parametrize("command", [["explain", "--user", 3, "--item", 8], ["info"]])
def test_json_has_one_shape_whatever_the_model(command, desk, run):
    run("fit", "clicks.csv", "--algo", "choice", "--titles", "titles.csv", "-o", "clicks.lbg", "--quiet")
    name, *options = command
    shapes = set()
    for file in ("model.lbg", "bayesian.lbg", "plsa.lbg", "clicks.lbg"):
        found = json.loads(run(name, file, *options, "--json").stdout)
        one = found[0] if isinstance(found, list) else found
        shapes.add((*one, *one.get("training", ())))
    assert len(shapes) == 1, shapes


@pytest.fixture(params=["lbg", "bayesian", "plsa"])
def fitted_file(request):
    return Path(__file__).parents[1] / "persistence" / "frozen" / f"v2-{request.param}.lbg"


def test_info_says_what_the_loaded_model_says(fitted_file, run):
    loaded, facts = lbg_recsys.load(fitted_file), json.loads(run("info", str(fitted_file), "--json").stdout)
    assert facts["class"] == type(loaded).__name__
    assert facts["training"] == pytest.approx(convergence(loaded))
    assert facts["ratings"] == {**facts_of(loaded.matrix), "users_in_file": True}
    assert facts["n_titles"] == len(loaded.titles) and facts["features"] == {}


def test_convergence_is_not_said_beside_r_hats_that_are_far_from_one():
    old = {"converged": True, "n_sweeps": 12, "rhat_median": 1.36, "rhat_share": 0.76}  # of a file of format 1
    assert convergence_in_words(old) == "12 sweeps, median R-hat 1.36, 76% above 1.1"
    new = old | {"monte_carlo_error": 0.04}
    assert convergence_in_words(new) == "converged after 12 sweeps, Monte Carlo error of expected ratings 0.040"


def test_info_imports_no_model(fitted_file):
    code = (
        "import sys; from lbg_recsys.cli import main; main(['info', sys.argv[1]], standalone_mode=False)\n"
        "heavy = {'numba', 'scipy', 'surprise', 'sklearn', 'pandas', 'lbg_recsys.ratings', 'lbg_recsys.text'}\n"
        "print('heavy:', *heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, fitted_file], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy:"


def test_info_notices_a_flipped_bit(fitted_file, run, tmp_path):
    data = bytearray(fitted_file.read_bytes())
    data[-100] ^= 1
    (tmp_path / "damaged.lbg").write_bytes(data)
    assert "checksum is wrong" in run("info", str(tmp_path / "damaged.lbg"), code=1).stderr


def test_info_of_a_text_model_and_a_command_that_takes_none(run):
    path = str(Path(__file__).parents[1] / "persistence" / "frozen" / "text-v2-mixture.lbg")
    facts = json.loads(run("info", path, "--json").stdout)
    assert facts["class"] == "LBGMixture" and facts["words"] == {
        "n_words": 6,
        "vocabulary": True,
        "vectorizer": "TfidfVectorizer",
    }
    shown = " ".join(run("info", path).stdout.split())
    assert "6 words, vocabulary in the file; vectorizer: TfidfVectorizer" in shown and "per document" in shown
    assert "holds a text model (LBGMixture)" in run("topics", path, code=1).stderr
