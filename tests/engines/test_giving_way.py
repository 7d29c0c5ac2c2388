"""The door of the engines: which one is chosen, how one gives way to the next, and whose errors come out of it."""

import importlib
import importlib.util

import numpy as np
import pytest

import xman
from ops import elementwise, operator
from xman import WengertList, XManError, eval, gradient
from xman.engines.door import ENGINES, chosen_engine

pytestmark = pytest.mark.usefixtures("own_cache")
LINES = WengertList([("a", "exp", ("x",)), ("w_next", "add", ("w", "a")), ("y", "sum", ("a",))])
needs_llvm = pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="the engine llvm needs llvmlite")
GIVES_WAY = [engine for engine in ENGINES if engine != "interpret"]
OTHERS = [pytest.param(engine, marks=pytest.mark.skipif(bool(ENGINES[engine].package) and importlib.util.find_spec(ENGINES[engine].package) is None,
                                                        reason=f"{engine} is not installed")) for engine in GIVES_WAY]


def inputs():
    return {"x": np.arange(3.0), "w": np.ones(3)}


def broken(monkeypatch, *engines, when="build"):
    """Break engines: at once, or at the first run."""
    def fails(program):
        if when == "build":
            raise NameError("no such name")

        def run(values):
            raise KeyError("compiled at last, and wrongly")
        return importlib.import_module("xman.engines.program").Built(run, "", "")

    for engine in engines:
        file = importlib.import_module(ENGINES[engine].file)
        monkeypatch.setattr(file, "build", fails)


@pytest.mark.parametrize("when", ["build", "first run"])
@pytest.mark.parametrize("engine", OTHERS)
def test_an_engine_that_cannot_build_a_list_gives_way_with_one_warning(engine, when, monkeypatch):
    broken(monkeypatch, engine, when=when)
    after = "interpret" if engine == "numpy" else "numpy"
    step, values, wanted = xman.compile(LINES, ["y"], engine, {"w": "w_next"}), inputs(), inputs()
    with pytest.warns(RuntimeWarning, match=f"the engine {engine} cannot build this list: (NameError|KeyError).*; it runs on {after}") as seen:
        for _ in range(3):
            found = eval(LINES, wanted)
            assert step(values)["y"] == found["y"]
            wanted["w"] = found["w_next"]
            np.testing.assert_array_equal(values["w"], wanted["w"])
        step({"x": np.ones(2), "w": np.ones(2)})  # another program, which fails as well
    assert len(seen) == 1 and seen[0].filename == __file__
    assert step.engine == after and f"{engine} was asked for; {engine} gave way to {after}: " in step.why


def test_engines_give_way_one_after_another_and_the_environments_too(monkeypatch):
    broken(monkeypatch, "tape", "numpy")
    monkeypatch.setenv("XMAN_ENGINE", "tape")
    step = xman.compile(LINES, ["y"])
    with pytest.warns(RuntimeWarning, match="the engine tape cannot build this list: NameError, 'no such name'; it runs on interpret") as seen:
        assert step(inputs())["y"] == eval(LINES, inputs())["y"]
    assert len(seen) == 1
    assert step.why == "XMAN_ENGINE is tape; tape gave way to numpy: NameError, 'no such name'; numpy gave way to interpret: " \
                       "NameError, 'no such name'"


@pytest.mark.parametrize("engine", OTHERS)
def test_a_value_that_is_wrong_makes_no_engine_give_way(engine):
    step = xman.compile([("y", "dot", ("x", "w"))], engine=engine)
    with pytest.raises(XManError, match=r"line 1, y = dot\(x, w\): x has shape \(3,\), w has shape \(2,\)"):
        step({"x": np.ones(3), "w": np.ones(2)})
    with pytest.raises(XManError, match="no value for the input 'w'"):
        step({"x": np.ones(3)})
    assert "gave way" not in step.why


# whose errors they are


@pytest.fixture
def late(request):
    """An operator that raises an error at its n-th call: a clock's that one time, another from then on."""
    calls = {"left": 0, "error": None}

    def value(x):
        calls["left"] -= 1
        if calls["left"] == 0 or calls["left"] < 0 and not isinstance(calls["error"], TimeoutError):
            raise calls["error"]
        return x + 1.0

    operator("late", value, lambda d, out, x: value(d))
    return calls


