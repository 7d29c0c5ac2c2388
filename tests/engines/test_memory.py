"""Facts about plans: buffers that live at once never overlap, memory comes back, and products fold into one call."""

import importlib.util
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xman
from xman import WengertList, eval, gradient
from xman.engines.folded import folded
from xman.engines.memory import ALIGNED, Event, Memory, placed, rounded
from xman.engines.program import GEMM
from xman.engines.specialise import program_of
from xman.engines.text import LARGE
from xman.models import MLP

R = np.random.default_rng(0)
ENGINES = ["numpy", pytest.param("llvm", marks=pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None,
                                                                  reason="the engine llvm needs llvmlite"))]


@st.composite
def programs(draw):
    """Events in which each buffer is written once and read later, in any order; some may be written over what they read."""
    events, alive = [], []
    for k in range(draw(st.integers(1, 25))):
        reads = draw(st.lists(st.sampled_from(alive), max_size=3, unique=True)) if alive else []
        writes = {f"b{k}_{i}": draw(st.sampled_from([0, 1, 60, 64, 65, 500, 1000])) for i in range(draw(st.integers(0, 2)))}
        over = {name: draw(st.permutations(reads)) for name in writes} if draw(st.booleans()) else {}
        events.append(Event(reads, writes, over))
        alive += writes
    return events


@settings(max_examples=150, deadline=None)
@given(programs())
def test_buffers_that_live_at_once_do_not_overlap(events):
    places, end = placed(events)
    size = {name: n for event in events for name, n in event.writes.items()}
    born = {name: k for k, event in enumerate(events) for name in event.writes}
    last = {name: max([k for k, event in enumerate(events) if name in event.reads or name in event.writes]) for name in size}
    for x in size:
        assert places[x] % ALIGNED == 0 and places[x] + size[x] <= end
        for y in size:
            apart = places[x] + size[x] <= places[y] or places[y] + size[y] <= places[x]
            handed_on = born[y] == last[x] and x in events[born[y]].over.get(y, ()) and places[x] == places[y]
            if x != y and size[x] and size[y] and born[x] <= born[y] <= last[x] and not apart:
                assert handed_on and rounded(size[x]) == rounded(size[y])
    for event in events:  # nobody's place is handed on twice
        taken = [places[y] for y in event.writes if size[y] and any(places[x] == places[y] for x in event.over.get(y, ()))]
        assert len(set(taken)) == len(taken)


@given(st.lists(st.sampled_from([64, 128, 640, 1024]), min_size=1, max_size=40), st.randoms())
def test_memory_that_was_all_given_back_is_one_piece_again(sizes, random):
    memory = Memory()
    held = [(memory.allocate(n), n) for n in sizes]
    random.shuffle(held)
    for start, n in held:
        memory.release(start, n)
    assert list(memory.free) == [0] and memory.end == sum(sizes)


def test_a_chain_takes_the_memory_of_one_register():
    steps = [("z0", "tanh", ("x",)), *((f"z{k}", "tanh", (f"z{k - 1}",)) for k in range(1, 50)), ("y", "sum", ("z49",))]
    step = xman.compile(steps, engine="numpy")
    step({"x": np.ones(1000)})
    assert step.plan.memory == rounded(8000) and len(step.plan.buffers) == 50
    assert f"{step.plan.memory:,} bytes for 50 buffers" in str(step.plan)


def test_a_product_takes_in_its_sign():
    steps, x = [("z", "dot", ("x", "x")), ("y", "negative", ("z",))], R.normal(size=(100, 100))
    step = xman.compile(steps, engine="numpy")
    np.testing.assert_allclose(step({"x": x})["y"], -(x @ x), atol=1e-12)
    assert "gemm(-1.0" in step.source


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("last", [("y", "add", ("z", "b")), ("y", "subtract", ("b", "z")), ("y", "negative", ("z",)), ("y", "mul", (2.0, "z"))])
def test_a_product_takes_in_one_sum_and_no_second_line(last, engine):
    values = {x: R.normal(size=(40, 40)) for x in "xab"}
    steps = [("p", "dot", ("x", "x")), ("z", "add", ("p", "a")), last]
    step = xman.compile(steps, engine=engine)
    for _ in range(2):
        np.testing.assert_allclose(step(values)["y"], xman.eval(steps, values)["y"], atol=1e-12)


