"""The graded parts of tasks 5 to 7: probabilities, the gradient check, and whole lists."""
import numpy as np

from xman.grade import Wrong, expect, expect_that, given, scale
from xman.grade.compare import listing
from xman.grade.lists import deltas_of, loss_of, read_list, values_of
from xman.wengert import WengertList

from .answers import array, call_of, expect_kept, expect_rule, expect_value, far, lengths, targets
from .public.checks import checking, probabilities, together
from .solution import operators as reference

# ---- task 5: softmax and crossEntropy --------------------------------------------------------------------------------

LARGE = "exp(1000) is infinite. What becomes of softmax when one number is subtracted from all of a row, in each row its own?"


@probabilities.part("softmax: values", points=3, cases=["matrix", "vector"])
def values_of_softmax(student, rng, kind):
    n, k = lengths(rng)
    expect_value(student, "softmax", (array(rng, *((n, k) if kind == "matrix" else (k,))),),
                 "exp(x) over its sum along the last axis: each row by itself.")


@probabilities.part("softmax: large numbers", points=3, cases=["around 1000", "around -1000", "rows that are 1000 apart"])
def softmax_of_large_numbers(student, rng, name):
    middle = {"around 1000": 1000, "around -1000": -1000}.get(name, np.array([[0], [-1000], [1000]]))
    x = middle + array(rng, 3, 4)
    with given(call_of("softmax", ["x"], [x])):
        expect(student.softmax(x), reference.softmax(x), "softmax", LARGE)


@probabilities.part("softmax: the rule", points=4, cases=["matrix", "vector"])
def rule_of_softmax(student, rng, kind):
    n, k = lengths(rng)
    shape = (n, k) if kind == "matrix" else (k,)
    for x in (array(rng, *shape), *far(rng, "softmax", shape)):
        expect_rule(rng, student, "softmax_x", (x,),
                    "Every entry of a row depends on every entry of the same row: Bishop, equation (8.34), is the Jacobian of a "
                    "row. Multiply delta by it; nothing goes from one row to another.")


@probabilities.part("crossEntropy: values", points=2, cases=["matrix", "vector"])
def values_of_crossEntropy(student, rng, kind):
    n, k = lengths(rng)
    p, y = targets(rng, n, k), targets(rng, n, k)
    expect_value(student, "crossEntropy", (p, y) if kind == "matrix" else (p[0], y[0]),
                 "The target y times the logarithm of the prediction p (the notes print the two the other way round), a sum for "
                 "each row, with a minus. The last axis stays: (n, k) gives (n, 1), and (k,) gives (1,).")


@probabilities.part("crossEntropy: the rule for p", points=2)
def rule_for_p(student, rng):
    n, k = lengths(rng)
    expect_rule(rng, student, "crossEntropy_p", far(rng, "crossEntropy", (n, k), (n, k)),
                "The derivative of −y log p, times the delta of its row; delta is (n, 1) and broadcasts.")


@probabilities.part("crossEntropy: the rule for y", points=1)
def rule_for_y(student, rng):
    n, k = lengths(rng)
    expect_rule(rng, student, "crossEntropy_y", far(rng, "crossEntropy", (n, k), (n, k)),
                "−Σ y log p is linear in y: what is the factor of each?")


@probabilities.part("crossEntropy: p is 0 where y is 0", points=1, cases=["value", "rule for p"])
def zero_times_log_zero(student, rng, which):
    p, y = np.array([[0.25, 0.75, 0.0], [0.0, 1.0, 0.0]]), np.array([[0.5, 1e12, 0.0], [0.0, 1.0, 0.0]])
    look = "0 · log 0 counts as 0, and 0 / 0 too: compute these only where y is not 0 (np.where, or where= and out= of a ufunc)."
    if which == "value":
        expect_value(student, "crossEntropy", (p, y), look)
    else:
        expect_rule(rng, student, "crossEntropy_p", (p, y), look)


@probabilities.part("crossEntropy: very small probabilities", points=1, hidden=True)
def small_probabilities(student, rng):
    p, y = np.array([[1e-30, 1.0], [0.5, 1e-200]]), np.array([[1.0, 0.0], [0.5, 0.5]])
    expect_value(student, "crossEntropy", (p, y), "Is something added to p, to keep it away from 0? That changes the value.")


@probabilities.part("softmax, crossEntropy: the arguments stay as they are", points=1,
                    cases=["softmax", "softmax_x", "crossEntropy", "crossEntropy_p"])
def probabilities_keep(student, rng, name):
    expect_kept(rng, student, name)


# ---- task 6: the gradient check --------------------------------------------------------------------------------------

