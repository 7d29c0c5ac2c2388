"""Facts about the engine llvm: views, the schedule, and indices that come from outside."""

import numpy as np
import pytest
from steps_of_llvm import nest_step_of, step_of

import xman
from xman import XManError, eval, gradient

pytest.importorskip("llvmlite")
from xman.engines.llvm import engine, threads
from xman.engines.llvm.arithmetic import OPERATORS
from xman.engines.llvm.step import NestStep
from xman.engines.nests import tree
from xman.engines.nests.lines import nests_of
from xman.engines.nests.schedule import Tree
from xman.engines.nests.tree import ENTRYWISE
from xman.engines.nests.views import broadcast_view, indexed, reshaped, root_view, strided, transposed
from xman.engines.specialise import program_of

R = np.random.default_rng(15)


def read(view, array):
    """The numbers of a view of an array, one by one."""
    found = np.empty(view.shape)
    for index in np.ndindex(*view.shape):
        found[index] = array.ravel()[view.offset + sum(i * s for i, s in zip(index, view.strides, strict=True))]
    return found


def test_a_view_is_what_numpy_makes_of_an_array():
    x = R.normal(size=(4, 3, 6))
    all_of_it = root_view("x", x.shape)
    keys = (slice(None, None, -2), None, 1, slice(1, 5, 3))
    square = x[0, :, :3].copy()
    for view, array, wanted in [
            (indexed(all_of_it, keys), x, x[keys]), (transposed(all_of_it, (2, 0, 1)), x, x.transpose(2, 0, 1)),
            (reshaped(all_of_it, (2, 6, 2, 3)), x, x.reshape(2, 6, 2, 3)), (reshaped(all_of_it, (12, 6)), x, x.reshape(12, 6)),
            (broadcast_view(indexed(all_of_it, (0, slice(None), slice(0, 1))), (2, 3, 5)), x, np.broadcast_to(x[0, :, :1], (2, 3, 5))),
            (strided(indexed(root_view("s", (3, 3)), (slice(1, None), slice(2))), "ii", "i", {"i": 2}), square, np.diag(square, -1))]:
        np.testing.assert_array_equal(read(view, array), wanted)
    assert reshaped(transposed(all_of_it, (1, 0, 2)), (72,)) is None  # takes a copy


def test_llvm_writes_each_operator_that_a_line_of_the_tree_may_have():
    assert OPERATORS.keys() == ENTRYWISE


def test_the_softmax_of_rows_is_one_loop_over_rows():
    step = step_of([("p", "softmax", ("x",))], {"x": R.normal(size=(5, 7))})
    assert step.source.splitlines()[0] == "for 5:" and step.source.count("for 5:") == 1 and step.source.count("  for 7:") == 3


def test_what_only_its_own_loop_reads_has_no_memory():
    step = step_of([("a", "exp", ("x",)), ("b", "mul", ("a", "a")), ("c", "sum", ("b",))], {"x": R.normal(size=1000)})
    assert not {"a", "b"} & {buffer.register for buffer in step.plan.buffers}


def test_numbers_that_single_numbers_alone_are_made_of_have_no_memory():
    step = step_of([("a", "exp", ("x",)), ("b", "mul", ("a", "a")), ("c", "mul", ("b", "y"))], {"x": 1.0, "y": np.ones(9)})
    assert [buffer.register for buffer in step.plan.buffers] == ["b"]


def test_what_is_added_at_other_places_at_each_turn_has_a_loop_of_its_own_since_it_makes_no_vectors():
    values = {"x": R.normal(size=9), "k": np.arange(9) % 4, "like": np.zeros(4), "many": np.zeros((4, 9))}
    step = step_of([("e", "exp", ("x",)), ("y", "scatterAdd", ("e", "like", "k")), ("l", "log1p", ("e",))], values, outputs=["y", "l"])
    assert [line.split("=")[0].strip() for line in step.source.split("\n\n")[0].splitlines()] == ["for 9:", "e", "l", "for 9:", "y into"]
    rows = step_of([("e", "exp", ("b",)), ("y", "scatterAdd", ("e", "many", "k"))], {**values, "b": np.ones((9, 9))}, outputs=["y"])
    assert rows.source.count("for 9:") == 2  # at one place for a row


