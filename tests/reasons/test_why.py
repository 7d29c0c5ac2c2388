"""why: the line that is the reason for a number."""
import inspect
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from troubles import TROUBLES

import xman
from xman import WengertList, XManError, f, gradient, tangent, why

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))
from operator_cases import CASES, in_each

ALL = os.environ.get("XMAN_ALL_CASES")
NORM = WengertList.from_text("s = dot(x, x)\nn = sqrt(s)")


@pytest.mark.parametrize("fn, sign, args", TROUBLES, ids=[fn.__name__ for fn, *_ in TROUBLES])
def test_the_reason_of_what_other_trackers_report_is_named(fn, sign, args):
    reason = why(fn, *args)
    lines, first = inspect.getsourcelines(inspect.unwrap(fn))
    here = [first + k for k, line in enumerate(lines) if "# here" in line]
    assert (reason.sign, reason.place and reason.place[1]) == (sign, here[0] if here else None), reason


@in_each([(op, case) for op, cases in CASES.items() for case in cases[:None if ALL else 1] if op not in ("max", "min")])
def test_a_nan_of_an_input_is_followed_through_every_operator(op, case):
    values = {f"x{i}": np.array(a) for i, a in enumerate(case) if isinstance(a, np.ndarray) and a.dtype.kind in "biufO"}
    first = next((x for x, a in values.items() if a.dtype.kind == "f" and a.size), None)
    if first:
        values[first].flat[0] = np.nan
        line = "y", op, tuple(f"x{i}" if f"x{i}" in values else a for i, a in enumerate(case))
        try:
            reason = why([line], values, "y")
        except XManError:  # LAPACK refuses NaN
            return
        assert reason.sign != "NaN" or f"the input {first} is NaN" in str(reason)


# pieces of programs, of which x is what came before and y the result. What is NaN or infinite within these, or has such a
# slope, is kept out of y
HARMLESS = """
    c = greater(x, 0.3); y0 = subtract(x, 0.3); y1 = sqrt(y0); y = where(c, y1, x)
    c = equal(x, 0); y0 = sin(x); y1 = divide(y0, x); y = where(c, 1.0, y1)
    c = greater(x, 0); y0 = log(x); y1 = mul(y0, x); y = where(c, y1, 0.0)
    y0 = concat(0, x, array([0.0], 'float64')); y1 = reciprocal(y0); y2 = getitem(y1, slice(3, 4, None)); y = add(x, 0.2)
    y0 = concat(0, w, array([0.0], 'float64')); y1 = reciprocal(y0); y2 = getitem(y1, slice(0, 3, None)); y = add(x, y2)
    y2 = abs(x); c = less(y2, 1.0); y0 = arccos(x); y1 = exp(y0); y = where(c, y1, 0.5)
    y0 = mul(x, 2000.0); y1 = exp(y0); y2 = add(y1, 1.0); y3 = reciprocal(y2); y = add(y3, x)
    y0 = divide(x, 0.0); y1 = subtract(y0, y0); c = isnan(y1); y = where(c, x, y1)
    y0 = norm(x); y1 = square(y0); y = add(x, y1)""".strip().split("\n")
PLAIN = """
    y = tanh(x)
    y = sin(x)
    y0 = mul(x, w); y = add(y0, 0.1)
    y0 = square(x); y = half(y0)
    y0 = tanh(x); y = exp(y0)
    y = getitem(x, slice(None, None, -1))
    y0 = maximum(x, w); y = cos(y0)
    y0 = sum(x); y1 = tanh(y0); y = mul(y1, x)
    y0 = softmax(x); y = subtract(x, y0)""".strip().split("\n")
# pieces whose last line makes a NaN or an infinity of numbers that are none
FAULTS = """
    y0 = tanh(x); y1 = subtract(y0, 9.0); y = log(y1)
    y0 = subtract(w, w); y = divide(y0, y0)
    y0 = mul(w, -1.5); y = power(y0, w)
    y0 = add(w, 1.5); y = arcsin(y0)
    y0 = subtract(w, w); y = reciprocal(y0)
    y0 = add(w, 800.0); y = exp(y0)
    y0 = stopGradient(w); y1 = subtract(w, y0); y = log(y1)""".strip().split("\n")