@checking.part("differences: every entry", points=3, cases=[("a vector", (5,)), ("a matrix", (3, 4)), ("one row", (1, 4))])
def every_entry(student, rng, name, shape):
    x, w = array(rng, *shape), array(rng, *shape)
    got = student.differences(lambda x: float(np.sum(w * np.sin(x)) + x.flat[0] * x.flat[-1]), x)
    want = w * np.cos(x)
    want.flat[0] += x.flat[-1]
    want.flat[-1] += x.flat[0]
    expect(got, want, "the slopes of f in every entry of x",
           "One entry is moved at a time, the others stay as they are; and the quotient is the central one (8.25).", 1e-6)


@checking.part("differences: the central quotient (8.25)", points=2)
def central(student, rng):
    x, w, step = array(rng, 2, 3), array(rng, 2, 3), 0.25
    got = student.differences(lambda x: float(np.sum(w * x ** 3)), x, step)
    expect(got, w * (3 * x ** 2 + step ** 2), f"the quotient of Σ w x³ with the step {step}, too large by w step²",
           "(f at x + ε, minus f at x − ε) / 2ε, with the ε that is handed in; (8.24) goes to one side only.")


@checking.part("differences: two calls for each entry", points=2)
def two_calls(student, rng):
    x, w, calls = array(rng, 3, 4), array(rng, 3, 4), []
    got = student.differences(lambda x: calls.append(x) or float(np.sum(w * x)), x)
    expect(got, w, "the slopes of a sum of multiples of the entries of x", "The calls count where the result is right.", 1e-6)
    for at in calls:
        moved = np.sum(at != x) if np.shape(at) == x.shape else "all"
        expect_that(moved in (0, 1), "f at arrays of the shape of x, in which one entry is moved",
                    f"f was called at an array of shape {np.shape(at)}, in which {moved} entries differ",
                    "Does an entry stay moved when the next one is? x.copy() makes an array of its own.")
    if len(calls) != 2 * x.size:
        raise Wrong(f"{2 * x.size} calls of f for {x.size} entries", f"{len(calls)} calls", "f(x) itself is not in (8.25).",
                    credit=scale(len(calls) / x.size, none=6, full=2) if len(calls) > 2 * x.size else 0)


BUGS = {
    "all are right": "No rule is wrong here.",
    "a wrong sign": "The two are of the same size here, and of opposite signs: are absolute values or norms compared?",
    "a transposed result": "All shapes are right here, and so is the sum: compare every entry.",
    "one entry of many": "One entry is off by five per cent: compare every entry, not a sum or the first.",
    "a shape that broadcasts": "A result of shape (m,) minus slopes of shape (1, m) is all zeros: compare the shapes first.",
    "not a number": "nan > tolerance is False, like all comparisons with NaN. Ask whether all are near, not whether one is far.",
    "both": "Both are wrong here: every rule is compared, and their numbers come from 0, in order.",
    "an argument without a rule": "Where rules has None there is nothing to check, and the argument goes into value as it is."}


def planted(rng, kind):
    """(value, rules, args, the numbers of the wrong rules)."""
    x, y, factor, hole = array(rng, 3, 3), 0.25 * array(rng, 3, 3), np.ones((3, 3)), np.zeros((3, 3))
    factor.flat[rng.integers(1, 9)], hole.flat[rng.integers(9)] = 1.05, np.nan

    def value(x, y):
        return np.sin(x) * y

    def by_x(d, out, x, y):
        return d * np.cos(x) * y

    def by_y(d, out, x, y):
        return d * np.sin(x)
    return {
        "all are right": (value, [by_x, by_y], (x, y), []),
        "a wrong sign": (value, [by_x, lambda *args: -by_y(*args)], (x, y), [1]),
        "a transposed result": (value, [lambda *args: by_x(*args).T, by_y], (x, y), [0]),
        "one entry of many": (value, [by_x, lambda *args: factor * by_y(*args)], (np.abs(x), y), [1]),
        "a shape that broadcasts": (np.add, [lambda d, out, x, y: d, lambda d, out, x, y: d.sum(0)], (x, y[:1]), [1]),
        "not a number": (value, [lambda *args: by_x(*args) + hole, by_y], (x, y), [0]),
        "both": (value, [lambda *args: -by_x(*args), lambda *args: factor * by_y(*args)], (np.abs(x), y), [0, 1]),
        "an argument without a rule": (lambda x, axis: np.sum(x * x, axis),
                                       [lambda d, out, x, axis: np.expand_dims(d, axis) * x, None], (x, 1), [0])}[kind]


