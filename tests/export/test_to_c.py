"""Facts about lists as C: every operator with a formula, gradients, loops, training steps, and what is refused.

XMAN_ALL_CASES=1 takes each operator in both precisions; otherwise half of them in each.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import ops
from xman import WengertList, XManError, cond, eval, gradient, scan, trace, while_loop
from xman.engines.c.function import ascii_name
from xman.export import to_c
from xman.models import MLP

sys.path.append(str(Path(__file__).parent))
from lists_to_export import CASES, calls, step_of

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
ALL = bool(os.environ.get("XMAN_ALL_CASES"))
R = np.random.default_rng(3)
EMPTY_ALONE = {"prod", "logsumexp", "crossEntropy", "norm", "squaredNorm", "softmaxCrossEntropy", "prod_of_others"}  # arrays without entries
STRICT = "-std=c99 -O1 -Wall -Wextra -Werror -pedantic -fPIC -shared".split()


def compiled(folder, steps, values, **options):
    """A function that runs the list's C with other values, and gives its outputs, or the number 1."""
    source, header = to_c(steps, values, folder / "list.c", **options)
    assert "malloc" not in source
    library = folder / f"list{len([*folder.iterdir()])}.so"  # a name of its own: the system remembers libraries
    subprocess.run(["gcc", *STRICT, "list.c", "-o", library, "-lm"], cwd=folder, check=True)
    outputs, inplace = options.get("outputs") or WengertList(steps).outputs, options.get("inplace", {})
    want = eval(steps, values)
    inputs = [x for x in WengertList(steps).inputs if x not in options.get("constants", ()) and f"_{ascii_name(x)}:" in header]

    types = re.findall(r"(\w+) \*", header.rpartition("_run(")[2])
    wanted = [np.asarray(a).dtype.name for a in (*(values[x] for x in inputs), *(want[y] for y in outputs))]
    got = [{"float": "float32", "double": "float64"}.get(T, T.removesuffix("_t")) for T in types]
    assert got == wanted, [(n, a, b) for n, a, b in zip([*inputs, *outputs], got, wanted, strict=False) if a != b]

    def run(**changed):
        arrays = [np.array(changed.get(x, values[x]), np.asarray(values[x]).dtype, order="C") for x in inputs]
        results = [np.full(np.shape(want[y]), 77, np.asarray(want[y]).dtype) for y in outputs]
        call = ctypes.CDLL(str(library)).list_run
        refused = call(*[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *results)])
        overwritten = {y: arrays[inputs.index(x)] for x, y in inplace.items()}
        return refused or dict(zip(outputs, results, strict=True)) | overwritten
    return run


def assert_agree(got, want, rtol=1e-12, atol=1e-12):
    for name, x in got.items():
        np.testing.assert_allclose(x, want[name], rtol, atol, err_msg=name)


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
def test_every_operator_that_loops_compute_gives_the_same_numbers_in_c_as_its_gradient_does(tmp_path, dtype, rtol):
    tried = sorted(CASES) if ALL else sorted(CASES)[dtype == "float32"::2]
    accepted, refused = [], set()
    for op in tried:
        for k, (steps, values) in enumerate(calls(op, dtype, 12)):
            own = lambda a, k=k, op=op: f"{a}_{op}_{k}" if isinstance(a, str) else a
            lines = [(own(dst), name, tuple(map(own, args))) for dst, name, args in steps]
            try:
                to_c(lines, inputs := {own(x): a for x, a in values.items()}, outputs=[dst for dst, *_ in lines])
                accepted.append((lines, inputs))
            except XManError as error:
                assert str(error).startswith("line ")
                refused.add(op)
    assert {op for op in refused if ops.facts_of(op).formula} <= EMPTY_ALONE
    assert len(tried) - len(refused) > 0.75 * len(tried)
    groups = [accepted[k:k + 60] for k in range(0, len(accepted), 60)]
    while groups:
        group = groups.pop()
        steps, values = [line for lines, _ in group for line in lines], {x: a for _, inputs in group for x, a in inputs.items()}
        want = eval(steps, values)
        outputs = [dst for dst, *_ in steps if not isinstance(want[dst], ops.Bundle)]
        try:
            run = compiled(tmp_path, steps, values, outputs=outputs)
        except XManError:  # lists of several precisions are not simplified
            assert len(group) > 1
            groups += [group[::2], group[1::2]]
        else:
            assert_agree(run(), want, rtol, rtol)


