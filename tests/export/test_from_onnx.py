"""Facts about ONNX files that become lists: what was exported comes back, what others write is read, hostile files are refused."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from xman import WengertList, XManError, eval, gradient, trace
from xman.export import from_onnx, to_onnx
from xman.export.from_onnx import READ
from xman.models import MLP

sys.path.append(str(Path(__file__).parent))
import test_array_api
from lists_to_export import CASES, step_of
from test_to_onnx import LACKING, ROWS, assert_agree, exported, looped

onnx = pytest.importorskip("onnx")
from onnx.reference import ReferenceEvaluator  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT, INT, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
R = np.random.default_rng(9)


@pytest.mark.parametrize("dtype", ["float32", "float64"] if ALL else ["float64"])
def test_every_operator_comes_back(dtype):
    steps, values, _, model = exported(dtype)
    outputs = [dst for dst, _, _ in steps]
    read, want = from_onnx(model.SerializeToString()), eval(steps, values)
    found = eval(read.steps, {**read.values, **values})
    assert set(read.outputs) == set(outputs)
    assert_agree({x: found[x] for x in outputs}, want, 1e-6, 1e-7 if dtype == "float64" else 2e-6)


def test_the_manual_counts_what_onnx_the_array_api_and_jax_have():
    onnx_has, standard, jax = (len(CASES) - len(lacking) for lacking in (LACKING, test_array_api.LACKING, test_array_api.NOT_IN_JAX))
    manual = (Path(__file__).parents[2] / "docs" / "lists.md").read_text(encoding="utf-8")
    assert f"ONNX has {onnx_has} of the operators, the array API {standard}, JAX {jax};" in manual


def test_a_training_step_for_any_number_of_rows_comes_back_as_one(tmp_path):
    X, y = R.standard_normal((9, 8), np.float32), R.integers(0, 3, 9)
    training, values, outputs = step_of(MLP([8, 6, 3], activation="relu"), "adam", X, y, clip=1.0)
    to_onnx(training.steps, values, tmp_path / "step.onnx", outputs=outputs, rows=["X", "y"])
    steps, constants, names = from_onnx(tmp_path / "step.onnx")
    assert set(names) == set(outputs) and not constants and set(steps.inputs) == set(training.steps.inputs)
    assert str(WengertList.from_text(str(steps))) == str(steps)
    for n in (1, 2, 50):
        batch = values | {"X": np.resize(X, (n, 8)), "y": np.resize(y, n)}
        found, want = eval(steps, batch), eval(training.steps, batch)
        assert_agree({x: found[x] for x in outputs}, want, 2e-6, 1e-6)


@pytest.mark.parametrize("what", ["a mean", "a variance", "a reshape", "two inputs", "slices", "an index", "sorted", "flat"])
def test_a_list_for_any_number_of_rows_comes_back_as_one(what):
    text, rows = ROWS[what]
    steps = WengertList.from_text(text)
    values = {"x": R.standard_normal((4, 3)), "v": R.standard_normal((4, 3)), "w": np.ones(3), "k": np.array([1, 0, 1])}
    values = {x: values[x] for x in steps.inputs}
    outputs = [dst for dst, _, _ in steps]
    try:
        read = from_onnx(to_onnx(steps, values, outputs=outputs, rows=[*rows]))
    except XManError as error:
        assert what == "sorted" and "read the model for one number of rows, with sizes=" in str(error)
        return
    for n in (2, 30):
        given = values | {x: R.standard_normal((n, 3)) for x in rows}
        found = eval(read.steps, given)
        assert_agree({x: found[x] for x in outputs}, eval(steps, given), 1e-9, 1e-12)


def is_readable(node):
    """Whether the operator is read, or ONNX defines it by others."""
    schema = onnx.defs.get_schema(node.op_type, node.domain)
    return node.op_type in READ or node.op_type != "SequenceMap" and (schema.has_function or schema.has_context_dependent_function)


@pytest.mark.skipif(not ALL, reason="a thousand models")
@pytest.mark.filterwarnings("ignore")
def test_of_the_cases_of_onnx_itself_all_are_right_or_refused_in_a_sentence():
    from onnx.backend.test.case.node import collect_testcases
    right, array = 0, lambda a: numpy_helper.to_array(a) if isinstance(a, onnx.TensorProto) else np.asarray(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if all(map(is_readable, case.model.graph.node))
                 and not case.name.startswith("test_swiglu_float16")]  # of float16 SciPy's sigmoid is float64
    for case in cases:
        (inputs, want), = case.data_sets
        named = {x.name: array(a) for x, a in zip(case.model.graph.input, inputs, strict=False)}
        try:
            try:
                steps, values, outputs = from_onnx(case.model)
            except XManError as error:
                if "come from the model's inputs" not in str(error):
                    raise
                kept = [*named][len(named) > 1:]  # axes and lengths, which other tools write into the file
                case.model.graph.initializer.extend(numpy_helper.from_array(named[x], x) for x in kept)
                steps, values, outputs = from_onnx(case.model)
        except XManError as error:
            assert "\n" not in str(error) and len(str(error)) < 400
            continue
        given = {r: a for x, a in named.items() for r in steps.inputs if r in (x, f"x_{x}", x.rstrip("_"), f"{x}_")}
        found, rounded = eval(steps, {**values, **given}), case.name.endswith("last_window_starts_on_pad")  # to four digits
        assert_agree({x: found[x] for x in outputs}, dict(zip(outputs, map(array, want), strict=True)), 1e-3 if rounded else 1e-4, 1e-5)
        right += 1
    assert right > 1200


def model_of(*nodes, inputs=(("x", FLOAT, ("n", 4)),), constants=(), outputs=("y",), opset=17, domains=()):
    """A model as other tools write them."""
    graph = helper.make_graph([*nodes], "g", [helper.make_tensor_value_info(*given) for given in inputs],
                              [helper.make_tensor_value_info(y, FLOAT, []) for y in outputs],
                              [numpy_helper.from_array(np.asarray(a), name) for name, a in constants])
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid(name, opset) for name in ("", *domains)])


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def test_a_perceptron_as_other_tools_write_it_becomes_a_short_list_with_gradients():
    W, b = R.standard_normal((2, 3, 4), np.float32), R.standard_normal((2, 3), np.float32)
    V = R.standard_normal((3, 3), np.float32)
    model = model_of(node("Gemm", ["x", "fc1.weight", "fc1.bias"], "/fc1/Gemm_output_0", transB=1),
                     node("Relu", ["/fc1/Gemm_output_0"], "/Relu_output_0"),
                     node("MatMul", ["/Relu_output_0", "out"], "logits"), node("Add", ["logits", "shift"], "l2"),
                     node("Softmax", ["l2"], "y", axis=1),
                     constants=[("fc1.weight", W[0]), ("fc1.bias", b[0]), ("out", V), ("shift", np.float32(0.5))])
    steps, values, outputs = from_onnx(model)
    assert repr(steps).splitlines()[-5:] == ["fc1_Gemm_output_0 = add(z2, fc1_bias)".replace("fc1_G", "_fc1_G"),
                                            "_Relu_output_0 = relu(_fc1_Gemm_output_0)", "logits = dot(_Relu_output_0, out)",
                                            "l2 = add(logits, 0.5)", "y = softmax(l2, 1)"]
    x = R.standard_normal((5, 4), np.float32)
    h = np.maximum(x @ W[0].T + b[0], 0) @ V + np.float32(0.5)
    np.testing.assert_allclose(eval(steps, {**values, "x": x})["y"], np.exp(h) / np.exp(h).sum(1, keepdims=True), 1e-4)
    steps = gradient([*steps, ("s", "getitem", ("y", slice(None), 0)), ("loss", "sum", ("s",))], "loss", ["fc1_weight"])
    assert eval(steps, {**values, "x": x})["dloss_dfc1_weight"].shape == (3, 4)


def test_shapes_that_are_computed_from_the_number_of_rows_are_understood():
    model = model_of(node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n"), node("Unsqueeze", ["n", "axes"], "n1"),
                     node("Concat", ["n1", "two"], "target", axis=0), node("Reshape", ["x", "target"], "r"),
                     node("ReduceMean", ["r"], "m", axes=[2], keepdims=0), node("Flatten", ["m"], "y"),
                     constants=[("zero", 0), ("axes", [0]), ("two", [2, 2])])
    steps, values, outputs = from_onnx(model)
    for n in (1, 7):
        x = R.standard_normal((n, 4), np.float32)
        np.testing.assert_allclose(eval(steps, {**values, "x": x})["y"], x.reshape(n, 2, 2).mean(2), 1e-5)


@pytest.mark.parametrize(("op", "more", "attributes", "opset"), [
    ("Mish", 0, {}, 18), ("Celu", 0, {}, 13), ("ThresholdedRelu", 0, {}, 18), ("Swish", 0, {}, 24),
    ("MeanVarianceNormalization", 0, {}, 13), ("GroupNormalization", 2, {"num_groups": 2}, 21),
    ("RMSNormalization", 1, {"axis": 1}, 23), ("Attention", 2, {"is_causal": 1}, 24),
    # what has no definition in older versions
    ("HardSwish", 0, {}, 14), ("Softsign", 0, {}, 13), ("PRelu", 1, {}, 13), ("Selu", 0, {}, 13),
    ("HardSigmoid", 0, {"beta": 0.4}, 13), ("ReduceL1", 0, {}, 13), ("ReduceLogSum", 0, {}, 13)])
def test_an_operator_that_onnx_defines_by_others_is_read_in_old_versions_and_new(op, more, attributes, opset):
    shape = (2, 4, 3, 5)
    arrays = {"x": R.random(shape, np.float32) - (op != "ReduceLogSum")}
    sizes = {"GroupNormalization": (4,), "RMSNormalization": shape[1:], "Attention": shape, "PRelu": (5,)}
    arrays |= {f"w{k}": R.random(sizes[op], np.float32) for k in range(more)}
    model = model_of(node(op, [*arrays], "y", **attributes), inputs=[(x, FLOAT, a.shape) for x, a in arrays.items()], opset=opset)
    text = str(model)
    steps, values, (y,) = from_onnx(model)
    assert str(model) == text
    want, = ReferenceEvaluator(model).run(None, arrays)
    np.testing.assert_allclose(eval(steps, {**values, **arrays})[y], want, 1e-5, 1e-6)


def test_an_operator_in_a_loop_is_read_by_its_definition_too():
    read = from_onnx(loop_of(body_of(node("Mish", ["h"], "h1"), GO, outputs=["go", "h1"]), outputs=["y"], opset=18))
    x = np.ones(3, np.float32)
    want = x * np.tanh(np.log1p(np.exp(x)))
    np.testing.assert_allclose(eval(read.steps, {**read.values, "x": x, "m": np.int64(1)})["y"], want, 1e-6)


def test_names_that_no_register_can_have_are_changed_and_stay_apart():
    model = model_of(node("Exp", ["a.b"], "a/b"), node("Neg", ["a/b"], "a b"), node("Abs", ["a b"], "lambda"),
                     node("Sqrt", ["lambda"], "__import__('os').system('true')"), inputs=[("a.b", FLOAT, (2,))],
                     outputs=["__import__('os').system('true')"])
    steps, values, (y,) = from_onnx(model)
    assert WengertList.from_text(str(steps)) == steps and y.isidentifier() and len({*steps.inputs, *(d for d, _, _ in steps)}) == 5


def test_loops_branches_and_their_gradients_come_back_as_lines_that_apply_functions():
    values = {"h0": R.standard_normal((4, 5)), "X": R.standard_normal((6, 4, 5)), "W": R.standard_normal((5, 5)) / 3}
    slopes = gradient(trace(looped, *values.values()), "looped_0", ["W", "h0"])
    outputs = ["looped_0", "looped_1", "dlooped_0_dW", "dlooped_0_dh0"]
    read = from_onnx(to_onnx(slopes, values, outputs=outputs, rows=["X"]))
    assert {"scan", "while_loop", "cond"} < {op for _, op, _ in read.steps}
    assert str(WengertList.from_text(str(read.steps))) == str(read.steps)
    for n in (6, 1, 9):
        values["X"] = R.standard_normal((n, 4, 5))
        found, want = eval(read.steps, read.values | values), eval(slopes, values)
        assert_agree({x: found[x] for x in outputs}, {x: want[x] for x in outputs}, 1e-14, 1e-15)


def body_of(*nodes, outputs, constants=(), inputs=(("i", INT, ()), ("on", BOOL, ()), ("h", FLOAT, (3,)))):
    return model_of(*nodes, inputs=inputs, constants=constants, outputs=outputs).graph


ADD, GO = node("Add", ["h", "w"], "h1"), node("Identity", ["on"], "go")
UNTIL = [node("ReduceSum", ["h1"], "s", keepdims=0), node("Less", ["s", "ten"], "go")]


def loop_of(body, given=("m", "", "x"), outputs=("y", "all"), op="Loop", opset=17, **named):
    return model_of(helper.make_node(op, given, [*outputs], body=body, **named), inputs=[big, ("m", INT, ())][:1 + ("m" in given)],
                    constants=[("w", np.ones(3, np.float32)), ("ten", np.float32(10.0))], outputs=outputs, opset=opset)


def test_loops_of_other_tools_take_their_number_of_steps_and_end_on_conditions():
    x, w = np.zeros(3, np.float32), np.ones(3, np.float32)
    counted = from_onnx(loop_of(body_of(ADD, GO, outputs=["go", "h1", "h1"])))
    for n in (1, 4):
        y, stacked = (eval(counted.steps, {**counted.values, "x": x, "m": np.int64(n)})[name] for name in counted.outputs)
        assert np.array_equal(y, n * w) and np.array_equal(stacked, np.outer(1 + np.arange(n), w)) and stacked.dtype == np.float32
    ended = from_onnx(loop_of(body_of(ADD, *UNTIL, outputs=["go", "h1"]), outputs=["y"]))
    for n, steps in ((2, 2), (50, 4)):
        assert np.array_equal(eval(ended.steps, {**ended.values, "x": x, "m": np.int64(n)})["y"], steps * w)
    inputs = [("h", FLOAT, ()), ("a", FLOAT, ())]
    scan = body_of(node("Sub", ["a", "h"], "h1"), inputs=inputs, outputs=["h1", "h1"])
    back = from_onnx(loop_of(scan, ("ten", "x"), op="Scan", num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1]))
    assert eval(back.steps, {"x": np.array([1, 2, 3], np.float32)})["all"].tolist() == [-8.0, 9.0, -7.0]


big, sub = ("x", FLOAT, (3,)), helper.make_graph([], "none", [], [])
deep = body_of(ADD, GO, outputs=["go", "h1"])
for _ in range(9):
    deep = body_of(helper.make_node("Loop", ["", "on", "h"], ["h1"], body=deep), GO, outputs=["go", "h1"])
WINDS = [helper.make_function("", f"Wind{k}", ["x"], ["y"], [node(f"Wind{k - 1}", ["x"], "z"), node(f"Wind{k - 1}", ["z"], "y")]
                              if k else [node("Neg", ["x"], "y")], [helper.make_opsetid("", 17)]) for k in range(60)]
HOSTILE = {
    "functions that grow": (onnx.helper.make_model(model_of(node("Wind59", ["x"], "y")).graph, functions=WINDS, ir_version=8,
                                                   opset_imports=[helper.make_opsetid("", 17)]), "is not among|no model of ONNX"),
    "no model": (b"\x00\xffnothing", "no model of ONNX, or is damaged"), "nothing": (b"", "no model of ONNX"),
    "no such file": ("/nowhere/at/all.onnx".replace("/nowhere", "nowhere"), "cannot be read: No such file"),
    "an operator": (model_of(node("Resize", ["x", "x"], "y")), "the node Resize that gives 'y': that operator is not among the"),
    "many windows": (model_of(node("MaxPool", ["x"], "y", kernel_shape=[5_000]), inputs=[("x", FLOAT, (1, 1, 100_000))]), "entries is more"),
    "a wide window": (model_of(node("MaxPool", ["x"], "y", kernel_shape=[9]), inputs=[("x", FLOAT, (1, 1, 4))]), "MaxPool .* cannot be read"),
    "another domain": (model_of(node("Abs", ["x"], "y", domain="evil"), domains=["evil"]), "of evil is not among"),
    "a branch": (model_of(node("If", ["x"], "y", then_branch=sub, else_branch=sub)), "the node If that gives 'y': of its results the first 0"),
    "a loop without an end": (loop_of(body_of(ADD, GO, outputs=["go", "h1"]), ("", "", "x"), ["y"]), "the node Loop that gives 'y': it has no end"),
    "a loop that ends and stacks": (loop_of(body_of(ADD, *UNTIL, outputs=["go", "h1", "h1"])), "node Loop .*it stacks what .* a list has one or"),
    "a carry that grows": (loop_of(body_of(node("Concat", ["h", "h"], "h1", axis=0), GO, outputs=["go", "h1"]), outputs=["y"]), r"carry of shape \(3,\)"),
    "a deep loop": (loop_of(deep, outputs=["y"]), "graphs lie in one another, deeper than 8"),
    "a scan to and fro": (loop_of(sub, ("x", "x"), op="Scan", num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[0]), "node Scan.* all of them one"),
    "much memory": (model_of(node("Expand", ["x", "s"], "y"), inputs=[big], constants=[("s", [2 ** 40, 3])]), "entries is more than"),
    "much by a product": (model_of(node("Mul", ["x", "w"], "y"), inputs=[("x", FLOAT, (100_000, 1)), ("w", FLOAT, (1, 100_000))]),
                          "10,000,000,000 entries is more"),
    "a large input": (model_of(node("Abs", ["x"], "y"), inputs=[("x", FLOAT, (10 ** 6, 10 ** 6))]), "entries is more than"),
    "a range": (model_of(node("Range", ["a", "b", "c"], "y"), inputs=[], constants=[("a", 0), ("b", 10 ** 15), ("c", 1)]), "entries"),
    "zeros": (model_of(node("ConstantOfShape", ["s"], "y"), inputs=[], constants=[("s", [10 ** 6, 10 ** 6])]), "entries"),
    "a rim": (model_of(node("Pad", ["x", "s"], "y"), inputs=[big], constants=[("s", [10 ** 12, 0])]), "entries"),
    "doubling": (model_of(*[node("Concat", [f"x{k}" if k else "x"] * 2, f"x{k + 1}" if k < 59 else "y", axis=0) for k in range(60)],
                          inputs=[big]), "98,304 entries is more than the 65,536"),
    "a depth": (model_of(node("OneHot", ["k", "d", "v"], "y"), inputs=[("k", INT, (3,))], constants=[
        ("d", 10 ** 12), ("v", [0.0, 1.0])]), "entries"),
    "a bad shape": (model_of(node("MatMul", ["x", "x"], "y"), inputs=[big], outputs=["y"]).SerializeToString()[:-9], "damaged|cannot"),
    "shapes that do not fit": (model_of(node("MatMul", ["x", "x"], "y"), inputs=[("x", FLOAT, (3, 4))]), "the node MatMul .* cannot be read"),
    "an unknown attribute": (model_of(node("Abs", ["x"], "y", colour="red")), "node Abs|no model"),
    "two open lengths": (model_of(node("Abs", ["x"], "y"), inputs=[("x", FLOAT, ("n", "m"))]), "2 lengths open, n, m: .*sizes={'m': 10}"),
    "a string": (model_of(node("Identity", ["x"], "y"), inputs=[("x", onnx.TensorProto.STRING, (2,))]), "no array of numbers"),
    "an old version": (model_of(node("Softmax", ["x"], "y"), opset=11), "opset 11, and LogSoftmax, Softmax have changed"),
    "rows in a table": (model_of(node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "n"), node("Range", ["zero", "n", "one"], "r"),
                                 node("Cast", ["r"], "c", to=FLOAT), node("Add", ["x", "c"], "y"), inputs=[("x", FLOAT, ("n",))],
                                 constants=[("zero", 0), ("one", 1)]), "one number of rows, with sizes="),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_damaged_or_hostile_is_refused_in_a_sentence(what, monkeypatch):
    source, words = HOSTILE[what]
    if what == "doubling":  # else half a gigabyte is written
        monkeypatch.setattr("xman.export.meanings.MOST", 2 ** 16)
    with pytest.raises(XManError, match=words) as caught:
        from_onnx(source)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_an_array_in_another_file_is_not_opened(tmp_path):
    (tmp_path / "secret").write_bytes(np.ones(4, np.float32).tobytes())
    model = model_of(node("Add", ["x", "w"], "y"), constants=[("w", np.ones(4, np.float32))])
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=str(tmp_path / "secret"))
    with pytest.raises(XManError, match="in (other files|another file), which|no model of ONNX"):
        from_onnx(model)


def test_a_chain_of_two_thousand_nodes_is_read():
    nodes = [node("Neg", [f"x{k}" if k else "x"], f"x{k + 1}" if k < 1_999 else "y") for k in range(2_000)]
    steps, _, _ = from_onnx(model_of(*nodes, inputs=[big]))
    assert len(steps) == 2_000
