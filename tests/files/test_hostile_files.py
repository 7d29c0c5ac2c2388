"""A file that anybody may have written: it is refused in a sentence, nothing in it runs, and it cannot take the memory."""
import json
import time

import numpy as np
import pytest

import xman
from ops.loops import values
from xman import XManError
from xman.files import bounds, container

safetensors = pytest.importorskip("safetensors.numpy")

ARRAYS = {"values/W": np.ones((2, 3), np.float32)}
FACTS = {"list": "X = stack(1, a, b)\nz = dot(X, W)\noutputs = softmax(z)", "output": "outputs", "target": "y",
         "columns": [["a", "a", "number", ""], ["b", "b", "number", ""]], "classes": ["x", "y", "z"], "settings": {}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def written(path, arrays=ARRAYS, **changes):
    container.save(path, arrays, FACTS | changes)
    return path


def refusal(path):
    started = time.perf_counter()
    with pytest.raises(XManError) as caught:
        xman.load(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value) and time.perf_counter() - started < 20
    return str(caught.value)


def test_the_file_that_the_others_are_made_of_is_read(path):
    model = xman.load(written(path))
    assert model.outputs({"a": [1.0, 2.0], "b": [0.0, 1.0]}).shape == (2, 3)


def test_a_file_that_is_cut_anywhere_is_refused(path):
    content = written(path).read_bytes()
    for k in [*range(0, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:k])
        assert refusal(path).endswith("train and save it again")


def test_a_file_of_which_any_byte_is_altered_is_refused_or_is_the_same(path):
    content, random = written(path).read_bytes(), np.random.default_rng(0)
    same = xman.load(path)
    for k in random.integers(0, len(content), 60):
        path.write_bytes(content[:k] + bytes([content[k] ^ (1 << int(random.integers(8)))]) + content[k + 1:])
        try:
            model = xman.load(path)
        except XManError:
            continue
        assert str(model.steps) == str(same.steps) and model[2:] == same[2:]  # white space of the header


def test_a_file_of_a_later_version_says_so(path, monkeypatch):
    monkeypatch.setattr(container, "FORMAT", container.FORMAT + 1)
    written(path)
    monkeypatch.undo()
    assert "is of a later version of xman" in refusal(path) and "update xman" in refusal(path)


def test_a_checkpoint_that_predicts_nothing_and_a_file_of_others_are_no_models(path):
    written(path, no_model="the model has no register 'outputs'")
    assert "is a checkpoint from which training goes on, and no model: the model has no register 'outputs'" in refusal(path)
    path.write_bytes(safetensors.save(ARRAYS, {"format": "pt"}))
    assert "no checkpoint or model of xman" in refusal(path)
    path.unlink()
    assert "there is no file" in refusal(path)


CODE = "z = __import__('os').system('touch RAN')"
ENDLESS = ("def test(x):\n    return x\n\ndef step(x):\n    y = abs(x)\n    return y\n\n"
           "b0 = bundle(1.0)\nw = while_loop(test, step, 1, b0)\noutputs = exp(a)")


def stepping(n, before="", step="    h1 = half(h)", more="", results="h1"):
    return (f"def step(h, t{more}):\n{step}\n    return {results}\n\n{before}b0 = bundle(a, {n}{more})\n"
            "s0 = scan(step, 1, 1, b0)\noutputs = item(s0, 0)")


def nested(depth, n):
    """f0 halves, f1 applies f0 twice, f2 applies f1 twice, …"""
    lines = "".join(f"    b{k} = bundle(h, {n})\n    s{k} = scan(f%d, 1, 1, b{k})\n" for k in (1, 2))
    return ("def f0(h, t):\n    h1 = half(h)\n    return h1\n\n" + "".join(
        f"def f{k}(h, t):\n{lines % (k - 1, k - 1)}    h1 = item(s2, 0)\n    return h1\n\n" for k in range(1, depth))
        + f"b0 = bundle(a, {n})\ns0 = scan(f{depth - 1}, 1, 1, b0)\noutputs = item(s0, 0)")


DEEP = "z = dot(a, " + "(" * 5000 + ")" * 5000 + ")"


@pytest.mark.parametrize("text, words", [
    (CODE, "cannot be read"), (DEEP, "cannot be read"), ("z = (lambda: 0)()", "cannot be read"), ("import os", "cannot be read"),
    ("outputs = eval(a)", "'eval', which is not in the table"), ("outputs = add(a, nowhere)", "reads 'nowhere'"),
    ("z = exp(a)", "does not compute 'outputs'"), ("outputs = broadcast(a, (100000, 100000, 1))", "a literal that is too large"),
    ("outputs = characters(a, 9999999999)", "a literal that is too large"), ("outputs = pad(a, 99999999)", "is too large"),
    ("outputs = broadcast(a, (4000, 4000, 1))\nz = outer(outputs, outputs)", "would hold"),
    ("v = reshape(a, (-1,))\noutputs = diag(v, 16777216)", "would hold"),
    ("v = reshape(a, (-1,))\noutputs = diag_back(v, v, -16777216)", "would hold"),
    ("outputs = pad(a, ((0, 16777216), (0, 9)))", "too large"),
    ("z0 = broadcast(a, (9000, 1))\nz1 = mT(z0)\noutputs = floor_divide(z0, z1)", "would hold"),
    ("z0 = exp(a)\n" + "".join(f"z{k} = concat(0, z{k - 1}, z{k - 1})\n" for k in range(1, 60)), "would hold"),
    ("z0 = broadcast(a, (4000, 1))\nz1 = mT(z0)\noutputs = add(z0, z1)\nz2 = outer(outputs, outputs)", "would hold"),
    ("outputs = power(a, 10000000000000000000000000000000)", "has the argument"), ("\n" * 200_000, "at most 100,000 lines"),
    (stepping("9999999"), "run 19,999,998 lines: too many"), (stepping("c", "c = power(10, 12)\n"), "too many"),
    (stepping("9", step="    h1 = broadcast(h, (9999, 9999))"), "line 1 of step has a literal that is too large"),
    (stepping("99", "B = broadcast(a, (4000, 1000))\n", "    h1 = half(h)", ", B", "h1, B, B"), "would hold"),
    (stepping("9", step="    h1 = half(nowhere)"), "nowhere is neither a parameter nor assigned"),
    (stepping("9", step="    h1 = system(h)"), "in the function 'step': line 1, h1 = system(h), calls 'system'"),
    (ENDLESS, "have run 9,000 lines, the last"), (nested(19, 9), "too many"), (nested(30, 1), "more than 20 deep"),
    ("outputs = array([1.0], 'object')", "cannot be read"), ("outputs = add(a, array([1.0], 'O'))", "cannot be read"),
], ids=range(30))
def test_a_list_that_is_none_or_takes_too_much_is_refused(path, tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(values, "RUN", 9_000)
    monkeypatch.setattr(bounds, "ENTRIES", 2 ** 25)
    assert words in refusal(written(path, list=text)) and not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("change", [
    {"list": None}, {"list": 3}, {"columns": 3}, {"columns": [["a"]]}, {"columns": [["a", "a", "pickle", ""]]}, {"classes": 1},
    {"columns": [["a", "a", "array", "999999x999999"]]}, {"output": ["a"]}, {"settings": 4}, {"columns": []},
    {"columns": [["a", "a", "array", ""]]}, {"columns": [["a", "a", "number", "%("], ["b", "b", "number", ""]]}], ids=str)
def test_facts_that_are_none_are_refused(path, change):
    refusal(written(path, **change))


def test_arrays_of_other_types_and_shapes_are_refused(path):
    for W in (np.ones((2, 0), np.float32), np.ones((3, 2)), np.ones(2), np.ones((2, 4))):
        assert "row" in refusal(written(path, {"values/W": W}))


def test_the_metadata_hold_what_the_file_is(path):
    with pytest.importorskip("safetensors").safe_open(str(written(path)), "numpy") as file:
        facts = json.loads(file.metadata()["xman"])
    assert facts.items() >= FACTS.items() and facts["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("text", [
    "rows = reshape(a, (-1, 1))\nz1 = mT(rows)\nz2 = mul(rows, z1)\nz3 = reshape(z2, (-1, 1))\nz4 = mT(z3)\nz5 = add(z3, z4)\n"
    "z6 = sum(z5)\noutputs = mul(rows, z6)",
    "def below(h, end):\n    t = less(h, end)\n    return t\n\ndef step(h, end):\n    h1 = add(h, 1.0)\n    return h1, end\n\n"
    "end = max(a)\nb0 = bundle(0.0, end)\nw = while_loop(below, step, 2, b0)\nz = item(w, 0)\nrows = reshape(a, (-1, 1))\n"
    "outputs = mul(rows, z)"], ids=["rows times rows", "a loop whose end is a cell"])
def test_a_list_that_takes_more_than_its_rows_is_stopped_when_it_runs(path, monkeypatch, text):
    monkeypatch.setattr(bounds, "ENTRIES", 2 ** 20)
    monkeypatch.setattr("xman.files.model.ENTRIES", 2 ** 20)
    monkeypatch.setattr(values, "RUN", 9_000)
    model = xman.load(written(path, list=text, classes=[], values={}))
    assert model.outputs({"a": [1.0], "b": [1.0]}).shape == (1, 1)
    with pytest.raises(XManError, match="it would hold .* numbers for these rows|have run 9,000 lines"):
        model.outputs({"a": np.linspace(1.0, 1e9, 300), "b": np.ones(300)})


def test_an_array_with_nan_is_refused(path):
    assert "its array 'W' holds NaN" in refusal(written(path, {"values/W": np.full((2, 3), np.nan, np.float32)}))
