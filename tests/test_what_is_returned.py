"""What is returned shares no memory with what is kept: whoever writes into it changes no later answer."""
from __future__ import annotations

import copy
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import ops
import xman
from xman import Dual, WengertList, XMan, f

sys.path.append(str(Path(__file__).parent / "ops"))
from operator_cases import OF_NUMBERS, in_each

DOORS = {}


def door(make):
    """A door: a function of x (3,) and A (3, 3), which may be kept, that gives what was returned so far, and functions
    without arguments that give more."""
    DOORS[make.__name__] = make
    return make


def vector(): return np.array([0.5, 0.25, 0.75])
def matrix(): return np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 1.0], [0.25, 1.0, 4.0]])


def arrays_in(tree, seen):
    """All arrays that a result leads to."""
    if id(tree) in seen or isinstance(tree, (str, bytes, int, float, type, XMan)) or callable(tree):
        return
    seen[id(tree)] = tree
    if type(tree) is np.ndarray:
        yield tree
        return
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple, set)) else ()
    if type(tree).__module__.partition(".")[0] in ("xman", "scipy", __name__):
        parts = [*parts, *(part for name, part in getattr(tree, "__dict__", {}).items() if name != "root")]
    for part in parts:
        yield from arrays_in(part, seen)


def spoil(tree):
    for array in arrays_in(tree, {}):
        if array.dtype.kind in "biuf" and array.flags.writeable:
            array[...] = 7


def numbers(tree): return [x.copy() for x in arrays_in(tree, {})]


MATRIX = matrix()
LINES = [("same", "alias", ("x",)), ("turned", "transpose", ("x",)), ("row", "reshape", ("x", (1, 3))),
         ("piece", "getitem", ("x", slice(0, 2))), ("y", "exp", ("x",)), ("again", "alias", ("y",)),
         ("wide", "broadcast", ("x", (2, 3))), ("s", "sum", ("y",))]
def lines(A): return [*LINES, ("constant", "alias", (A,)), ("columns", "transpose", (A,)), ("z", "add", ("x", A)), ("w", "dot", (A, "y"))]


@door
def values_of_a_list(x, A):
    steps = WengertList(lines(A))
    return steps, [lambda: xman.eval(steps, {"x": vector()})]


@door
def deltas_and_tangents(x, A):
    steps, u = WengertList(lines(A)), np.ones(3)
    values = xman.eval(steps, {"x": vector()})
    return [], [lambda: xman.backprop(steps, values, w=u, same=u, turned=u), lambda: xman.backprop(steps, values, z=np.ones((3, 3))),
                lambda: xman.forward(steps, values, {"x": u}), lambda: xman.forward(steps, values, x=u)]


@door
def lists_of_lists(x, A):
    steps = lines(A)
    made = [WengertList(steps), xman.gradient(steps, "s", ["x"]), xman.tangent(steps, ["x"]), xman.simplify(steps), xman.unroll(steps)]
    return [], [lambda steps=steps: xman.eval(steps, {"x": vector(), "x_dot": np.ones(3)}) for steps in made]


for _engine in "interpret", "numpy", "llvm", "jax", "auto":
    def compiled(x, A, engine=_engine):
        if engine in ("llvm", "jax"):
            pytest.importorskip({"llvm": "llvmlite"}.get(engine, engine))
        step = xman.compile(lines(A), [line[0] for line in lines(A)], engine=engine)
        constant = xman.compile([("y", "alias", (A,)), ("z", "exp", (A,))], engine=engine)
        return [step.steps], [lambda: step({"x": vector()}), lambda: step({"x": vector()}), lambda: constant({}), lambda: constant({})]
    compiled.__name__ = f"compiled_by_{_engine}"
    door(compiled)


FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "sqrt": np.sqrt, "same": lambda x: x, "turned": np.transpose,
             "row": lambda x: np.reshape(x, (1, 3)), "reversed": lambda x: x[::-1], "wide": lambda x: np.broadcast_to(x, (2, 3)),
             "pair": lambda x: (np.exp(x), {"x": x}), "reciprocal": lambda x: 1 / x, "softmax": lambda x: f.softmax(x)}