def test_placing_is_not_quadratic():
    """Each line of a chain of sums looks at its own neighbours alone: ten times the lines take about ten times the steps."""
    taken = []
    for n in 200, 2000:
        lines = [("s0", "sum", ("x",)), *((f"s{k + 1}", "sum", (f"y{k}",)) for k in range(n))]
        chain = [lines[0]]
        for k in range(n):
            chain += [(f"y{k}", "mul", ("x", f"s{k}")), lines[k + 1]]
        program = program_of(xman.WengertList(chain), {"x": np.ones(3)}, (f"s{n}",), {})
        count, place = [0], Tree.waits
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tree, "waits", lambda self, node, count=count, place=place:
                          count.__setitem__(0, count[0] + len(found := place(self, node))) or found)
            nests_of(program)
        taken.append(count[0])
    assert taken[1] < 12 * taken[0]


LOOKUP = [("r", "getitem", ("E", "i")), ("y", "sum", ("r",))]


def test_indices_are_looked_at_in_each_call():
    E = R.normal(size=(5, 3))
    lines = gradient(LOOKUP, "y", ["E"])
    step = step_of(lines, {"E": E, "i": np.array([0, 4, 4])}, outputs=["y", "dy_dE"])
    for i in ([4, -5, 0], [1, 1, 1]):
        values = {"E": E, "i": np.array(i)}
        wanted, found = eval(lines, values), step(values)
        for x in "y", "dy_dE":
            np.testing.assert_allclose(found[x], wanted[x], rtol=1e-12)
    for i in ([0, 1, 5], [-6, 0, 0]):
        with pytest.raises(XManError, match="out of bounds"):
            step({"E": E, "i": np.array(i)})


def test_rows_taken_of_rows_that_were_taken_are_those_of_the_array():
    values = {"x": R.normal(size=(5, 3)), "i": np.array([4, 1, 1, 0])}
    for key in (np.array([2, 0, 3]), (np.array([3, 1]), np.array([0, 2])), (slice(1, None), np.array([2, 1])), 2):
        keys = key if isinstance(key, tuple) else (key,)
        steps = [("a", "getitem", ("x", "i")), ("b", "getitem", ("a", *keys)), ("y", "exp", ("b",))]
        np.testing.assert_array_equal(xman.compile(steps, ["b"], "llvm")(values)["b"], values["x"][values["i"]][key])


@pytest.mark.parametrize("lines", [[("p", "dot", ("W", "W")), ("next", "mul", ("p", 0.5))], [("t", "transpose", ("W",)), ("next", "add", ("W", "t"))]])
def test_an_update_that_reads_other_places_of_what_it_overwrites_reads_them_as_they_were(lines):
    W = R.normal(size=(20, 20))
    wanted = eval(lines, {"W": W})["next"]
    step_of([*lines, ("loss", "sum", ("b",))], {"W": W, "b": np.ones(3)}, outputs=["loss"], inplace={"W": "next"})
    np.testing.assert_allclose(W, wanted, rtol=1e-12)


def test_axes_of_arrays_of_places_with_others_between_them_come_first():
    values, i = {"x": R.normal(size=(2, 4, 3, 5))}, np.array([3, 0])
    steps = [("a", "getitem", ("x", slice(None), i, slice(None), i)), ("y", "exp", ("a",))]
    np.testing.assert_allclose(step_of(steps, values)(values)["y"], np.exp(values["x"][:, i, :, i]), rtol=1e-14)


def test_what_is_added_at_a_place_may_have_an_axis_of_one_entry_more():
    values = {"x": R.normal(size=(1, 3)), "like": np.zeros((2, 3))}
    steps = [("a", "scatterAdd", ("x", "like", 0)), ("y", "exp", ("a",))]
    np.testing.assert_allclose(step_of(steps, values)(values)["y"], np.exp([values["x"][0], [0, 0, 0]]), rtol=1e-14)


