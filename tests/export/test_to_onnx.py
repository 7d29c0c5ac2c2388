"""Facts about ONNX files of lists: every operator, gradients, training steps, any number of rows, and what is refused."""

import functools
import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from xman import XManError, eval
from xman.export import to_onnx
from xman.models import LSTM, MLP

sys.path.append(str(Path(__file__).parent))
from lists_to_export import CASES, calls, merged, step_of

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx.reference import ReferenceEvaluator  # noqa: E402

ort.set_default_logger_severity(4)
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
R = np.random.default_rng(7)
LACKING = set("""besselI besselIe besselJ besselK besselKe besselY betainc dawsn eigenvectors eigvalsh ellipe ellipk erfcx expi expm
    gammainc gammaincc lambertw left_vectors pinv right_vectors sqrtm svdvals sylvester""".split())


def runtime(model, optimized=True):
    options = ort.SessionOptions()
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_runtime(model, values):
    return results(model, runtime(model), values)


def results(model, runs, values):
    feeds = {given.name: np.asarray(values[given.name]) for given in model.graph.input}
    with np.errstate(all="ignore"):
        return dict(zip((out.name for out in model.graph.output), runs.run(None, feeds), strict=True))


def assert_agree(found, want, rtol, atol):
    for name, x in found.items():
        x, y = np.asarray(x), np.asarray(want[name])
        assert (x.shape, x.dtype) == (y.shape, y.dtype), name
        np.testing.assert_allclose(x, y, rtol, atol, err_msg=name)


@functools.cache
def exported(dtype):
    """One model of every operator, in float32 of its gradient too, and its list."""
    steps, values, known = merged(dtype, 1 if ALL else 12, LACKING, ALL or dtype == "float32")
    return steps, values, known, to_onnx(steps, values, outputs=[dst for dst, _, _ in steps])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_operator_and_in_float32_its_gradient_gives_the_same_numbers_in_two_runtimes(dtype):
    steps, values, known, model = exported(dtype)
    assert known == set(CASES) - LACKING
    for runs in (runtime(model, ALL), ReferenceEvaluator(model)):
        assert_agree(results(model, runs, values), eval(steps, values), 1e-6, 1e-7 if dtype == "float64" else 2e-6)


@pytest.mark.parametrize("op", sorted(LACKING))
def test_an_operator_that_onnx_lacks_is_named_with_its_line(op):
    ((name, op, args),), values = next(calls(op, "float64"))
    with pytest.raises(XManError, match=rf"^line 2, {name} = {op}\(.*: ONNX has no function for \w+; that cannot be written"):
        to_onnx([("first", "alias", (1.0,)), (name, op, args)], values)


@pytest.mark.parametrize(("model", "X", "y", "optimizer"), [
    (MLP([8, 6, 5, 3], activation="relu"), R.standard_normal((9, 8), np.float32), R.integers(0, 3, 9), "adam"),
    (MLP([8, 6, 3], dtype=float), R.standard_normal((9, 8)), np.eye(9, 3), "momentum"),
    (LSTM(4, 3, 5, steps=1, dtype=float), R.standard_normal((6, 1, 4)), R.integers(0, 5, 6), "sgd")], ids=["relu", "tanh", "LSTM"])
def test_a_training_step_for_any_number_of_rows_learns_the_same_elsewhere(model, X, y, optimizer):
    training, values, outputs = step_of(model, optimizer, X, y, clip=1.0)
    rows = [x for x in model.feed(X, y) if x in values]
    file = to_onnx(training.steps, values, outputs=outputs, rows=rows)
    assert {node.domain for node in file.graph.node} == {""}
    optimized, reference = runtime(file), ReferenceEvaluator(file)
    for n in (1, 40):
        batch = values | {x: np.resize(values[x], (n, *values[x].shape[1:])) for x in rows}
        want, other = eval(training.steps, batch), dict(batch)
        for runs in (reference, optimized):
            assert_agree(results(file, runs, other), want, 2e-6, 1e-6)
        losses = []
        for _ in range(4):  # what comes out goes in again
            found = results(file, optimized, other)
            other |= {x: found[y] for x, y in training.inplace.items()}
            losses.append(float(found["loss"]))
        assert losses[-1] < losses[0]


def test_no_node_is_written_that_no_output_needs():
    graph = to_onnx([("y", "logsumexp", ("a", 1)), ("z", "cumprod", ("a", 0))], {"a": R.random((3, 3))}).graph
    read = {name for node in graph.node for name in node.input} | {out.name for out in graph.output}
    assert [node.op_type for node in graph.node if read.isdisjoint(node.output)] == []