@door
def pull_backs(x, A):
    given, calls = [], []
    for fn in FUNCTIONS.values():
        value, pull, aux = xman.vjp(lambda x, fn=fn: (fn(x), np.cosh(x)), x, has_aux=True)
        u = copy.deepcopy(value)
        given += [value, aux]
        calls.append(lambda pull=pull, u=u: pull(u))
    for fn in lambda x: A @ np.exp(x), lambda x: (np.sqrt(x) @ A):
        value, pull = xman.vjp(fn, x)
        given.append(value)
        calls.append(lambda pull=pull: pull(np.ones(3)))
    value, pull = xman.vjp(lambda x: (x * 2, A), x)
    return [*given, pull(value)], [*calls, lambda: pull((np.ones(3), np.ones((3, 3))))]


@door
def derivatives_of_functions(x, A):
    total = lambda fn: lambda x: sum(np.sum(y) for y in xman.functions.trees.flattened_tree(fn(x))[0])
    calls = []
    for fn in FUNCTIONS.values():
        calls += [lambda fn=fn: xman.grad(total(fn))(vector()), lambda fn=fn: xman.jvp(fn, (vector(),), (np.ones(3),)),
                  lambda fn=fn: xman.jacobian(fn)(vector()), lambda fn=fn: xman.hessian(total(fn))(vector()),
                  lambda fn=fn: xman.hvp(total(fn), (vector(),), (np.ones(3),)),
                  lambda fn=fn: xman.value_and_grad(lambda x: (total(fn)(x), x), has_aux=True)(vector())]
    return [], calls


@door
def traced(x, A):
    steps = [xman.trace(fn, x) for fn in (lambda x: A @ x, lambda x: (x, A.copy()), lambda x: np.transpose(A) + x)]
    return [], [lambda steps=steps: [xman.eval(steps, {"x": vector()}), steps] for steps in steps]


@door
def jitted(x, A):
    programs, B = [xman.jit(fn) for fn in FUNCTIONS.values()], matrix()
    programs += [xman.jit(lambda x: (x, x)), xman.jit(lambda x: {"x": x, "B": B.copy()}), xman.jit(lambda x: B @ x),
                 xman.jit(lambda x: (B.T, np.exp(x)))]
    for program in programs:  # else a later call may round otherwise
        program.settle()
    given = [program(x) for program in programs]
    return [given, *[program.lists for program in programs]], [lambda program=program: program(vector()) for program in programs]


@door
def duals(x, A):
    d, v = Dual(x, x * 2), vector() * 3
    e, m = Dual(v, v), Dual.from_matrix(np.kron(np.eye(2), A), 1)
    apart = [lambda fn=fn: fn(d) for name, fn in FUNCTIONS.items() if name not in ("same", "pair")]
    spoil(v)
    return [], [*apart, lambda: e * 1, lambda: m * 1, m.matrix, d.matrix, lambda: xman.derivative(lambda t: (t * MATRIX, MATRIX))(0.5)]


@door
def tapes(x, A):
    tape = xman.Tape([("y", "exp", ("x",)), ("z", "mul", ("y", "w"))])
    return [], [lambda: tape.value({"x": vector(), "w": 2.0}), lambda: tape.value_and_gradient({"x": vector(), "w": vector()}),
                lambda: tape.value_and_gradient(np.ones((3, 2))), lambda: tape.value_and_gradient(np.ones(2))]


