"""Facts about the options of xman train: optimizers, schedules in epochs, decay, clipping, engines."""

import json
import re
import sys

import pytest

from xman import load
from xman.train import OPTIMIZERS
from xman.train.second_order import METHODS

pytest.importorskip("click")

from xman.cli import main
from xman.cli.options import option_table
from xman.cli.sources import schedule_of
from xman.train.settings import Settings


@pytest.fixture
def train(tmp_path, monkeypatch, capsys):
    """train(*options) -> (exit status, output, errors) of two quiet epochs of logistic regression on digits."""
    monkeypatch.chdir(tmp_path)

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["xman", "train", "logreg", "--epochs", "2", "--quiet", "--json", *options])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()
    return run


@pytest.mark.parametrize("command", [lambda half: None, lambda **options: None, lambda wholes, half=0, **options: None])
def test_an_option_that_no_function_takes_is_an_error_where_the_command_is_defined(command):
    with pytest.raises(TypeError, match="the option whole of the command <lambda> does nothing: no function takes it"):
        option_table("--half  flag  Handed on.\n--whole  flag  Idle.", (Settings,))(command)


def test_an_option_of_the_command_reaches_a_function_to_which_it_is_handed():
    table = "--epochs  whole  A setting.\n--half  flag  For a function."
    command = option_table(table, (Settings, lambda half: None))(lambda **options: None)
    assert {option.name for option in command.__click_params__} == {"epochs", "half"}


@pytest.mark.parametrize("option, module", [("report", "jinja2"), ("report", "matplotlib.figure"), ("plot", "matplotlib.figure"),
                                            ("save", "safetensors.numpy"), ("checkpoint", "safetensors.numpy")])
