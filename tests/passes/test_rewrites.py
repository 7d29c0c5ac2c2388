"""Facts about each rewrite alone: it applies to a list made for it, and what it writes instead has the same value."""

from collections import Counter

import numpy as np
import pytest

from xman import WengertList, XManError, backprop, eval, f
from xman.passes import ALGEBRA, EXACT, STABLE, gradient, rewrite, simplify

TABLES = {"EXACT": EXACT, "STABLE": STABLE, "ALGEBRA": ALGEBRA}
R = np.random.default_rng(2)
VALUES = {"n": np.float64(0.7), "x": np.array([0.3, -1.2, 0.9]), "y": np.array([1.4, 0.6, -2.1]), "w": R.standard_normal(3),
          "A": R.standard_normal((2, 3)), "B": R.standard_normal((3, 3)), "C": R.standard_normal((3, 3)),
          "D": R.standard_normal((2, 3)), "S": R.standard_normal((3, 3)) + 3 * np.eye(3), "P": R.uniform(0.5, 2.0, (2, 3)),
          "k": np.array([0, 2])}

# for each row, in order, a list that it applies to
FOUND = {
    "EXACT": [
        ("alias(a)", "z = alias(x)\nr = exp(z)"),
        ("mul(a, 1)", "r = mul(x, 1)"),
        ("divide(a, 1)", "r = divide(x, 1.0)"),
        ("subtract(a, 0)", "r = subtract(x, 0)"),
        ("power(a, 1)", "r = power(x, 1)"),
        ("negative(negative(a))", "z = negative(x)\nr = negative(z)"),
        ("mul(a, -1)", "r = mul(-1, x)"),
        ("add(a, negative(b))", "z = negative(y)\nr = add(z, x)"),
        ("subtract(a, negative(b))", "z = negative(y)\nr = subtract(x, z)"),
        ("mul(negative(a), b)", "z = negative(x)\nr = mul(y, z)"),
        ("divide(negative(a), b)", "z = negative(x)\nr = divide(z, y)"),
        ("divide(a, negative(b))", "z = negative(y)\nr = divide(x, z)"),
        ("add(a, a)", "r = add(x, x)"),
        ("transpose(transpose(a))", "z = transpose(A)\nr = transpose(z)"),
        ("mT(mT(a))", "z = mT(A)\nr = mT(z)"),
        ("getitem(a)", "r = getitem(x)"),
        ("flip(flip(a, b), b)", "z = flip(A, 1)\nr = flip(z, 1)"),
        ("unbroadcast(unbroadcast(a, b), b)", "z = unbroadcast(A, x)\nr = unbroadcast(z, x)"),
        ("not_equal(broadcast(a, b), 0.0)", "c = greater(x, y)\nz = broadcast(c, x)\nt = not_equal(z, 0.0)\nr = where(t, x, y)"),
        ("scale(a, b)", "r = scale(2.0, x)"),
        ("ratio(a, b)", "r = ratio(2.0, x)"),
        ("scale with shapes known", "r = scale(n, 1.0)"),
        ("unbroadcast with shapes known", "r = unbroadcast(A, x)"),
        ("broadcast with shapes known", "r = broadcast(x, y)"),
        ("reshape with shapes known", "r = reshape(A, D)"),
        ("transpose with shapes known", "r = transpose(x)"),
        ("sum of joined arrays", "b = broadcast(0.0, y)\nc = broadcast(0.0, w)\np = concat(0, x, b, w)\nq = concat(0, c, y, c)\nr = add(p, q)"),
        ("oneHot with shapes known", "r = oneHot(A, D)"),
        ("count with shapes known", "z = count(A, 1)\nr = divide(x, z)"),
        ("dot_left with shapes known", "r = dot_left(D, A, B)"),
        ("dot_right with shapes known", "r = dot_right(D, A, B)"),
        *((f"{op} with shapes known", f"z = broadcast(n, x)\nr = {op}({args})") for op, args in [
            ("add", "x, z"), ("subtract", "z, x"), ("mul", "z, x"), ("divide", "x, z"), ("scale", "z, x"), ("ratio", "z, x"),
            ("where", "x, z, y"), ("maximum", "x, z"), ("minimum", "z, x"), ("share", "x, z")])],
    "STABLE": [
        ("crossEntropy(softmax(a), b)", "p = softmax(A)\nr = crossEntropy(p, k)"),
        ("exp(logSoftmax(a, b))", "p = logSoftmax(A)\nr = exp(p)"),
        ("exp(logSigmoid(a))", "p = logSigmoid(x)\nr = exp(p)"),
        ("subtract(1, sigmoid(a))", "p = sigmoid(x)\nr = subtract(1, p)"),
        ("divide(1, add(1, exp(a)))", "e = exp(x)\nd = add(e, 1.0)\nr = divide(1.0, d)"),
        ("divide(-1, add(1, exp(a)))", "e = exp(x)\nd = add(e, 1.0)\nr = divide(-1.0, d)"),
        ("divide(exp(a), add(1, exp(a)))", "e = exp(x)\nd = add(1, e)\nr = divide(e, d)"),
        ("divide(negative(exp(a)), add(1, exp(a)))", "e = exp(x)\nm = negative(e)\nd = add(1, e)\nr = divide(m, d)"),
        ("exp(subtract(a, logsumexp(a, b, True)))", "s = logsumexp(A, 1, True)\nd = subtract(A, s)\nr = exp(d)"),
        ("divide(exp(a), sum(exp(a), b, True))", "e = exp(A)\ns = sum(e, 0, True)\nr = divide(e, s)"),
        ("divide(exp(a), sum(exp(a)))", "e = exp(A)\ns = sum(e)\nr = divide(e, s)"),
        ("quotient of exponentials", "e = exp(A)\ns = sum(e, 0)\nr = divide(e, s)"),
        ("mul(exp(a), exp(b))", "e = exp(x)\nd = exp(y)\nr = mul(e, d)"),
        ("reciprocal(add(1, exp(a)))", "e = exp(x)\nd = add(e, 1.0)\nr = reciprocal(d)"),
        ("power(add(1, exp(a)), -1)", "e = exp(x)\nd = add(e, 1.0)\nr = power(d, -1)"),
        ("mul(0.5, add(1, tanh(a)))", "t = tanh(x)\nd = add(t, 1.0)\nr = mul(d, 0.5)"),
        ("divide(add(1, tanh(a)), 2)", "t = tanh(x)\nd = add(t, 1.0)\nr = divide(d, 2)"),
        ("log1p(negative(sigmoid(a)))", "p = sigmoid(x)\nm = negative(p)\nr = log1p(m)"),
        ("subtract(a, softplus(a))", "p = softplus(x)\nr = subtract(x, p)"),
        ("add(a, softplus(negative(a)))", "m = negative(x)\np = softplus(m)\nr = add(p, x)"),
        ("log1p(exp(a))", "e = exp(x)\nr = log1p(e)"),
        ("log of exponentials", "e = exp(A)\ns = sum(e, 1)\nt = reshape(s, (-1, 1))\nq = divide(e, t)\nr = log(q)"),
        ("log(add(1, a))", "d = add(P, 1.0)\nr = log(d)"),
        ("log(subtract(1, a))", "d = subtract(1, n)\nr = log(d)"),
        ("subtract(exp(a), 1)", "e = exp(x)\nr = subtract(e, 1)"),
        ("subtract(1, exp(a))", "e = exp(x)\nr = subtract(1, e)"),
        ("sqrt(sum(square(a), b, x))", "s = square(A)\nt = sum(s, 1)\nr = sqrt(t)"),
        ("sqrt(sum(mul(a, a), b, x))", "s = mul(A, A)\nt = sum(s)\nr = sqrt(t)"),
        ("log(abs(det(a)))", "d = det(S)\nb = abs(d)\nr = log(b)"),
        ("dot(inv(a), b)", "i = inv(S)\nr = dot(i, B)")],
    "ALGEBRA": [
        ("add(a, 0)", "r = add(0.0, x)"),
        ("subtract(0, a)", "r = subtract(0, x)"),
        ("negative(subtract(a, b))", "d = subtract(x, y)\nr = negative(d)"),
        ("dot(negative(a), b)", "z = negative(A)\nr = dot(z, x)"),
        ("dot(a, negative(b))", "z = negative(x)\nr = dot(A, z)"),
        ("sum(a)", "r = sum(n)"),
        ("mean(a)", "r = mean(n)"),
        ("scale(a, b)", "r = scale(x, 2.0)"),
        ("ratio(a, b)", "r = ratio(x, 2.0)"),
        ("add(a, add(b, x))", "s = add(x, 3.0)\nr = add(2.0, s)"),
        ("mul(a, mul(b, x))", "p = mul(0.1, x)\nr = mul(3.0, p)"),
        ("mul(mul(a, b), x)", "p = mul(0.1, x)\nr = mul(p, y)"),
        ("mul(a, half(b))", "h = half(x)\nr = mul(3.0, h)"),
        ("half(mul(a, b))", "p = mul(3.0, x)\nr = half(p)"),
        ("add(mul(a, b), mul(a, x))", "p = mul(y, x)\nq = mul(x, w)\nr = add(p, q)"),
        ("subtract(mul(a, b), mul(a, x))", "p = mul(x, y)\nq = mul(w, x)\nr = subtract(p, q)"),
        ("add(a, mul(a, b))", "p = mul(y, x)\nr = add(p, x)"),
        ("subtract(a, mul(a, b))", "p = mul(x, y)\nr = subtract(x, p)"),
        ("power(a, 2)", "r = power(x, 2)"),
        ("power(a, 0.5)", "r = power(P, 0.5)"),
        ("sums of products over all steps", "def step(s, a):\n    e = exp(a)\n    o = outer(a, e)\n    p = outer(e, e)\n    q = subtract(o, p)\n    s1 = add(s, q)\n    return s1\n\n"
         "b = bundle(S, B)\nz = scan(step, 1, 1, b)\nr = item(z, 0)")],
}
EVERY = [pytest.param(table, row, case, id=f"{table}-{row.title}-{k}") for table in TABLES
         for k, (row, case) in enumerate(zip(TABLES[table], FOUND[table], strict=False))]