def test_an_index_out_of_bounds_leaves_what_was_to_be_overwritten_as_it_was():
    E = R.normal(size=(5, 3))
    before = E.copy()
    step = xman.compile([*gradient(LOOKUP, "y", ["E"]), ("E_next", "subtract", ("E", "dy_dE"))], ["y"], "llvm", {"E": "E_next"})
    with pytest.raises(XManError, match="out of bounds"):
        step({"E": E, "i": np.array([0, 1, 7])})
    np.testing.assert_array_equal(E, before)


def test_minus_zero_nan_infinities_and_denormals_are_numpys():
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.0])
    values = {"x": special, "y": special[::-1].copy()}
    lines = [("a", "maximum", ("x", "y")), ("b", "max", ("x",)), ("c", "min", ("y",)), ("d", "mul", ("x", 0.5)), ("e", "negative", ("x",)),
             ("g", "divide", (1.0, "e")), ("h", "sign", ("x",)), ("k", "where", ("x", "x", "y"))]
    found, wanted = step_of(lines, values)(values), None
    with np.errstate(all="ignore"):
        wanted = eval(lines, values)
    found = xman.compile(lines, [dst for dst, _, _ in lines], "llvm")(values)
    for dst, _, _ in lines:
        np.testing.assert_array_equal(found[dst], wanted[dst], err_msg=dst)
    np.testing.assert_array_equal(np.signbit(found["e"]), np.signbit(wanted["e"]))


@pytest.mark.parametrize("op", ["scale", "ratio"])
@pytest.mark.parametrize("zero", [0.0, -0.0, np.array([0.0, -0.0, 0.0])])
def test_zero_times_a_number_and_by_a_number_has_numpys_sign(op, zero):
    steps, values = [("y", op, ("z" if np.ndim(zero) else zero, "x"))], {"x": np.array([-2.0, -3.0, 4.0]), "z": zero}
    np.testing.assert_array_equal(np.signbit(step_of(steps, values)(values)["y"]), np.signbit(eval(steps, values)["y"]))
    undefined = values | {"x": np.array([np.inf, np.nan, -np.inf] if op == "scale" else [0.0, np.nan, -0.0])}
    np.testing.assert_array_equal(step_of(steps, undefined)(undefined)["y"], 0.0)


def test_the_innermost_loop_goes_through_memory_in_order_and_what_is_transposed_goes_in_blocks():
    x = R.normal(size=(70, 100))
    lines = [("t", "transpose", ("x",)), ("u", "mul", ("t", "t")), ("s", "sum", ("u", 1)), ("y", "sin", ("t",)), ("z", "add", ("y", 1.0))]
    for out, loops, wanted in [("s", "for 70:\n  for 100:\n", np.sum(x * x, 0)),
                               ("z", "for 70 (tile of 32):\n  for 100:\n    for 70 (lane of 32):\n", np.sin(x.T) + 1)]:
        step = xman.compile(lines, [out], engine="llvm")
        np.testing.assert_allclose(step({"x": x})[out], wanted, rtol=1e-13)
        assert step.source.startswith(loops) and step.source.index("def ") - len(loops) < 200


def test_what_is_transposed_at_the_end_is_written_where_it_stays_in_the_loops_that_compute_it():
    lines = [("t", "transpose", ("x",)), ("y", "sin", ("t",)), ("b", "add", ("y", "a")), ("s", "power", ("b", 2)), ("l", "sum", ("s",))]
    values = {"x": R.normal(size=(70, 90)), "a": R.normal(size=70)}
    lines = gradient(lines, "l", ["x", "a"])
    step = step_of(lines, values, outputs=["l", "dl_dx", "dl_da"])
    assert step.source.count("for 90:") == 1 and "tile" not in step.source
    for x, found in step(values).items():
        np.testing.assert_allclose(found, eval(lines, values)[x], rtol=1e-12)


