"""Facts about xman train on one file: which rows train, choose and judge, and what is fitted in the end."""

import json
import sys

import numpy as np
import pytest

from xman import load
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


def test_what_is_saved_is_the_optimum_on_all_rows_for_the_penalty_that_folds_chose(run):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    words = "train", "logreg", "--data", "iris.csv", "--save", "m.safetensors", "--quiet"
    told, out = json.loads(run(*words, "--json")[1]), run(*words)[1]
    assert told["rows"] == 150 and told["test_rows"] == 30 and len(told["trials"]) == 8
    assert min(told["trials"], key=lambda trial: trial["loss"])["settings"]["l2"] == told["l2"]
    assert out.endswith("then fitted to all 150 rows; the test is of the fit without its own\n")
    X, y = datasets.load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = LogisticRegression(C=1 / (150 * told["l2"]), tol=1e-8, max_iter=10_000).fit(X, y)
    ours = load("m.safetensors").predict_proba(datasets.load_iris().data)
    np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=2e-3)


def test_as_many_epochs_as_were_best_are_taken_with_all_rows(run):
    told = json.loads(run("train", "mlp", "--data", "iris.csv", "--save", "m.safetensors", "--json", "--quiet",
                          "--hidden", "4", "--epochs", "9")[1])
    assert told["rows"] == 150 and load("m.safetensors").settings["history"] == told["history"] and told["best_epoch"] <= 9


@pytest.mark.parametrize("options, rows", [
    (("--test-fraction", "0"), (150, 0)), (("--test-fraction", "0.3"), (150, 45)), (("--validation-fraction", "0.5"), (150, 30)),
    (("--optimizer", "adam", "--epochs", "2", "--validation-fraction", "0"), (150, 30))])
def test_the_shares_of_a_file_are_what_was_said(run, options, rows):
    told = json.loads(run("train", "logreg", "--data", "iris.csv", *options, "--json", "--quiet")[1])
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
    (("--test-fraction", "0.6", "--validation-fraction", "0.4"), "each is at least 0, and both together are below 1"),
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
    out = run("train", "logreg" if target == "word" else "linear", "--data", "t.csv", "--save", "m.safetensors")[1]
    assert "2 rows without a target 'y' left out" in out.lower() and "then fitted to all 60 rows" in out
    code, out, err = run("evaluate", "m.safetensors", "t.csv", "--json")
    assert code == 0 and json.loads(out)["rows"] == 60 and err == "xman: 2 rows without a target 'y' left out\n"