def test_a_library_for_the_files_at_the_end_is_asked_for_before_the_data_are_read(train, monkeypatch, option, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("xman.cli.learning.plans.read", lambda *_, **__: pytest.fail("the data are read"))
    code, out, err = train(f"--{option}", {"report": "x.html", "plot": "x.png"}.get(option, "x"))
    assert code and not out and "pip install 'xman[cli]'" in err


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_optimizer_learns_digits(train, optimizer):
    code, out, err = train("--optimizer", optimizer, "--lr", "0.01")
    first, second = (row["loss"] for row in json.loads(out)["history"])
    assert (code, err) == (0, "") and second < first


@pytest.mark.parametrize("method", METHODS)
def test_a_method_of_second_order_learns_without_a_rate(train, method, tmp_path):
    rows = [f"{k % 7},{k % 5},{k % 11},{'abc'[k % 7 % 3]}" for k in range(200)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,y,z,letter", *rows]))
    code, out, err = train("--optimizer", method, "--data", "rows.csv")
    result = json.loads(out)
    first, second = (row["loss"] for row in result["history"])
    assert (code, err) == (0, "") and second < first < 2.3 and not {"lr", "batch_size"} & result.keys()


@pytest.mark.parametrize("options, words", [
    (["newton-cg", "--lr", "0.1"], "newton-cg takes all rows at once and finds the length of its steps itself: leave out lr"),
    (["gauss-newton", "--batch-size", "32"], "leave out batch_size"), (["newton-cg", "--warm-up", "1"], "leave out schedule"),
    (["gauss-newton", "--loss", "hinge"], "is no loss that Gauss–Newton knows to be convex: those are exp,")], ids=" ".join)
def test_what_a_method_of_second_order_cannot_take_is_refused_in_a_sentence(train, options, words):
    code, out, err = train("--optimizer", *options)
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1


@pytest.mark.parametrize("options", [["--weight-decay", "0.5"], ["--clip", "0.01"], ["--clip-value", "1e-4"], ["--warm-up", "2"],
                                     ["--schedule", "cosine"], ["--schedule", "step:1:0.5"], ["--schedule", "exponential:0.5"]],
                         ids=" ".join)
def test_an_option_changes_the_run_and_is_told(train, options):
    plain, changed = json.loads(train("--optimizer", "sgd")[1]), json.loads(train("--optimizer", "sgd", *options)[1])
    assert changed["history"][-1]["loss"] != plain["history"][-1]["loss"]
    told = str(changed.get(options[0][2:].replace("-", "_"), options[1]))
    assert told == options[1] or float(told) == float(options[1])


def test_the_engine_is_chosen(train):
    result = json.loads(train("--engine", "interpret", "--batch-size", "500")[1])
    assert result["engine"] == "interpret" and len(result["history"]) == 2


def test_without_an_engine_there_is_one_that_learns_the_same(train, monkeypatch):
    monkeypatch.delenv("XMAN_ENGINE")
    chosen, numpy = (json.loads(train("--batch-size", "500", *options)[1]) for options in ([], ["--engine", "numpy"]))
    assert "engine" not in chosen and chosen["test_loss"] == pytest.approx(numpy["test_loss"], rel=1e-4)


@pytest.mark.parametrize("text, rising, factors", [
    ("cosine", 0, {1: 1.0, 21: 0.5, 41: 0.0}), ("step:2:0.5", 0, {20: 1.0, 21: 0.5, 41: 0.25}), ("step:3", 0, {30: 1.0, 31: 0.1}),
    ("exponential:0.5", 0, {1: 1.0, 11: 0.5, 21: 0.25}), ("constant", 2, {1: 0.05, 20: 1.0, 30: 1.0}),
    (None, 1, {1: 0.1, 10: 1.0}), ("cosine", 1, {1: 0.1, 21: 0.5})])
def test_a_schedule_is_said_in_epochs(text, rising, factors):
    schedule = schedule_of(text, rising, epochs=4, batches=10)
    assert {t: schedule(t) for t in factors} == pytest.approx(factors, abs=1e-12)


@pytest.mark.parametrize("text", [None, "constant"])
def test_no_schedule_is_none(text):
    assert schedule_of(text, 0, epochs=4, batches=10) is None


@pytest.mark.parametrize("options, said", [
    (["--schedule", "cosin"], "there is no schedule 'cosin'; there are constant, cosine, step:EPOCHS:FACTOR"), (
        ["--schedule", "cosin"], "did you mean 'cosine'?"),
    (["--schedule", "step"], "there is no schedule 'step'"), (["--schedule", "step:-1"], "there is no schedule 'step:-1'"),
    (["--schedule", "step:1:2:3"], "no schedule"), (["--schedule", "cosine:2"], "no schedule"),
    (["--schedule", ""], "no schedule"),
    (["--schedule", "step:0"], "--schedule step:0: every of a schedule is a number of at least 1, not 0"),
    (["--schedule", "step:inf"], "--schedule step:inf"), (["--schedule", "exponential:nan"], "--schedule exponential:nan"),
    (["--clip", "0"], "clip is a positive number, not 0"), (["--clip-value", "-1"], "clip_value is a positive number, not -1"),
    (["--weight-decay", "-1"], "weight_decay is a number, not -1"), (["--engine", "fast"], "'fast'"),
    (["--optimizer", "adm"], "'adam'")], ids=" ".join)
def test_what_cannot_be_is_one_sentence_and_status_2(train, options, said):
    code, out, err = train(*options)
    assert (code, out) == (2, "") and re.fullmatch(r"xman: [^\n]*\n", err) and said in err, err


def test_of_several_values_the_one_of_the_least_validation_loss_is_trained(train):
    result = json.loads(train("--optimizer", "sgd,adam", "--lr", "1e-6,0.02", "--l2", "1e-4")[1])
    assert len(result["trials"]) == 4 and (result["optimizer"], result["lr"]) == ("adam", 0.02)
    least = min(result["trials"], key=lambda trial: trial["loss"])
    assert least["settings"] == {"optimizer": "adam", "lr": 0.02}
    assert min(row["validation_loss"] for row in result["history"]) == least["loss"]


def test_folds_judge_on_the_training_rows(train):
    result = json.loads(train("--folds", "3", "--class-weight", "balanced", "--optimizer", "adam")[1])
    assert [trial["settings"] for trial in result["trials"]] == [{"fold": 1}, {"fold": 2}, {"fold": 3}]
    chosen = json.loads(train("--folds", "2", "--lr", "1e-6,0.02")[1])
    assert len(chosen["trials"]) == 2 and chosen["lr"] == 0.02


def test_a_checkpoint_is_of_the_training_that_was_chosen(train):
    code, _, err = train("--lr", "0.1,1e-6", "--checkpoint", "run.safetensors")
    assert (code, err) == (0, "") and load("run.safetensors").settings["lr"] == 0.1


def test_each_of_several_values_has_a_checkpoint(train, tmp_path):
    words = "--lr", "0.1,0.2", "--checkpoint", str(tmp_path / "run.safetensors")
    first, again = (json.loads(train(*words)[1]) for _ in range(2))
    assert {path.name for path in tmp_path.iterdir()} == {f"run{k}.safetensors" for k in ("", "-1", "-2")}
    assert [t["loss"] for t in first["trials"]] == [t["loss"] for t in again["trials"]] and first["history"] == again["history"]


@pytest.mark.parametrize("options, said", [(["--lr", "0.1,fast"], "'fast' is not a number"), (["--lr", "0.1,"], "''"),
                                           (["--optimizer", "sgd,adm"], "'adam'")], ids=" ".join)
def test_each_of_several_values_has_to_be_one(train, options, said):
    code, out, err = train(*options)
    assert (code, out) == (2, "") and said in err
