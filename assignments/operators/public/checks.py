"""The checks that you have: run `python check.py` as often as you like. Examples and laws; what is graded is drawn fresh."""
import numpy as np

from xman.grade import Assignment, expect, expect_probabilities, expect_that, given

assignment = Assignment("operators", title="Operators on vectors and matrices", packages=["numpy"])
broadcasting = assignment.task(1, "unbroadcast")
entries = assignment.task(2, "entry by entry")
products = assignment.task(3, "dot")
sums = assignment.task(4, "sums")
probabilities = assignment.task(5, "softmax and crossEntropy")
checking = assignment.task(6, "the gradient check")
together = assignment.task(7, "all together")

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
P, Y = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]), np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
ARGUMENTS = {"add": ["x", "y"], "mul": ["x", "y"], "square": ["x"], "relu": ["x"], "tanh": ["x"], "dot": ["a", "b"],
             "total": ["x", "axis"], "mean": ["x", "axis"], "frobeniusNorm": ["A"], "softmax": ["x"], "crossEntropy": ["p", "y"]}


def agrees(student, value, rule, args, i, look=None):
    """A law: the slope of the loss Σ delta · value along v is the sum of v times what the rule gives; tried for a few v.

    look: the hint for a rule that raises, or gives another shape.
    """
    value_of, x, names = getattr(student, value), args[i], ARGUMENTS[value]
    out = value_of(*args)
    expect_that(isinstance(out, (int, float, np.ndarray)), f"the value of {value}: an array or a float", out)
    delta = np.round(np.cos(1.0 + np.arange(np.size(out))), 2).reshape(np.shape(out))
    with given(f"{rule}(delta, out, {', '.join(names)})", failed=look, delta=delta, **dict(zip(names, args, strict=True))):
        got = getattr(student, rule)(delta, out, *args)
        shape = f"shape {got.shape}" if isinstance(got, np.ndarray) else got
        expect_that(shape == f"shape {x.shape}", f"{rule} gives an array of the shape of {names[i]}, {x.shape}", shape, look)
    slopes = []
    for k in range(4):
        v = np.cos(k * np.arange(x.size)).reshape(x.shape)
        up, down = (np.sum(delta * value_of(*args[:i], x + step * v, *args[i + 1:])) for step in (1e-5, -1e-5))
        slopes.append((v, float(up - down) / 2e-5))
    with given(f"{rule}(delta, out, {', '.join(names)})", delta=delta, **dict(zip(names, args, strict=True))):
        for v, slope in slopes:
            expect(float(np.sum(got * v)), slope, f"the sum of v times what {rule} gives, for v = {v.tolist()}",
                   f"It should be the slope of your own {value} along v. With task 6 done, differences tells which entry is "
                   "wrong.", tolerance=1e-6)


ORIGINALS = {"(3,)": (3,), "(1, 3)": (1, 3), "(2, 1)": (2, 1), "()": ()}


@broadcasting.check("four shapes that broadcast to (2, 3)", cases=list(ORIGINALS))
def undone(student, rng, shape):
    want = {"(3,)": [2.0, -0.75, 1.25], "(1, 3)": [[2.0, -0.75, 1.25]], "(2, 1)": [[1.5], [1.0]], "()": 2.5}[shape]
    expect(student.unbroadcast(X, ORIGINALS[shape]), np.array(want), f"unbroadcast to {shape}",
           "Which axes of (2, 3) are not there in that shape, and which have the length 1? Sum over these.")


@entries.check("values", cases=["add", "mul", "square", "relu", "tanh"])
def values_of_entries(student, rng, name):
    want = {"add": [[1.5, -0.0, 1.0], [2.5, 1.25, -1.75]], "mul": [[0.5, -1.0, -2.0], [1.5, 0.25, 0.75]],
            "square": [[0.25, 1.0, 4.0], [2.25, 0.0625, 0.5625]], "relu": [[0.5, 0.0, 2.0], [1.5, 0.25, 0.0]],
            "tanh": [[0.462117157, -0.761594156, 0.96402758], [0.905148254, 0.244918662, -0.635148952]]}[name]
    args = (X, np.array([1.0, 1.0, -1.0])) if name in ("add", "mul") else (X,)
    expect(getattr(student, name)(*args), np.array(want), f"the value of {name}", tolerance=1e-8)


RULES = {"add_x": (X, X[::-1]), "add_y": (X, X[::-1]), "mul_x": (X, X[::-1]), "mul_y": (X, X[::-1]), "square_x": (X,),
         "relu_x": (X,), "tanh_x": (X,)}


@entries.check("rules agree with difference quotients", cases=list(RULES))
def rules_of_entries(student, rng, rule):
    agrees(student, rule[:-2], rule, RULES[rule], "xy".index(rule[-1]))


