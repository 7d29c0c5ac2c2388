"""Facts about lists: which are valid and how the others are refused, their text and JSON forms, and what they print."""

import copy
import gc
import math
import pickle
import weakref

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ops
import xman.wengert
from xman import Register, WengertList, XManError, backprop, check, eval, forward, notation, shapes

TRIANGLE = [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]
INPUTS = {"x": 1.0, "y": 2.0, "h": 3.0, "w": 6.0}


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one printable line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert str(caught.value).isprintable()
    return str(caught.value)


def line(*args, dst="z", op="exp"):
    return [(dst, op, args)]


# what is valid: (the line, what the message has to say)

REFUSED = {
    "a string for a tuple of one": (("f", "square", ("z2")), ["'z2'", "tuple of one is written ('z2',)"]),
    "two parts": (("f", "square"), ["is not a line (dst, op, args)", "('z1', 'mul', ('h', 'w'))"]),
    "four parts": (("f", "mul", "x", "y"), ["is not a line (dst, op, args)"]),
    "a text": ("f = exp(x)", ["is not a line", "'f = exp(x)'"]),
    "None": (None, ["is not a line"]),
    "a number as register": ((3, "exp", ("x",)), ["two strings"]),
    "a number as operator": (("f", 3, ("x",)), ["two strings"]),
    "a set of arguments": (("f", "exp", {"x"}), ["a set where a tuple of arguments is wanted"]),
    "no arguments": (("f", "exp", None), ["NoneType where a tuple"]),
    "a dict as argument": (("f", "mul", ("x", {})), ["{}", "a dict", "a number, a shape, a slice or an array"]),
    "a list as argument": (("f", "sum", ("x", [0, 1])), ["[0, 1]", "a list", "a shape"]),
    "bytes as argument": (("f", "exp", (b"x",)), ["b'x'", "a bytes"]),
    "a complex number of 256 bits": (("f", "mul", ("x", np.clongdouble(1j))), ["a clongdouble"]),
    "an array of strings": (("f", "mul", ("x", np.array(["a"]))), ["array of numbers"]),
    "an array of objects": (("f", "mul", ("x", np.array([None]))), ["array of numbers"]),
    "a Register": (("f", "exp", (Register("x"),)), ["a Register", "register's name"]),
    "a Register in a tuple": (("f", "reshape", ("x", (Register("n"), 2))), ["Register"]),
    "a dict in a tuple": (("f", "reshape", ("x", ({},))), ["dict"]),
    "a list in a tuple": (("f", "reshape", ("x", ([1],))), ["list"]),
    "a function in a tuple": (("f", "reshape", ("x", (abs,))), ["builtin"]),
    "a dict in a slice": (("f", "getitem", ("x", slice({}, None))), ["dict"]),
    "an unknown operator": (("f", "squar", ("x",)), ["'squar'", "not in the table", "did you mean 'square'?"]),
    "an argument too many": (("f", "exp", ("x", "y")), ["gives exp 2 arguments; it takes 1 argument"]),
    "an argument too few": (("f", "mul", ("x",)), ["gives mul 1 argument; it takes 2 arguments"]),
    "no argument for any number": (("f", "concat", ()), ["gives concat 0 arguments; it takes at least 1 argument"]),
    "a keyword assigned": (("if", "exp", ("x",)), ["'if', which is a Python keyword", "choose another name"]),
    "a keyword read": (("f", "exp", ("lambda",)), ["'lambda', which is a Python keyword"]),
    "an operator assigned": (("mul", "exp", ("x",)), ["'mul', which is an operator"]),
    "an operator read": (("f", "exp", ("half",)), ["'half', which is an operator"]),
    "no identifier assigned": (("a b", "exp", ("x",)), ["'a b', which is not an identifier"]),
    "no identifier read": (("f", "exp", ("1x",)), ["'1x', which is not an identifier"]),
    "an empty name": (("", "exp", ("x",)), ["'', which is not an identifier"]),
    "a null byte": (("z\0", "exp", ("x",)), ["which is not an identifier"]),
    "a line end in a name": (("f", "exp", ("x\ny",)), ["which is not an identifier"]),
    "a word of the text form": (("array", "exp", ("x",)), ["'array', which is a word of the text form"]),
    "a name that Python reads as another": (("\ufb01", "exp", ("x",)), ["'fi'"]),
    "its own result": (("f", "exp", ("f",)), ["assigns f", "assigned before its use"])}