@pytest.mark.parametrize("table", TABLES)
def test_every_rewrite_has_a_case(table):
    assert Counter(title for title, _ in FOUND[table]) == Counter(row.title for row in TABLES[table])
    assert [title for title, _ in FOUND[table]] == [row.title for row in TABLES[table]]


@pytest.mark.parametrize(("table", "row", "case"), EVERY)
def test_a_rewrite_applies_to_its_list_and_keeps_the_value(table, row, case):
    steps = WengertList.from_text(case[1])
    became = simplify(steps, ["r"], VALUES, [row])
    assert became != simplify(steps, ["r"], VALUES, [])
    got, want = eval(became, VALUES)["r"], eval(steps, VALUES)["r"]
    if table == "EXACT":
        np.testing.assert_array_equal(got, want, strict=True)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12, strict=True)


@pytest.mark.parametrize(("table", "row", "case"), [case for case in EVERY if "EXACT" in case.id])
def test_an_exact_rewrite_keeps_infinities_nan_and_the_sign_of_zero(table, row, case):
    steps, random = WengertList.from_text(case[1]), np.random.default_rng(0)
    for _ in range(10):
        values = {name: np.asarray(random.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], x.shape))[()]
                  if x.dtype.kind == "f" else x for name, x in VALUES.items()}
        got, want = eval(simplify(steps, ["r"], VALUES, [row]), values)["r"], eval(steps, values)["r"]
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)])


