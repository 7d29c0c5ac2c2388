"""Facts about xman train on one file: which rows train, choose and judge, and what is fitted in the end."""

import json
import os
import re
import sys

import numpy as np
import pytest

from xman import WengertList, load
from xman.files import Model
from xman.files.reports import judgement_of
from xman.train import load as load_rows

pytest.importorskip("click")

from xman.cli import main

datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run(*words) -> (exit status, output, errors) of `xman words`, in a folder with iris.csv."""
    monkeypatch.chdir(tmp_path)
    datasets.load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)

    def xman(*words):
        monkeypatch.setattr(sys, "argv", ["xman", *words])
        with pytest.raises(SystemExit) as end:
            main()
            sys.exit(0)
        return end.value.code, *capsys.readouterr()
    return xman


def test_what_is_saved_is_the_optimum_for_the_penalty_that_folds_chose(run):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    told = json.loads(run("train", "logreg", "--data", "iris.csv", "--quiet", "--save", "m.safetensors", "--json",
                          "--test-fraction", "0")[1])
    assert told["rows"] == 150 and told["test_rows"] == 0 and len(told["trials"]) == 7
    assert told["l2"] in [trial["settings"]["l2"] for trial in told["trials"]]
    X, y = datasets.load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = LogisticRegression(C=1 / (150 * told["l2"]), tol=1e-8, max_iter=10_000).fit(X, y)
    ours = load("m.safetensors").predict_proba(datasets.load_iris().data)
    np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=2e-3)


COSTS = "--cost", "versicolor=5"
SAVED = [("mlp", "--epochs", "5"), ("logreg", "--calibrate", *COSTS), ("linear", "--target", "petal width (cm)")]
if os.environ.get("XMAN_ALL_CASES"):
    SAVED += [("logreg",), ("logreg", "--class-weight", "balanced"), ("logreg", *COSTS), ("logreg", "--calibrate")]


@pytest.mark.parametrize("words", SAVED, ids=" ".join)
def test_what_is_tested_is_what_is_saved(run, words):
    frame = datasets.load_iris(as_frame=True).frame
    frame["target"] = np.array(["setosa", "versicolor", "virginica"])[frame["target"]]
    frame.to_csv("iris.csv", index=False)
    told = json.loads(run("train", *words, "--data", "iris.csv", "--quiet", "--save", "m.safetensors", "--json")[1])
    model, order = load("m.safetensors"), load_rows("iris.csv", target=load("m.safetensors").target)
    table = {column.name: order.cells[column.register] for column in order.prepared.columns}
    outputs, y = model.outputs(table, strange={}), order.test[1]
    if "linear" in words:
        mean, scale = order.prepared.scale
        assert told["test_error"] == pytest.approx(np.mean((outputs - (y * scale + mean)) ** 2) ** 0.5, rel=1e-4)
    else:
        assert told["test_accuracy"] == np.mean(model.labels(outputs) == np.array(model.classes)[y])
        assert told["test_loss"] == pytest.approx(-np.mean(np.log(outputs[np.arange(30), y])), rel=1e-4)


def test_one_trial_is_not_counted(run):
    out = run("train", "logreg", "--data", "iris.csv", "--quiet", "--l2", "1,0.1", "--draws", "1")[1]
    assert out.startswith("trained: l2") and "of 1 trials" not in out


def test_a_rate_is_found_for_an_optimizer_that_takes_one(run):
    words = "train", "logreg", "--data", "iris.csv", "--quiet", "--find-lr"
    code, out, err = run(*words, "--optimizer", "adam", "--epochs", "3", "--json")
    assert f"the loss falls fastest at the rate {json.loads(out)['lr']:g}\n" in err
    for options, sentence in ((), "newton-cg finds its own step size; a rate is found for sgd"), (
            ("--optimizer", "adam", "--lr", "0.1"), "leave --lr away"), (("--optimizer", "adam,sgd"), "leave --optimizer away"):
        assert sentence in run(*words, *options)[2]


@pytest.mark.parametrize("options, rows", [
    (("--test-fraction", "0"), (150, 0)), (("--test-fraction", "0.3"), (105, 45)), (("--validation-fraction", "0.5"), (45, 30)),
    (("--optimizer", "adam", "--epochs", "2", "--validation-fraction", "0"), (120, 30))])
def test_the_shares_of_a_file_are_what_was_said(run, options, rows):
    words = "train", "logreg", "--data", "iris.csv", "--l2", "0.1", "--json", "--quiet", "--save", "m"
    told = json.loads(run(*words, *options)[1])
    assert (told["rows"], told["test_rows"]) == rows


def test_a_rate_asks_for_adam(run):
    told = json.loads(run("train", "logreg", "--data", "iris.csv", "--lr", "0.1", "--epochs", "3", "--json", "--quiet")[1])
    assert told["optimizer"] == "adam" and "trials" not in told and "validation_loss" in told["history"][0]


@pytest.mark.parametrize("sizes", [(40, 30, 10), (100, 4, 4), (11, 1, 50)])
def test_each_class_has_the_same_share_of_each_part(tmp_path, sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    np.savetxt(tmp_path / "t.csv", np.column_stack([np.arange(len(y)) * 1.5, y]), "%g", ",")
    parts = load_rows(tmp_path / "t.csv", task="classify", test_fraction=0.25, validation_fraction=0.25)[:3]
    for share, (_, labels) in zip((0.5, 0.25, 0.25), parts, strict=True):
        assert np.abs(np.bincount(labels, minlength=3) - share * np.array(sizes)).max() <= 1


def test_the_last_rows_in_the_order_of_a_date_judge(tmp_path):
    days = np.random.default_rng(0).permutation(np.arange("2020-01-01", "2020-04-10", dtype="datetime64[D]"))
    lines = [f"{day},{k},{np.sin(k)}" for k, day in enumerate(days)]
    (tmp_path / "t.csv").write_text("\n".join(["when,x,y", "2019-01-01,7,", *lines, ",5,0.5"]))
    data = load_rows(tmp_path / "t.csv", ordered_by="when")
    cells = next(cells for register, cells in data.cells.items() if register == "when")
    assert sorted(cells.astype("datetime64[D]")) == sorted(days)[-20:] and len(data.valid[1]) == 10 and len(data.train[1]) == 71
    assert "1 row without a target 'y' left out" in data.prepared.remarks


@pytest.mark.parametrize("words, said", [
    (("--test-fraction", "0.6", "--validation-fraction", "0.4"), "each is at least 0, and both together below 1"),
    (("--ordered-by", "targte"), "did you mean 'target'?"), (("--test-fraction", "1"), "--test-fraction"),
    (("--test-fraction", "0", "--report", "r.html"), "--report shows rows that the model has not seen")])
def test_shares_that_cannot_be_are_a_sentence(run, words, said):
    code, _, err = run("train", "logreg", "--data", "iris.csv", "--quiet", *words)
    assert code == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize("target", ["number", "word"])
def test_rows_without_a_target_are_counted_and_left_out_by_training_and_evaluation(run, target):
    names = ["low", "high"] if target == "word" else [1.5, 2.5]
    rows = [f"{k},{names[k % 3 > 1]}" for k in range(60)] + ["3,", "4,NA"]
    with open("t.csv", "w") as file:
        print("x,y", *rows, sep="\n", file=file)
    model = "logreg" if target == "word" else "linear"
    out = run("train", model, "--data", "t.csv", "--save", "m.safetensors", "--l2", "0.1")[1]
    assert "2 rows without a target 'y' left out" in out.lower()
    code, out, err = run("evaluate", "m.safetensors", "t.csv", "--json")
    assert code == 0 and json.loads(out)["rows"] == 60
    more = ", with 'NA' (1) read as missing; write another word where it is a class" * (target == "word")
    assert err == f"xman: 2 rows without a target 'y' left out{more}\n"


# weights, categories, costs, temperature


@pytest.fixture
def mixed(run, tmp_path):
    """t.csv: the class depends on a code, 1 to 4, that is no quantity, and on a number; w is 1 or 50."""
    random = np.random.default_rng(1)
    code, x, w = random.integers(1, 5, 400), random.normal(size=400), np.where(random.random(400) < 0.5, 1, 50)
    y = np.where(np.isin(code, (1, 3)) * 3 + x + random.normal(size=400) > 1.5, "yes", "no")
    with open(tmp_path / "t.csv", "w") as file:
        print("code,x,w,y", *(",".join(map(str, row)) for row in zip(code, x.round(3), w, y, strict=True)), sep="\n", file=file)
    known = "--l2", "0.01"  # quicker than folds
    return lambda *options, l2=known: json.loads(run("train", "logreg", "--data", "t.csv", "--quiet", "--json", *l2, *options)[1])


def test_a_code_may_be_called_a_category(mixed):
    plain, named = mixed(), mixed("--category", "code")
    assert named["test_loss"] < plain["test_loss"] - 0.1 and plain["test_majority"] < named["test_accuracy"]


def test_weights_are_a_column_that_is_no_feature(mixed):
    named = mixed("--weights", "w", "--save", "m.safetensors")
    assert [column.name for column in load("m.safetensors").columns] == ["code", "x"] and "sample_weight" not in named
    assert named["test_loss"] != mixed("--ignore", "w")["test_loss"]


def test_a_weight_that_is_missing_is_a_sentence(mixed, run, tmp_path):
    (tmp_path / "u.csv").write_text((tmp_path / "t.csv").read_text().replace(",50,", ",,"))
    code, _, err = run("train", "logreg", "--data", "u.csv", "--weights", "w")
    assert code == 2 and "column 'w': found no number; give every row that trains one" in err


def test_costs_move_the_border_and_leave_the_probabilities(mixed, run):
    mixed("--ignore", "w", "--save", "even.safetensors")
    mixed("--ignore", "w", "--cost", "yes=9", "--save", "dear.safetensors")
    even, dear = load("even.safetensors"), load("dear.safetensors")
    rows = {"code": np.array([1, 2, 3, 4] * 50), "x": np.linspace(-3, 3, 200)}
    p = dear.predict_proba(rows)
    assert np.array_equal(p, even.predict_proba(rows)) and np.array_equal(dear.predict(rows) == "yes", 9 * p[:, 1] > p[:, 0])
    for words, said in (("maybe=2", "the target has no class 'maybe'"), ("yes", "--cost"), ("yes=-1", "positive")):
        code, _, err = run("train", "logreg", "--data", "t.csv", "--cost", words)
        assert code == 2 and said in err


def test_costs_of_outputs_that_are_no_probabilities_are_refused_before_training(mixed, run):
    code, out, err = run("train", "logreg", "--data", "t.csv", "--cost", "yes=9", "--loss", "hinge")
    assert code == 2 and "no probabilities" in err and out == ""


def test_the_confidence_is_that_of_the_class_that_costs_choose():
    model = Model(WengertList(), {}, (), "p", ("no", "yes"), "y", {"costs": {"yes": 9.0}})
    report = judgement_of(model, np.array([[0.75, 0.25]] * 8), np.array(["yes"] * 2 + ["no"] * 6, object))
    assert report["calibration"] == [{"confidence": 0.25, "accuracy": 0.25, "rows": 8}] and report["calibration_error"] == 0


def test_a_temperature_is_a_line_of_the_list(mixed):
    told = mixed("--calibrate", "--save", "m.safetensors", "--category", "code", l2=())
    line, last = load("m.safetensors").steps[-2:]
    assert line[1] == "divide" and line[2][1] == told["temperature"] and last[1:] == ("softmax", (line[0],)) and told["trials"]


@pytest.mark.parametrize("option", [("--calibrate",), ("--cost", "3=2")], ids=" ".join)
def test_what_is_for_classes_is_refused_of_numbers_before_anything_is_trained(mixed, run, option):
    code, out, err = run("train", "linear", "--data", "t.csv", "--target", "x", *option)
    assert code == 2 and "is for classes" in err and "epoch" not in out + err


def test_a_page_tells_which_columns_matter(mixed, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    mixed("--category", "code", "--ignore", "w", "--report", "r.html")
    table = (tmp_path / "r.html").read_text("utf-8").partition("change their rows")[2]
    assert 0 < table.index("<td>code</td>") < table.index("<td>x</td>")


def test_of_all_combinations_some_are_drawn(mixed):
    told = mixed("--draws", "2", l2=("--l2", "1,0.1,0.01,0.001"))
    assert len(told["trials"]) == 2 and told["l2"] in (1, 0.1, 0.01, 0.001)


def test_the_report_ranks_columns_by_how_much_the_loss_rises_without_them(run):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    noise = np.random.default_rng(0).random(300).round(3)
    with open("t.csv", "w") as file:
        print("noise,size,town,y", *(f"{noise[k]},{k % 10},{'ab'[k % 7 == 0]},{'uv'[k % 10 > 4]}" for k in range(300)),
              sep="\n", file=file)
    assert run("train", "logreg", "--data", "t.csv", "--l2", "0.001", "--report", "r.html", "--quiet")[0] == 0
    with open("r.html") as file:
        page = re.sub(r"<[^>]*>|\s+", " ", file.read())
    rises = {name: float(re.search(rf"{name} +(-?[0-9.e-]+) ", page.partition('change their rows')[2])[1])
             for name in ("size", "noise", "town")}
    assert rises["size"] > 0.5 and max(abs(rises["noise"]), abs(rises["town"])) < 0.1


VECTORS = """import numpy as np
from xman import XMan, f