def program(random, fault=""):
    """A list of a few pieces, its values, and the number of the line that is its fault; its inputs reach the result plainly,
    too, so that no derivative is 0."""
    pieces = [random.choice(HARMLESS if random.random() < 0.5 else PLAIN) for _ in range(random.integers(3, 9))]
    at = random.integers(len(pieces)) if fault else -1
    lines, x, line = [], "x", 0
    for k, piece in enumerate(pieces):
        own = {name: f"{name}_{k}" for name in ("y", "y0", "y1", "y2", "y3", "c")}
        text = (fault if k == at else piece).replace(";", "\n").replace(" ", "")
        for dst, op, args in WengertList.from_text(text):
            lines.append((own[dst], op, tuple({"x": x, **own}.get(a, a) if isinstance(a, str) else a for a in args)))
        x, line = f"y_{k}", len(lines) if k == at else line
    lines += [("t0", "mul", ("x", "w")), ("t1", "add", ("t0", x)), ("loss", "mean", ("t1",))]
    return WengertList(lines), {"x": random.choice([-0.8, -0.2, 0.0, 0.4, 0.9], 3), "w": random.uniform(0.2, 2.0, 3)}, line


@pytest.mark.parametrize("seed", range(300 if ALL else 40))
def test_a_sane_program_raises_no_alarm(seed):
    steps, values, _ = program(np.random.default_rng(seed))
    assert not (reason := why(steps, values)), f"{reason}\n{steps}\n{values}"


@pytest.mark.parametrize("seed", range(300 if ALL else 40))
def test_a_fault_is_found_behind_what_is_harmless(seed):
    random = np.random.default_rng(seed)
    steps, values, line = program(random, random.choice(FAULTS))
    reason = why(steps, values, "loss")
    if reason:  # a later piece may keep it out
        assert reason.line == line, f"{reason}\n{steps}\n{values}"


def test_a_derivative_of_a_list_is_asked_for_by_the_name_that_gradient_gives_it():
    values = {"x": np.zeros(2)}
    reason = why(NORM, values, "dn_dx")
    assert reason.line == 2 and str(reason) == ("dn_dx is NaN at [0]: line 2, n = sqrt(s), has an infinite slope by s at s = 0; "
                                                "then line 1, s = dot(x, x), at x = 0 everywhere, makes it NaN")
    for steps in gradient(NORM, "n", ["x"]), xman.compile(NORM), list(NORM):
        assert why(steps, values, "dn_dx") == reason


def test_the_chain_goes_from_the_number_to_its_reason():
    steps = gradient(NORM, "n", ["x"])
    assert why(steps, {"x": np.zeros(2)}, "dn_dx").chain == (
        "the adjoint of x is NaN at [0]: line 1, s = dot(x, x), at x = 0 everywhere",
        "the adjoint of s is infinite: line 2, n = sqrt(s), has an infinite slope by s at s = 0")


def test_a_second_derivative_has_its_reason_among_the_values_of_the_first():
    first = gradient([("y", "log", ("x",))], "y", ["x"])
    reason = why(gradient(first, "dy_dx", ["x"]), {"x": 0.0}, "ddy_dx_dx")
    assert str(reason).startswith("ddy_dx_dx is infinite: line 3, z1 = divide(dy_dy, x), of the adjoint of line 1, y = log(x), "
                                  "has an infinite slope by x at dy_dy = 1, x = 0")