@pytest.mark.parametrize(("table", "row", "case"), EVERY)
def test_a_rewrite_keeps_single_precision(table, row, case):
    values = {name: np.asarray(x, np.float32)[()] if x.dtype.kind == "f" else x for name, x in VALUES.items()}
    got = eval(simplify(WengertList.from_text(case[1]), ["r"], values, [row]), values)["r"]
    assert got.dtype == np.float32


@pytest.mark.parametrize("row", [*STABLE, *ALGEBRA], ids=lambda row: row.title)
def test_a_rewrite_that_is_not_exact_says_what_it_changes(row):
    assert row.changes


# where the naive list fails: the sum of r at x has this value and this gradient

INF = np.inf
HARD = {
    "cross-entropy of a softmax": ("p = softmax(x)\nr = crossEntropy(p, label)", [-431, 279, 427], 858, [-1, 5.3017e-65, 1]),
    "log of a softmax": ("p = softmax(x)\nr = log(p)", [0, 1000], -1000, [1, -1]),
    "log of a sigmoid": ("p = sigmoid(x)\nr = log(p)", [-1000], -1000, [1]),
    "1 − sigmoid": ("p = sigmoid(x)\nr = subtract(1, p)", [50], 1.92874984796e-22, [-1.92874984796e-22]),
    "1 / (1 + exp)": ("e = exp(x)\nd = add(1, e)\nr = divide(1, d)", [400], 1.91516959671e-174, [-1.91516959671e-174]),
    "exp / (1 + exp)": ("e = exp(x)\nd = add(1, e)\nr = divide(e, d)", [1000], 1, [0]),
    "log of a sum of exp": ("e = exp(x)\ns = sum(e)\nr = log(s)", [1000, 1000], 1000 + np.log(2), [0.5, 0.5]),
    "exp / sum of exp": ("e = exp(x)\ns = sum(e, -1, True)\nr = divide(e, s)", [1000, 0], 1, [0, 0]),
    "exp of x − logsumexp": ("s = logsumexp(x, -1, True)\nd = subtract(x, s)\nr = exp(d)", [1000, 0], 1, [0, 0]),
    "log of exp + exp": ("e = exp(x)\nd = exp(y)\ns = add(e, d)\nr = log(s)", [1000], 1000.31326168752, [0.731058578630]),
    "log of 1 + exp": ("e = exp(x)\nd = add(1, e)\nr = log(d)", [1000], 1000, [1]),
    "log1p of exp": ("e = exp(x)\nr = log1p(e)", [1000], 1000, [1]),
    "log of exp": ("e = exp(x)\nr = log(e)", [1000, -1000], 0, [1, 1]),
    "log of 1 + x": ("d = add(1, x)\nr = log(d)", [1e-20], 1e-20, [1]),
    "log of 1 − x": ("d = subtract(1, x)\nr = log(d)", [1e-20], -1e-20, [-1]),
    "exp − 1": ("e = exp(x)\nr = subtract(e, 1)", [1e-20], 1e-20, [1]),
    "1 − exp": ("e = exp(x)\nr = subtract(1, e)", [1e-20], -1e-20, [-1]),
    "a norm at 0": ("s = square(x)\nt = sum(s)\nr = sqrt(t)", [0, 0], 0, [0, 0]),
    "another norm at 0": ("s = mul(x, x)\nt = sum(s)\nr = sqrt(t)", [0, 0], 0, [0, 0]),
    "log of |det|": ("d = det(x)\nb = abs(d)\nr = log(b)", 1e-200 * np.eye(2), 2 * np.log(1e-200), 1e200 * np.eye(2)),
}
hard = pytest.mark.parametrize(("text", "x", "value", "slope"), HARD.values(), ids=HARD)