@entries.check("rules undo the broadcast from (3,) to (2, 3)", cases=["add_x", "add_y", "mul_x", "mul_y"])
def rules_undo_the_broadcast(student, rng, rule):
    small = np.array([0.5, -1.5, 2.0])
    agrees(student, rule[:-2], rule, (small, X) if rule[-1] == "x" else (X, small), "xy".index(rule[-1]),
           "An entry that was used twice gets the sum of what both uses send back.")


@entries.check("the arguments stay as they are", cases=["relu", "square_x", "relu_x", "tanh_x"])
def entries_keep(student, rng, name):
    student.frozen(name, *((X,) if name == "relu" else (X, X, X)), look="x *= 2 writes into x, x * 2 makes a new array.")


PRODUCTS = {"matrix · matrix": (X, X.T), "matrix · vector": (X, X[0]), "vector · matrix": (X[:, 0], X),
            "vector · vector": (X[0], X[1])}


@products.check("rules agree with difference quotients", cases=list(PRODUCTS))
def rules_of_products(student, rng, kind):
    for i, rule in enumerate(("dot_a", "dot_b")):
        agrees(student, "dot", rule, PRODUCTS[kind], i, "Write an entry of out as a sum, and differentiate that.")


@sums.check("values over axis 0", cases=["total", "mean"])
def values_of_sums(student, rng, name):
    want = {"total": [2.0, -0.75, 1.25], "mean": [1.0, -0.375, 0.625]}[name]
    expect(getattr(student, name)(X, 0), np.array(want), f"the value of {name}", "Axis 0 counts the rows; it goes.")


@sums.check("rules agree with difference quotients", cases=["total of all", "total over 0", "total over 1", "mean of all",
                                                           "mean over 0", "mean over 1", "frobeniusNorm"])
def rules_of_sums(student, rng, case):
    name, _, axis = case.split() if " " in case else (case, "", "")
    if name == "frobeniusNorm":
        agrees(student, name, "frobeniusNorm_A", (X,), 0)
    else:
        agrees(student, name, f"{name}_x", (X, None if axis == "all" else int(axis)), 0)


@probabilities.check("softmax gives probabilities, also from large numbers", cases=[1.0, 1000.0, -1000.0])
def softmax_normalises(student, rng, size):
    expect_probabilities(student.softmax(size * X), (2, 3), f"softmax of {size:g} times x")


@probabilities.check("crossEntropy of two rows")
def two_rows(student, rng):
    expect(student.crossEntropy(P, Y), np.array([[0.693147181], [1.406705359]]), "crossEntropy",
           "−Σ y log p in each row, and one column: (2, 3) gives (2, 1).", tolerance=1e-8)


@probabilities.check("rules agree with difference quotients", cases=["softmax_x", "crossEntropy_p", "crossEntropy_y"])
def rules_of_probabilities(student, rng, rule):
    value, arg = rule.split("_")
    agrees(student, value, rule, (X,) if value == "softmax" else (P, Y + 0.1), "py".index(arg) if arg in "py" else 0)


@checking.check("differences of Σ x³")
def slopes_of_a_cube(student, rng):
    expect(student.differences(lambda x: float(np.sum(x ** 3)), X), 3 * X ** 2, "differences",
           "Is it the central quotient (8.25)?", tolerance=1e-6)


@checking.check("wrong_rules finds the rule that is wrong, and lets pass what is right",
                cases=["all right", "y wrong", "x gives NaN"])
def finds_the_wrong_one(student, rng, case):
    def right_x(d, out, x, y):
        return d * y

    def right_y(d, out, x, y):
        return d * x

    def nan_x(d, out, x, y):
        return d * y + np.where(x < 0, np.nan, 0.0)
    rules, want = {"all right": ([right_x, right_y], []), "y wrong": ([right_x, right_x], [1]),
                   "x gives NaN": ([nan_x, right_y], [0])}[case]
    got = student.wrong_rules(lambda x, y: x * y, rules, [X, X[::-1]], np.ones((2, 3)))
    look = "nan > 1e-5 is False." if case == "x gives NaN" else "Its number is there if rule and difference quotient disagree."
    expect_that(isinstance(got, (list, tuple)) and list(got) == want, f"{want}", got, look)


@together.check("lists of lines whose last assigns loss", cases=["regression", "perceptron"])
def are_lists(student, rng, name):
    steps = getattr(student, name)()
    expect_that(isinstance(steps, list) and steps, "a list of lines (z, g, args)", steps)
    for k, line in enumerate(steps, 1):
        expect_that(isinstance(line, tuple) and len(line) == 3 and isinstance(line[2], tuple),
                    "a list of lines (z, g, args), where args is a tuple", f"line {k}: {line!r:.100}",
                    'A tuple of one argument is written ("z2",).')
    expect_that(steps[-1][0] == "loss", 'a last line that assigns "loss"', steps[-1])
