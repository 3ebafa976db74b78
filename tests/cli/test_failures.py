"""What goes wrong ends in a sentence, leaves no broken file, and says how bad it was by its exit code."""

import os
import signal
import subprocess
import sys
import time

import pytest

import lbg_recsys

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def program(*arguments, **options):
    command = [sys.executable, "-m", "lbg_recsys", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def one_sentence(result, code=1):
    assert result.exit_code == code and "Traceback" not in result.output
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    return result.stderr


def test_input_that_is_not_there(desk, run):
    for command in (
        ["fit", "--algo", "paper", "gone.csv", "-o", "x.lbg"],
        ["fit", "--algo", "paper", "sample", "-o", "x.lbg", "--titles", "gone.csv"],
        ["fit", "sample", "-o", "x.lbg", "--item-features", "gone.csv"],
        ["recommend", "gone.csv", "--user", 1],
        ["info", "gone.csv"],
        ["recommend", "model.lbg", "--new-user", "gone.csv"],
        ["recommend", "model.lbg", "--user", 1, "--only", "gone.csv"],
        ["predict", "model.lbg", "gone.csv"],
        ["predict", "model.lbg", "--user", 1, "--new-item", "gone.csv"],
        ["text", "cluster", "gone.csv"],
        ["text", "apply", "topics.lbg", "gone.csv"],
    ):
        assert one_sentence(run(*command, code=1)).endswith("Error: there is no file gone.csv\n"), command
    assert not (desk / "x.lbg").exists()


def test_output_that_cannot_be_written(desk, run):
    assert "no folder" in one_sentence(run("fit", "--algo", "paper", "sample", "-o", "no/folder/x.lbg", code=1))
    assert "is a folder" in one_sentence(run("fit", "--algo", "paper", "sample", "-o", ".", code=1))


@posix
def test_a_read_only_folder(desk, run, locked_folder):
    for name, *command in (
        ("out.lbg", "fit", "sample"),
        ("out.csv", "recommend", "model.lbg", "--all-users"),
        ("out.csv", "predict", "model.lbg", "pairs.csv"),
        ("out.md", "forced-prediction", "sample"),
    ):
        said = one_sentence(run(*command, "-o", locked_folder / name, code=1))
        assert f"{name} cannot be written: the folder" in said and "is read-only" in said
    assert not any(locked_folder.iterdir())


@posix
def test_a_folder_that_turns_out_to_refuse_files(desk, run):
    """The check before the work finds nothing wrong with /proc; opening the file fails."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("there is no /proc here")
    assert "/proc/x.lbg" in one_sentence(run("fit", "--algo", "paper", "sample", "-o", "/proc/x.lbg", "-q", code=1))


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk(desk, run):
    assert "/dev/full: No space left on device" in one_sentence(
        run("fit", "--algo", "paper", "sample", "-o", "/dev/full", code=1)
    )
    shell = f"{sys.executable} -m lbg_recsys recommend model.lbg --all-users -q > /dev/full"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: No space left on device\n"
    assert os.path.exists("/dev/full") and not os.path.isfile("/dev/full")  # still the device it was


@posix
def test_a_disk_that_fills_up_leaves_the_old_file(desk, run, monkeypatch):
    before, there = (desk / "model.lbg").read_bytes(), sorted(os.listdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "model.lbg: No space left" in one_sentence(
        run("fit", "--algo", "paper", "sample", "-o", "model.lbg", code=1)
    )
    assert "recs.csv: No space left" in one_sentence(
        run("recommend", "model.lbg", "--all-users", "-o", "recs.csv", code=1)
    )
    assert (desk / "model.lbg").read_bytes() == before
    assert sorted(os.listdir()) == there


def test_damaged_models(desk, run):
    data = (desk / "model.lbg").read_bytes()
    (desk / "cut.lbg").write_bytes(data[: len(data) // 2])
    assert "cut short" in one_sentence(run("info", "cut.lbg", code=1))
    assert "not a model file" in one_sentence(run("info", "ratings.csv", code=1))
    assert "directory" in one_sentence(run("info", ".", code=2), code=2)


def test_damaged_ratings_name_the_line(desk, run):
    (desk / "bad.csv").write_text("user,item,rating\n1,2,3\n1,3,many\n")
    assert "bad.csv, line 3: the rating is 'many'" in one_sentence(
        run("fit", "--algo", "paper", "bad.csv", "-o", "x.lbg", code=1)
    )


@posix
def test_ctrl_c_during_fit_leaves_the_old_file(desk):
    before, there = (desk / "model.lbg").read_bytes(), sorted(os.listdir())
    command = [sys.executable, "-m", "lbg_recsys", "fit", "ratings.csv", "-o", "model.lbg", "--algo", "paper"]
    command += ["-p", "n_topics=50", "-p", "max_iter=100000", "-p", "tol=0", "-p", "n_init=100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("Read ")
        time.sleep(1.0)  # inside the fit, which would take hours
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    assert "Interrupted." in error and "Traceback" not in error
    assert (desk / "model.lbg").read_bytes() == before
    assert sorted(os.listdir()) == there


def test_ctrl_c_in_a_sampler_after_its_burn_in_saves_what_there_is(desk, run, monkeypatch):
    from lbg_recsys.core.gibbs.chain import Chain

    sweep, left = Chain.sweep, iter(range(40))

    def interrupted(self, *how):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return sweep(self, *how)

    monkeypatch.setattr(Chain, "sweep", interrupted)
    arguments = ["fit", "sample", "-o", "x.lbg", "--algo", "bayesian", "-p", "n_components=2", "-p", "burn_in=2"]
    result = run(*arguments, code=130)
    assert "fit again to run all of them, or continue it in Python" in " ".join(result.stderr.split())
    assert "Note: interrupted after 10 sweeps" in result.stderr and "Saved x.lbg" in result.stdout
    assert lbg_recsys.load("x.lbg").n_sweeps_ == 10
    os.remove("x.lbg")
    assert "Interrupted." in run(*arguments, code=130).stderr  # nothing was kept yet: nothing to save
    assert not (desk / "x.lbg").exists()


def test_a_fit_that_used_up_its_seconds_was_not_interrupted(desk, run):
    run("fit", "sample", "-o", "x.lbg", "--seconds", "0.1", "-p", "n_sweeps=1000", "-p", "n_factors=0")
    assert 0 < lbg_recsys.load("x.lbg").n_sweeps_ < 1000


@posix
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("fit", "sample", "-o", "x.lbg", "--algo", "paper"), "fitting LBGModel"),
        (("text", "cluster", "docs", "-k", "2"), "fitting LBGMixture"),
        (("text", "select", "docs", "-k", "2"), "fitting LBGMixture"),
        (("text", "classify", "docs", "--folds", "3", "-p", "n_topics=1"), "fitting LBGClassifier"),
    ],
    ids=lambda given: " ".join(given[:2]) if isinstance(given, tuple) else "",
)
def test_a_progress_bar_shows_only_on_a_terminal(command, words, desk, run):
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    done = subprocess.run([sys.executable, "-m", "lbg_recsys", *command], stderr=slave, stdout=subprocess.PIPE)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert done.returncode == 0 and words in shown and shown.rindex("100%") > shown.rindex(words)
    assert words not in run(*command).stderr
    assert run(*command, "--quiet").stderr == ""


def test_a_terminal_that_cannot_show_a_letter(desk):
    done = program("predict", "model.lbg", "--user", 3, "--item", 3, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "Crimson Comet: prediction 4" in done.stdout


def test_the_program_has_three_doors(desk):
    checkout = os.path.dirname(os.path.dirname(lbg_recsys.__file__))
    script = os.path.join(checkout, "cli.py")
    doors = [[sys.executable, "-m", "lbg_recsys"]]
    doors += [[sys.executable, script]] if os.path.exists(script) else []
    outputs = {subprocess.run([*door, "info", "model.lbg"], capture_output=True, text=True).stdout for door in doors}
    assert len(outputs) == 1 and "LBGModel" in outputs.pop()


def test_too_few_ratings_for_the_folds(desk, run):
    (desk / "few.csv").write_text("1,1,3\n1,2,4\n2,1,5\n")
    (desk / "one.csv").write_text("user,item,rating\n1,2,3\n")
    assert "a single rating or choice cannot be split" in one_sentence(run("evaluate", "one.csv", code=1))
    assert "3 ratings or choices cannot be split into 5 folds" in one_sentence(run("evaluate", "few.csv", code=1))
    assert "lbg" in run("evaluate", "few.csv", "-a", "lbg", "--folds", 3).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["ratings.csv", "--scale", 5, 1], "the rating scale goes from 5 to 1"),
        (["ratings.csv", "--columns", "1"], "columns has 1 of 3 columns"),
        (["sample", "--columns", "1,2,4"], "--columns is for files"),
        (["ml-100k", "--no-header"], "--header is for files"),
    ],
)
def test_settings_that_cannot_be_are_wrong_use(desk, run, options, said):
    assert said in one_sentence(run("fit", "--algo", "paper", *options, "-o", "x.lbg", code=2), code=2)
    assert not (desk / "x.lbg").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["smple"], "'smple' is neither a file nor a data set; did you mean 'sample'?"),
        (["nowhere/films.csv"], "there is no file nowhere/films.csv\n"),
        (["bare.csv", "--columns", "user,item,rating"], "if this is a row and no header, give positions"),
        (["none.csv", "--item-features", "gone.csv"], "there is no file gone.csv"),  # before ratings are read
    ],
)
def test_ratings_that_cannot_be_found(desk, run, options, said):
    (desk / "bare.csv").write_text("1,1,3\n1,2,4\n2,1,5\n")
    assert said in run("fit", *options, "-o", "x.lbg", code=1).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "model.lbg", "-o", "x.lbg"),
        ("fit", "model.lbg", "-o", "x.lbg", "--algo", "lbg", "--memory", "1GB"),
        ("fit", "sample", "-o", "x.lbg", "--titles", "model.lbg", "-q"),
        ("recommend", "model.lbg", "--new-user", "plsa.lbg"),
        ("predict", "model.lbg", "plsa.lbg"),
    ],
)
def test_a_model_file_among_data_is_called_one(command, desk, run):
    assert "is a model file of lbg-recsys" in one_sentence(run(*command, code=1))


def test_an_empty_table_of_texts(desk, run):
    (desk / "nothing.csv").write_text("")
    assert "nothing.csv is empty" in one_sentence(run("text", "cluster", "nothing.csv", code=1))


def test_a_file_that_is_read_is_not_replaced(desk, run):
    (desk / "texts.csv").write_text("text\ngoal keeper\noven flour\ngoal penalty\noven sugar\n")
    (desk / "asked.csv").write_text("user,item\n1,1\n")
    (desk / "link.csv").symlink_to("ratings.csv")
    before = {name: (desk / name).read_bytes() for name in ("ratings.csv", "texts.csv", "asked.csv")}
    run("fit", "ratings.csv", "--algo", "lbg", "-o", "first.lbg", "-q")
    for arguments in (
        ("fit", "ratings.csv", "--algo", "lbg", "-o", "ratings.csv"),
        ("fit", "link.csv", "--algo", "lbg", "-o", "./ratings.csv"),
        ("fit", "ratings.csv", "--algo", "lbg", "--titles", "asked.csv", "-o", "asked.csv"),
        ("text", "cluster", "texts.csv", "-k", 2, "-o", "texts.csv"),
        ("predict", "first.lbg", "asked.csv", "-o", "asked.csv"),
        ("update", "first.lbg", "ratings.csv", "-o", "ratings.csv"),
    ):
        assert "is a file that this command reads" in run(*arguments, code=2).stderr
    assert before == {name: (desk / name).read_bytes() for name in before}
    run("update", "first.lbg", "ratings.csv", "-o", "first.lbg", "-q")  # what an update is for


def test_a_model_replaces_only_a_model(desk, run):
    (desk / "notes").write_text("what I must not lose")
    (desk / "notes.lbg").write_text("what I must not lose")
    (desk / "empty.lbg").write_text("")
    run("fit", "ratings.csv", "--algo", "lbg", "-o", "first.lbg", "-q")
    there = sorted(os.listdir())
    for command in (
        ("fit", "ratings.csv", "--algo", "lbg"),
        ("update", "first.lbg", "ratings.csv"),
        ("text", "cluster", "texts.csv", "-k", 2),
    ):
        names = ("notes.lbg",) if command[0] == "text" else ("notes", "notes.lbg")
        for name in names:
            said = " ".join(run(*command, "-o", name, code=2).stderr.split())
            assert (
                f"{name} is no model file and would be replaced: give another name, or remove the file first" in said
            )
            assert (desk / name).read_text() == "what I must not lose"
    for name in ("titles.csv", "new.CSV", "new.parquet", "new.csv.gz"):
        said = " ".join(run("fit", "ratings.csv", "--algo", "lbg", "-o", name, code=2).stderr.split())
        assert f"{name} has the name of a data file, and a model is written: give it a name such as" in said
    assert sorted(os.listdir()) == there
    for name in ("empty.lbg", "first.lbg", "without-suffix"):
        run("fit", "ratings.csv", "--algo", "lbg", "-o", name, "-q")
        assert lbg_recsys.load(name).matrix.n_users == 200


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("predict", "model.lbg", "--user", 1, "--user", 2, "--item", 8), "--user"),
        (("predict", "model.lbg", "--user", 1, "--item", 8, "--item=9"), "--item"),
        (("explain", "model.lbg", "--user", 1, "--user", 1, "--item", 8), "--user"),
        (("similar", "model.lbg", "--item", 1, "--item", 2), "--item"),
        (("recommend", "model.lbg", "--user", 1, "-n", 3, "--number", 5), "--number"),
        (("fit", "sample", "-o", "x.lbg", "-a", "lbg", "--header", "--no-header"), "--header"),
        (("text", "cluster", "texts.csv", "-k", 2, "-k", 3), "--topics"),
    ],
)
def test_an_option_of_one_value_is_given_once(command, option, desk, run):
    said = run(*command, code=2).stderr
    assert f"{option} is given 2 times: give it once" in said
    assert f"Usage: main {command[0]} " in said
    assert not (desk / "x.lbg").exists()


def test_flags_and_options_of_several_values_may_be_repeated(desk, run):
    run("recommend", "model.lbg", "--user", 1, "--user", 2, "-q", "-q")
