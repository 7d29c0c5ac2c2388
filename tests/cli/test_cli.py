"""Facts about the command line: what each command prints, its exit status, and one sentence for what a user can mend."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import ops
from tests.cli.files_of_users import EQUATION_1, MODEL, command
from xman import WengertList

pytest.importorskip("click")


def outside(*words, cwd):
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True)


# show


@pytest.mark.parametrize("source", ["f.wl", "f.json", "-"])
def test_show_prints_the_list_of_a_file_of_text_of_json_and_of_standard_input(xman, source):
    assert xman("show", source, stdin=EQUATION_1) == (0, EQUATION_1, "")


@pytest.mark.parametrize("options", [[], ["x1=3", "x2=[1, 2]"]], ids=["plain", "with shapes"])
def test_what_show_prints_reads_back_as_the_same_list(xman, options):
    assert WengertList.from_text(xman("show", "f.wl", *options)[1]) == WengertList.from_text(EQUATION_1)


def test_what_show_prints_as_json_reads_back_as_the_same_list(xman):
    assert WengertList.from_json(xman("show", "f.wl", "--json")[1]) == WengertList.from_text(EQUATION_1)


def test_show_with_values_tells_the_shape_of_each_register(xman):
    lines = xman("show", "f.wl", "x1=3", "x2=[1, 2]")[1].splitlines()
    assert [line.split("#")[1].strip() for line in lines] == ["() float64", "(2,) float64", "(2,) float64"]


@pytest.mark.parametrize("source", ["model.py:Softmax", "model.py"])
def test_show_prints_the_list_of_a_models_loss(xman, source):
    code, out, err = xman("show", source)
    assert (code, err) == (0, "") and out.endswith("loss = mean(z1)\n")


def test_show_prints_the_list_of_the_register_that_is_named(xman):
    assert xman("show", "model.py", "--of", "outputs")[1] == "scores = dot(X, W)\noutputs = softmax(scores)\n"


@pytest.mark.parametrize("call, by", [("Model(3)", "2.0"), ("Model(size=3, by=5)", "5"), ("Model([1, -2])", "2.0")])
def test_a_model_takes_literals_as_arguments(xman, call, by):
    assert xman("show", f"needs.py:{call}") == (0, f"loss = mul(x, {by})\n", "")
    assert xman("eval", "needs.py:Model(-3.5, by=2)") == (0, "loss = -7.0\n", "")


# ops


def test_ops_lists_every_operator_in_a_line_with_its_arguments_and_what_it_computes(xman):
    lines = xman("ops")[1].splitlines()
    assert [line.partition("(")[0] for line in lines] == sorted(ops.G, key=str.lower)
    ours = [line for line in lines if line.partition("(")[0] in ops.OURS]  # other tests have operators of their own
    assert [line for line in ours if not line.partition(")  ")[2].strip().endswith((".", "...", ".)"))] == []


def test_ops_lists_those_that_are_named(xman):
    assert xman("ops", "std", "less")[1].splitlines() == [
        "std(x, axis=None, keepdims=False, ddof=0)  √var. Where it is 0 its gradient is 0.",
        "less(x, y)                                 Return the truth value of (x1 < x2) element-wise. No derivative."]


# eval, grad, check


@pytest.mark.parametrize("options, out", [([], "f = 169.0\n"), (["--of", "z2"], "z2 = 13.0\n"),
                                          (["--all"], "z1 = 6.0\nz2 = 13.0\nf = 169.0\n")])
def test_eval_prints_the_result_or_the_register_named_or_all(xman, options, out):
    assert xman("eval", "f.wl", "x1=3", "x2=7", *options) == (0, out, "")


def test_grad_prints_the_derivative_by_each_input(xman):
    assert xman("grad", "f.wl", "x1=3", "x2=7") == (0, "x1 = 52.0\nx2 = 26.0\n", "")


def test_grad_by_one_input_prints_that_alone(xman):
    assert xman("grad", "f.wl", "x1=3", "x2=7", "--wrt", "x2")[1] == "x2 = 26.0\n"


def test_the_derivative_by_an_input_that_does_not_matter_is_zero(xman):
    assert xman("grad", "f.wl", "x1=3", "x2=7", "--of", "z1")[1] == "x1 = 2.0\nx2 = 0.0\n"


def test_eval_and_grad_give_json(xman):
    results = [json.loads(xman(word, "f.wl", "x1=3", "x2=7", "--json")[1]) for word in ("eval", "grad")]
    assert results == [{"f": 169.0}, {"x1": 52.0, "x2": 26.0}]


def test_nan_and_infinity_are_strings_in_json(xman):
    assert json.loads(xman("eval", "log.wl", "x=[-1, 0]", "--json")[1], parse_constant=pytest.fail) == {"f": ["nan", "-inf"]}


def test_a_value_may_come_from_a_file_of_numpy(xman):
    assert xman("eval", "f.wl", "x1=0", "x2=@x.npy")[1] == "f = [1.0, 16.0]\n"


def test_eval_takes_the_defaults_of_a_model(xman):
    assert xman("eval", "model.py", f"X={[[0] * 64]}", "y=[3]")[1].startswith("loss = 2.302585")


def test_check_of_right_rules_exits_with_0(xman):
    code, out, err = xman("check", "f.wl", "x1=3", "x2=7")
    assert (code, err) == (0, "") and "1 of 1 elements agree" in out
    report = json.loads(xman("check", "f.wl", "x1=3", "x2=7", "--json")[1])
    assert report == {"ok": True, "checked": 2, "misshapen": [], "wrong": []}


def test_check_of_a_wrong_rule_exits_with_1_and_names_the_register(tmp_path):
    (tmp_path / "wrong.py").write_text("from ops import operator\nfrom xman import XMan, f\n"
                                       "operator('thrice', lambda x: x + x + x, lambda d, out, x: d * 2)\n"
                                       "class Model(XMan):\n    x = f.input()\n    loss = f.thrice(x)\n")
    plain, as_json = (outside("-m", "xman", "check", "wrong.py", "x=1", *more, cwd=tmp_path) for more in ([], ["--json"]))
    assert plain.returncode == as_json.returncode == 1 and "WRONG" in plain.stdout
    assert json.loads(as_json.stdout)["wrong"][0]["register"] == "x"


# train


def test_an_mlp_tells_97_percent_of_the_digits_of_the_test_part(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # two threads on a busy machine wait for each other, for a minute and more
    done = outside("-m", "xman", "train", "mlp", "--data", "digits", "--quiet", "--json", cwd=tmp_path)
    result = json.loads(done.stdout)
    assert (done.returncode, done.stderr, result["test_rows"]) == (0, "", 360) and result["test_accuracy"] >= 0.97


def test_a_small_mlp_learns_also_at_a_rate_as_sgd_would_have_it(xman):
    code, out, _ = xman("train", "mlp", "--data", "digits", "--hidden", "16", "--lr", "0.05", "--epochs", "5", "--json")
    assert code == 0 and json.loads(out)["test_accuracy"] > 0.85


def test_train_prints_the_list_an_epoch_a_line_and_the_accuracy(xman):
    code, out, err = xman("train", "logreg", "--epochs", "2")
    assert code == 0 and out.startswith("z1     = dot(X, W)\n") and err.count("epoch") == 2
    assert re.search(r"test loss [\d.]+, accuracy [\d.]+% of 360 rows; the commonest class alone: 10.00%\n$", out)


def test_train_takes_a_model_of_a_users_own_file(xman):
    code, out, err = xman("train", "model.py:Softmax", "--epochs", "5", "--lr", "0.01", "--quiet", "--json")
    assert (code, err) == (0, "") and json.loads(out)["test_accuracy"] > 0.9


@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_train_reads_names(xman, model):
    code, out, _ = xman("train", model, "--data", "names", "--epochs", "0", "--max-len", "3", "--quiet", "--json")
    assert code == 0 and json.loads(out)["test_rows"] == 1181


def test_train_fits_a_basis_to_numbers_and_tells_how_far_it_is_off(xman, tmp_path):
    x = np.linspace(0.0, 3, 120)
    np.savetxt(tmp_path / "sine.csv", np.column_stack([x, 10 * x[::-1], np.sin(2 * x)]), "%.6f", ",", header="x,z,y", comments="")
    for basis in ("tanh", "rbf"):
        words = "train", "basis", "--data", "sine.csv", "--basis", basis, "--hidden", "6", "--epochs", "60", "--quiet"
        code, out, _ = xman(*words, "--json")
        assert code == 0 and json.loads(out)["test_accuracy"] is None and json.loads(out)["test_error"] < 0.35
    assert re.search(r"test loss [\d.]+, root mean square error 0\.\d+ of 24 rows\n$", xman(*words)[1])


@pytest.mark.parametrize("words, message", [
    (("--data", "names"), "found label 'Swedish', wanted a number"),
    (("--hidden", "3", "--hidden", "4"), "basis has one hidden layer"), (("--loss", "hinge"), "--loss is not for basis"),
    (("--data", "titles.txt"), "a basis is of rows of numbers; these data are titles")])
def test_train_refuses_a_basis_what_it_cannot_fit(xman, tmp_path, words, message):
    (tmp_path / "titles.txt").write_text("".join(f"title {k}\t{k}\n" for k in range(20)))
    code, out, err = xman("train", "basis", *words, "--quiet")
    assert (code, out) == (2, "") and message in err


def test_train_reads_a_users_own_csv(xman):
    code, out, _ = xman("train", "logreg", "--data", "rows.csv", "--lr", "0.1", "--quiet", "--json")
    assert code == 0 and json.loads(out)["test_accuracy"] == 1.0


def test_a_models_file_may_import_its_neighbours_and_hold_dataclasses(xman, tmp_path):
    (tmp_path / "neighbour.py").write_text("size = 3\n")
    (tmp_path / "own.py").write_text("from __future__ import annotations\nfrom dataclasses import dataclass\n"
                                     "from neighbour import size\nfrom xman import XMan, f\n"
                                     "@dataclass\nclass Sizes:\n    hidden: int = size\n"
                                     "class Model(XMan):\n    x = f.input()\n    loss = f.square(x) * Sizes().hidden\n")
    assert xman("eval", "own.py", "x=2") == (0, "loss = 12.0\n", "")


def test_the_error_of_a_model_that_is_far_off_is_a_number_and_no_warning(xman, tmp_path):
    np.savetxt(tmp_path / "far.csv", np.random.default_rng(0).random((300, 3)), "%.6f", ",", header="a,b,y", comments="")
    code, out, err = xman("train", "mlp", "--data", "far.csv", "--lr", "1e9", "--epochs", "2", "--quiet", "--json")
    assert (code, err) == (0, "") and 1e18 < json.loads(out)["test_error"] < 1e30  # the sum of squares is beyond float32


def test_a_run_that_diverges_exits_with_1_and_one_sentence(xman):
    code, out, err = xman("train", "mlp", "--optimizer", "sgd", "--lr", "1e30", "--quiet")
    assert (code, out) == (1, "") and re.fullmatch("xman: epoch 1, minibatch .*\n", err)


@pytest.mark.parametrize("where", ["feed", "file"])
def test_ctrl_c_before_the_first_step_exits_with_130_too(xman, tmp_path, where):
    raises = "\nraise KeyboardInterrupt\n" if where == "file" else "    def feed(self, X, y): raise KeyboardInterrupt\n"
    (tmp_path / "stops.py").write_text(MODEL + raises)
    code, _, err = xman("train", "stops.py", "--epochs", "2")
    assert code == 130 and err.endswith("xman: interrupted\n" if where == "file" else "") and "Traceback" not in err


def test_ctrl_c_in_a_search_is_a_line_and_no_empty_one(xman, monkeypatch):
    monkeypatch.setattr("xman.train.selection.fit", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    code, out, err = xman("train", "logreg", "--data", "rows.csv", "--lr", "0.1,0.2", "--quiet")
    assert (code, out, err) == (130, "", "xman: interrupted\n")


# what is refused


VALUES = ["x1=3", "x2=7"]


@pytest.mark.parametrize("words, said", [
    (["eval", "absent.wl"], "absent.wl cannot be read: No such file"),
    (["eval", "."], "cannot be read: Is a directory"),
    (["eval", "empty.wl"], "empty.wl holds no line"),
    (["eval", "comment.wl"], "comment.wl holds no line"),
    (["eval", "garbage.wl", "x=1"], "line 2"),
    (["eval", "binary.wl"], "binary.wl is not a text"),
    (["show", "bad.json"], "bad.json"),
    (["show", "garbage.wl"], "garbage.wl"),
    (["show", "twice.wl"], "assigns z1 a second time"),
    (["eval", "operator.wl", "x=1"], "did you mean 'square'"),
    (["eval", "f.wl", "x1=3"], "no value for the input 'x2'"),
    (["eval", "f.wl", "x1=3", "x2=seven"], "x2=seven"),
    (["eval", "f.wl", "x1=3", "x2="], "x2="),
    (["eval", "f.wl", "x1=3", "x2"], "name=value"),
    (["eval", "f.wl", "x1=3", "x2=[[1, 2], [3]]"], "x2=[[1, 2], [3]]"),
    (["eval", "f.wl", "x1=3", "x2=@absent.npy"], "absent.npy cannot be read"),
    (["eval", "f.wl", "x1=3", "x2=@f.wl"], "f.wl"),
    (["eval", "f.wl", "x1=[1, 2]", "x2=[1, 2, 3]"], "line 2, z2 = add(z1, x2): z1 has shape (2,), x2 has shape (3,)"),
    (["eval", "f.wl", *VALUES, "x3=1"], "'x3'"),
    (["eval", "f.wl", *VALUES, "z1=1"], "'z1'"),
    (["eval", "f.wl", *VALUES, "x1=4"], "x1"),
    (["eval", "f.wl", *VALUES, "--of", "q"], "no register 'q'"),
    (["grad", "f.wl", *VALUES, "--of", "q"], "no register 'q'"),
    (["grad", "f.wl", *VALUES, "--wrt", "q"], "'q'"),
    (["grad", "f.wl", "x1=[1, 2]", "x2=7"], "shape (2,)"),
    (["check", "f.wl", *VALUES, "--of", "q"], "names 'q', which the list does not have"),
    (["check", "f.wl", *VALUES, "--wrt", "q"], "names 'q', which the list does not have"),
    (["show", "model.py", "--of", "q"], "no register 'q'"),
    (["train", "curve.py"], "curve.py gives outputs of shape (2, 64) for 2 rows, and the data have 10 classes"),
    (["show", "model.py:Soft"], "did you mean 'Softmax'"),
    (["show", "two.py"], "two.py has several models; its subclasses of XMan are A, B: write two.py:A"),
    (["train", "sales.csv"], "a table is named by --data, as in xman train linear --data sales.csv"),
    (["show", "none.py"], "none.py has no model; its subclasses of XMan are none: write none.py:Class"),
    (["show", "absent.py:Model"], "absent.py cannot be read"),
    (["show", "syntax.py:Model"], "syntax.py: line 2: SyntaxError"),
    (["show", "raises.py:Model"], "raises.py: line 3: ZeroDivisionError"),
    (["show", "./raises.py:Model"], "raises.py: line 3: ZeroDivisionError"),
    (["show", "init.py:Model"], "init.py: line 4: NameError"),
    (["show", "words.py"], "words.py: line 7: add was given a str; an operator takes registers, numbers, shapes"),
    (["show", "exits.py:Model"], "exits.py: line 2: SystemExit"),
    (["show", "needs.py:Model"], "argument: 'size'; write its arguments, as in needs.py:Model(64, 10)"),
    (["show", "needs.py:Model(3, 4)"], "takes 2 positional arguments"),
    (["show", "needs.py:Model(3"], "'Model(3' is no class of a model"),
    (["show", "needs.py:Model(open('f.wl'))"], "is no class of a model; write Class, or Class(64, hidden=[8]) with literals"),
    (["ops", "muul"], "there is no operator 'muul'; did you mean 'mul'?"),
    (["train", "mlp", "--checkpoint", "no/run", "--epochs", "1"], "there is no folder no; make it first"),
    (["train", "mpl"], "mlp, residual, convolution"),
    (["train", "model.py:Softmax", "--hidden", "3"], "--hidden"),
    (["train", "model.py:Softmax", "--data", "names"], "line 1, scores = dot(X, W)"),
    (["train", "logreg", "--hidden", "3"], "--hidden"),
    (["train", "logreg", "--activation", "relu"], "--activation"),
    (["train", "lstm", "--data", "names", "--activation", "relu"], "--activation"),
    (["train", "lstm", "--data", "digits"], "the model lstm reads sequences"),
    (["train", "mlp", "--data", "digits", "--max-len", "5", "--epochs", "0"], "--max-len"),
    (["train", "mlp", "--data", "absent.csv"], "absent.csv: cannot be read"),
    (["train", "mlp", "--loss", "mse"], "softmaxCrossEntropy"),
    (["train", "mlp", "--lr", "0"], "learning rate"),
    (["train", "mlp", "--seed", "-1"], "seed"),
    (["train", "mlp", "--threshold", "-1", "--epochs", "0"], "threshold"),
], ids=command)
def test_what_a_user_can_mend_is_one_sentence_and_status_2(xman, words, said):
    code, out, err = xman(*words, *(["--quiet"] if words[0] == "train" else []))
    assert (code, out) == (2, "") and re.fullmatch(r"xman: [^\n]*\n", err) and said in err and "Traceback" not in err, err


@pytest.mark.parametrize("words, sentence", [
    (["train", "mlp", "--lr", "0.1,fast"], "--lr: 'fast' is not a number"),
    (["train", "mlp", "--epochs", "-1"], "--epochs: '-1' is not a whole number from 0 on"),
    (["explain", "f.wl", "--digits", "x"], "--digits: 'x' is not a whole number from 0 to 17"),
    (["train", "basis", "--basis", "rbv"], "--basis: 'rbv' is not one of polynomial, rbf, tanh; did you mean 'rbf'?"),
    (["shw", "f.wl"], "there is no command 'shw'; did you mean 'show'?; see xman --help"),
    (["explore", "f.wl"], "there is no command 'explore'; here: xman show LIST NAME=VALUE… --html FILE.html; see xman --help"),
    (["help"], "there is no command 'help'; here: xman COMMAND --help; see xman --help"),
    (["eval", "f.wl", "--off"], "there is no option --off; did you mean '--of'?; see xman eval --help"),
    (["eval", "f.wl", "--of"], "--of lacks its value"), (["show", "f.wl", "--json=3"], "--json takes no value"),
    (["show"], "LIST is missing; see xman show --help"),
    (["train"], "MODEL is missing: linear, poisson, logreg, mlp, residual, convolution, rnn, gru, lstm, transformer, basis, "
                "path/to/model.py:Class, …:'Class(64, 10)'; see xman train --help"),
    (["predict", "a", "b", "c"], "nothing takes the words c; see xman predict --help")], ids=command)
def test_words_that_cannot_be_read_are_answered_in_a_sentence_and_status_2(xman, words, sentence):
    assert xman(*words) == (2, "", f"xman: {sentence}\n")


@pytest.mark.parametrize("width", [50, 80])
def test_the_lists_of_commands_are_not_cut(xman, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for words in ([], ["grade"]):
        code, out, _ = xman(*words, "--help")
        assert code == 0 and "..." not in out.partition("Commands:")[2]


def test_version_prints_what_a_report_of_a_bug_needs(xman):
    assert [line.split()[0] for line in xman("version")[1].splitlines()] == ["xman", "python", "numpy", "scipy"]


def test_nothing_but_the_sentence_leaves_the_command_as_a_process(tmp_path):
    done = outside("-m", "xman", "eval", "absent.wl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "xman: absent.wl cannot be read: No such file or directory\n"


def test_a_reader_that_has_closed_the_pipe_ends_the_output_without_a_word(tmp_path):
    (tmp_path / "f.wl").write_text(EQUATION_1)
    read, write = os.pipe()
    os.close(read)
    command, buffered = [sys.executable, "-m", "xman", "show", "f.wl"], {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, env=buffered)
    assert done.stderr == b""
    os.close(write)


def test_without_click_the_extra_that_brings_it_is_named(tmp_path):
    done = outside("-c", "import sys; sys.modules['click'] = None; from xman.cli import main; main()", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr == "xman: the command line needs the package click: pip install 'xman[cli]'\n"


LOOP = "h = alias(h0)\n" + "".join(f"a{t} = mul(h{t and t - 1 or ''}, w)\nh{t} = tanh(a{t})\n" for t in range(6))


def test_show_finds_the_loop_of_a_list_again_and_prints_it(xman, tmp_path):
    (tmp_path / "loop.wl").write_text(LOOP.replace("h0)", "x)", 1))
    status, out, _ = xman("show", "loop.wl", "x=.5", "w=2", "--rolled")
    assert status == 0 and "def step(" in out and "scan(step" in out
    short = re.sub("  +#.*", "", out)
    assert xman("eval", "-", "x=.5", "w=2", stdin=short)[1] == xman("eval", "loop.wl", "x=.5", "w=2")[1]
    assert "no value for the input 'x'" in xman("show", "loop.wl", "--rolled")[2]
    assert xman("show", "loop.wl", "x=.5", "w=2", "--rolled", "--html", "page.html")[0] == 0
    assert "scan" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("array", ["[.5, 1.]", "(0.5, 1)", "[5e-1, 1]", "@array.npy"])
def test_an_array_is_written_as_python_or_json_write_it(xman, tmp_path, array):
    np.save(tmp_path / "array.npy", np.array([0.5, 1.0]))
    assert "2.25" in xman("eval", "f.wl", f"x1={array}", "x2=0.5")[1]


@pytest.mark.parametrize("x, word", [
    ("inf", "infinite"), ("[.5, inf]", "infinite"), ("[[-inf, 1]]", "infinite"), ("[NaN, 1]", "NaN"), ("(nan, -1)", "NaN")])
def test_an_array_may_have_numbers_that_are_not_finite(xman, x, word):
    assert f"the input x1 is {word}" in xman("why", "f.wl", f"x1={x}", "x2=1")[1]


@pytest.mark.parametrize("array", ["(", "[[1],[2,3]]", "(1,'a')", "[nil,1]", "(__import__('os'))", "[" * 9999])
def test_what_is_no_array_is_one_sentence(xman, array):
    status, _, errors = xman("eval", "f.wl", f"x1={array}", "x2=1")
    assert status == 2 and "is not a number or a nested list of numbers" in errors and "\n" not in errors.strip()