@pytest.mark.parametrize("fn, at, sentence", [
    (lambda z: np.sum(np.abs(z / np.abs(z))), np.array([1j, 0]), "is NaN at z = 0+0j, z1 = 0"),
    (lambda z: np.abs(np.log(z)) ** 2, 0j, "is infinite at z = 0+0j"),
    (lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2), np.zeros(2), "dresult_dx is 0"),
    (lambda z: np.sum(np.real(z * z)), np.array([3j, 4]), "dresult_dz of size from 6 to 8"),
    (lambda z: np.abs(xman.scan(lambda h, _: (np.log(h) * z, None), z, length=2)[0]), 0j,
     "is NaN at z1 of 3 arrays; written out, line 1, z1 = log(z), is infinite at z = 0+0j")])
def test_complex_numbers_have_reasons(fn, at, sentence):
    assert sentence in str(why(fn, at))


@pytest.mark.parametrize("fn, at, inside", [
    (lambda x: xman.while_loop(lambda h: np.abs(h) < 10, lambda h: h / (h - 1) * 20, x), 1.0,
     "= divide(x, z1), is infinite at x = 1, z1 = 0"),
    (lambda x: xman.while_loop(lambda h: h > 1e-3, lambda h: np.sqrt(h - 1), x), 2.0,
     "= sqrt(z2), has an infinite slope by z2 at z2 = 0"),
    (lambda x: xman.cond(x < 1, np.log, lambda x: x, x), 0.0, "= log(x), is infinite at x = 0"),
    (lambda x: xman.cond(x < 1, np.sqrt, lambda x: x, x), 0.0, "= sqrt(x), has an infinite slope by x at x = 0"),
    (lambda x: xman.scan(lambda h, _: (xman.cond(h > 0, np.log, lambda h: h / 0.0, h), None), x, length=2)[0], 1.0,
     "= divide(h1_1, 0.0), is NaN at h1_1 = 0")])
def test_a_loop_and_a_branch_are_looked_into(fn, at, inside):
    reason = str(why(fn, at))
    assert "; written out, line " in reason and reason.endswith(inside), reason


@pytest.mark.parametrize("steps", [NORM, tangent(NORM, ["x"])], ids=["of the list", "in the list of a tangent"])
def test_a_tangent_has_a_reason_too(steps):
    reason = why(steps, {"x": np.zeros(2), "x_dot": np.ones(2)}, "n_dot")
    assert reason.sign == "NaN" and ("infinite slope by s" in str(reason) or "0" in str(reason))


def test_the_seed_that_a_gradient_begins_with_may_be_the_reason():
    steps = gradient([("y", "exp", ("x",))], "y", ["x"], seed="d")
    assert str(why(steps, {"x": 1.0, "d": 0.0}, "dy_dx")) == "dy_dx is 0: the adjoint of y is what the derivative begins with"


@pytest.mark.parametrize("text, register, sentence", [
    ("y = getitem(x, 0)", "dy_dx", "line 1, y = getitem(x, 0), reads nothing of x at [1]"),
    ("y = std(w)", "dy_dw", "line 1, y = std(w), has the slope 0 by w at w = 1 everywhere"),
    ("a = exp(x)\ny = sum(w)", "dy_dx", "no line that leads to y reads x"),
    ("a = exp(x)\nb = subtract(a, a)\ny = sum(b)", "dy_dx", "what line 2 sends to it cancels"),
    ("y = sum(k)", "dy_dk", "k holds whole numbers, which have no derivative; give it as floats"),
    ("a = mul(x, z)\ny = sum(a)", "dy_dx", "the input z is 0; then line 1, a = mul(x, z), at x = 2, z = 0, makes it 0"),
    ("a = relu(z)\nb = mul(x, a)\ny = sum(b)", "dy_dx",
     "the input z is 0; then line 2, b = mul(x, a), at x = 2, a = 0, makes it 0")])
def test_a_derivative_of_0_has_its_reason(text, register, sentence):
    values = {"x": np.array([1.0, 2.0]), "w": np.ones(2), "k": np.array([1, 2]), "z": np.zeros(2)}
    reason = why(WengertList.from_text(text), values, register, entry=(1,))
    assert (reason.sign, reason.sentence.partition(": ")[2]) == ("zero", sentence)