def value_and_gradient(steps, x):
    steps = WengertList([*steps, ("total", "sum", ("r",))])
    values = {"x": np.asarray(x, float), "y": np.array([999.0]), "label": np.array(0)}
    found = eval(gradient(steps, "total", ["x"]), values)
    np.testing.assert_array_equal(found["dtotal_dx"], backprop(steps, eval(steps, values), total=1.0)["x"])
    return found["total"], found["dtotal_dx"]


@hard
def test_the_stable_form_has_the_value_and_the_gradient_where_the_naive_one_may_fail(text, x, value, slope):
    got = value_and_gradient(simplify(WengertList.from_text(text), ["r"], None, EXACT + STABLE), x)
    assert got[0] == pytest.approx(value, rel=1e-11, abs=0)
    np.testing.assert_allclose(got[1], slope, rtol=1e-4 if value == 858 else 1e-11)


@pytest.mark.parametrize("name", [name for name in HARD if name not in ("1 / (1 + exp)", "exp of x − logsumexp")])
def test_the_naive_form_fails_there(name):
    text, x, value, slope = HARD[name]
    got = value_and_gradient(WengertList.from_text(text), x)
    assert not (np.allclose(got[0], value, rtol=1e-11, atol=0) and np.allclose(got[1], slope, rtol=1e-4, atol=0))