@door
def matrices(x, A):
    steps = WengertList([("y", "dot", (A, "x")), ("z", "exp", ("y",)), ("same", "alias", ("x",)), ("loss", "sum", ("z",)),
                         ("squares", "squaredError", ("y", "t")), ("total", "sum", ("squares",))])
    values = {"x": x, "t": A[0]}
    J, I, H, G = (xman.Jacobian(steps, "z", ["x"]), xman.Jacobian(steps, "same", ["x"]), xman.Hessian(steps, "loss", ["x"]),
                  xman.GaussNewton(steps, "total", ["x"]))
    push, pull, product, weighted, same, back = (J.pushforward(values), J.pullback(values), H.product_at(values), G.product_at(values),
                                                 I.pushforward(values), I.pullback(values))
    v = np.ones(3)
    given = [same({"x": v}), back(v)]  # the vector itself, for the unit matrix
    new = lambda: {"x": vector(), "t": vector()}
    return given, [lambda: push({"x": v}), lambda: pull(v), lambda: product({"x": v}), lambda: weighted({"x": v}), lambda: J(new()), lambda: H(new()), lambda: H.blocks(new()), lambda: H.diagonal(new()),
                lambda: xman.becker_lecun(steps[:4], "loss", ["x"], new()), lambda: v + 0]


@door
def loops(x, A):
    return [], [lambda: xman.scan(lambda h, x: (h, h), vector(), length=2), lambda: xman.scan(lambda h, x: (h, h), vector(), length=0),
                lambda: xman.map(lambda x: x, matrix()), lambda: xman.call(lambda x: x, vector()), lambda: xman.scan(lambda h, a: (a, h), vector(), matrix()),
                lambda: xman.cond(True, lambda x: x, lambda x: -x, vector()), lambda: xman.while_loop(lambda x: x[0] < 0, np.exp, vector())]


def line_model():
    class Line(XMan):
        X, y = f.input(default=matrix()), f.input()
        w = f.param(default=matrix()[:, :1])
        outputs = f.dot(X, w)
        loss = f.mean(f.squaredError(outputs, y))
    return Line().setup()


@door
def models(x, A):
    model = line_model()
    steps = model.operationSequence(model.loss)
    own = XMan()
    own.x = f.input()
    own.y = A @ own.x
    return [steps], [lambda: xman.eval(steps, model.inputDict(w=matrix(), y=vector())), lambda: model.inputDict(w=vector()),
                     lambda: own.operationSequence(own.y)]


QUIET = {"progress": False, "epochs": 2, "engine": "numpy"}


@door
def training(x, A):
    model, given, calls = line_model(), [], []
    rows, targets = A, A[:, 1:2].copy()
    for train in (lambda: xman.train.fit(model, (rows, targets), lr=0.01, **QUIET),
                  lambda: xman.train.fit(model, (rows, targets), optimizer="adam", validation=(rows, targets), **QUIET),
                  lambda: xman.train.fit(model, (rows, targets), optimizer="gauss-newton", **QUIET),
                  lambda: xman.minimize(model, (rows, targets), **QUIET), lambda: xman.least_squares(model, (rows, targets), **QUIET),
                  lambda: xman.minimize(lambda w, A: np.sum((A @ w - 1.0) ** 2), (rows,), start=x, **QUIET)):
        trained = train()
        given.append(trained.parameters)
        given.append(trained.history)
    trained = xman.train.fit(model, (rows, targets), lr=0.01, **QUIET)
    final = trained.model()
    kept = trained.model()
    given += [final.values, trained.parameters]
    parameters = lambda: {"w": matrix()[:, :1]}
    calls += [lambda: kept.outputs(matrix()), lambda: kept.predict(matrix()), lambda: xman.train.predict(model, parameters(), matrix()),
              lambda: xman.train.fit(model, (matrix(), matrix()[:, 1:2]), lr=0.01, **QUIET).parameters]
    return [*given, targets], calls


@door
def files(x, A):
    with tempfile.TemporaryDirectory() as folder:
        trained = xman.train.fit(line_model(), (A, A[:, 1:2]), lr=0.01, **QUIET)
        trained.save(f"{folder}/line")
        loaded, other = xman.load(f"{folder}/line"), xman.load(f"{folder}/line")
    return [trained.parameters, other], [lambda: loaded.outputs(matrix()), lambda: loaded.predict(matrix())]


