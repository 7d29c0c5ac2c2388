"""Facts about assignments/scripts: what they train, save and print, from any folder, and what they refuse."""

import importlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xman import XManError

SCRIPTS = Path(__file__).parents[2] / "assignments" / "scripts"
NAMES = "logreg", "mlp", "lstm"
each = pytest.mark.parametrize("name", NAMES)
TITLES = ("Caf%C3%A9_", "Place"), ("Ada_", "Person"), ("Emu_", "Animal")
ROWS = "".join(f"{title}{k}\t{label}\n" for k in range(12) for title, label in TITLES)


@pytest.fixture
def script(monkeypatch):
    """script(name): the module."""
    monkeypatch.syspath_prepend(SCRIPTS)
    yield importlib.import_module
    for name in (*NAMES, "course", "ways"):
        sys.modules.pop(name, None)


@pytest.fixture
def titles(tmp_path):
    """The prefix of three files of titles, as the course has them."""
    for part in ("train", "valid", "test"):
        (tmp_path / f"tiny.{part}").write_text(ROWS, "utf-8")
    return str(tmp_path / "tiny")


def trained(module, folder, **params):
    """(probabilities, losses) that main saved."""
    module.main({**params, "output_file": str(folder / "p"), "train_loss_file": str(folder / "loss")})
    return np.load(folder / "p.npy"), np.load(folder / "loss.npy")


def accuracy(capsys):
    return float(capsys.readouterr().out.rpartition("accuracy ")[2].partition("%")[0])


@each
def test_a_script_is_at_most_80_lines(name):
    assert len((SCRIPTS / f"{name}.py").read_text("utf-8").splitlines()) <= 80


def test_logreg_tells_95_percent_of_the_digits(script, tmp_path, capsys):
    p, losses = trained(script("logreg"), tmp_path, dataset="digits", epochs=40)
    assert accuracy(capsys) >= 95 and p.shape == (360, 10) and losses.shape == (40 * 20,) and losses[-1] < 0.2


@pytest.mark.parametrize("name, rate, least", [("mlp", 0.5, 35), ("lstm", 2.0, 15)])
def test_two_epochs_tell_many_of_the_names(script, tmp_path, capsys, name, rate, least):
    p, losses = trained(script(name), tmp_path, epochs=2, init_lr=rate)
    assert accuracy(capsys) >= least and p.shape == (1181, 24) and len(losses) == 2 * 148
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)


@each
def test_a_grader_that_calls_main_with_the_courses_keys_finds_what_it_looks_for(script, titles, tmp_path, capsys, name):
    params = {"max_len": 6, "num_hid": 8, "batch_size": 8, "dataset": titles, "epochs": 30, "init_lr": 0.5}
    p, losses = trained(script(name), tmp_path, **params)
    assert p.shape == (36, 3) and len(losses) == 30 * 5 and accuracy(capsys) > (40 if name == "lstm" else 90)


@each
def test_compile_takes_the_same_steps_and_fit_learns_the_same(script, titles, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setenv("XMAN_ENGINE", "numpy")
    module = script(name)
    model, steps, parts, params = module.main({"max_len": 6, "num_hid": 8, "batch_size": 8, "dataset": titles, "epochs": 3,
                                               "output_file": str(tmp_path / "p"), "train_loss_file": str(tmp_path / "loss")})
    judge = lambda w: script("course").judge(model, steps, {**model.inputDict(), **w}, parts[2])
    loss, _, p = judge(module.compiled(model, steps, parts, params))
    np.testing.assert_allclose(p, np.load(tmp_path / "p.npy"), rtol=1e-3, atol=1e-4)  # the last epoch was the best here
    assert judge(module.fitted(model, steps, parts, params))[0] == pytest.approx(loss, rel=0.2)


@each
def test_from_another_folder_the_list_the_epochs_and_three_ways_are_printed(titles, tmp_path, name):
    pytest.importorskip("pyarrow")
    words = ["--dataset", "tiny", "--epochs", "1", "--max_len", "3", "--num_hid", "4"]
    done = subprocess.run([sys.executable, SCRIPTS / f"{name}.py", *words], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "XMAN_ENGINE": "numpy"})
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "") and " = dot(" in lines[0] and lines[-4].startswith("epoch 1: validation")
    assert [line.partition("  ")[0] for line in lines[-3:]] == ["eval and backprop", "compiled", "fitted"]
    assert (tmp_path / "train_loss.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "output.npy").is_file() and (tmp_path / "train_loss.npy").is_file()


@pytest.mark.parametrize("words, said", [
    (["--dataset", "no/such"], "no/such: cannot be read"), (["--epochs", "0"], "epochs is a whole number, at least 1, not 0"),
    (["--init_lr", "nan"], "init_lr is a number above 0, not nan"), (["--batch_size", "x"], "invalid int value: 'x'"),
    (["--hidden", "3"], "unrecognized arguments"), (["--dataset", "other"], "found label 'New', which never occurs in train"),
    (["--dataset", "one"], "has one class alone, 'Place'"),
    (["--output_file", "no/file"], "output_file is no/file, and there is no folder no"),
    (["--dataset", "half"], "half.valid: cannot be read")])
def test_a_mistake_is_one_sentence_and_status_2(titles, tmp_path, monkeypatch, capsys, words, said):
    for part in ("train", "valid", "test"):
        (tmp_path / f"other.{part}").write_text(ROWS + "New\tNew\n" * (part == "test"), "utf-8")
        (tmp_path / f"one.{part}").write_text("A\tPlace\nB\tPlace\n", "utf-8")
    (tmp_path / "half.train").write_text(ROWS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setattr(sys, "argv", ["mlp.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPTS / "mlp.py"), run_name="__main__")
    assert ended.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize("params, said", [
    ({"epoch": 3}, "there is no parameter 'epoch'; there are max_len"),
    ({"epochs": "3"}, "epochs is a whole number, at least 1, not '3'"),
    ({"batch_size": 8.0}, "batch_size is a whole number"), ({"init_lr": None}, "init_lr is a number above 0, not None")])
def test_a_dictionary_with_an_unknown_key_or_a_value_that_cannot_be_is_refused(script, params, said):
    with pytest.raises(XManError, match=said):
        script("mlp").main(params)
