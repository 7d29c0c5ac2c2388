"""From a file to predictions on the command line; XMAN_ALL_CASES=1 adds scikit-learn's data sets beside its own pipelines."""
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("sklearn")

import pyarrow.parquet
from sklearn import datasets, metrics

import xman
from xman.cli import main
from xman.cli.sources import ADAM, built_in, defaults_of_tables
from xman.files.reports import judgement_of
from xman.train import fit, load, predict

ROOT = Path(__file__).parents[2]
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
# what an installation of .[cli,tables] brings, as far as prediction reads it, and the libraries beside it
INSTALLED = "numpy", "numpy.libs", "scipy", "scipy.libs", "pyarrow", "safetensors", "click", "tqdm", "threadpoolctl.py"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """run(*words, stdin="") -> (status, output, errors), in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XMAN_ENGINE", "numpy")

    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "argv", ["xman", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()
    return run


@pytest.fixture
def iris(run, tmp_path):
    datasets.load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv")
    assert run("train", "mlp", "--data", "iris.csv", "--quiet", "--epochs", "80", "--save", "iris.safetensors")[0] == 0
    assert "softmax(scores)" in run("show", "iris.safetensors")[1]
    return (tmp_path / "iris.csv").read_text().splitlines()


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The environment of an installation that has what `.[cli,tables]` brings and nothing else."""
    links = tmp_path_factory.mktemp("installed")
    there = Path(np.__file__).parents[1]
    for name in INSTALLED:
        if (there / name).exists():
            (links / name).symlink_to(there / name)
    for name in ("xman", "ops"):
        (links / name).symlink_to(ROOT / name)
    return {**os.environ, "PYTHONPATH": str(links), "OPENBLAS_NUM_THREADS": "1"}


def outside(bare, *words, **options):
    return subprocess.run([sys.executable, "-S", "-m", "xman", *words], env=bare, capture_output=True, text=True, **options)


def test_train_prints_what_the_columns_hold_and_which_task_it_is(run, iris):
    code, out, _ = run("train", "mlp", "--data", "iris.csv", "--epochs", "1")
    assert code == 0 and "sepal length (cm)  number  0        4.3 … 7.9" in out
    assert "The first column has no name and is taken for row numbers: left out." in out and "The task is to classify" in out


def test_a_bare_installation_predicts_what_was_trained_elsewhere(iris, bare, tmp_path):
    found = outside(bare, "predict", "iris.safetensors", "iris.csv", cwd=tmp_path)
    assert found.returncode == 0 and found.stderr == ""
    lines = found.stdout.splitlines()
    assert lines[0] == "target" and np.mean([x == row[-1] for x, row in zip(lines[1:], iris[1:], strict=True)]) > 0.93
    alone = subprocess.run([sys.executable, "-S", "-c", "import sklearn"], env=bare, capture_output=True, text=True)
    assert "No module named 'sklearn'" in alone.stderr


