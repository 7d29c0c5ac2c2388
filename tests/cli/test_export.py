"""Facts about `xman export`."""

import json
import sys

import numpy as np
import pytest

from xman import eval
from xman.cli import main
from xman.files import load
from xman.models import MLP

pytest.importorskip("click")
pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

NET = ("from xman.models import MLP\nclass Net(MLP):\n    def __init__(self):\n"
       "        super().__init__([4, 3, 2], activation='relu')\n")
X = np.array([[1.5, -2.0, 0.5, 3.0], [0.25, 1.0, -1.5, 2.0], [1.0, 1.0, 0.5, -3.5]], np.float32)


@pytest.fixture
def xman(tmp_path, monkeypatch, capsys):
    """xman(*words) -> (exit status, output, errors), in a folder with a list, a model and its data."""
    (tmp_path / "f.wl").write_text("z1 = add(x1, x1)\nz2 = add(z1, x2)\nf = square(z2)\n")
    (tmp_path / "net.py").write_text(NET)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["xman", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()
    return run


def run(path, **values):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, values), strict=True))


def test_a_list_and_its_gradient_become_a_file(xman):
    status, out, _ = xman("export", "f.wl", "x1=3", "x2=7", "--to", "f.onnx", "--wrt", "x1", "--wrt", "x2")
    assert status == 0 and out == ("f.onnx takes x1 () float64, x2 () float64\n"
                                   "f.onnx gives f () float64, df_dx1 () float64, df_dx2 () float64\n")
    assert run("f.onnx", x1=np.array(3.0), x2=np.array(7.0)) == {"f": 169, "df_dx1": 52, "df_dx2": 26}


def test_a_model_brings_its_weights_into_the_file_and_takes_any_number_of_rows(xman):
    status, out, _ = xman("export", "net.py:Net", "X=@X.npy", "--of", "outputs", "--rows", "X", "--to", "p.onnx")
    assert status == 0 and out.startswith("p.onnx takes X (rows, 4) float32\n")
    model = MLP([4, 3, 2], activation="relu")
    want = eval(model.operationSequence(model.outputs), model.inputDict(X=X[:1]))["outputs"]
    np.testing.assert_allclose(run("p.onnx", X=X[:1])["outputs"], want, 1e-5)


def test_its_training_step_takes_the_weights_and_gives_the_next(xman):
    status, out, _ = xman("export", "net.py:Net", "X=@X.npy", "y=[0, 1, 1]", "--step", "momentum", "--rows", "X", "--rows", "y",
                          "--to", "step.onnx")
    assert status == 0 and "W1_velocity (4, 3) float32" in out and "W1_next (4, 3) float32" in out
    values = {**MLP([4, 3, 2], activation="relu").inputDict(X=X[:2], y=np.array([0, 1])), "lr": np.array(0.5, np.float32)}
    values |= {f"{x}_velocity": np.zeros_like(values[x]) for x in ("W1", "b1", "W2", "b2")}
    losses = []
    for _ in range(5):
        found = run("step.onnx", **values)
        values |= {x: found[f"{x}_next"] for x in values if f"{x}_next" in found}
        losses.append(found["loss"])
    assert losses[-1] < losses[0]


def test_a_file_of_onnx_is_a_list_for_all_commands(xman):
    xman("export", "net.py:Net", "X=@X.npy", "--of", "outputs", "--rows", "X", "--to", "p.onnx")
    status, out, _ = xman("show", "p.onnx")
    assert status == 0 and out.splitlines()[0].startswith("z1 = dot(X, W1)")
    status, out, err = xman("eval", "p.onnx", "X=@X.npy")
    model = MLP([4, 3, 2], activation="relu")
    want = eval(model.operationSequence(model.outputs), model.inputDict(X=X))["outputs"]
    assert status == 0 and np.allclose(json.loads(out.partition(" = ")[2]), want, 1e-5)
    (status, _, err), words = xman("eval", "net.onnx"), "net.onnx cannot be read: No such file or directory"
    assert status == 2 and words in err


@pytest.mark.filterwarnings("ignore:.*no training row had")
def test_a_trained_table_needs_no_examples_and_says_what_its_inputs_are(xman, tmp_path):
    rows = "".join(f"{k % 7},{'ab'[k % 2]},2023-0{k % 9 + 1}-11,{'uv'[k % 2]}\n" for k in range(60))
    (tmp_path / "t.csv").write_text("a b,c,day,y\n" + rows)
    xman("train", "logreg", "--data", "t.csv", "--epochs", "3", "--save", "m.safetensors", "--quiet")
    status, out, _ = xman("export", "m.safetensors", "--to", "m.onnx")
    assert status == 0 and "takes a_b (rows) float64, day (rows) float64, c (rows) string\n" in out
    assert "gives outputs (rows, 2) float32\n" in out
    assert "a_b: 'a b', a number" in out
    assert "c: 'c', a string" in out and "day: days since 1970 of 'day', NaN where missing" in out
    values = {"a_b": np.array([3.0, np.nan]), "day": np.array([19369.0, np.nan]), "c": np.array(["b", "never seen"], object)}
    got = run("m.onnx", **values)["outputs"]
    want = load("m.safetensors").outputs({"a b": [3.0, None], "day": ["2023-01-12", None], "c": ["b", "never seen"]})
    np.testing.assert_allclose(got, want, 1e-6)
    status, out, _ = xman("export", "m.safetensors", "--to", "m.stablehlo")
    assert status == 0 and "c: the place of 'c' in ('a', 'b'), and 2 for others" in out


@pytest.mark.parametrize(("words", "said"), [
    (("--to", "f.pb"), "the ending says the format; there are .onnx, .stablehlo"),
    (("--to", "nowhere/f.onnx"), "nowhere/f.onnx cannot be written: there is no folder nowhere"),
    (("--to", "f.onnx", "--rows", "x1"), "x1 is an example of any number of rows"),
    (("--to", "f.onnx", "--constant", "q"), "constants names 'q'"),
    ((), "--to FILE.onnx|FILE.stablehlo|FILE.c is missing")])
def test_what_cannot_be_is_told_in_a_sentence(xman, words, said, tmp_path):
    status, out, err = xman("export", "f.wl", "x1=3", "x2=7", *words)
    assert status == 2 and said in err and err.count("\n") == 1 and not list(tmp_path.glob("*.onnx*"))