def test_parts_that_lie_between_one_another_are_written_in_one_loop_and_others_in_loops_of_their_own():
    values = {"x": R.normal(size=50), "z": R.normal(size=100)}
    for keys, loops in [((slice(0, None, 2), slice(1, None, 2)), 1), ((slice(0, 50), slice(1, 51)), 2)]:
        lines = [("a", "scatterAdd", ("x", "z", keys[0])), ("y", "sin", ("x",)), ("b", "scatterAdd", ("y", "z", keys[1])), ("s", "add", ("a", "b"))]
        step = step_of(lines, values, outputs=["s"])
        assert step.source.count("for 50:") == loops
        np.testing.assert_allclose(step(values)["s"], eval(lines, values)["s"], rtol=1e-15)


def test_tiles_of_a_long_axis_stand_around_sums_over_others_and_within_sums_over_them():
    x = R.normal(size=(5, 3000))
    for axis, loops in [(0, "for 3000 (tile of 1,024):\n  for 5:\n    for 3000 (lane of 1,024):\n      "), (1, "for 5:\n  for 3000 (tile of")]:
        lines = [("e", "exp", ("x",)), ("s", "sum", ("e", axis, True)), ("p", "divide", ("e", "s")), ("all", "sum", ("p",))]
        step = step_of(lines, {"x": x}, outputs=["p", "all"])
        assert step.source.startswith(loops)
        np.testing.assert_allclose(step({"x": x})["p"], eval(lines, {"x": x})["p"], rtol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_no_bit_depends_on_the_number_of_threads(seed, monkeypatch):
    for name, small in {"FAR": 2, "MANY": 2, "BLOCK": 2, "LONG": 5, "TILE": 3}.items():
        monkeypatch.setattr(tree, name, small)
    monkeypatch.setattr(threads, "WORTH", 0)
    draw = np.random.default_rng(seed).integers
    x, axis, order = R.normal(size=draw(2, 9, 3)), int(draw(3)), tuple(map(int, R.permutation(3)))
    lines = [("e", "exp", ("x",)), ("s", "sum", ("e", axis, True)), ("p", "divide", ("e", "s")), ("t", "transpose", ("p", order)),
             ("y", "sin", ("t",)), ("top", "max", ("y", None)), ("c", "sum", ("y", (0, 1))), ("l", "sum", ("s", None)),
             ("w", "mul", ("p", "x")), ("loss", "sum", ("w", None))]
    grown = gradient(lines, of="loss", wrt=["x"])
    outputs = ["s", "y", "top", "c", "l", *grown.outputs]
    program = program_of(xman.WengertList(grown), {"x": x}, tuple(outputs), {})
    assert NestStep(nests_of(program)).threaded
    one, *others = [xman.compile(grown, outputs, "llvm", threads=n)({"x": x}) for n in (1, 2, 3)]
    wanted = eval(grown, {"x": x})
    for name in outputs:
        np.testing.assert_allclose(one[name], wanted[name], rtol=1e-12, atol=1e-14)
        assert all(np.asarray(one[name]).tobytes() == np.asarray(other[name]).tobytes() for other in others)


def test_each_stage_of_the_compiler_prints_what_it_made():
    program = program_of(xman.WengertList([("p", "dot", ("x", "w")), ("y", "exp", ("p",))]), {"x": np.ones((9, 9)), "w": np.ones((9, 9))}, ("y",), {})
    texts = dict(engine.build(program).plan.stages[-4:])
    assert [*texts] == [name for name, _ in engine.STAGES] == ["folded", "layout", "nests", "text"]
    assert "gemm()" in texts["folded"] and "y = exp(p)" in texts["layout"] and "for 9:" in texts["nests"] and "define i64 @step0" in texts["text"]


@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_a_running_sum_is_a_loop_and_no_chunk_begins_in_its_middle(op, monkeypatch):
    monkeypatch.setattr(threads, "WORTH", 0)
    for shape, axis in ((6, 4), 0), ((6, 4), 1), ((6, 4), None), ((1, 3), 0), ((3, 0), 1), ((3, 0), 0), ((), None):
        values = {"x": R.normal(size=shape)}
        lines = [("e", "exp", ("x",)), ("y", op, ("e", axis)), ("z", "mul", ("y", "e" if axis is not None else 2.0))]
        step = step_of(lines, values)
        assert not step.plan.calls
        np.testing.assert_allclose(step(values)["z"], eval(lines, values)["z"], rtol=1e-14)
    assert nest_step_of([("y", op, ("x", 1))], {"x": np.ones((32, 32))}).threaded
    assert not nest_step_of([("y", op, ("x", 0))], {"x": np.ones(32)}).threaded


@pytest.mark.parametrize("op", ["var", "std", "centered"])
def test_a_spread_is_loops_and_that_of_equal_entries_is_zero(op):
    for axis in None, 0, (0, 2), -1:
        same = {"x": np.full((3, 7, 3), np.float32(0.1))}
        mixed = {"x": R.normal(1e3, 1.0, (3, 7, 3))}
        lines = gradient([("e", op, ("x", axis)), ("y", "sum", ("e",))], "y", ["x"])
        for values in same, mixed:
            step = step_of(lines, values, outputs=["e", "dy_dx"])
            assert not step.plan.calls
            wanted, found = eval(lines, values), step(values)
            for name in "e", "dy_dx":
                np.testing.assert_allclose(found[name], wanted[name], rtol=1e-9, atol=1e-12)
        assert not np.any(step_of(lines, same, outputs=["e"])(same)["e"])


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3), (2, 3, 0)])
def test_loops_over_no_entries_are_not_entered(shape):
    values = {"x": np.ones(shape)}
    found = step_of([("e", "exp", ("x",)), ("y", "sum", ("e",)), ("z", "prod", ("e",))], values, outputs=["e", "y", "z"])(values)
    assert (found["e"].shape, found["y"], found["z"]) == (shape, 0, 1)