# a row of one's own


def test_a_rewrite_of_ones_own_is_one_row():
    from ops import f
    twice = rewrite(lambda x: f.half(2.0 * x), lambda x: x, "nothing")
    assert (twice.op, twice.title) == ("half", "half(mul(2.0, a))")
    assert simplify(WengertList.from_text("z = mul(x, 2.0)\nh = half(z)\nr = exp(h)"), rewrites=[twice]) == [("r", "exp", ("x",))]


def test_a_condition_holds_a_rewrite_back():
    from ops import f
    never = rewrite(lambda x: f.half(x), lambda x: x, where=lambda writer, x: False)
    assert len(simplify([("r", "half", ("x",))], rewrites=[never])) == 1


@pytest.mark.parametrize(("text", "row"), [("r = mul(k, 1)", "mul(a, 1)"), ("r = divide(k, 1)", "divide(a, 1)"),
                                           ("r = power(k, 1.0)", "power(a, 1)"), ("r = add(m, m)", "add(a, a)"),
                                           ("r = subtract(m, 0)", "subtract(a, 0)"), ("r = mul(m, -1)", "mul(a, -1)")])
def test_whole_numbers_and_conditions_are_left_alone(text, row):
    steps = WengertList.from_text("m = greater(x, 0)\n" + text)
    row = next(r for r in EXACT if r.title == row)
    assert simplify(steps, ["r"], VALUES, [row]) == simplify(steps, ["r"], VALUES, [])


def test_no_literal_is_put_in_the_place_of_a_register_of_another_precision():
    steps = WengertList.from_text("z = mul(p, 1.0)\nr = broadcast(z, q)")
    values = {"p": np.ones(2, np.float32), "q": np.ones(2)}
    assert eval(simplify(steps, ["r"], values), values)["r"].dtype == np.float64


# rows of one's own


@pytest.mark.parametrize("found, becomes", [
    ("a", "b"), (lambda *a: a[0] * 1, lambda *a: a[0]), (lambda x: x * 1, lambda: 1), (lambda x: 1.0, lambda x: x), (lambda x: x, lambda x: x)])
def test_what_is_no_rewrite_is_refused(found, becomes):
    with pytest.raises(XManError, match="a rewrite (is two functions|finds an operator)"):
        rewrite(found, becomes)


def test_a_row_may_have_many_holes():
    row = rewrite(lambda a, b, c, d, e, g: ((a + b) + (c + d)) + (e + g), lambda a, b, c, d, e, g: a)
    assert row.op == "add" and "x5" in row.title


def test_rewrites_that_go_round_in_a_circle_are_refused():
    with pytest.raises(XManError, match="go round in a circle"):
        simplify([("y", "sin", ("x",))], rewrites=[rewrite(lambda x: f.sin(x), lambda x: f.sin(f.sin(x)))])


# bugs that had survived planting


def test_true_is_not_the_1_of_a_rewrite():
    steps = [("m", "greater", ("x", 0)), ("d", "add", (True, "m")), ("y", "log", ("d",))]
    values = {"x": np.ones(3)}
    assert np.array_equal(eval(simplify(steps, rewrites=EXACT + STABLE), values)["y"], eval(steps, values)["y"])


def test_an_infinite_literal_stays_where_it_is():
    from xman.passes import ALGEBRA
    steps, values = [("z", "mul", (np.inf, "x")), ("y", "mul", ("z", "w"))], {"x": 1e-200, "w": 1e-200}
    assert eval(simplify(steps, rewrites=ALGEBRA), values)["y"] == np.inf


@pytest.mark.parametrize("text", ["b = broadcast(n, p)\nr = broadcast(b, q)", "b = broadcast(n, p)\nr = add(b, p)"])
def test_a_number_of_another_precision_is_not_put_in_the_place_of_its_broadcast(text):
    steps, values = WengertList.from_text(text), {"n": 0.1, "p": np.ones(2, np.float32), "q": np.ones(2)}
    np.testing.assert_array_equal(eval(simplify(steps, ["r"], values), values)["r"], eval(steps, values)["r"], strict=True)