def test_each_line_is_answered_before_the_next_is_read(iris, bare, tmp_path):
    words = [sys.executable, "-S", "-m", "xman", "predict", "iris.safetensors", "-"]
    with subprocess.Popen(words, env=bare, cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        answers = []
        for row in (f"{iris[0]}\n{iris[1]}", iris[60], iris[150]):
            server.stdin.write(row + "\n")
            server.stdin.flush()
            answers += [server.stdout.readline().strip() for _ in range(2 if not answers else 1)]
        server.stdin.close()
        assert answers == ["target", "0", "1", "2"] and server.wait(60) == 0


def test_probabilities_go_to_a_file_with_a_column_a_class(run, iris, tmp_path):
    assert run("predict", "iris.safetensors", "iris.csv", "--proba", "--out", "p.csv") == (0, "", "")
    rows = list(csv.reader((tmp_path / "p.csv").read_text().splitlines()))
    assert rows[0] == ["0", "1", "2"] and len(rows) == 151 and all(abs(sum(map(float, row)) - 1) < 1e-5 for row in rows[1:])


def test_evaluate_tells_what_scikit_learn_tells_with_it_and_without(run, iris, monkeypatch):
    report = json.loads(run("evaluate", "iris.safetensors", "iris.csv", "--json")[1])
    truth = [row.rsplit(",", 1)[1] for row in iris[1:]]
    found = run("predict", "iris.safetensors", "iris.csv")[1].split()[1:]
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(truth, found)
    for k, row in enumerate(report["classes"]):
        assert np.allclose([row["precision"], row["recall"], row["f1"], row["rows"]], [precision[k], recall[k], f1[k], rows[k]])
    assert report["confusion"] == metrics.confusion_matrix(truth, found).tolist()
    assert report["accuracy"] == metrics.accuracy_score(truth, found) and 0 <= report["calibration_error"] < 0.2
    said = run("evaluate", "iris.safetensors", "iris.csv")[1]
    assert "confusion: each row a class" in said


def test_numbers_are_fitted_and_judged_on_their_own_scale(run, tmp_path):
    frame = datasets.load_diabetes(as_frame=True).frame
    frame.to_csv(tmp_path / "d.csv")
    code, out, _ = run("train", "mlp", "--data", "d.csv", "--json", "--save", "d.safetensors")
    report = json.loads(run("evaluate", "d.safetensors", "d.csv", "--json")[1])
    assert code == 0 and 40 < json.loads(out)["test_error"] < 70 and 0.4 < report["r2"] < 0.8 and 40 < report["rmse"] < 60
    truth, found = frame["target"].to_numpy(), np.arange(442.0)
    plain = SimpleNamespace(classes=(), labels=lambda outputs: outputs)
    assert judgement_of(plain, found, truth)["r2"] == pytest.approx(metrics.r2_score(truth, found), rel=1e-12)
    assert "no probabilities: it predicts a number" in run("predict", "d.safetensors", "d.csv", "--proba")[2]


NAMES = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)"


@pytest.mark.parametrize("rows, words", [
    ("a,b\n1,2\n", "lacks the column 'sepal length (cm)'"),
    ("a,b,c,d\n1,2,3,4\n", "lacks the column 'sepal length (cm)'"), ("1,2\n", "lacks the column"), ("", "the file is empty"),
    (f"{NAMES}\n1,2,3,4\n1,x,3,4\n", "column 'sepal width (cm)': found 'x'"),
    (NAMES.replace(",sepal width (cm)", "") + "\n1,3,4\n", "lacks the column 'sepal width (cm)'")], ids=range(6))
def test_rows_that_are_not_like_those_of_training_are_refused_in_a_sentence(run, iris, tmp_path, rows, words):
    (tmp_path / "new.csv").write_text(rows)
    code, out, err = run("predict", "iris.safetensors", "new.csv")
    assert (code, out) == (2, "") and words in err and err.count("\n") == 1
    if not rows:
        assert "standard input is empty; wanted rows" in run("predict", "iris.safetensors", "-")[2]
    if "found" in words:
        _, _, err = run("predict", "iris.safetensors", "-", stdin=rows)
        assert f"standard input, line 3, {words}, wanted a number; mend the cell" in err


def test_rows_without_a_header_and_with_missing_cells_are_predicted(run, iris, tmp_path):
    (tmp_path / "new.csv").write_text("5.1,3.5,1.4,0.2\n,3.5,,0.2\n")
    assert run("predict", "iris.safetensors", "new.csv")[1].split() == ["target", "0", "0"]
    names = ",".join(NAMES.split(",")[::-1]) + ",more"
    assert run("predict", "iris.safetensors", "-", stdin=f"{names}\n0.2,1.4,3.5,5.1,x\n\n")[1].split() == ["target", "0"]
    # cells in quotes with ends of lines, in the header too, and a quote that opens none
    rows = "0.2,1.4,3.5,5.1,'a\n\n''b'' c\nd'\n0.2,1.4,3.5,5.1,5'\n0.2,x,3.5,5.1,e\n".replace("'", '"')
    status, out, errors = run("predict", "iris.safetensors", "-", stdin=names.replace("more", '"mo\nre"\n') + rows)
    assert (status, out.split()) == (2, ["target", "0", "0"]) and "standard input, line 8, column" in errors


