"""Facts about compile: what it refuses and with which words, what it remembers, and what its programs are safe from."""

import importlib.util
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import xman
from ops import operator
from xman import WengertList, XManError, eval
from xman.engines.door import REMEMBERED

LAYER = WengertList([("z1", "dot", ("X", "W")), ("z2", "add", ("z1", "b")), ("h", "tanh", ("z2",)), ("loss", "mean", ("h",)),
                     ("W_next", "subtract", ("W", "loss")), ("b_next", "mul", ("b", 0.5))])
R = np.random.default_rng(0)
needs_llvm = pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="the engine llvm needs llvmlite")
FAST = ["numpy", pytest.param("llvm", marks=needs_llvm)]


def inputs():
    return {"X": R.normal(size=(5, 3)), "W": R.normal(size=(3, 2)), "b": R.normal(size=2)}


def refusal(call, *args, **named):
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# what is refused


@pytest.mark.parametrize(("options", "words"), [
    ({"engine": "llvn"}, ["no engine 'llvn'", "did you mean 'llvm'"]),
    ({"outputs": ["los"]}, ["'los'", "did you mean 'loss'"]),
    ({"inplace": ["W"]}, ["inplace is a dictionary", "W_next"]),
    ({"inplace": {"h": "W_next"}}, ["'h'", "computed"]),
    ({"inplace": {"V": "W_next"}}, ["'V'", "does not have"]),
    ({"inplace": {"W": "b"}}, ["'b'", "is an input"]),
    ({"inplace": {"W": "W_nexd"}}, ["did you mean 'W_next'"]),
    ({"inplace": {"W": "W_next", "b": "W_next"}}, ["each of them its own"])])
def test_what_cannot_be_compiled_is_told_before_it_runs(options, words):
    message = refusal(xman.compile, LAYER, **options)
    assert all(word in message for word in words), message


def test_an_empty_list_is_refused():
    assert "empty" in refusal(xman.compile, [])


def test_there_is_no_source_and_no_plan_before_the_first_call():
    step = xman.compile(LAYER, engine="numpy")
    assert "once first" in refusal(lambda: step.source) and "once first" in refusal(lambda: step.plan)


@pytest.mark.parametrize("engine", ["interpret", "numpy"])
@pytest.mark.parametrize(("change", "words"), [
    ({"b": None}, ["no value for the input 'b'"]),
    ({"X": np.ones((5, 4))}, ["line 1, z1 = dot(X, W)", "(5, 4)"]),
    ({"b": "x"}, ["'b'", "wanted a number"])])
def test_values_that_do_not_fit_are_told_as_eval_tells_them(engine, change, words):
    step, values = xman.compile(LAYER, engine=engine), inputs()
    for _ in range(2):  # before there is a program, and then
        message = refusal(step, {**values, **change})
        assert all(word in message for word in words), message
        assert message == refusal(eval, LAYER, {**values, **change})
        step(values)


@pytest.mark.parametrize("engine", ["interpret", "numpy"])
@pytest.mark.parametrize(("over", "words"), [
    (lambda v: v | {"b": 3.0}, ["b is to be overwritten", "array"]),
    (lambda v: v | {"b": np.broadcast_to(np.float64(1), 2)}, ["b is to be overwritten", "read-only"]),
    (lambda v: v | {"b": v["X"][0, :2]}, ["b is to be overwritten", "shares memory with X"])])
def test_what_cannot_be_overwritten_is_refused_and_left_alone(engine, over, words):
    step, values = xman.compile(LAYER, engine=engine, inplace={"b": "b_next"}), over(inputs())
    before = {name: np.array(x) for name, x in values.items()}
    for _ in range(2):  # before there is a program, and then
        message = refusal(step, values)
        assert all(word in message for word in words), message
        assert all(np.array_equal(values[name], before[name]) for name in values)
        step(inputs())


@pytest.mark.parametrize("engine", ["interpret", "numpy"])
def test_a_register_of_another_shape_cannot_overwrite_an_input(engine):
    message = refusal(xman.compile(LAYER, engine=engine, inplace={"W": "b_next"}), inputs())
    assert "b_next is an array of float64 of shape (2,), and cannot overwrite W" in message