def test_a_training_step_in_c_goes_down_the_loss_curve_of_eval(tmp_path):
    X, y = R.standard_normal((16, 6)).astype(np.float32), R.integers(0, 3, 16)
    training, values, _ = step_of(MLP([6, 5, 3]), "adam", X, y)
    run = compiled(tmp_path, training.steps, values, outputs=["loss"], inplace=training.inplace)
    curves = [], []
    for t in range(1, 8):
        here, there = eval(training.steps, {**values, "t": np.float32(t)}), run(**{**values, "t": np.float32(t)})
        curves[0].append(float(here["loss"]))
        curves[1].append(float(there["loss"]))
        values = values | {x: there[y] for x, y in training.inplace.items()}
    np.testing.assert_allclose(*curves, 1e-5)
    assert curves[0][-1] < curves[0][0]


LOOPS = {
    "a scan": (lambda x, w: scan(lambda c, a: (np.tanh(c * w + a), c * a), w, x)[1], 1),
    "a scan that ends with its carry": (lambda x, w: scan(lambda c, a: (np.sin(c) + a @ x[0], None), w, x)[0], 1),
    "a while loop": (lambda x, w: while_loop(lambda c: np.sum(c) < 100.0, lambda c: c * 1.5 + 0.1, np.abs(w) + 1.0), 0),
    "a branch": (lambda x, w: cond(x[0, 0] > 0.0, lambda a: np.exp(a), lambda a: a * 2.0, w), 1)}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_branches_are_loops_and_branches_in_c(tmp_path, name):
    function, differentiable = LOOPS[name]
    values = {"x": R.standard_normal((5, 3)), "w": R.standard_normal(3)}
    steps = trace(lambda x, w: np.sum(function(x, w) ** 2.0), *values.values())
    steps = gradient(steps, *steps.outputs, ["x", "w"]) if differentiable else steps
    run = compiled(tmp_path, steps, values, outputs=steps.outputs)
    for _ in range(3):
        other = {x: R.standard_normal(a.shape) for x, a in values.items()}
        assert_agree(run(**other), eval(steps, other))
    assert "for (" in (tmp_path / "list.c").read_text() or name == "a branch"


# the arrays go into the memory of the module, and come back when the function has run
NODE = """const fs = require("fs"), arrays = JSON.parse(fs.readFileSync("arrays.json"));
const {exports: wasm} = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync("list.wasm")), {});
wasm._initialize();
const places = arrays.map(a => wasm.malloc(8 * a.length)), view = k => new Float64Array(wasm.memory.buffer, places[k], arrays[k].length);
arrays.forEach((a, k) => view(k).set(a));
const refused = wasm.list_run(...places);
console.log(JSON.stringify([refused, ...arrays.map((_, k) => [...view(k)])]));"""


@pytest.mark.skipif(not (find_spec("ziglang") and shutil.which("node")), reason="there is no ziglang, or no Node")
def test_a_training_step_gives_the_same_numbers_as_webassembly_in_node(tmp_path):
    training, values, _ = step_of(MLP([6, 5, 3], dtype=np.float64), "adam", R.standard_normal((4, 6)), np.eye(3)[[0, 1, 2, 1]])
    _, header = to_c(training.steps, values, tmp_path / "list.c", outputs=["loss"], inplace=training.inplace)
    names = re.findall(r"(?:in|io|out)_\w+: \(.*\), (\w+)", header)
    arrays = [np.ravel(values.get(name, 0.0)).tolist() for name in names]
    (tmp_path / "arrays.json").write_text(json.dumps(arrays))
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi", "-mexec-model=reactor"]
    subprocess.run([*zig, *STRICT[:-2], "-Wl,--export=list_run,--export=malloc", "list.c", "-o", "list.wasm"], cwd=tmp_path, check=True)
    refused, *after = json.loads(subprocess.check_output(["node", "-e", NODE], cwd=tmp_path))
    want = eval(training.steps, values)
    assert refused == 0
    for name, numbers in zip(names, after, strict=True):
        np.testing.assert_allclose(numbers, np.ravel(want[training.inplace.get(name, name)]), 1e-12, 1e-12, err_msg=name)


NAMES = "double restrict expf main NAN i1 v1 c0 step1 größe x_ linux in_x unsigned".split()


def test_a_register_may_have_the_name_of_anything_in_c(tmp_path):
    steps = [("sum_of", "stack", (0, *NAMES)), ("_Bool", "square", ("sum_of",)), ("long", "sum", ("_Bool",))]
    values = {x: R.standard_normal() for x in NAMES}
    assert_agree(compiled(tmp_path, steps, values, outputs=["long", "_Bool"])(), eval(steps, values))
    for stem in ("int", "9 lives", "é* ", "…"):
        source, header = to_c(steps, values, tmp_path / f"{stem}.c", facts={"what": "*/ int x; /* ??/\n\u202e"})
        (tmp_path / "a.c").write_text(source)
        subprocess.run(["gcc", *STRICT, f"{stem}.c", "-o", "b.so", "-lm"], cwd=tmp_path, check=True)