@pytest.mark.parametrize("case", REFUSED)
def test_a_line_is_refused_with_its_number_and_what_to_write(case):
    bad, words = REFUSED[case]
    message = refusal(WengertList, [*TRIANGLE, bad], ops.G)
    assert message.startswith("line 3, ") and all(word in message for word in words), message


@pytest.mark.parametrize("use", [
    lambda steps: eval(steps, INPUTS), lambda steps: backprop(steps, INPUTS, y=1.0), lambda steps: check(steps, INPUTS),
    lambda steps: forward(steps, INPUTS, {"x": 1.0}), lambda steps: shapes(steps, INPUTS)],
    ids=["eval", "backprop", "check", "forward", "shapes"])
@pytest.mark.parametrize("bad", [("f", "square", ("x")), ("h", "exp", ("x",)), ("if", "exp", ("x",))], ids=str)
def test_every_interpreter_refuses_a_plain_list_that_is_not_valid(use, bad):
    assert refusal(use, [*TRIANGLE, bad]).startswith("line 3, ")


def test_a_register_that_is_assigned_twice_is_refused_with_both_lines():
    message = refusal(WengertList, [*TRIANGLE, ("z1", "exp", ("x",))])
    assert "line 3, z1 = exp(x)" in message and "a second time, after line 1" in message


def test_a_register_that_is_used_before_it_is_assigned_is_refused_with_both_lines():
    message = refusal(WengertList, [*TRIANGLE, ("w", "exp", ("x",))])
    assert "line 3, w = exp(x)" in message and "line 1 has used" in message


def test_nothing_runs_of_a_list_that_is_not_valid():
    ran = []
    refusal(eval, [("a", "tick", ("x",)), ("b", "tock", ("a",))], INPUTS, {"tick": ran.append})
    assert not ran


@pytest.mark.parametrize("steps", ["z = exp(x)", {}, None, 5, np.zeros(3)], ids=str)
def test_what_is_no_list_is_refused_by_its_type(steps):
    assert f"a {type(steps).__name__}, not a list of lines" in refusal(eval, steps, INPUTS)


def test_a_wengertlist_of_a_text_is_refused():
    assert "is not a line" in refusal(WengertList, "z = exp(x)")


@pytest.mark.parametrize("steps", [[["z1", "mul", ["h", "w"]]], [("z1", "mul", ["h", "w"])], [["z1", "mul", ("h", "w")]]])
def test_lists_in_the_place_of_tuples_become_tuples(steps):
    assert WengertList(steps) == [("z1", "mul", ("h", "w"))]


def test_a_plain_list_is_left_as_it_was_given():
    steps = [("z1", "mul", ["h", "w"])]
    eval(steps, INPUTS)
    assert steps == [("z1", "mul", ["h", "w"])]


# a list is a list


def test_a_list_prints_itself_one_assignment_a_line():
    steps = WengertList(TRIANGLE)
    assert str(steps) == "z1   = mul(h, w)\narea = half(z1)" and repr(steps) == "z1 = mul(h, w)\narea = half(z1)"


def test_the_listing_is_valid_python_over_the_operators():
    space = {**ops.G, "h": 3.0, "w": 6.0}
    exec(str(WengertList(TRIANGLE)), space)
    assert space["area"] == 9


def test_a_list_equals_the_plain_list_of_its_lines():
    assert WengertList(TRIANGLE) == TRIANGLE and isinstance(WengertList(TRIANGLE), list)


def test_lists_with_arrays_are_equal_where_the_bits_are():
    moved = lambda x: WengertList([("y", "add", ("x", x)), ("z", "getitem", ("y", (np.array([0, 1]), None)))])
    nan = np.array([1.0, np.nan])
    assert moved(nan) == moved(nan.copy()) == [*moved(nan.copy())] and [*moved(nan)] == moved(nan.copy())
    for other in (nan.astype("f4"), nan[:1], np.array([1.0, 2]), np.array([-1.0, np.nan]), 1.0):
        assert moved(nan) != moved(other) and moved(other) != [*moved(nan)]


def test_inputs_are_what_is_read_and_not_assigned_in_order_of_use():
    assert WengertList([*TRIANGLE, ("b", "mul", ("x", "h")), ("c", "reshape", ("b", ("y", 2)))]).inputs == ("h", "w", "x")


def test_outputs_are_what_is_assigned_and_not_read_in_order():
    assert WengertList([("a", "exp", ("x",)), ("b", "exp", ("x",)), ("c", "exp", ("b",))]).outputs == ("a", "c")


def test_an_empty_list_is_valid_and_has_neither_inputs_nor_outputs():
    empty = WengertList()
    assert (empty.inputs, empty.outputs, str(empty), eval(empty, {"x": 1.0})) == ((), (), "", {"x": 1.0})