@checking.part("wrong_rules: which rule is wrong?", points=7, cases=list(BUGS))
def which_rule_is_wrong(student, rng, kind):
    other = "a wrong sign" if kind == "all are right" else "all are right"
    for each in rng.permutation([kind, kind, other, other]):  # in any order: what was asked before tells nothing
        accused(student, rng, str(each), *turned(rng, *planted(rng, each)))


def turned(rng, value, rules, args, wrong):
    """The same with the two arguments exchanged, every other time, so that each may be the one with the wrong rule."""
    if rng.integers(2):
        return value, rules, args, wrong
    rules = [rule and (lambda d, out, y, x, rule=rule: rule(d, out, x, y)) for rule in reversed(rules)]
    return (lambda y, x: value(x, y)), rules, args[::-1], sorted(1 - i for i in wrong)


def accused(student, rng, kind, value, rules, args, want):
    """Wrong unless wrong_rules finds those."""
    delta = array(rng, *np.shape(value(*args)))
    got = student.wrong_rules(value, rules, list(args), delta)
    numbers = isinstance(got, (list, tuple)) and all(type(i) is int for i in got)
    expect_that(numbers, "a list of the numbers of arguments", got)
    innocent = [i for i in got if i not in want]
    look = BUGS[kind]
    if innocent:
        look = (f"Rule {innocent[0]} is right: is your difference quotient, and are the two allowed to differ by as much as a "
                "step of 1e-5 makes them?")
    expect_that(list(got) == want, "the numbers of those arguments whose rule is wrong, and no others", got, look)


# ---- task 7: all together --------------------------------------------------------------------------------------------

def problem(rng, name):
    """Inputs of the list, all of whose axes differ, and whose predictions are not far from even."""
    n, d, h, k = 6, 5, 4, 3
    data = {"X": array(rng, n, d), "y": np.eye(k)[rng.integers(k, size=n)]}
    if name == "regression":
        return {**data, "W": 0.25 * array(rng, d, k), "b": array(rng, k)}
    return {**data, "W1": 0.5 * array(rng, d, h), "b1": array(rng, h), "W2": 0.25 * array(rng, h, k), "b2": array(rng, k)}


def list_of(student, name, inputs):
    """The submission's list, valid and of the operators of this assignment."""
    steps = read_list(getattr(student, name)(), inputs, reference.G, 40, f"the list of the {name}")
    expect_that(steps[-1][0] == "loss", 'a last line that assigns "loss"', str(steps[-1]))
    lacking = {op for _, op, _ in getattr(reference, name)()} - {op for _, op, _ in steps}
    expect_that(not lacking, "a list of the operators that the formula has", f"one without {', '.join(sorted(lacking))}")
    return steps


@together.part("the lists", points=4, cases=["regression", "perceptron"])
def the_lists(student, rng, name):
    inputs = problem(rng, name)
    steps, parameters = list_of(student, name, inputs), [x for x in inputs if x not in "Xy"]
    standard = WengertList(getattr(reference, name)())
    values, right = values_of(steps, inputs, "your list"), values_of(standard, inputs)
    expect(loss_of(values), right["loss"], "the loss, of your list with the reference's operators",
           "Go through the formula from the inside to the outside, a line for each operator. Is it the mean over the examples?")
    expect(deltas_of(steps, values, "loss", parameters), deltas_of(standard, right, "loss", parameters), "the deltas")


@together.part("your operators in your lists", points=4, cases=["regression", "perceptron"])
def operators_in_lists(student, rng, name):
    inputs = problem(rng, name)
    bias = "b" if name == "regression" else "b2"
    inputs[bias] += far(rng, "softmax", inputs[bias].shape)[0]
    steps = list_of(student, name, inputs)
    look = "Each operator is right or wrong by itself: which part of its task is not full?"
    values, right = dict(inputs), values_of(steps, inputs, "your list")
    for z, g, args in steps:
        with given(listing([(z, g, args)]), failed=look):
            values[z] = getattr(student, reference.G[g].__name__)(*(values[a] if isinstance(a, str) else a for a in args))
        expect(values[z], right[z], f"the value of {listing([(z, g, args)])}", look)
    deltas, wanted = {"loss": 1.0}, {"loss": 1.0}
    for z, g, args in reversed(steps):
        inner = [right[a] if isinstance(a, str) else a for a in args]
        for a, rule in zip(args, reference.DG[g], strict=False):
            if z in wanted and rule and isinstance(a, str):
                with given(listing([(z, g, args)]), failed=look):
                    sent = getattr(student, rule.__name__)(deltas[z], right[z], *inner)
                part = rule(wanted[z], right[z], *inner)
                expect(sent, part, f"what {listing([(z, g, args)])} sends back to {a}", look)
                deltas[a], wanted[a] = deltas.get(a, 0.0) + sent, wanted.get(a, 0.0) + part