def test_an_engine_that_is_not_installed_names_its_extra(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in ("llvmlite", "jax") else found(name, *more))
    for engine, extra in (("llvm", "fast"), ("jax", "jax")):
        assert f"pip install 'xman[{extra}]'" in refusal(xman.compile(LAYER, engine=engine), inputs())
    monkeypatch.delenv("XMAN_ENGINE", raising=False)
    step = xman.compile(LAYER)
    step(inputs())
    assert step.engine == "numpy" and "xman[fast]" in step.why


def test_the_environment_chooses_where_nobody_else_does(monkeypatch):
    monkeypatch.setenv("XMAN_ENGINE", "interpret")
    step = xman.compile(LAYER)
    step(inputs())
    assert (step.engine, step.why) == ("interpret", "XMAN_ENGINE is interpret")
    monkeypatch.setenv("XMAN_ENGINE", "fast")
    assert "XMAN_ENGINE is 'fast'" in refusal(xman.compile(LAYER), inputs())


# what is remembered


def test_other_shapes_and_types_make_another_program_and_old_ones_are_remembered():
    step, values = xman.compile(LAYER, ["h"], engine="numpy"), inputs()
    for changed in (values, values | {"X": np.ones((2, 3))}, {k: x.astype("f4") for k, x in values.items()}, values):
        np.testing.assert_allclose(step(changed)["h"], eval(LAYER, changed)["h"], rtol=1e-6)
    assert len(step._programs) == 3


def test_programs_are_remembered_up_to_a_number():
    step = xman.compile([("y", "mul", ("x", 2.0))], engine="numpy")
    for n in range(REMEMBERED + 9):
        step({"x": np.ones(n + 1)})
    assert len(step._programs) == REMEMBERED


def test_lists_and_python_numbers_are_values_as_for_eval():
    steps = [("z", "mul", ("x", "c")), ("y", "sum", ("z",))]
    step = xman.compile(steps, engine="numpy")
    for values in ({"x": [1, 2, 3], "c": 2}, {"x": [1.0, 2.0, 3.0], "c": 2.5}, {"x": np.arange(3.0), "c": np.float32(2)}):
        assert step(values)["y"] == eval(steps, values)["y"]


# in place