def test_an_output_and_what_is_read_later_keep_their_memory():
    steps = [("a", "exp", ("x",)), ("b", "tanh", ("a",)), ("c", "add", ("a", "b")), ("d", "tanh", ("c",)), ("y", "mul", ("d", "a"))]
    values = {"x": R.normal(size=7)}
    found = xman.compile(steps, ["y", "b"], engine="numpy")(values)
    wanted = eval(steps, values)
    np.testing.assert_allclose(found["y"], wanted["y"])
    np.testing.assert_allclose(found["b"], wanted["b"])


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_read_in_a_later_turn_is_not_written_over(engine):
    steps = [("z", "dot", ("X", "W")), ("a", "tanh", ("z",)), ("s", "sum", ("a", 1, True)), ("y", "subtract", ("z", "s")),
             ("p", "dot", ("a", "W")), ("q", "dot", ("y", "W"))]
    values = {"X": R.normal(size=(6, 4)), "W": R.normal(size=(4, 4))}
    found, wanted = xman.compile(steps, ["p", "q"], engine=engine)(values), eval(steps, values)
    np.testing.assert_allclose(found["p"], wanted["p"])
    np.testing.assert_allclose(found["q"], wanted["q"])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_update_waits_for_the_turn_that_reads_what_it_writes_over(engine):
    steps = [("s", "sum", ("v", 1, True)), ("c", "subtract", ("w", "s")), ("y", "sum", ("c", 0)), ("w_next", "mul", ("w", 0.5))]
    values = {"v": R.normal(size=(6, 4)), "w": R.normal(size=(6, 4))}
    wanted = eval(steps, values)
    found = xman.compile(steps, ["y"], engine=engine, inplace={"w": "w_next"})(values)
    np.testing.assert_allclose(found["y"], wanted["y"])
    np.testing.assert_allclose(values["w"], wanted["w_next"])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_output_that_only_an_update_reads_is_not_put_off_with_it(engine):
    steps = [("g", "subtract", ("x", "w")), ("y", "add", ("w", "g")), ("w_next", "subtract", ("w", "g")), ("u_next", "add", ("y", "u"))]
    values = dict(zip("xwu", R.normal(size=(3, 6, 6)), strict=True))
    wanted = eval(steps, values)
    step = xman.compile(steps, ["y"], engine, {"w": "w_next", "u": "u_next"})
    np.testing.assert_allclose(step(values)["y"], wanted["y"])
    np.testing.assert_allclose(values["w"], wanted["w_next"])
    assert step.plan.updates == ["u", "w"]  # after y has read w


def training():
    model = MLP([30, 20, 10])
    steps = model.operationSequence(model.loss)
    lines = list(gradient(steps, "loss", ["W1", "W2"]))
    for w in ("W1", "W2"):
        lines += [(f"{w}_step", "mul", (0.1, f"dloss_d{w}")), (f"{w}_next", "subtract", (w, f"{w}_step"))]
    values = model.inputDict(X=np.ones((8, 30), np.float32), y=np.eye(10, dtype=np.float32)[:8])
    return WengertList(lines), values, {"W1": "W1_next", "W2": "W2_next"}


def test_a_gradient_that_only_moves_its_parameter_is_one_product_onto_it():
    steps, values, inplace = training()
    lines = {line[0]: line for line in folded(program_of(steps, values, ("loss",), inplace))}
    assert lines["W2_next"][1:] == (GEMM, (-0.1, None, "h1", True, "dloss_dscores", False, "W2"))
    assert not {"dloss_dW1", "dloss_dW2", "W1_step", "W2_step"} & set(lines)


def test_a_factor_that_is_computed_is_no_part_of_a_product():
    values = {"A": R.normal(size=(100, 100)), "B": R.normal(size=(100, 100))}
    step = xman.compile([("m", "mean", ("A",)), ("p", "dot", ("A", "B")), ("y", "mul", ("p", "m"))], ["y"], engine="numpy")
    np.testing.assert_allclose(step(values)["y"], values["A"] @ values["B"] * values["A"].mean())
    assert step.engine == "numpy"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("op, args", [("where", ("c", "W", "Z")), ("share", ("W", "Z")), ("share", ("Z", "W")), ("dot", ("W", "W")), ("dot", ("Z", "W")),
                                      ("concat", (0, "below", "above")), ("add", ("W", "turned")), ("add", ("W", "moved"))])
def test_what_an_update_reads_is_not_overwritten_before_it_is_read(engine, op, args):
    W, Z = R.normal(size=(2, 100, 100))
    steps = WengertList([("s", "sum", ("W",)), ("above", "getitem", ("W", slice(50))), ("below", "getitem", ("W", slice(50, None))),
                         ("turned", "transpose", ("W",)), ("moved", "dot", ("W", "Z")), ("next", op, args)])
    values = {x: {"W": W, "Z": Z, "c": W > 0}[x].copy() for x in steps.inputs}
    wanted = eval(steps, values)["next"]
    xman.compile(steps, ["s"], engine, {"W": "next"})(values)
    np.testing.assert_allclose(values["W"], wanted, rtol=1e-10, atol=1e-10)


def test_a_gradient_that_is_wanted_too_stays():
    steps, values, inplace = training()
    lines = {line[0] for line in folded(program_of(steps, values, ("loss", "dloss_dW1"), inplace))}
    assert "dloss_dW1" in lines and "dloss_dW2" not in lines