def test_a_zero_keeps_its_sign_in_scale_and_ratio_whatever_is_beside_it():
    for other in 1.0, np.nan, np.inf:
        x, w = np.array([-0.0, 0.0, -0.0, 0.0, other]), np.array([2.0, -2.0, np.inf, 0.0, np.inf])
        for op in f.scale, f.ratio:
            assert np.signbit(op(x, w)[:2]).tolist() == [True, True] and not op(x, w)[:4].any()


@pytest.mark.parametrize("join, second, joins", [
    ("p = concat(0, x, z)", "q = concat(0, z, y)", True), ("p = stack(1, x, z)", "q = stack(1, z, y)", True),
    ("p = concat(0, x, array([0.0, 0.0, 0.0], 'float64'))", "q = concat(0, z, y)", True),
    ("p = concat(0, x, z)", "q = concat(0, y, x)", False), ("p = concat(0, x, z, two)", "q = concat(0, two, z, x)", False),
    ("p = concat(0, x, two)", "q = concat(0, two, x)", False), ("p = stack(0, x, z, z)", "q = stack(1, z, y, z)", False),
    ("p = concat(0, x, array([-0.0, 0.0, 0.0], 'float64'))", "q = concat(0, z, y)", False),
    ("p = concat(0, k, zk)", "q = concat(0, zk, k)", False)])
def test_joined_arrays_are_added_piece_by_piece_where_each_piece_meets_zeros(join, second, joins):
    """With the same bits, −0 + 0 = 0 among them; pieces of other lengths, and of whole numbers, stay apart."""
    steps = WengertList.from_text("z = broadcast(0.0, x)\nzk = broadcast(0, k)\ntwo = getitem(z, slice(None, 2, None))\n"
                                  f"{join}\n{second}\nr = add(p, q)")
    values = VALUES | {"x": np.array([-0.0, np.inf, 2.0]), "y": np.array([0.0, -0.0, np.nan])}
    short = simplify(steps, ["r"], values)
    assert (short[-1][1] != "add") is joins
    want, got = eval(steps, values)["r"], eval(short, values)["r"]
    np.testing.assert_array_equal(got, want, strict=True)
    assert np.array_equal(np.signbit(got), np.signbit(want))


def test_the_adjoint_of_a_matrix_by_a_vector_is_an_outer_product():
    from xman.passes import gradient
    steps, values = [("y", "dot", ("A", "x")), ("s", "dot", ("u", "y"))], {"A": np.ones((2, 3)), "x": np.arange(3.0), "u": np.ones(2)}
    short = simplify(gradient(steps, "s", ["A"]), ["ds_dA"], values)
    assert "outer" in str(short) and np.array_equal(eval(short, values)["ds_dA"], np.outer([1, 1], np.arange(3)))


def test_a_sum_to_a_shape_of_another_precision_takes_that_precision():
    steps, values = [("r", "unbroadcast", ("x", "p"))], {"x": np.ones((2, 3)), "p": np.ones(3, np.float32)}
    assert eval(simplify(steps, ["r"], values), values)["r"].dtype == np.float32


@pytest.mark.parametrize("a, b, left, right", [
    ((3,), (3, 2), "dot_left", "outer"), ((4, 3), (3,), "outer", "dot_right"), ((4, 3), (3, 2), "dot", "dot"),
    ((5, 4, 3), (5, 3, 2), "dot", "dot"), ((5, 4, 3), (3, 2), "dot_left", "dot_right"), ((3,), (3,), "dot_left", "dot_right")])
def test_the_adjoints_of_a_product_are_written_by_the_axes_where_that_is_shorter(a, b, left, right):
    steps = gradient([("y", "dot", ("a", "b")), ("r", "sum", ("y",))], "r", ["a", "b"])
    short = simplify(steps, likes={"a": a, "b": b})
    lines = {dst: op for dst, op, _ in short}
    assert (lines["dr_da"], lines["dr_db"]) == (left, right)