@door
def estimators(x, A):
    pytest.importorskip("sklearn")
    from xman.estimators import XManRegressor
    lasting = XManRegressor((), random_state=1, optimizer="adam").partial_fit(A, x)
    given = [lasting.parameters_]
    again = XManRegressor((), random_state=1, optimizer="adam").partial_fit(matrix(), vector())
    fitted = XManRegressor((), random_state=1).fit(A, x)
    return [given], [lambda: fitted.predict(matrix()), lambda: again.predict(matrix()),
                     lambda: copy.deepcopy(lasting).partial_fit(matrix(), vector()).predict(matrix())]


@door
def data_sets(x, A):
    return [], [lambda: list(xman.train.load("digits").test)]


@door
def tables(x, A):
    pytest.importorskip("pyarrow")
    columns = {"a": A[:, 0].copy(), "b": x, "y": A[:, 2].copy()}
    prepared = xman.tables.prepared(columns, "y")
    new = lambda: {"a": matrix()[:, 0], "b": vector(), "y": matrix()[:, 2]}
    return [columns, prepared.pair(new())], [lambda: prepared.features(new()), lambda: prepared.pair(new()), lambda: prepared.steps,
                                             lambda: xman.tables.inputs(prepared.columns, new())]


@door
def steps_of_training(x, A):
    steps = xman.train.training_list([("r", "dot", ("X", "w")), ("e", "subtract", ("r", A[0])), ("loss", "squaredNorm", ("e",))], "loss", ["w"], "adam")
    return [steps], [lambda: str(steps.steps)]


@door
def others(x, A):
    steps = WengertList([("y", "dot", (A, "x")), ("loss", "sum", ("y",))])
    deep = [xman.paths(steps, "loss", "x", {"x": x}), xman.outer_products(steps, "y", ["x"], {"x": x}, "squares")]
    return deep[1:], [lambda: str(deep[0]), lambda: xman.outer_products(steps, "y", ["x"], {"x": vector()}, "squares")]


@pytest.mark.parametrize("name", sorted(DOORS))
def test_no_later_answer_changes(name):
    expected = [numbers(call()) for call in DOORS[name](vector(), matrix())[1]]
    x, A = vector(), matrix()
    given, calls = DOORS[name](x, A)
    spoil([given, *[call() for call in calls], x, A])
    wrong = [k for k, (call, answer) in enumerate(zip(calls, expected, strict=True)) if not same(numbers(call()), answer)]
    assert not wrong


def same(a, b): return len(a) == len(b) and all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


@in_each((op, case) for op, cases in OF_NUMBERS.items() for case in cases[-2:])
def test_the_pull_back_of_every_operator_reads_nothing_that_was_given_away(op, case):
    moving = [k for k, a in enumerate(case) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]

    def fn(*arrays):
        args = list(case)
        for k, a in zip(moving, arrays, strict=True):
            args[k] = a
        return getattr(ops.f, op)(*args)
    primals = [case[k].copy() for k in moving]
    value, pull = xman.vjp(fn, *primals)
    u = np.full(np.shape(value), 0.5)
    expected = copy.deepcopy(pull(u))
    spoil([value, primals, pull(u)])
    assert same(numbers(pull(u)), numbers(expected))
    program, new = xman.jit(fn), lambda: [case[k].copy() for k in moving]
    program.settle()
    spoil(program(*new()))
    expected = copy.deepcopy(program(*new()))
    spoil(program(*new()))
    assert same(numbers(program(*new())), numbers(expected))


def test_a_callback_of_fit_may_write_into_the_parameters_that_it_is_given():
    rows = matrix(), matrix()[:, 1:2]
    plain = xman.train.fit(line_model(), rows, lr=0.01, **QUIET)
    spoiled = xman.train.fit(line_model(), rows, lr=0.01, callbacks=[lambda row, parameters: spoil(parameters)], **QUIET)
    assert same(numbers(plain.parameters), numbers(spoiled.parameters))