BAD = ("z1", "squar", ("x",))
CHANGES = {
    "append": lambda s: s.append(BAD), "extend": lambda s: s.extend([BAD]), "insert": lambda s: s.insert(0, BAD),
    "+=": lambda s: s.__iadd__([BAD]), "*=": lambda s: s.__imul__(2), "item": lambda s: s.__setitem__(0, BAD),
    "slice": lambda s: s.__setitem__(slice(1, 1), [BAD]), "reverse": lambda s: s.reverse(), "sort": lambda s: s.sort()}


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_was_changed_is_checked_again(change):
    steps = WengertList(TRIANGLE)
    eval(steps, INPUTS)
    CHANGES[change](steps)
    assert refusal(eval, steps, INPUTS).startswith("line ")


def test_a_list_is_looked_through_once_for_its_values_and_once_for_its_deltas(monkeypatch):
    looked, through = [], xman.wengert.inputs_of_valid
    monkeypatch.setattr(xman.wengert, "inputs_of_valid", lambda *given: (looked.append(1), through(*given))[1])
    steps = WengertList(TRIANGLE)
    for _ in range(3):
        backprop(steps, eval(steps, INPUTS), wrt=["h"], area=1.0)
    assert len(looked) == 3  # when it was made, by G, and by DG


@pytest.mark.parametrize("change", [lambda s: s.pop(), lambda s: s.remove(TRIANGLE[1]), lambda s: s.__delitem__(1)])
def test_a_list_that_was_shortened_still_runs(change):
    steps = WengertList(TRIANGLE)
    eval(steps, INPUTS)
    change(steps)
    assert "area" not in eval(steps, INPUTS)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_list_that_has_run_is_copied_and_pickled(copied):
    steps = WengertList(TRIANGLE)
    eval(steps, INPUTS)
    assert copied(steps) == steps and type(copied(steps)) is WengertList


def test_a_list_that_runs_on_ever_new_tables_does_not_keep_them_all():
    Table, steps, alive = type("Table", (dict,), {}), WengertList(TRIANGLE), []
    for _ in range(9):
        eval(steps, INPUTS, table := Table(ops.G))
        alive.append(weakref.ref(table))
        del table
    gc.collect()
    assert sum(reference() is not None for reference in alive) < 5


# text and JSON

leaves = st.one_of(st.floats(), st.sampled_from([-0.0, 1e-320, math.nan, -math.inf]), st.integers(-2**63, 2**64 - 1),
                   st.booleans(), st.none(), st.just(...), st.builds(slice, *[st.none() | st.integers(-2**63, 2**63)] * 3))
numbers = arrays.arrays(st.sampled_from(["f2", "f4", "f8", ">f8", "i1", "i8", "u2", "u8", "?"]),
                        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
literals = st.recursive(leaves, lambda part: st.lists(part | st.text(), max_size=4).map(tuple), max_leaves=10) | numbers
lists = st.lists(st.lists(literals | st.sampled_from(["x", "y", "_", "\u03c0"]), max_size=4), max_size=4).map(
    lambda rows: WengertList((f"z{k}", "op", tuple(row)) for k, row in enumerate(rows)))


def same(a, b):
    """Whether a and b are the same literal, to the bit."""
    if isinstance(a, tuple):
        return type(b) is tuple and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, slice):
        return type(b) is slice and same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and np.array_equal(a, b, equal_nan=True) and (
            a.dtype.kind != "f" or np.all(np.isnan(a) | (np.signbit(a) == np.signbit(b))))
    if isinstance(a, float):
        return type(b) is float and (math.isnan(a) and math.isnan(b) or (a, math.copysign(1, a)) == (b, math.copysign(1, b)))
    return type(a) is type(b) and a == b


forms = pytest.mark.parametrize("write, read", [(str, WengertList.from_text), (WengertList.to_json, WengertList.from_json)],
                                ids=["text", "JSON"])


@forms
@settings(deadline=None, derandomize=True, max_examples=50, database=None)
@given(steps=lists)
def test_every_list_reads_back(write, read, steps):
    back = read(write(steps))
    assert same(tuple(back), tuple(steps))


@pytest.mark.parametrize("number", [np.float32(0.1), np.int64(-3), np.bool_(True), np.float64(0.1), np.longdouble(0.1)])
@forms
def test_a_number_of_numpys_reads_back_in_its_precision_or_is_refused(write, read, number):
    try:
        steps = WengertList(line("x", number))
    except XManError:
        return
    back = read(write(steps))[0][2][1]
    assert back == number and back.dtype == number.dtype