@pytest.mark.parametrize("fn, args, sentence", [
    (lambda w, v: w * 2, (1.0, np.ones(2)), "dresult_dv is 0: no line reads v"),
    (lambda x: np.where(x > 0, x, 0.0), (-1.0,), "line 2, result = where(z1, x, 0.0) (test_why.py"),
    (lambda x: np.where(np.isnan(np.sqrt(x)), 0.0, x), (-1.0,), "line 3, result = where(z2, 0.0, x) (test_why.py"),
    (lambda x: np.arccos(x * (1 + 2.0 ** -52)), (1.0,), "is NaN at z1 = 1.0000000000000002")])
def test_the_line_that_might_have_sent_something_is_the_reason(fn, args, sentence):
    assert sentence in why(fn, *args).sentence


def test_another_register_of_a_list_than_the_last_is_asked_for():
    steps = [("a", "add", ("x", 1)), ("c", "log", ("x",)), ("e", "mul", ("a", "c"))]
    assert why(steps, {"x": 1.0}, of="a").sentence.startswith("nothing is wrong: a = 2")
    assert why(steps, {"x": 0.0}, of="c").sentence.startswith("c is infinite") and not why(steps, {"x": 0.0}, of="a")
    with pytest.raises(XManError, match="of names 'b'"):
        why(steps, {"x": 1.0}, of="b")


@pytest.mark.parametrize("fn", [np.linalg.inv, np.linalg.cholesky])
def test_an_error_of_the_functions_own_has_its_place(fn):
    with pytest.raises(XManError, match=r"<lambda> ends with an error, in test_why.py:\d+: "):
        why(lambda A: np.sum(fn(A)), np.zeros((2, 2)))


def test_infinities_of_both_signs_that_meet_are_said():
    steps = WengertList.from_text("a = sqrt(x)\nb = sqrt(x)\ny = subtract(a, b)")
    assert "send to it is ∞ and −∞" in str(why(steps, {"x": 0.0}, "dy_dx").chain)


def test_the_place_in_a_model_is_that_of_the_operator():
    class Model(xman.XMan):
        x = f.input(default=-2.0)
        score = f.log(x)
        loss = score * score

    steps = Model().operationSequence(Model.loss)
    reason = why(steps, {"x": -2.0})
    first = inspect.getsourcelines(test_the_place_in_a_model_is_that_of_the_operator)[1]
    assert reason.place == (__file__, first + 3) and f"(test_why.py:{first + 3})" in str(reason)


def test_nothing_is_wrong_with_a_number_like_any_other():
    reason = why(NORM, {"x": np.ones(4)})
    assert not reason and str(reason) == "nothing is wrong: n = 2, dn_dx = 0.5 everywhere" and reason.chain == ()


@pytest.mark.parametrize("arguments, sentence", [
    ((NORM,), "why takes a list, its values and a register"), ((NORM, {"x": np.ones(2)}, "m"), "register names 'm'"),
    (([], {}), "the list is empty"), ((NORM, {}), "no value for the input 'x'")])
def test_what_cannot_be_asked_is_refused(arguments, sentence):
    with pytest.raises(XManError, match=sentence):
        why(*arguments)


def test_an_entry_that_is_not_there_is_refused():
    with pytest.raises(XManError, match=r"entry is \(7,\), and dn_dx has shape \(2,\)"):
        why(NORM, {"x": np.ones(2)}, "dn_dx", entry=(7,))


def test_check_says_that_it_cannot_where_a_step_leads_to_nan():
    with pytest.raises(XManError, match=r"cannot be checked: y is NaN here, or a small step away, from line 1, a = log\(x\)"):
        xman.check(WengertList.from_text("a = log(x)\nb = mul(a, w)\nc = add(b, 1.0)\ny = square(c)"), {"x": 1e-9, "w": 2.0})
    assert xman.check(WengertList.from_text("a = log(x)\nc = greater(x, 0)\ny = where(c, a, x)"), {"x": -1.0}).ok