@pytest.mark.parametrize("error", [TimeoutError("time is up"), MemoryError(), RecursionError("too deep"), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("engine", ["interpret", *OTHERS])
def test_an_error_that_is_no_operators_comes_out_as_it_is(engine, error, late):
    steps, x = [("a", "sin", ("x",)), ("b", "late", ("a",)), ("y", "mul", ("b", "b"))], {"x": np.ones(3)}
    for n in range(1, 9 if engine != "jax" else 2):  # the others come again when the operator does
        late |= {"left": n, "error": error}
        step = xman.compile(steps, engine=engine)
        with pytest.raises(type(error)) as caught:
            for _ in range(9):
                step(x)  # evaluated, simplified, compiled and run
        assert caught.value is error


@pytest.mark.parametrize("error", [TimeoutError(), MemoryError(), RecursionError()], ids=lambda e: type(e).__name__)
def test_the_interpreters_pass_on_what_is_no_operators_too(error, late):
    steps, calls = [("y", "late", ("x",))], [
        lambda: eval(steps, {"x": 1.0}), lambda: xman.backprop(steps, {"x": 1.0, "y": 2.0}, y=1.0),
        lambda: xman.forward(steps, {"x": 1.0, "y": 2.0}, {"x": 1.0})]
    for call in calls:
        late |= {"left": 1, "error": error}
        with pytest.raises(type(error)):
            call()
    late |= {"left": 1, "error": ArithmeticError("mine")}
    with pytest.raises(XManError, match=r"line 1, y = late\(x\).*mine"):
        eval(steps, {"x": 1.0})


# which engine is chosen


@needs_llvm
def test_an_engine_is_not_chosen_for_what_takes_it_long(monkeypatch):
    monkeypatch.delenv("XMAN_ENGINE", raising=False)
    lines = lambda n: WengertList([(f"z{k + 1}", "tanh", (f"z{k}",)) for k in range(n)])
    chosen = lambda x, **more: [chosen_engine(lines(n), {"z0": x}, {}, **more)[::2] for n in (10, 1000, 20_000)]
    assert chosen(np.ones(2)) == [("llvm", []), ("llvm", []), ("numpy", [])]
    assert chosen(np.ones(2), adapts=True) == [("llvm", []), ("numpy", ["llvm"]), ("interpret", ["numpy", "llvm"])]
    assert chosen(1.0, adapts=True) == [("llvm", []), ("numpy", ["tape", "llvm"]), ("interpret", ["tape", "llvm"])]


# what was found on engines, as it was found


FOUND = {
    "2 ** x": ([("y", "power", (2.0, "x"))], "y", {"x": np.float64(3.0)}),
    "1/2 ** x": ([("y", "power", (0.5, "x"))], "y", {"x": np.arange(3.0)}),
    "an error against a number": ([("y", "squaredError", ("x", 1.0))], "y", {"x": np.ones((4, 1))}),
    "logits against a number": ([("y", "sigmoidCrossEntropy", ("x", 1.0))], "y", {"x": np.ones((4, 1), np.float32)}),
    "a target that is a literal": ([("y", "softmaxCrossEntropy", ("x", np.eye(3)))], "y", {"x": np.ones((3, 3))}),
    "labels, as many as classes": ([("y", "softmaxCrossEntropy", ("x", "k"))], "y", {"x": np.ones((3, 3)), "k": np.array([0, 2, 1])}),
    "labels that are a literal": ([("y", "softmaxCrossEntropy", ("x", np.array([0, 2, 1])))], "y", {"x": np.ones((3, 3))}),
    "an entry": ([("l", "log", ("x",)), ("n", "negative", ("l",)), ("y", "getitem", ("n", 0))], "y", {"x": np.array([0.2, 0.8])}),
    "a sum by letters": ([("y", "einsum", (("i->",), "x"))], "y", {"x": np.arange(3.0)}),
    "a literal in a product": ([("y", "dot", (np.ones((2, 3)), "x"))], "y", {"x": np.ones((3, 4))}),
    "a first state": ([("a", "dot", (np.zeros((2, 3)), "x")), ("h", "tanh", ("a",)), ("y", "dot", ("h", "x"))], "y", {"x": np.eye(3)}),
    "the sum of a number": ([("y", "sum", ("x",))], "y", {"x": np.asarray(2.0)}),
    "a view of diagonals": ([("a", "arccos", ("x",)), ("y", "diag", ("a", 1))], "y", {"x": np.array([0.1, -0.2, 0.3])}),
    "a number in another shape": ([("m", "max", ("x", 0, True)), ("s", "sum", ("m", 0)), ("y", "mul", (-5.0, "s"))], "y", {"x": np.arange(3.0)}),
}


@pytest.mark.filterwarnings("ignore:the engine tape cannot build this list.* the tape :RuntimeWarning")
@pytest.mark.parametrize("case", FOUND)
@pytest.mark.parametrize("engine", [e for e in OTHERS if e.values[0] != "jax"])
def test_what_once_broke_an_engine_runs_on_it(engine, case):
    steps, of, values = FOUND[case]
    lines = gradient(steps, of, ["x"])
    step, wanted = xman.compile(lines, [of, f"d{of}_dx"], engine=engine), eval(lines, values)
    found = step(values)
    assert step.engine == engine or engine == "tape"
    for name, x in found.items():
        np.testing.assert_allclose(x, wanted[name], rtol=1e-6)
        assert np.asarray(x).dtype == np.asarray(wanted[name]).dtype


# operations


def test_an_operator_that_works_entry_by_entry_counts_one_an_entry_whenever_it_was_defined():
    elementwise("late_cube", lambda x: x * x * x, lambda out, x: 3.0 * x * x)
    steps, x = [("y", "late_cube", ("x",))], {"x": np.ones((2, 3))}
    assert xman.cost(steps, values=x, measured=False).evaluation.flops == 6
    step = xman.compile(steps, engine="numpy")
    step(x)
    assert step.plan.flops == 6