def test_axes_in_order_are_one_loop_and_others_are_not():
    loops = lambda shape, *lines: "\n".join(nest_step_of(lines, {"x": np.ones(shape)}).names).count("phi")
    assert loops((20, 6, 3), ("y", "exp", ("x",))) == 1
    assert loops((3000, 3), ("y", "exp", ("x",))) == 2  # over tiles, and within one
    assert loops((4, 3000), ("y", "exp", ("x",))) == 3
    assert loops((20, 6, 3), ("a", "getitem", ("x", slice(None), slice(1, None))), ("y", "exp", ("a",))) == 2
    assert loops((20, 6, 3), ("a", "transpose", ("x", (1, 0, 2))), ("y", "exp", ("a",))) == 3
    x = R.normal(size=(40, 6, 3))
    lines = [("a", "getitem", ("x", slice(None, None, 2))), ("b", "mul", ("a", "a")), ("y", "sum", ("b",)), ("c", "sum", ("b", 2))]
    found = step_of(lines, {"x": x}, outputs=["b", "y", "c"])({"x": x})
    for name, wanted in eval(lines, {"x": x}).items():
        if name in found:
            np.testing.assert_allclose(found[name], wanted, rtol=1e-14)


@pytest.mark.parametrize(("columns", "hint"), [(8, "!2"), (12, "!1"), (30, "!5"), (100, "")])
def test_sums_of_short_rows_are_written_out_so_that_they_stay_in_registers(columns, hint):
    text, = nest_step_of([("y", "sum", ("x", 0))], {"x": np.ones((50, columns))}).names
    _, inner, outer = [line.partition("!llvm.loop ")[2] for line in text.splitlines() if " br i1 " in line]
    assert (inner, outer) == (hint, "!2")
    x = R.normal(size=(50, columns))
    np.testing.assert_allclose(step_of([("y", "sum", ("x", 0))], {"x": x})({"x": x})["y"], x.sum(0), rtol=1e-12, atol=1e-12)


def test_steps_in_a_row_that_are_alike_share_their_code():
    lines = [(f"h{k + 1}", "dot", (f"t{k}", "W")) if j else (f"t{k}", "tanh", (f"h{k}",)) for k in range(6) for j in (0, 1)]
    values = {"h0": R.normal(size=(16, 16)), "W": R.normal(size=(16, 16))}
    from xman.engines.llvm.step import NestStep
    program = program_of(xman.WengertList(lines), values, ("h6",), {})
    assert len(NestStep(nests_of(program)).names) == 1