def test_constants_lie_in_the_file_and_equal_ones_once(tmp_path):
    steps = xman.WengertList.from_text("z = dot(X, W)\na = mul(z, 2.5)\nb = add(a, 2.5)\ny = softmax(b)")
    values = {"X": R.standard_normal((4, 3)), "W": R.standard_normal((3, 2))}
    to_onnx(steps, values, tmp_path / "y.onnx", constants=["W"], rows=["X"])
    import onnx
    model = onnx.load(tmp_path / "y.onnx")
    assert [x.name for x in model.graph.input] == ["X"] and [i.name for i in model.graph.initializer][0] == "W"
    assert len(model.graph.initializer) == 2 and [node.op_type for node in model.graph.node] == ["MatMul", "Mul", "Add", "Softmax"]
    assert model.graph.node[0].doc_string == "z = dot(X, W)" and model.graph.node[0].output[0] == "z"
    assert [d.dim_param or d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim] == ["rows", 2]
    assert_agree(in_runtime(model, values), eval(steps, values), 1e-12, 0)


def test_the_softmax_of_a_number_is_one():
    model = to_onnx([("y", "softmax", ("x", -1))], {"x": np.float32(-1.5)})
    assert in_runtime(model, {"x": np.float32(-1.5)})["y"].shape == () and in_runtime(model, {"x": np.float32(-1.5)})["y"] == 1


ROWS = {  # what may depend on the number of rows: a list, and its inputs with any number of them
    "a mean": ("s = mean(x)", "x"), "a variance": ("s = var(x, 0, False, 1)", "x"), "a count": ("s = count(x)\nt = divide(1.0, s)", "x"),
    "a reshape": ("s = reshape(x, (-1,))\nt = cumsum(s, 0)", "x"), "two inputs": ("s = concat(0, x, v)\nt = sum(s, 1)", "xv"),
    "slices": ("s = getitem(x, slice(1, None, 2), 0)\nt = getitem(x, slice(None, -1), slice(None, None, -1))", "x"),
    "an index": ("s = getitem(x, slice(None), k)", "x"), "picked": ("s = scatterAdd(w, x, k)\nt = take(x, k, 0)", "x"),
    "its gradient": ("m = max(x, 0)\ns = scatterAdd(m, x, 0)\nt = unbroadcast(s, w)", "x"), "sorted": ("s = argsort(x, 0)", "x"),
    "rolled": ("s = roll(x, 1, 0)\nt = pad(s, ((1, 0), (0, 2)))", "x"), "flat": ("s = sum(x, 0)\nt = mul(s, 30.0)", "x"),
}


@pytest.mark.parametrize("what", ROWS)
def test_what_a_number_of_rows_does_it_does_for_any_other(what):
    text, rows = ROWS[what]
    steps, rows = xman.WengertList.from_text(text), [*rows]
    values = {"x": R.standard_normal((4, 3)), "v": R.standard_normal((4, 3)), "w": np.ones(3), "k": np.array([1, 0, 1])}
    values = {x: values[x] for x in steps.inputs}
    model = to_onnx(steps, values, outputs=[dst for dst, _, _ in steps], rows=[x for x in rows if x in steps.inputs])
    runs = runtime(model)
    for n in (2, 3, 4, 30):
        given = values | {x: R.standard_normal((n, 3)) for x in rows}
        assert_agree(results(model, runs, given), eval(steps, given), 1e-6, 1e-9)


x, one = np.ones((4, 3)), np.ones((1, 3))
REFUSED = {
    "a square of them": ("t = transpose(x)\nz = dot(x, t)\ns = trace(z)", {"x": x}, {"rows": ["x"]}, "line 3, .*number of rows"),
    "a recurrence over them": ("s = cumprod(x, 0)", {"x": x}, {"rows": ["x"]}, "line 1, .*depends on the number of rows"),
    "no rows": ("s = sum(x)", {"x": x[:0]}, {"rows": ["x"]}, "has to have one"),
    "a number for rows": ("s = exp(x)", {"x": 3.0}, {"rows": ["x"]}, "has to have one; its shape is \\(\\)"),
    "large numbers": ("s = getitem(x, slice(0, 300000))", {"x": x}, {"rows": ["x"]}, "tried with more rows"),
    "a constant with rows": ("s = sum(x)", {"x": x}, {"rows": ["x"], "constants": ["x"]}, "cannot|can be kept"),
    "rows of what is computed": ("s = exp(x)\nt = sum(s)", {"x": x}, {"rows": ["s"]}, "is not an input"),
    "an output that is given": ("s = sum(x)", {"x": x}, {"outputs": ["x"]}, "is an input"),
    "no such output": ("s = sum(x)", {"x": x}, {"outputs": ["q"]}, "does not have"),
    "no value": ("s = mul(x, q)", {"x": x}, {}, "no value for the input 'q'"),
    "a string": ("k = words(s, ('a', 'b'))\nz = add(k, 1)", {"s": np.array(["b", "a"])}, {}, r"line 1, k = words\(s.*: s is array.*of numbers alone"),
    "a list that does not run": ("s = dot(x, x)", {"x": x}, {}, "line 1, s = dot"),
}