@pytest.mark.parametrize(("text", "values"), [
    ("f = add(x, 1e999)\ng = where(x, x, -1e999)\nh = mul(x, 1e308)", {"x": np.array([0.0, 1.0, -np.inf, np.nan, 5e-324])}),
    ("f = mul(x, 1e-45)\ng = maximum(x, -1e999)\nh = add(x, 3.4e38)", {"x": np.array([0.0, np.nan, 1e38], np.float32)}),
    ("f = add(x, 9223372036854775807)\ng = mul(x, x)\nh = less(x, 0)", {"x": np.array([-2**63, 2**63 - 1, 5])}),
    ("f = add(x, x)\ng = less(x, 0)\nh = mul(x, x)\nk = equal(x, x)", {"x": np.array([0, 255], np.uint8)}),
    ("f = mul(x, x)\ng = subtract(x, y)", {"x": np.array([65535, 3], np.uint16), "y": np.array([1, 9], np.uint16)}),
    ("f = logical_not(x)\ng = logical_and(x, y)\nh = add(x, y)", {"x": np.array([True, False]), "y": np.array([0.0, 2.0])}),
    ("f = sum(x)\ng = sum(x, 0)\nh = exp(x)", {"x": np.zeros((0, 3))}),
    ("f = add(x, y)", {"x": np.array([1, 2], np.int32), "y": np.array([0.5, 1.5], np.float32)})])
def test_constants_and_precisions_are_those_of_numpy(tmp_path, text, values):
    steps = WengertList.from_text(text)
    with np.errstate(all="ignore"):
        want = eval(steps, values)
        got = compiled(tmp_path, steps, values, outputs=steps.outputs)()
    for name, x in got.items():
        np.testing.assert_array_equal(x, want[name], name)


def test_an_index_beyond_the_array_and_a_singular_matrix_are_refused_by_the_function_itself(tmp_path):
    values = {"x": np.arange(4.0), "k": np.array([0, 3])}
    run = compiled(tmp_path, [("y", "getitem", ("x", "k"))], values)
    assert_agree(run(k=np.array([-1, 2])), {"y": [3.0, 2.0]})
    assert run(k=np.array([4, 0])) == 1 and run(k=np.array([0, -5])) == 1
    values = {"a": np.eye(3), "b": np.arange(3.0)}
    run = compiled(tmp_path, [("y", "solve", ("a", "b"))], values)
    assert_agree(run(a=np.eye(3)[::-1]), {"y": [2.0, 1.0, 0.0]})
    assert run(a=np.zeros((3, 3))) == 1


def test_constants_are_in_the_file_and_its_function_does_not_ask_for_them(tmp_path):
    values = {"x": R.standard_normal(4), "W": R.standard_normal((4, 2)), "b": np.float64(0.5)}
    steps = WengertList.from_text("z = dot(x, W)\ny = add(z, b)")
    assert_agree(compiled(tmp_path, steps, values, constants=["W", "b"])(), eval(steps, values))
    assert "in_W" not in (tmp_path / "list.c").read_text()


@pytest.mark.parametrize(("text", "values", "options", "words"), [
    ("z = mul(x, 2)\ny = argsort(z)", {"x": np.arange(3.0)}, {}, r"^line 2, y = argsort\(z\), needs argsort, which has no form in C"),
    ("y = sin(x)", {"x": np.arange(3.0)}, {"rows": ["x"]}, "for one size"),
    ("y = sin(x)", {"x": np.array(["a"], object)}, {}, "x is object"),
    ("y = sin(x)", {"x": np.ones(3, np.complex128)}, {}, "complex numbers has no exported form"),
    ("z = mul(x, complex(0.0, 1.0))\ny = real(z)", {"x": 1.0}, {}, "complex numbers has no exported form"),
    ("y = add(x, W)", {"x": 1.0, "W": np.arange(5e6)}, {"constants": ["W"]}, "too many for a file of C")])
def test_what_cannot_be_written_in_c_is_told_in_a_sentence(tmp_path, text, values, options, words):
    with pytest.raises(XManError, match=words):
        to_c(WengertList.from_text(text), values, tmp_path / "f.c", **options)
    assert not [*tmp_path.iterdir()]