def test_long_sums_of_single_precision_are_added_up_in_double():
    x = np.full(1_000_000, 0.1, np.float32)
    found = xman.compile([("y", "sum", ("x",))], engine="llvm")({"x": x})["y"]
    assert found.dtype == np.float32 and found == pytest.approx(np.sum(x, dtype=float), rel=1e-7)


def test_what_numpy_computes_in_another_precision_is_put_over_an_input():
    lines = [("z", "exp", ("V",)), ("next", "unbroadcast", ("z", "W")), ("read", "alias", ("B",)), ("loss", "sum", ("W",))]
    W, B, V = np.zeros(3, np.float32), np.zeros(3, np.float32), np.ones((2, 3))
    step_of(lines, {"W": W, "B": B, "V": V}, outputs=["loss"], inplace={"B": "next"})
    np.testing.assert_allclose(B, 2 * np.e, rtol=1e-6)


def test_sines_and_cosines_of_the_same_numbers_are_those_of_each_alone():
    steps = [("s", "sin", ("x",)), ("c", "cos", ("x",)), ("t", "sin", ("y",)), ("d", "cos", ("y",))]
    x = np.array([0.0, -0.0, 1.0, -2.5, 1e6, -3e15, 1e30, np.inf, np.nan, *np.linspace(-9, 9, 24)])
    for dtype, rtol in ((np.float64, 4e-16), (np.float32, 2e-7)):
        for y in x.astype(dtype):
            found = xman.compile(steps, engine="llvm")({"x": x.astype(dtype), "y": y})
            with np.errstate(invalid="ignore"):
                for name, right in (("s", np.sin(x.astype(dtype))), ("c", np.cos(x.astype(dtype))), ("t", np.sin(y)), ("d", np.cos(y))):
                    np.testing.assert_allclose(found[name], right, rtol=rtol, atol=0)
        assert np.signbit(found["s"][1]) and found["s"].dtype == dtype


def test_an_argument_that_is_asked_for_its_shape_alone_may_hold_anything():
    values = {"a": R.normal(size=5), "like": np.full((4, 5), "word")}
    run = xman.compile([("z", "exp", ("a",)), ("b", "scatterAdd", ("z", "like", 1)), ("y", "cos", ("b",))], engine="llvm")
    np.testing.assert_allclose(run(values)["y"], np.cos([[0] * 5, np.exp(values["a"]), [0] * 5, [0] * 5]), rtol=1e-12)
    assert not run.plan.calls


def test_whole_numbers_with_a_sign_and_without_are_numpys():
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        info = np.iinfo(name)
        x, y = (part.ravel() for part in np.meshgrid(*[np.array([info.min, info.max, info.max // 2 + 1, 3, 0], name)] * 2))
        steps = [(f"{op}", op, ("x", "y")) for op in ("less", "less_equal", "greater", "greater_equal", "equal", "maximum", "minimum", "add")]
        steps = [(f"r_{op}", op, args) for op, _, args in steps] + [
            (f"as_{to}", "astype", ("x", (to,))) for to in ("int64", "uint64", "int32", "float64", "float32")] + [("top", "max", ("x",))]
        found = xman.compile(steps, engine="llvm")({"x": x, "y": y})
        wanted = eval(steps, {"x": x, "y": y})
        for dst, _, _ in steps:
            np.testing.assert_array_equal(found[dst], wanted[dst], err_msg=f"{name} {dst}")


def test_what_numpy_reads_or_writes_keeps_its_shape_where_it_is_handed_out_in_another():
    x = R.normal(size=(2, 3))
    steps = [("t", "greater", ("x", 0.0)), ("r", "round", ("t",)), ("f", "reshape", ("t", (-1,))), ("c", "besselJ", (0, "x")), ("g", "reshape", ("c", (3, 2)))]
    step = step_of(steps, {"x": x}, outputs=["r", "f", "g"])
    found, wanted = step({"x": x}), eval(steps, {"x": x})
    assert {name: y.shape for name, y in found.items()} == {"r": (2, 3), "f": (6,), "g": (3, 2)} and step._latest
    for name, y in found.items():
        np.testing.assert_array_equal(y, wanted[name])