@forms
def test_a_number_that_is_spread_is_one_number_in_memory_and_in_what_is_written(write, read):
    number = np.array(2.5)
    steps = WengertList(line("x", np.broadcast_to(number, (1000, 16))))
    number[()] = 9.0
    back = read(write(steps))[0][2][1]
    assert len(write(steps)) < 100 and np.all(back == 2.5) and back.shape == (1000, 16) and not any(back.strides)
    assert not back.flags.writeable and not back.base.flags.writeable


def test_an_integer_that_python_will_not_print_is_refused():
    assert "line 1" in refusal(WengertList, line("x", 10 ** 5000))


def test_empty_lines_and_comments_of_a_text_are_passed_over():
    assert WengertList.from_text("\n# the area\nz1 = mul(h, w)  # of both\n\n  area = half(z1)\r\n") == TRIANGLE


TEXTS = [
    "z = exp(" + "(" * 999 + "x" + ")" * 999 + ")", "z = exp(" + "-" * 99_999 + "1)", "z = exp(x" + "+1" * 99_999 + ")",
    "z = exp(" + "9" * 5000 + ")", "z = exp(x.y)", "z = exp(*x)", "z = exp(lambda: x)", "z = exp(\0)", "z = os.popen('ls')",
    "z = __import__('os')", "if = exp(x)", "z = exp(if)", "z = exp(x); y = exp(z)", "z = y = exp(x)", "z = exp(x=1)", "z",
    "z = exp([1])", "z = exp(([1],))", "z = exp(b'x')", "z = exp(f'x')", "z = exp(x", "z == exp(x)",
    "z += exp(x)", "z: int = exp(x)", "z = x", "z, y = exp(x)", "z[0] = exp(x)", "z = exp((x, 1))", "z = exp('x')",
    "z = exp(exp(x))", "z = exp(x if y else w)", "z = exp([x for x in y])", "z = exp(('\\d',))", "z = exp(float())",
    "z = exp(float('x'))", "z = exp(slice(1, 2, 3, 4))", "z = exp(array([300], 'uint8'))", "z = exp(array([1e999], 'i8'))",
    "z = exp(array([1], 'object'))", "z = exp(array([[1], [1, 2]], 'float64'))", "z = exp(array([1.0], 'float64', (2, 2)))",
    "z = exp(array([], 'float64', (0, 9" + "0" * 30 + ")))"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:30])
def test_a_hostile_text_is_refused_with_its_line(text):
    assert "line 2" in refusal(WengertList.from_text, f"y = exp(x)\n{text}")


PLAIN = ["", "null", "3", '"abc"', "{}", "[" * 100_000, '["abc"]', "[[1, 2, 3]]", "\0"]
LINES = ['["z", "mul", "xy"]', '["z", "exp", {"x": 1}]', '["z", "exp"]', '["z", "exp", ["x"], 1]', '["z", "exp", null]',
         '[["z"], "exp", ["x"]]', '["z\\u0000", "exp", ["x"]]', '["if", "exp", ["x"]]']
ARGUMENTS = ["[1]", "{}", '{"tuple": "abc"}', '{"float": 1, "tuple": []}', '{"float": "x"}', '{"float": [1]}', '{"set": []}',
             '{"slice": 1}', '{"slice": [1, 2, 3, 4]}', '{"slice": [[], null, null]}', "9" * 5000, '{"tuple": [' * 20_000,
             '{"array": [1], "dtype": "float64"}', '{"array": 5, "dtype": "float64", "shape": [-2]}',
             '{"array": [300], "dtype": "uint8", "shape": [1]}', '{"array": ["x"], "dtype": "float64", "shape": [1]}',
             '{"array": [1], "dtype": "object", "shape": [1]}', '{"array": [1], "dtype": "float64", "shape": [2]}',
             '{"array": [null], "dtype": "float64", "shape": [1]}',
             '{"array": [], "dtype": "float64", "shape": [0, ' + "9" * 30 + "]}"]


HOSTILE = [*PLAIN, *(f"[{text}]" for text in LINES), *(f'[["z", "exp", [{a}]]]' for a in ARGUMENTS)]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:40])
def test_a_hostile_json_is_refused(text):
    assert refusal(WengertList.from_json, text)


def test_many_lines_are_read_and_written():
    text = "\n".join(f"z{k + 1} = add(z{k}, {k}.5)" for k in range(20_000))
    steps = WengertList.from_text(text)
    assert notation.to_text(steps) == text and len(repr(steps)) < 1500 and WengertList.from_json(steps.to_json()) == steps