def test_predictions_in_parquet_are_those_in_csv(run, iris, tmp_path):
    for options in ([], ["--proba"]):
        status, lines, _ = run("predict", "iris.safetensors", "iris.csv", *options)
        assert status == 0 and run("predict", "iris.safetensors", "iris.csv", *options, "--out", "p.parquet")[0] == 0
        table = pyarrow.parquet.read_table(tmp_path / "p.parquet")
        names, *rows = [line.split(",") for line in lines.split()]
        assert table.column_names == names and [[*map(str, row.values())] for row in table.to_pylist()] == rows
    assert "cannot be written" in run("predict", "iris.safetensors", "iris.csv", "--out", "no/p.parquet")[2]


@pytest.mark.parametrize("data", ["iris.csv", "digits", "d.csv"])
def test_a_report_is_a_page_with_the_list_the_curves_and_the_worst_mistakes(run, iris, tmp_path, data):
    datasets.load_diabetes(as_frame=True).frame.to_csv(tmp_path / "d.csv")
    assert run("train", "mlp", "--data", data, "--epochs", "2", "--hidden", "4", "--quiet", "--report", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("data:image/png") == 1 + (data == "digits") and "= relu(z" in page
    assert "Worst mistakes" in page and ("<td>prediction" in page) == (data != "digits") and "digest" in page
    assert f"numpy {np.__version__}" in page
    assert "cannot be written" in run("train", "mlp", "--data", data, "--epochs", "0", "--quiet", "--report", "no/r.html")[2]


def test_a_checkpoint_of_a_table_predicts_its_rows(run, iris):
    assert run("train", "mlp", "--data", "iris.csv", "--quiet", "--epochs", "9", "--checkpoint", "run.st")[0] == 0
    assert run("evaluate", "run.st", "iris.csv")[1] > "accuracy 8"


@pytest.mark.parametrize("first", [0, 1])
def test_libsvm_and_idx_are_evaluated_and_libsvm_from_0_as_from_1(run, tmp_path, first):
    X, y = datasets.load_digits(return_X_y=True)
    datasets.dump_svmlight_file(X + (np.arange(64) == 0), y, str(tmp_path / "x.svm"), zero_based=not first)
    size = lambda *shape: b"".join(n.to_bytes(4, "big") for n in shape)
    (tmp_path / "x-images-idx3-ubyte").write_bytes(bytes([0, 0, 8, 3]) + size(1797, 8, 8) + X.astype(np.uint8).tobytes())
    (tmp_path / "x-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1]) + size(1797) + y.astype(np.uint8).tobytes())
    for source in ["x.svm"] + ["x-images-idx3-ubyte"] * first:
        words = "train", "logreg", "--data", source, "--optimizer", "adam", "--epochs", "1"
        assert run(*words, "--quiet", "--save", "m.st")[0] == 0
        assert json.loads(run("evaluate", "m.st", source, "--json")[1])["accuracy"] > 0.5
    assert "--one-based" in run("train", "--help")[1]


@pytest.mark.parametrize("model, words", [("linear", "R² 0.5"), ("poisson", "R² 0.5"), ("residual", "R² 0.")])
def test_models_of_numbers_are_trained_by_name_and_predict_on_the_numbers_own_scale(run, tmp_path, model, words):
    datasets.load_diabetes(as_frame=True).frame.to_csv(tmp_path / "d.csv")
    assert run("train", model, "--data", "d.csv", "--quiet", "--epochs", "20", "--save", "m.st")[0] == 0
    assert run("evaluate", "m.st", "d.csv")[1].startswith(words)


def test_titles_and_digits_are_saved_with_what_makes_numbers_of_them(run):
    for data, model in (("digits", "logreg"), ("names", "lstm"))[:2 if ALL else 1]:
        assert run("train", model, "--data", data, "--epochs", "1", "--quiet", "--save", "m.safetensors")[0] == 0
        source = ROOT / "data" / f"{data}.test"
        code, out, err = run("predict", "m.safetensors", source)
        assert (code, err) == (0, "") and len(out.splitlines()) > 300


@pytest.mark.skipif(not ALL, reason="a minute of training: XMAN_ALL_CASES=1")
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_train_is_within_a_point_of_the_pipeline_of_scikit_learn(name, tmp_path):
    """The mean of five splits; the pipeline has the training and the validation rows."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    getattr(datasets, f"load_{name}")(as_frame=True).frame.to_csv(tmp_path / "x.csv")
    own, theirs = [], []
    for seed in range(5):
        sets = load(tmp_path / "x.csv", seed=seed)
        network = built_in("mlp", sets, seed, {})
        settings = ADAM | defaults_of_tables(len(sets.train[0]), bool(sets.classes))
        result = fit(network, sets.train, validation=sets.valid, seed=seed, progress=False, engine="numpy", **settings)
        X, y = (np.concatenate(parts) for parts in zip(sets.train, sets.valid, strict=True))
        kind = MLPClassifier if sets.classes else MLPRegressor
        pipeline = make_pipeline(StandardScaler(), kind(random_state=seed, max_iter=1000))
        pipeline.fit(X, y if sets.classes else y.ravel())
        found, truth = predict(network, result.parameters, sets.test[0]), sets.test[1].ravel()
        own.append(np.mean(found.argmax(1) == truth) if sets.classes else 1 - np.mean((found[:, 0] - truth) ** 2) / truth.var())
        theirs.append(pipeline.score(sets.test[0], truth))
    print(f"{name}: {np.mean(own):.4f} beside {np.mean(theirs):.4f}")
    assert np.mean(own) >= np.mean(theirs) - 0.01


@pytest.mark.skipif(not ALL, reason="a million rows: XMAN_ALL_CASES=1")
def test_predict_takes_the_same_memory_for_a_hundred_times_the_rows(iris, bare, tmp_path):
    code = ("import resource, sys; sys.argv = ['xman', 'predict', 'iris.safetensors', sys.argv[1], '--out', 'p.csv']\n"
            "from xman.cli import main\ntry: main()\n"
            "except SystemExit: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    peaks = []
    for times in (100, 10_000):
        (tmp_path / "many.csv").write_text("\n".join([iris[0], *iris[1:] * times, ""]))
        words = [sys.executable, "-S", "-c", code, "many.csv"]
        peaks.append(int(subprocess.run(words, env=bare, cwd=tmp_path, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] < peaks[0] + 100_000  # KiB


def table_of_all_kinds(rows, seed=0):
    """Rows as people write them: a price in dollars, a time, a word, a share; and seconds since 1970, which they tell."""
    random, lines = np.random.default_rng(seed), []
    for _ in range(rows):
        price, day, month, hour, word, share = random.integers([900, 1, 1, 0, 0, 0], [99_000, 28, 12, 24, 3, 99]).tolist()
        seconds = 1_700_000_000 + price / 100 + 90 * word + share + random.random()
        lines.append({"price": f"${price:,}", "at": f"{day}.{month}.2023 {hour:02}:30", "share": f"{share} %",
                      "word": ["red", "01", ""][word], "y": f"{seconds:.2f}"})
    return lines


def test_training_evaluation_and_prediction_are_one_path_whatever_holds_the_cells(run, tmp_path):
    pandas, polars, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for part, rows in (("train", 160), ("valid", 30), ("test", 40)):
        pandas.DataFrame(table_of_all_kinds(rows, rows)).to_csv(f"t.csv.{part}", index=False)
    status, out, _ = run("train", "linear", "--data", "t.csv", "--save", "m.safetensors", "--quiet", "--json")
    trained, judgement = json.loads(out), json.loads(run("evaluate", "m.safetensors", "t.csv.test", "--json")[1])
    assert np.isclose(trained["test_error"], judgement["rmse"], rtol=1e-3) and judgement["r2"] > 0.99 and judgement["rmse"] < 10
    lines = table_of_all_kinds(40, 40)
    model, frame = xman.load("m.safetensors"), pandas.read_csv("t.csv.test", dtype=str)
    wanted = model.predict(frame)
    frame.to_json("rows.json", orient="records")
    frame.to_json("rows.jsonl", orient="records", lines=True)
    frame.to_parquet("rows.parquet")
    for name in ("t.csv.test", "rows.json", "rows.jsonl", "rows.parquet"):
        status, out, err = run("predict", "m.safetensors", name)
        assert (status, err) == (0, "") and np.array_equal(np.array(out.split()[1:], float), wanted)
    out = run("predict", "m.safetensors", "-", stdin=(tmp_path / "t.csv.test").read_text())[1]
    assert np.allclose(np.array(out.split()[1:], float), wanted, rtol=1e-12, atol=1e-2)  # products of one row, in float32
    for table in (lines, polars.DataFrame(lines), pa.Table.from_pylist(lines), frame.sample(frac=1.0).loc[range(40)]):
        assert np.array_equal(model.predict(table), wanted)


def test_words_that_training_never_saw_are_counted_and_said(run):
    with open("t.csv", "w") as file:
        file.write("x,sex,y\n" + "".join(f"{k},{'male' if k % 2 else 'female'},{'no' if k % 3 else 'yes'}\n" for k in range(60)))
    with open("n.csv", "w") as file:
        file.write("x,sex,y\n1,Male,no\n2,Male,no\n3,,no\n4,male,no\n")
    run("train", "logreg", "--data", "t.csv", "--save", "m.safetensors", "--quiet", "--epochs", "3")
    for command in ("predict", "evaluate"):
        status, _, err = run(command, "m.safetensors", "n.csv")
        assert status == 0 and "xman: 'sex': 3 cells hold what no training row had" in err
        assert "'Male' (2), an empty cell (1);" in err
    assert run("predict", "m.safetensors", "t.csv")[2] == ""
    with pytest.warns(UserWarning, match="'sex': 1 cell holds .*'Male' .1."):
        xman.load("m.safetensors").predict({"x": [1], "sex": ["Male"]})


def test_standard_input_is_a_table_and_what_cannot_be_written_is_said_before_any_work(run, tmp_path):
    rows = "x,y\n" + "".join(f"{k * 0.5},{'ab'[k % 2]}\n" for k in range(40))
    (tmp_path / "t.csv").write_text(rows)
    options = "--epochs", "2", "--quiet", "--json"
    a, b = (json.loads(run("train", "logreg", "--data", data, *options, stdin=rows)[1]) for data in ("t.csv", "-"))
    assert a["test_loss"] == b["test_loss"]
    status, _, err = run("train", "logreg", "--data", "-", *options, stdin=rows.replace("1.5,b", "1.5,b,c"))
    assert status == 2 and "standard input, row 5: found 3 cells" in err
    for option in ("--save", "--report", "--plot", "--checkpoint"):
        status, _, err = run("train", "logreg", "--data", "nowhere.csv", option, "no/m.png", *options)
        assert status == 2 and "no/m.png cannot be written: there is no folder no; make it first" in err
    run("train", "logreg", "--data", "t.csv", "--save", "m.safetensors", "--checkpoint", "run", "--epochs", "5", "--quiet",
        "--optimizer", "adam")
    assert "no/p.csv cannot be written" in run("predict", "m.safetensors", "t.csv", "--out", "no/p.csv")[2]
    out = run("train", "logreg", "--data", "t.csv", "--checkpoint", "run", "--epochs", "3", "--quiet", "--optimizer", "adam")[1]
    assert "all 3 epochs done: the checkpoint had 5, and nothing was trained" in out


@pytest.fixture
def asked(run, tmp_path):
    """asked(lines) -> (exit status, output, errors) of predictions of these lines, of columns p and q."""
    (tmp_path / "t.csv").write_text("p,q,y\n" + "".join(f"{k % 5},{'uv'[k % 2]},{k % 5 + 10 * (k % 2)}.5\n" for k in range(40)))
    run("train", "linear", "--data", "t.csv", "--l2", "0.1", "--quiet", "--save", "m.safetensors")
    return lambda lines: run("predict", "m.safetensors", "-", stdin=lines)


def test_standard_input_is_json_or_csv(asked):
    csv = asked("p,q\n1,u\n2,v\n3,\n")
    assert csv[0] == 0 and csv[1].count("\n") == 4
    absent = "xman: 'q': 1 row has no such key, which counts as missing\n"
    for lines in ('{"p": 1, "q": "u"}\n{"q": "v", "p": 2}\n\n{"p": 3}\n', '[{"p": 1, "q": "u"},\n{"p": 2, "q": "v"}, {"p": 3}]',
                  '[\n{"p": 1, "q": "u"}, {"p": 2, "q": "v"}, {"p": 3}\n]', '{"p": [1, 2, 3], "q": ["u", "v", null]}',
                  '["p", "q"]\n[1, "u"]\n[2, "v"]\n[3, null]'):
        status, out, err = asked(lines)
        assert (status, out, err.replace(absent, "")) == csv and (absent in err) == ('"p": 3}' in lines)


def test_a_key_that_is_misspelt_in_one_row_is_no_missing_cell(asked, run, tmp_path):
    wrong = "row 2: found the key 'qq', which is no column, and none for 'q'; did you mean 'q'?\n"
    rows = [{"p": 1, "q": "u"}, {"p": 2, "qq": "v"}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert asked(lines) == (2, "y\n" + asked(lines.partition("\n")[0])[1].split()[1] + "\n",
                            "xman: standard input, " + wrong.replace("row", "line"))
    assert asked(json.dumps(rows)) == (2, "", "xman: standard input, " + wrong)
    (tmp_path / "new.jsonl").write_text(lines)
    assert run("predict", "m.safetensors", "new.jsonl") == (2, "", "xman: new.jsonl, " + wrong)
    with pytest.raises(xman.XManError, match="the table, row 2: found the key 'qq'"):
        xman.load("m.safetensors").predict(rows)
    # keys beside all that is wanted are no misspelling, nor those of the table of training
    status, _, err = asked('{"p": 1, "q": "u", "id": 1}\n{"p": 2, "id": 2, "y": 3}\n')
    assert status == 0 and err.startswith("xman: 'q': 1 row has no such key, which counts as missing\n")


def test_a_first_line_of_words_where_numbers_are_wanted_may_be_a_wrong_header(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{k},{2 * k}.5\n" for k in range(40)))
    run("train", "linear", "--data", "t.csv", "--l2", "0.1", "--quiet", "--save", "m.safetensors")
    (tmp_path / "new.csv").write_text("xx\n1\n")
    lacks = "lacks the column 'x'; the model was trained with 'x'; did you mean 'xx'?"
    assert run("predict", "m.safetensors", "new.csv") == (2, "", f"xman: new.csv {lacks}\n")
    wrong = "column 'x': found 'xx', wanted a number; mend the cell, or leave it empty"
    for lines, words in (("xx\n1\n", f"line 1, {wrong}; if this line names columns, none of them is a column of the model"),
                         ("1\nxx\n", f"line 2, {wrong}")):
        assert run("predict", "m.safetensors", "-", stdin=lines)[2] == f"xman: standard input, {words}\n"


def test_infinite_numbers_are_said(asked, run, tmp_path):
    (tmp_path / "new.csv").write_text("p,q,y\n1,u,1\ninf,v,2\n-inf,v,3\n")
    said = "xman: 'p' has 2 infinite numbers, which count as missing\n"
    asked("p,q\n1,u\n")
    assert [run("predict", "m.safetensors", "new.csv", "--out", f"new.{x}")[2] for x in ("csv.csv", "parquet")] == [said] * 2
    assert run("evaluate", "m.safetensors", "new.csv")[2] == said
    assert asked("p,q\n1,u\ninf,v\n")[2] == "xman: 'p' has 1 infinite number, which counts as missing\n"


def test_json_that_is_no_row_is_a_sentence_with_its_line(asked):
    for lines, words in (('{"p": 1}\n', "line 1 lacks the column 'q'"), ('{"p": 1, "q": "u"}\n2,u\n', "line 2: found '2,u"),
                         ('{"p": 1, "q": "u"}\n{"p": "x"}', "line 2, column 'p': found 'x'"),
                         ("[\n{", "standard input: the JSON ends within line 2, before it is complete")):
        status, _, err = asked(lines)
        assert status == 2 and words in err