@pytest.mark.parametrize("engine", FAST)
def test_a_register_that_is_read_after_its_update_is_the_old_one_where_the_list_says_so(engine):
    steps = [("w_next", "add", ("w", 1.0)), ("y", "mul", ("w", "w_next")), ("v_next", "add", ("v", "w"))]
    values = {"w": np.arange(3.0), "v": np.arange(3.0)}
    found = xman.compile(steps, ["y", "w", "w_next"], engine=engine, inplace={"w": "w_next", "v": "v_next"})(values)
    np.testing.assert_array_equal(found["y"], [0.0, 2.0, 6.0])
    np.testing.assert_array_equal(found["w"], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(found["w_next"], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(values["w"], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(values["v"], [0.0, 2.0, 4.0])
    assert not np.shares_memory(found["w_next"], values["w"])


@pytest.mark.parametrize("engine", ["interpret", *FAST])
def test_an_update_that_is_a_view_of_another_overwritten_input_is_that_of_its_old_numbers(engine):
    x, y = np.arange(4.0).reshape(2, 2), np.ones((2, 2))
    steps = [("x_next", "mul", ("x", "x")), ("y_next", "transpose", ("x",)), ("z", "half", ("y",))]
    values = {"x": x.copy(), "y": y.copy()}
    xman.compile(steps, outputs=["z"], engine=engine, inplace={"x": "x_next", "y": "y_next"})(values)
    assert np.array_equal(values["y"], x.T) and np.array_equal(values["x"], x * x)


@pytest.mark.parametrize("engine", ["interpret", *FAST])
def test_an_array_of_one_number_is_overwritten_too(engine):
    steps, values = [("t_next", "add", ("t", 1.0)), ("y", "mul", ("t", "x"))], {"t": np.array(1.0), "x": np.ones(2)}
    step = xman.compile(steps, ["y"], engine=engine, inplace={"t": "t_next"})
    assert step(values)["y"].tolist() == [1.0, 1.0] and step(values)["y"].tolist() == [2.0, 2.0] and values["t"] == 3.0


@pytest.mark.parametrize("engine", FAST)
def test_updates_that_exchange_two_arrays_exchange_them(engine):
    steps = [("a_next", "mul", ("b", 2.0)), ("b_next", "mul", ("a", 3.0))]
    values = {"a": np.array([1.0, 2.0]), "b": np.array([5.0, 7.0])}
    xman.compile(steps, [], engine=engine, inplace={"a": "a_next", "b": "b_next"})(values)
    np.testing.assert_array_equal(values["a"], [10.0, 14.0])
    np.testing.assert_array_equal(values["b"], [3.0, 6.0])


@pytest.mark.parametrize("engine", FAST)
def test_an_update_of_a_matrix_waits_for_the_product_that_reads_it(engine):
    steps = [("W_next", "subtract", ("W", "W_step")), ("y", "dot", ("X", "W"))]
    steps = [("g", "dot", ("X", "X")), ("W_step", "mul", (0.1, "g")), *steps]
    values = {"X": R.normal(size=(4, 4)), "W": R.normal(size=(4, 4))}
    wanted = eval(steps, values)
    found = xman.compile(steps, ["y"], engine=engine, inplace={"W": "W_next"})(values)
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-12)
    np.testing.assert_allclose(values["W"], wanted["W_next"], rtol=1e-12)


@pytest.mark.parametrize("engine", FAST)
@pytest.mark.parametrize("layout", [np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::2], lambda x: x[::-1, ::-1]])
def test_arrays_of_any_layout_are_read_and_overwritten(engine, layout):
    steps = [("g", "dot", ("X", "W")), ("s", "mul", (0.1, "g")), ("W_next", "subtract", ("W", "s")), ("y", "sum", ("g", 0))]
    values = {"X": layout(R.normal(size=(3, 3))), "W": layout(R.normal(size=(3, 3)))}
    step = xman.compile(steps, ["y"], engine=engine, inplace={"W": "W_next"})
    for _ in range(2):
        wanted = eval(steps, values)
        np.testing.assert_allclose(step(values)["y"], wanted["y"], rtol=1e-12)
        np.testing.assert_allclose(values["W"], wanted["W_next"], rtol=1e-12)


@pytest.mark.parametrize("engine", FAST)
def test_a_product_of_numbers_that_blas_does_not_have_is_numpys(engine):
    x = R.normal(size=(70, 130)).astype(np.longdouble)
    step = xman.compile([("t", "transpose", ("x",)), ("y", "dot", ("t", "x"))], ["y"], engine=engine)
    for k in (1, 2):
        np.testing.assert_array_equal(step({"x": k * x})["y"], (k * x).T @ (k * x))


def test_the_text_of_a_program_is_as_long_as_its_list():
    def size(n):
        steps = [(f"x{k + 1}", "getitem", (f"x{k}", slice(k % 7, None))) for k in range(n)]
        step = xman.compile(steps, engine="numpy")
        step({"x0": np.ones(9 * n)})
        return len(step.source)
    assert size(500) < 12 * size(50)


@pytest.mark.parametrize("engine", FAST)
def test_a_mask_may_take_more_than_at_the_first_call(engine):
    steps = [("m", "greater", ("x", 0.0)), ("a", "getitem", ("x", "m")), ("b", "getitem", ("a", slice(None, None, 2))), ("y", "sum", ("b",))]
    steps = xman.gradient(steps, "y", ["x"])
    step = xman.compile(steps, ["y", "dy_dx"], engine=engine)
    for x in ([1.0, 2.0, -1.0], [1.0, 2.0, 3.0], [1.0, -2.0, 3.0]):
        found, wanted = step({"x": np.array(x)}), eval(steps, {"x": np.array(x)})
        assert found["y"] == wanted["y"] and (found["dy_dx"] == wanted["dy_dx"]).all()


@pytest.mark.parametrize("engine", FAST)
def test_a_step_that_fails_has_overwritten_nothing(engine):
    steps = [("w_next", "add", ("w", 1.0)), ("z", "softmaxCrossEntropy", ("s", "labels")), ("u", "mul", ("A", 1.0)), ("i", "inv", ("u",))]
    step = xman.compile(steps, ["z", "i"], engine=engine, inplace={"w": "w_next"})
    good = {"w": np.zeros(2), "s": np.ones((3, 2)), "labels": np.array([0, 1, 1]), "A": np.eye(2)}
    step(good)
    assert "label 2 is not one of the 2 classes" in refusal(step, {**good, "labels": np.array([0, 1, 2])})
    assert "line 4, i = inv(u)" in refusal(step, {**good, "A": np.zeros((2, 2))})
    np.testing.assert_array_equal(good["w"], [1.0, 1.0])


@pytest.mark.parametrize("engine", FAST)
def test_an_index_that_is_computed_fails_before_anything_is_overwritten(engine):
    steps = [("w_next", "add", ("w", 1.0)), ("k", "astype", ("x", ("int64",))), ("y", "getitem", ("s", "k"))]
    step = xman.compile(steps, ["y"], engine=engine, inplace={"w": "w_next"})
    good = {"w": np.zeros(2), "x": np.array([0.0, 1.0, 2.0]), "s": np.ones(3)}
    step(good)
    with pytest.raises(XManError, match="line 3"):
        step({**good, "x": np.array([0.0, 1.0, 7.0])})
    np.testing.assert_array_equal(good["w"], [1.0, 1.0])


@pytest.mark.parametrize("engine", FAST)
def test_a_rate_of_zero_holds_a_parameter_unless_its_gradient_is_nan(engine):
    steps = [("g", "dot", ("X", "Y")), ("s", "mul", ("rate", "g")), ("W_next", "subtract", ("W", "s"))]
    for bad in (1.0, np.nan):
        values = {"X": np.full((2, 2), bad), "Y": np.ones((2, 2)), "W": np.ones((2, 2)), "rate": np.float64(0)}
        xman.compile(steps, [], engine=engine, inplace={"W": "W_next"})(values)
        np.testing.assert_array_equal(values["W"], np.full((2, 2), bad))


# what no engine has of its own


@pytest.mark.parametrize("engine", FAST)
def test_a_shape_that_depends_on_the_values_may_change_from_call_to_call(engine):
    steps = [("c", "greater", ("x", 0.0)), ("z", "getitem", ("x", "c")), ("y", "sum", ("z",)), ("n", "count", ("z",)), ("m", "mean", ("z",))]
    step = xman.compile(steps, engine=engine)
    for _ in range(2):
        step({"x": np.array([1.0, -2.0, 3.0])})
    assert step._latest  # the program is for the shape that these values gave
    for x in (np.array([1.0, -2.0, 3.0]), np.array([-1.0, -2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([1.0, -2.0, 5.0])):
        found, wanted = step({"x": x}), eval(steps, {"x": x})
        assert (found["y"], found["n"], found["m"]) == (wanted["y"], wanted["n"], wanted["m"])


@pytest.mark.parametrize("engine", FAST)
def test_what_one_program_refused_does_not_count_against_the_next(engine):
    step = xman.compile([("c", "greater", ("x", 0.0)), ("z", "getitem", ("x", "c")), ("y", "sum", ("z",))], engine=engine)
    for x in ([1.0, -2.0, 3.0], [-1.0, -2.0, 3.0], [1.0, 2.0, 3.0], [1.0, -2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, -2.0, 3.0, 4.0]):
        assert step({"x": np.array(x)})["y"] == sum(v for v in x if v > 0)
    assert step.engine == engine and "interpreted" not in step.why


@pytest.mark.parametrize("engine", FAST)
def test_an_operator_of_ones_own_runs_as_it_is(engine):
    operator("threefold", lambda x: x * 3.0, lambda d, out, x: d * 3.0)
    steps = [("z", "exp", ("x",)), ("t", "threefold", ("z",)), ("y", "add", ("t", "x"))]
    step = xman.compile(steps, engine=engine)
    np.testing.assert_allclose(step({"x": np.arange(3.0)})["y"], 3 * np.exp(np.arange(3.0)) + np.arange(3.0))
    assert step.plan.calls == ["t = threefold(…)"]


@pytest.mark.parametrize("engine", FAST)
def test_a_sparse_matrix_is_data(engine):
    from scipy.sparse import csr_matrix
    X = csr_matrix(np.eye(4)[[0, 2, 2]])
    steps = [("z", "dot", ("X", "W")), ("h", "tanh", ("z",)), ("y", "sum", ("h", 0))]
    step, W = xman.compile(steps, engine=engine), R.normal(size=(4, 2))
    for x in (X, X, X[:2], X.toarray()):
        np.testing.assert_allclose(step({"X": x, "W": W})["y"], eval(steps, {"X": x, "W": W})["y"], rtol=1e-12)


# hostile lists


HOSTILE = ["print", "type", "np", "float32", "values", "step", "space", "results", "memory", "kernel0", "loops0", "i", "j", "range",
           "f4", "literal", "matmul_", "errstate", "ndarray", "__builtins__", "__import__", "self", "inf", "nan", "_", "é"]


@pytest.mark.parametrize("engine", FAST)
def test_registers_may_have_the_names_that_programs_use(engine):
    names = [n for n in HOSTILE]
    steps, before = [], "x"
    for name in names:
        steps.append((name, "tanh" if len(steps) % 2 else "add", (before,) if len(steps) % 2 else (before, np.inf if name == "type" else 0.5)))
        before = name
    steps += [("A_", "dot", ("x", "x")), ("out", "sum", (before, 0)), ("x_next", "add", ("x", before))]
    values = {"x": R.normal(size=(3, 3))}
    wanted = eval(steps, values)
    found = xman.compile(steps, [*names, "out", "A_"], engine=engine, inplace={"x": "x_next"})(values)
    for name in (*names, "out", "A_"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)
    np.testing.assert_allclose(values["x"], wanted["x_next"], rtol=1e-12)


@pytest.mark.parametrize("name", ["x'", 'x"', "x\ny", "x; import os", "x)", "x = 1", "lambda", "import os", "x#", "\\", "x\u2028", "ﬁ"])
@pytest.mark.parametrize("place", ["dst", "arg", "op"])
def test_a_name_that_is_none_never_gets_into_a_program(name, place):
    line = (name, "exp", ("x",)) if place == "dst" else ("y", "exp", (name,)) if place == "arg" else ("y", name, ("x",))
    with pytest.raises(XManError):
        xman.compile([line], engine="numpy")({"x": 1.0, name: 1.0})


@pytest.mark.parametrize("literal", [10 ** 400, {"a": 1}, lambda: None, np.clongdouble(1j), np.array(["import os"]), type], ids=lambda a: type(a).__name__)
def test_a_literal_that_is_none_never_gets_into_a_program(literal):
    with pytest.raises(XManError):
        xman.compile([("y", "add", ("x", literal))], engine="numpy")({"x": 1.0})


class Word(str):
    __str__ = __repr__ = __format__ = lambda self, *_: "x\n    raise SystemExit\n    y"


class Shape(tuple):
    __repr__ = Word.__repr__


@pytest.mark.parametrize("engine", FAST)
def test_what_prints_itself_as_python_is_not_printed(engine):
    steps = [(Word("y"), "reshape", (Word("x"), Shape((2, 2)))), ("z", "sum", ("y", Shape((0,))))]
    found = xman.compile(steps, [Word("y"), "z"], engine=engine)({"x": np.arange(4.0)})
    np.testing.assert_array_equal(found["y"], [[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(found["z"], [2.0, 4.0])


@pytest.mark.parametrize("engine", FAST)
@pytest.mark.parametrize("literal", [np.inf, -np.inf, np.nan, -0.0, 1e308, 5e-324, 2 ** 53, True, np.float32(0.1), np.arange(3.0), np.int64(7)])
def test_every_literal_is_the_number_that_it_is(engine, literal):
    steps, x = [("y", "mul", ("x", literal))], np.array([1.0, -2.0, 0.5])
    found, wanted = xman.compile(steps, engine=engine)({"x": x})["y"], eval(steps, {"x": x})["y"]
    np.testing.assert_array_equal(found, wanted)
    assert np.array_equal(np.signbit(found), np.signbit(wanted)) and found.dtype == wanted.dtype


# at once


@pytest.mark.parametrize("engine", FAST)
def test_threads_compile_and_run_the_same_list_at_once(engine):
    step, wrong = xman.compile(LAYER, ["h", "loss"], engine=engine), []

    def work(k):
        mine = {name: x * (k + 1) for name, x in {"X": np.ones((5 + k % 2, 3)), "W": np.ones((3, 2)), "b": np.ones(2)}.items()}
        wanted = eval(LAYER, mine)
        for _ in range(200):
            found = step(mine)
            if not np.allclose(found["h"], wanted["h"]) or not np.allclose(found["loss"], wanted["loss"]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


PROCESS = """
import numpy as np, xman
step = xman.compile([("z", "exp", ("x",)), ("y", "sum", ("z", 0))], engine="llvm")
print(step({"x": np.zeros((4, 3))})["y"].tolist(), len(step.source) > 0)
"""


@needs_llvm
def test_processes_share_what_is_compiled_and_none_reads_half_a_file(tmp_path):
    environment = {**os.environ, "XMAN_CACHE": str(tmp_path / "cache")}
    run = lambda: subprocess.Popen([sys.executable, "-c", PROCESS], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for together in (2, 1):
        for process in [run() for _ in range(together)]:
            out, errors = process.communicate()
            assert (out, errors) == ("[4.0, 4.0, 4.0] True\n", "")
    assert len(list((tmp_path / "cache").glob("*.o"))) == 1


@needs_llvm
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
def test_a_cache_that_others_can_write_to_is_not_read(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    environment = {**os.environ, "XMAN_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", PROCESS], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[4.0, 4.0, 4.0] True\n" and not list((tmp_path / "cache").iterdir())


# arrays of other libraries


class Elsewhere:
    """An array of another library, with DLPack and nothing else."""

    def __init__(self, array, device=(1, 0)): self.array, self.device = array, device
    def __dlpack_device__(self): return self.device

    def __dlpack__(self, **options):
        if self.device != (1, 0):
            raise BufferError("it lies on a GPU")
        return self.array.__dlpack__(**options)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="before NumPy 2.1 such an array cannot be written to")
@pytest.mark.parametrize("engine", ["interpret", "numpy"])
def test_arrays_by_dlpack_are_taken_and_overwritten_in_their_own_memory_and_numpys_come_back(engine):
    values = inputs()
    want = eval(LAYER, values)
    W, b = values["W"], values["b"]
    step = xman.compile(LAYER, ["loss", "h"], engine, inplace={"W": "W_next", "b": "b_next"})
    got = step({x: Elsewhere(v) for x, v in values.items()})
    assert {x: type(v) for x, v in got.items()} == {"loss": np.float64, "h": np.ndarray}
    np.testing.assert_allclose(got["h"], want["h"])
    np.testing.assert_allclose(W, want["W_next"])
    want = eval(LAYER, {**values, "W": W, "b": b})
    assert step({**values, "X": Elsewhere(values["X"])})["loss"] == pytest.approx(want["loss"])


def test_an_array_by_dlpack_that_lies_on_another_device_is_refused_with_what_to_do():
    message = refusal(xman.compile(LAYER, ["loss"], "numpy"), {**inputs(), "X": Elsewhere(np.ones((5, 3)), (2, 0))})
    assert "'X'" in message and "copy it to the host's memory" in message


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 2, 2), (2, 3, 3)])
@pytest.mark.parametrize("entries", ["any", "singular", "infinite"])
def test_cofactors_of_small_matrices_are_products_of_entries(shape, entries):
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
        a = np.random.default_rng(1).standard_normal(shape).astype(dtype)
        if entries == "singular":
            a[..., 1, :] = 2 * a[..., 0, :]
        if entries == "infinite":
            a[..., 0, 0] = np.inf
        step = xman.compile([("y", "cofactor", ("a",))], engine="numpy")
        y, expected = step({"a": a})["y"], xman.eval([("y", "cofactor", ("a",))], {"a": a})["y"]
        assert y.dtype == expected.dtype and "cofactor" not in dict(step.plan.stages)["simplified"]
        np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)