def looped(h0, X, W):
    """A recurrent network from the last step to the first, calls, branches, and a loop that ends on a condition."""
    H = xman.scan(lambda h, x: (np.tanh(h @ W + x), np.sin(h)), h0, X, reverse=True)
    z = xman.cond(np.sum(W) > 0, lambda h: np.sin(h) @ W, lambda h: h @ (2 * W), H[0])
    root = xman.while_loop(lambda x: abs(x * x - z[0, 0] ** 2) > 1e-12, lambda x: (x + z[0, 0] ** 2 / x) / 2, 1.0)
    rows = xman.map(lambda row: xman.scan(lambda h, x: (np.sin(h * x), h), 0.5, row)[1], W[:, ::-1])
    return np.sum(z) + np.sum(H[1] ** 2) + xman.call(lambda x: np.sum(np.exp(-x * x)), rows), root


def test_loops_branches_and_calls_are_nodes_with_graphs_inside_for_any_number_of_steps():
    values = {"h0": R.standard_normal((4, 5)), "X": R.standard_normal((6, 4, 5)), "W": R.standard_normal((5, 5)) / 3}
    steps = xman.trace(looped, *values.values())
    loss, root = "looped_0", "looped_1"
    slopes = xman.gradient(steps, loss, ["W", "h0"])
    model = to_onnx(slopes, values, rows=["X"], constants=["W"], outputs=[loss, root, "dlooped_0_dW", "dlooped_0_dh0"])
    assert {"Loop", "If"} < {node.op_type for node in model.graph.node}
    for runs, n in itertools.product((runtime(model), ReferenceEvaluator(model)), (1, 9)):
        other = values | {"X": R.standard_normal((n, 4, 5))}
        assert_agree(results(model, runs, other), eval(slopes, other), 1e-6, 1e-8)
    for wrong, sentence in ((xman.gradient(steps, root, ["W"]), r"line \d+, .* = scan\(.*the number of its steps is computed"),
                            (xman.trace(lambda X: xman.map(xman.f.svdvals, X), values["X"]), "in svdvals_, line 1, .*ONNX has no function for svdvals"),
                            (xman.trace(lambda h0, X: xman.scan(lambda h, y: (h + y, h), h0[:1], X)[1], values["h0"], values["X"]), "broadcast its carry")):
        with pytest.raises(XManError, match=sentence):
            to_onnx(wrong, {x: values[x] for x in wrong.inputs})
    with pytest.raises(XManError, match="a model gives arrays and no bundle"):
        to_onnx(slopes, values, outputs=[slopes[0][0]])


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_exported_is_refused_in_a_sentence(what):
    text, values, options, words = REFUSED[what]
    with pytest.raises(XManError, match=words):
        to_onnx(xman.WengertList.from_text(text), values, **options)


def test_a_sparse_matrix_and_a_file_of_two_gigabytes_are_refused(monkeypatch):
    from scipy import sparse
    with pytest.raises(XManError, match="arrays of numbers alone"):
        to_onnx([("z", "dot", ("S", "x"))], {"S": sparse.csr_array(np.eye(3)), "x": np.ones(3)})
    monkeypatch.setattr(sys.modules["xman.export.to_onnx"], "LARGEST", 100)
    with pytest.raises(XManError, match="a file of ONNX holds 2: leave them inputs"):
        to_onnx([("z", "dot", ("W", "x"))], {"W": np.ones((30, 30)), "x": np.ones(30)}, constants=["W"])


def test_an_operator_of_ones_own_is_written_where_it_is_in_the_language():
    from ops import operator
    try:
        operator("cube", lambda x: x * x * x)
        operator("first", lambda x: float(x[0]), None)
        model = to_onnx([("y", "cube", ("x",))], {"x": np.arange(3.0)})
        assert in_runtime(model, {"x": np.arange(3.0)})["y"].tolist() == [0, 1, 8]
        with pytest.raises(XManError, match=r"line 1, y = first\(x\): "):
            to_onnx([("y", "first", ("x",))], {"x": np.arange(3.0)})
    finally:
        for table, op in itertools.product((ops.G, ops.DG, ops.TG), ("cube", "first")):
            table.pop(op, None)