class Line(XMan):
    X, y = f.input(), f.input()
    w, b = f.param(default=np.zeros(2)), f.param(default=0.0)
    outputs = f.dot(X, w) + b
    loss = f.mean(f.square(outputs - y))

class Flat(Line):
    feed = lambda self, X, y: {"X": X} if y is None else {"X": X, "y": y.ravel()}

class Sure(Flat):
    outputs = f.sigmoid(Line.outputs)
    loss = -f.mean(Flat.y * f.log(outputs) + (1 - Flat.y) * f.log(1 - outputs))

class Silent(XMan):
    X, y, w, feed = Flat.X, Flat.y, Flat.w, Flat.feed
    loss = f.mean(f.square(f.dot(X, w) - y))
"""


@pytest.fixture
def vectors(run):
    random, words = np.random.default_rng(0), ("--epochs", "20", "--lr", "0.1", "--quiet", "--save", "m.safetensors")
    with open("models.py", "w") as file:
        file.write(VECTORS)
    for name, target in ("numbers", lambda z: z), ("classes", lambda z: "ab"[int(z > 0)]):
        with open(f"{name}.csv", "w") as file:
            print("p,q,y", *(f"{p},{q},{target(p - 2 * q)}" for p, q in random.standard_normal((60, 2))), sep="\n", file=file)
    return lambda model, data, *more: run("train", f"models.py:{model}", "--data", f"{data}.csv", *words, *more)


@pytest.mark.parametrize(("model", "data", "good"), [("Flat", "numbers", "R² 0.9"), ("Sure", "classes", "accuracy 9")])
def test_a_model_of_one_number_a_row_is_tested_and_saved(vectors, run, model, data, good):
    code, out, err = vectors(model, data)
    assert code == 0 and (data == "numbers" or ", accuracy " in out), err
    assert run("evaluate", "m.safetensors", f"{data}.csv")[1].startswith(good)


@pytest.mark.parametrize(("model", "options", "said"), [
    ("Line", (), "outputs has shape (32,) and y (32, 1)"), ("Silent", (), "no register 'outputs'"),
    ("Sure", ("--calibrate",), "--calibrate is for a softmax")])
def test_what_cannot_be_saved_is_said_before_training(vectors, model, options, said):
    code, out, err = vectors(model, "classes" if options else "numbers", *options)
    assert code == 2 and said in err and out == ""


def test_an_error_names_the_row_of_the_file_whichever_rows_are_left_out_or_come_first(run):
    def write(name="t.csv", **cells):
        """A file of 60 rows, of which rows 4 and 6 have no target. cells: row_column="text"."""
        table = [{"x": f"{k}.5", "w": "1", "y": f"{k}.25" * (k not in (4, 6))} for k in range(1, 61)]
        for place, text in cells.items():
            row, column = place[1:].split("_")
            table[int(row) - 1][column] = text
        with open(name, "w") as file:
            file.write("x,w,y\n" + "".join(",".join(row.values()) + "\n" for row in table))

    train = "train", "linear", "--quiet", "--l2", "0.1", "--data"
    write(r11_y="inf", r30_y="-inf")
    assert run(*train, "t.csv")[2].endswith("the table, row 11, the target 'y': it is missing or infinite here and in 1 more; "
                                            "leave such rows out\n")
    write(r21_w="")
    for seed in "123":  # among rows that train, in whatever order
        said = run(*train, "t.csv", "--weights", "w", "--seed", seed, "--test-fraction", "0", "--validation-fraction", "0")[2]
        assert "the table, row 21, column 'w': found no number" in said
    write()
    assert run(*train, "t.csv", "--save", "m.safetensors")[0] == 0
    write(r11_y="inf")
    assert "t.csv, row 11, the target 'y': it is missing or infinite here;" in run("evaluate", "m.safetensors", "t.csv")[2]
    write(r11_x="no")
    assert "t.csv, row 11, column 'x': found 'no'" in run("evaluate", "m.safetensors", "t.csv")[2]
    assert "t.csv, row 11, column 'x': found 'no'" in run("predict", "m.safetensors", "t.csv")[2]
    write("p.csv.train")
    write("p.csv.valid", r11_x="no")
    write("p.csv.test")
    assert "p.csv.valid, row 11, column 'x': found 'no'" in run(*train, "p.csv")[2]