@pytest.mark.parametrize("engine", ENGINES)
def test_large_products_go_to_blas_and_are_what_they_were(engine):
    model = MLP([200, 100, 10])
    steps = model.operationSequence(model.loss)
    lines = list(gradient(steps, "loss", ["W1", "b1", "W2"]))
    lines += [("s", "mul", ("rate", "dloss_dW1")), ("W1_next", "subtract", ("W1", "s")), ("W2_next", "add", ("W2", "dloss_dW2"))]
    values = model.inputDict(X=R.normal(size=(64, 200)).astype("f4"), y=np.eye(10, dtype="f4")[R.integers(0, 10, 64)])
    values["rate"] = np.float32(0.1)
    wanted = eval(lines, values)
    step = xman.compile(lines, ["dloss_db1"], engine=engine, inplace={"W1": "W1_next", "W2": "W2_next"})
    found = step(values)
    np.testing.assert_allclose(found["dloss_db1"], wanted["dloss_db1"], rtol=1e-4, atol=1e-6)
    for w in ("W1", "W2"):
        np.testing.assert_allclose(values[w], wanted[f"{w}_next"], rtol=1e-4, atol=1e-6)
    assert "gemm(" in step.source or "BLAS" in step.source
    assert step.plan.updates == ["W1", "W2"] and step.plan.flops > 2 * 64 * 200 * 100 * 2


# large results


@pytest.fixture(params=ENGINES)
def exponential(request):
    step = xman.compile([("y", "exp", ("x",))], engine=request.param)
    return lambda k: step({"x": np.full(LARGE // 8, float(k))})["y"]


def test_a_large_result_that_nobody_has_any_more_is_written_again(exponential):
    before = weakref.ref(exponential(0))
    after = exponential(1)
    assert before() is after


def test_a_large_result_that_somebody_has_stays(exponential):
    found = [exponential(k) for k in range(4)]
    part = exponential(4)[:3]
    exponential(5)
    for k, y in enumerate([*found, part]):
        np.testing.assert_allclose(y, np.exp(k), rtol=1e-14)


def test_a_large_result_that_was_changed_is_not_given_again(exponential):
    for change in (lambda y: setattr(y, "shape", (2, -1)), lambda y: setattr(y.flags, "writeable", False)):
        change(exponential(0))
        y = exponential(1)
        assert y.shape == (LARGE // 8,) and y.flags.writeable and np.allclose(y, np.e)


def test_threads_get_large_results_of_their_own(exponential):
    def wrong(k):
        return [y for y in (exponential(k) for _ in range(50)) if not np.allclose(y, np.exp(k), rtol=1e-14)]

    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(wrong, range(4)))


@pytest.mark.parametrize("engine", [*ENGINES, "interpret"])
@pytest.mark.parametrize("entry", [("getitem", ("x", 0, 0)), ("take", ("x", 5)), ("max", ("x0", None))])
def test_an_entry_of_an_array_is_given_back_as_it_was_before_an_update(engine, entry):
    steps = [("x0", "getitem", ("x", 1)), ("entry", *entry), ("s", "square", ("x",)), ("x_next", "subtract", ("x", "s"))]
    x = np.full((3, 4), 3.0)
    assert xman.compile(WengertList(steps), ["entry"], engine=engine, inplace={"x": "x_next"})({"x": x})["entry"] == 3.0
    assert (x == -6.0).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_has_the_list_after_each_stage_of_the_door(engine):
    steps = [("c", "exp", (np.zeros(2),)), ("s", "dot", ("X", "W")), ("z", "add", ("s", "c")), ("y", "tanh", ("z",))]
    step = xman.compile(steps, ["y"], engine=engine)
    step({"X": np.eye(3), "W": np.ones((3, 2))})
    first = {stage: text.splitlines()[0].split(" = ")[1] for stage, text in step.plan.stages[:4]}
    assert first == {"written": "exp(array([0.0, 0.0], 'float64'))", "literals": "exp(constant1)",
                     "simplified": "exp(constant1)", "settled": "dot(X, W)"}


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_function_returns_of_its_arguments_keeps_their_memory(engine):
    same = "def", "same", ("u",), (), ("u",)
    steps = [("a", "exp", ("x",)), ("b", "bundle", ("a",)), ("c", "call", (same, "b")), ("d", "item", ("c", 0)),
             ("e", "sin", ("x",)), ("g", "mul", ("e", "e")), ("h", "cos", ("g",)), ("y", "add", ("d", "h"))]
    at = {"x": np.linspace(0.0, 1.0, 1000)}
    np.testing.assert_allclose(xman.compile(steps, ["y"], engine=engine)(at)["y"], eval(steps, at)["y"], rtol=1e-14)
