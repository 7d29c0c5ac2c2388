"""jit: on every call, whatever has changed, what the plain function gives."""
from __future__ import annotations

import contextvars
import functools
import operator
import os
import pickle
import random
import sys
import time
import types
import warnings

import numpy as np
import pytest

from xman import WengertList, XManError, f, grad, hessian, jit, jvp, trace, value_and_grad

jit_ = functools.partial(jit, engine="numpy")

# ---- a hundred functions, drawn ---------------------------------------------------------------------------------------

TERMS = ["x * rate", "np.sin(x) + y", "x - settings['shift']", "y * table[0] + x", "np.where(x > y, x, y * 2.0)", "x @ weights",
         "helper(x)", "np.maximum(x, box.low)", "x / (1.0 + y * y)", "np.tanh(x) * n", "x[::-1] + rate", "np.cumsum(x) * 0.1"]
TESTS = ["np.sum(x) > rate", "x[0] < y[1]", "np.all(x > -1.0)", "np.max(x) > box.low and x[1] > 0", "n > 2", "flag",
         "np.argmax(x) == 1", "settings['on']", "not (x < y).any()"]


def drawn_function(seed):
    """(module, plain function) of a few statements with branches, loops and indices that go by values and by globals."""
    draw, lines = random.Random(seed), ["def drawn(x, y, n, flag):", "    k = 0"]
    for _ in range(draw.randint(2, 4)):
        kind, one, other = draw.choice("tilwx"), draw.choice(TERMS), draw.choice(TERMS)
        target = draw.choice("xxy")
        if kind == "t":
            lines += [f"    {target} = {one}"]
        elif kind == "i":
            lines += [f"    if {draw.choice(TESTS)}:", f"        {target} = {one}", "    else:", f"        {target} = {other}"]
        elif kind == "l":
            lines += ["    for _ in range(n):", f"        {target} = {one}"]
        elif kind == "w":
            lines += ["    while np.sum(np.abs(x)) > 6.0 and k < 5:", "        x, k = x * 0.5, k + 1"]
        else:
            lines += ["    x = x + x[np.argmax(y)] * table[int(np.argmin(x))]"]
    lines += ["    return np.sum(x * y) + k * rate"]
    module = types.ModuleType("drawn")
    exec("import numpy as np\nclass Box:\n    low = 0.1\nbox = Box()\ndef helper(x):\n    return x * scale\n" + "\n".join(lines),
         vars(module))
    return module, module.drawn


def change(module, draw):
    """Another value for one of the globals, of each kind of them now and then."""
    number = draw.choice([0.5, 1.5, 2.0])
    table, settings, box = module.table, module.settings, module.box
    draw.choice([lambda: vars(module).update(rate=number), lambda: settings.update(shift=number), lambda: table.insert(0, number),
                 lambda: vars(module).update(settings={"shift": number, "on": not settings["on"]}),
                 lambda: module.weights.__setitem__((0, 1), number), lambda: setattr(box, "low", number),
                 lambda: setattr(type(box), "low", number), lambda: vars(module).update(scale=number),
                 lambda: vars(module).update(helper=draw.choice([np.sin, lambda x: x - 1.0, module.helper]))])()


@pytest.mark.parametrize("seed", range(10 if os.environ.get("XMAN_ALL_CASES") else 4))
def test_a_drawn_function_gives_what_the_plain_one_gives_whatever_changes(seed):
    for k in range(10):
        draw = random.Random(seed * 10 + k)
        numbers = np.random.default_rng(seed * 10 + k)
        module, plain = drawn_function(seed * 10 + k)
        vars(module).update(rate=1.5, settings={"shift": 0.5, "on": True}, table=[1.0, 2.0, 3.0], weights=numbers.normal(size=(3, 3)),
                            scale=2.0)
        both = jit(value_and_grad(plain, (0, 1)), "interpret" if k else "numpy")
        for _ in range(6):
            x, y = numbers.normal(size=(2, 3)) * 3
            n, flag = draw.choice([1, 3]), draw.choice([True, False])
            value, slopes = value_and_grad(plain, (0, 1))(x, y, n, flag)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "jit.*more than 8 paths")
                for _ in range(2):
                    found, parts = both(x, y, n, flag)
                    np.testing.assert_allclose((found, *parts[0], *parts[1]), (value, *slopes[0], *slopes[1]), 1e-12, 1e-12)
            if draw.random() < 0.5:
                change(module, draw)


# ---- paths and guards -------------------------------------------------------------------------------------------------

def steps_of_newton(x):
    k = 0
    y = x
    while np.abs(y * y - x) > 1e-9:
        y, k = 0.5 * (y + x / y), k + 1
    return y, k


def test_a_path_that_was_never_traced_before_is_right_and_is_kept():
    root = jit_(steps_of_newton)
    for x in (2.0, 3.0, 900.0, 2.5, 1.0, 9.0):
        assert root(x) == root(x) == steps_of_newton(x)
    assert len(root.lists) == len({steps_of_newton(x)[1] for x in (2.0, 3.0, 900.0, 2.5, 1.0, 9.0)}) > 3


def test_a_line_that_is_checked_often_is_named_once_for_each_outcome():
    def positive(x):
        return sum(v for v in x if v > 0)

    (fast := jit(positive))(np.array([1.0, 2.0, -1.0, 3.0]))
    lines = [words.partition("`")[2] for words in fast.guards[0] if "v > 0" in words]
    assert lines == ["return sum(v for v in x if v > 0)`: True", "return sum(v for v in x if v > 0)`: False"]


def test_the_lists_and_the_guards_can_be_read():
    def loss(x, n):
        return np.sum(x) * n if x[0] > 0 else -np.sum(x)
    fast = jit_(loss)
    fast(np.ones(2), 3)
    assert repr(fast.lists[0]) == "z1 = getitem(x, 0)\nguard1 = greater(z1, 0)\nz2 = sum(x)\nloss = mul(z2, 3)"
    assert type(fast.lists[0]) is WengertList
    words, = fast.guards
    assert words[0] == "an argument is 3" and words[-1].endswith("`return np.sum(x) * n if x[0] > 0 else -np.sum(x)`: True")
    assert any(word.startswith("the globals np") for word in words)


ONE = np.float64(1)


@pytest.mark.parametrize(("one", "other"), [
    (np.ones(3), np.ones(4)), (np.ones(3), np.ones(3, np.float32)), (np.ones(3), np.ones((1, 3))),
    (np.float64(1), np.float32(1)), ([ONE, ONE], (ONE, ONE)),
    ({"a": ONE, "b": ONE}, {"b": ONE, "a": ONE}), (2, True), (None, "text"),
    (np.array([1, 0]), np.array([True, False])), ([ONE, [ONE]], [[ONE], ONE]),
    (np.array([1, "a"], object), np.array([1, "b"], object))])
def test_another_kind_of_argument_is_another_path(one, other):
    def fn(x, y):
        return [*x] if isinstance(x, dict) else x.dtype.name if hasattr(x, "dtype") else x.__class__.__name__, x, y * 2
    fast = jit_(fn)
    for x in (one, other, one, other):
        assert repr(fast(x, np.float64(1.5))) == repr(fn(x, np.float64(1.5)))


def test_an_index_that_goes_by_a_value_is_a_guard_and_never_out_of_bounds():
    def pick(x, i):
        return x[np.argmax(x)] + TABLE[i] + x[int(i) - 1]
    fast = jit_(pick)
    for i in (0, 1, 2, 0, 1, 2):
        for x in (np.array([1.0, 2.0]), np.array([2.0, 1.0])):
            assert fast(x, np.int64(i)) == pick(x, np.int64(i))
    with pytest.raises(IndexError):
        fast(np.ones(2), np.int64(5))
    assert fast(np.ones(2), np.int64(1)) == pick(np.ones(2), np.int64(1))


TABLE = np.array([10.0, 20.0, 30.0])


def test_an_error_of_a_path_that_does_not_hold_is_nobodys():
    def fn(x, i):
        return x[i] if x[0] > 0 else np.sum(x)
    fast = jit_(fn)
    assert fast(np.ones(3), np.array([2])) == 1.0
    assert fast(-np.ones(3), np.array([7])) == -3.0


def test_the_error_of_the_function_is_raised_at_each_call():
    def fn(x):
        if x > 1:
            raise ValueError("too large")
        return x
    fast = jit_(fn)
    assert fast(0.5) == 0.5
    for _ in range(2):
        with pytest.raises(ValueError, match="too large"):
            fast(2.0)
    assert fast(0.75) == 0.75


def test_after_eight_paths_the_plain_function_runs():
    fast = jit_(lambda x, n: x * n)
    assert [fast(2.0, n) for n in range(8)] == [2.0 * n for n in range(8)]
    with pytest.warns(RuntimeWarning, match="more than 8 paths"):
        assert fast(2.0, 8) == 16.0
    assert fast(2.0, 9) == 18.0 and type(fast.guards[0][0]) is str and fast.lists == []
    assert fast(np.ones(1), 9) == 9.0 and len(fast.lists) == 1


def test_what_is_read_from_an_attribute_a_closure_a_default_and_a_module_is_a_guard():
    module = types.ModuleType("settings")
    module.rate = 1.0

    class Model:
        slope = 2.0
        __slots__ = ("weights", "offset")

        def __init__(self):
            self.weights, self.offset = np.ones(2), 0.5

        @property
        def size(self): return self.slope

        def loss(self, x, scale=[1.0]):  # noqa: B006
            return np.sum(self.weights * x) * self.size * scale[0] + self.offset + rated(module, k)

    def rated(room, k): return room.rate * k
    k, model = 1.0, Model()
    fast = jit_(model.loss)

    def agrees():
        assert fast(np.arange(2.0)) == fast(np.arange(2.0)) == model.loss(np.arange(2.0))
    agrees()
    model.weights[1] = 5.0
    agrees()
    model.offset = 7.0
    agrees()
    Model.slope = 3.0
    agrees()
    Model.loss.__defaults__[0][0] = 4.0
    agrees()
    module.rate = 6.0
    agrees()
    k = 8.0
    agrees()
    Model.size = property(lambda self: 9.0)
    agrees()


class Named:
    """Its attributes are entries, and a wrong name is an error of another kind."""
    def __init__(self): vars(self)["held"] = {"k": 1.0}
    def __getattr__(self, name): return self.held[name]


ROOM, NAMED = types.ModuleType("room"), Named()


def counted(x): return x * counted.k
def by_name(x): return x * getattr(ROOM, "k") + ROOM.__dict__["k"]  # noqa: B009
def by_environment(x): return x * float(os.environ.get("XMAN_K", "0"))
def by_entry(x): return x * NAMED.k
def by_cache(x): return x * cached_zeros(1)[0]
def by_proxy(x): return x * PROXY["k"]
def by_metaclass(x): return x * Kinds.rate


@functools.lru_cache
def cached_zeros(size): return np.zeros(size)


Rated = type("Rated", (type,), {"rate": 0.0})
Kinds = Rated("Kinds", (), {})
PROXY = types.MappingProxyType(NAMED.held)


@pytest.mark.parametrize(("fn", "put"), [
    (counted, lambda k: setattr(counted, "k", k)), (by_name, lambda k: setattr(ROOM, "k", k)),
    (by_environment, lambda k: os.environ.update(XMAN_K=str(k))), (by_entry, lambda k: NAMED.held.update(k=k)),
    (by_cache, lambda k: cached_zeros(1).fill(k)), (by_proxy, lambda k: NAMED.held.update(k=k)),
    (by_metaclass, lambda k: setattr(Rated, "rate", k))])
def test_what_is_read_by_name_of_a_function_a_module_or_the_environment_is_a_guard(fn, put, monkeypatch):
    monkeypatch.setenv("XMAN_K", "0")
    fast = jit_(fn)
    for k in (1.0, 2.0, 1.0):
        put(k)
        assert fast(3.0) == fn(3.0)


COUNTING = [lambda x: np.sum(x[x > 0]) / len(x[x > 0]), lambda x: np.ones(x[x > 0].shape) + np.flatnonzero(x > 0).size,
            lambda x: [2 * y for y in x[:, None][x > 0]], lambda x: np.diff(x[np.nonzero(x > 0)])[0] * x[x > 0].nbytes,
            lambda x: np.split(x, np.flatnonzero(x > 0))[1]]


@pytest.mark.parametrize("fn", COUNTING)
def test_how_many_entries_a_mask_takes_is_a_guard_where_it_is_read(fn):
    fast = jit_(fn)
    for x in ([1.0, 2.0, -1.0, -2.0], [1.0, 2.0, 3.0, -2.0], [4.0, 5.0, -1.0, -2.0]):
        assert np.array_equal(fast(np.array(x)), fn(np.array(x)))


def test_the_mean_of_what_a_mask_takes_is_one_path():
    fast = jit_(lambda x: np.mean(x[x > 0]))
    assert [fast(np.array(x)) for x in ([1.0, 2.0, -1.0], [1.0, 3.0, 2.0], [-1.0, 2.0, -1.0])] == [1.5, 2.0, 2.0]
    assert len(fast.lists) == 1


def test_the_gradient_of_two_masks_is_one_path():
    plain = value_and_grad(lambda x: np.sum(np.exp(x[x > 0]) * x[x > 0]) + np.mean(x[x < 1] ** 2))
    fast = jit_(plain)
    for x in ([1.5, 0.5, -1.0], [2.0, 3.0, 0.5], [-1.0, -2.0, 2.0]):
        (value, slope), (wanted, theirs) = fast(np.array(x)), plain(np.array(x))
        assert value == pytest.approx(wanted) and slope == pytest.approx(theirs)
    assert len(fast.lists) == 1


@pytest.mark.parametrize(("kind", "number"), [("i1", np.int64(100)), ("?", np.float32(1.5)), ("f2", np.float32(1.5)),
                                              ("f4", np.int64(3)), ("f4", np.float32(3))])
def test_a_number_of_numpy_keeps_its_precision_beside_a_narrower_array(kind, number):
    x = np.array([0, 1, 2]).astype(kind)
    fn = lambda x: (x * number, np.sum(x, np.int64(0)), x[np.int64(1)])
    fast = jit_(fn)
    for found in (fast(x), fast(x)):
        assert [(y.dtype, y.tolist()) for y in found] == [(y.dtype, y.tolist()) for y in fn(x)]


def test_whole_numbers_made_of_a_value_are_a_path_of_their_own():
    table = np.arange(10.0) ** 2
    def interpolated(x):
        k = int(np.floor(x))
        return table[k] + (x - k) * (table[k + 1] - table[k]) + np.round(x).item() * float(np.ceil(x))
    fast = jit_(value_and_grad(interpolated))
    for x, slope in ((2.5, 5.0), (3.25, 7.0), (2.75, 5.0), (3.5, 7.0)):
        assert fast(x) == (interpolated(x), slope) == value_and_grad(interpolated)(x)
    with pytest.raises(XManError, match="would be a constant of the list"):
        trace(interpolated, 2.5)


def test_text_is_made_of_the_value():
    fast = jit_(lambda x: [x, str(x), f"{x} {x!r}"])
    assert [fast(1.5), fast(1.5), fast(2.5)] == [[x, str(x), f"{x} {x!r}"] for x in (1.5, 1.5, 2.5)]


CACHE = np.array([4.0, 5.0, 6.0])
SENTINEL = object()


@pytest.mark.parametrize("fn", [
    lambda x: x * 2 if x is CACHE else x * 3, lambda x: x * 2 if CACHE is x else x * 3,
    lambda x: x * 2 if x is types.SimpleNamespace(y=CACHE).y else x * 3,
    lambda x: x * 2 if operator.is_(x, CACHE) else x * 3, lambda x: x * 2 if operator.is_not(CACHE, x) else x * 3,
    lambda x: x * 2 if any(y is x for y in [CACHE]) else x * 3])
def test_whether_an_argument_is_an_object_is_asked_of_python(fn):
    with pytest.warns(RuntimeWarning, match="it compares by `is`|it calls operator.is_"):
        fast = jit_(fn)
        for x in (np.ones(3), CACHE, np.ones(3)):
            assert (fast(x) == fn(x)).all()


@pytest.mark.parametrize("fn", [lambda x: x * 2 if type(x) is np.ndarray else x * 3, lambda x: x * len(type(x).__name__),
                                lambda x: x * 2 if type(x) in (np.ndarray, float) else x * 3])
def test_the_type_of_an_argument_is_asked_of_python(fn):
    """The first values are 0, so that no check of results would tell the branches apart."""
    with pytest.warns(RuntimeWarning, match="isinstance is the same"):
        fast = jit_(fn)
        for x in (np.zeros(3), np.ones(3)):
            assert (fast(x) == fn(x)).all()


def test_what_stands_for_itself_is_compared_by_is():
    fast = jit_(lambda x, y=SENTINEL: x if y is SENTINEL or y is None else x * y)
    assert [fast(2.0), fast(2.0, None), fast(2.0, 3.0), fast(2.0)] == [2.0, 2.0, 6.0, 2.0] and len(fast.lists) == 3


def test_a_function_among_the_arguments_brings_what_it_reads():
    held = {"rate": 1.0}
    def slow(x): return x * held["rate"]
    fast = jit_(lambda g, x: g(x))
    assert fast(slow, 2.0) == 2.0
    held["rate"] = 3.0
    assert fast(slow, 2.0) == 6.0 and fast(np.exp, 0.0) == 1.0


# ---- what a list cannot hold ------------------------------------------------------------------------------------------

LOG: list = []
GENERATOR = np.random.default_rng(1)
COUNTS = np.zeros(1)
LETTERS = iter("abc" * 99)
CONTEXT = contextvars.ContextVar("rate", default=2.0)


class Counter:
    n = 0


def appends(x):
    LOG.append(1)
    LOG.append(x)
    return x * len(LOG)


def draws(x): return x * GENERATOR.normal()
def draws_as_of_old(x): return x + np.random.normal(size=2)  # noqa: NPY002
def draws_afresh(x): return x + np.random.default_rng().normal()
def draws_by_python(x): return x * random.random() + random.gauss(0, 1)
def tells_the_time(x): return x + time.perf_counter()
def uses_up(x): return x * len(next(LETTERS))


def counts(x):
    COUNTS[0] += 1
    return x * COUNTS[0]


def keeps(x):
    Counter.n += 1
    return x * Counter.n


def reads_a_module_by_its_name(x): return x * len(sys.modules["types"].__name__)
def reads_a_context(x): return x * CONTEXT.get()


def prints(x):
    print("value", x)
    return x * 2


def writes_into_its_argument(x, d):
    d["a"] = 1.0
    return x


def swallows(x):
    try:
        print("twice")
    except Exception:
        return x * 3
    return x


EFFECTS = [(appends, "changes the global LOG"), (draws, "random"), (draws_as_of_old, "random"), (draws_afresh, "random"),
           (draws_by_python, "random"), (tells_the_time, "time.perf_counter"), (counts, "changes the global COUNTS"),
           (keeps, "changes the global Counter"), (uses_up, "used up by reading"), (prints, "calls print"), (swallows, "calls print"),
           (reads_a_module_by_its_name, "can read sys.modules"), (reads_a_context, "can read the global CONTEXT, a ContextVar")]


@pytest.mark.parametrize(("fn", "words"), EFFECTS, ids=[fn.__name__ for fn, _ in EFFECTS])
def test_what_does_more_than_return_says_so_once_and_does_it_once_a_call(fn, words, capsys):
    def run(function, times):
        LOG.clear()
        GENERATOR.bit_generator.state = np.random.default_rng(1).bit_generator.state
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        COUNTS[0] = Counter.n = 0
        found = [function(2.0) for _ in range(times)]
        return found, [*map(float, LOG)], capsys.readouterr().out
    wanted = run(fn, 3)
    fast = jit_(fn)
    with pytest.warns(RuntimeWarning, match=words) as said:
        found = run(fast, 3)
    assert len(said) == 1
    if fn is not draws_afresh and fn is not tells_the_time:
        assert str(found) == str(wanted)


def test_a_dict_that_was_given_is_written_into_by_the_plain_function():
    given = {}
    with pytest.warns(RuntimeWarning, match="writes into a list, a dict or an array that it was given"):
        jit_(writes_into_its_argument)(2.0, given)
    assert given == {"a": 1.0}


def test_a_seeded_draw_is_the_same_at_each_call():
    fast = jit_(lambda x: x * np.random.default_rng(3).normal(size=2))
    assert (fast(2.0) == fast(2.0)).all() and len(fast.lists) == 1


@pytest.mark.parametrize("x", [np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([[1.0]]).view(np.matrix)])
def test_an_array_of_a_kind_with_its_own_products_is_refused_as_in_trace(x):
    for run in (jit_(np.square), lambda x: trace(np.square, x)):
        with pytest.raises(XManError, match="has products or sums of its own"):
            run(x)


def test_an_in_place_write_runs_as_plain_python():
    def fn(x):
        x[0] = 1.0
        return x
    with pytest.warns(RuntimeWarning, match="writes into"):
        assert jit_(fn)(np.zeros(2)).tolist() == [1.0, 0.0]


# ---- with the rest ----------------------------------------------------------------------------------------------------

def loss(params, X, y):
    h = X
    for W, b in params:
        h = np.tanh(h @ W + b)
    return np.mean((h - y) ** 2)


def test_it_takes_the_place_of_trace_gradient_simplify_and_compile():
    numbers = np.random.default_rng(0)
    params = [(numbers.normal(size=(3, 3)), np.zeros(3)) for _ in range(2)]
    X, y = numbers.normal(size=(2, 5, 3))
    step, plain = jit_(value_and_grad(loss)), value_and_grad(loss)
    for _ in range(3):
        (value, slopes), (wanted, theirs) = step(params, X, y), plain(params, X, y)
        assert value == pytest.approx(wanted, rel=1e-13)
        for (W, b), (V, c) in zip(slopes, theirs, strict=True):
            np.testing.assert_allclose(W, V, 1e-11)
            np.testing.assert_allclose(b, c, 1e-11)
        params = [(W - 0.1 * V, b - 0.1 * c) for (W, b), (V, c) in zip(params, theirs, strict=True)]


def test_within_a_derivative_or_another_jit_it_is_its_function():
    fast = jit_(lambda x: x * x if x > 0 else -x)
    assert grad(fast)(3.0) == 6.0 and jvp(fast, (-3.0,), (1.0,)) == (3.0, -1.0)
    assert jit_(lambda x: fast(x) + 1)(3.0) == 10.0


def test_results_are_the_callers_own():
    data = np.ones(2)
    fast = jit_(lambda x: (x, data, np.ones(2), x + 0.0))
    for _ in range(3):
        x = np.zeros(2)
        for part in fast(x):
            part[:] = 7.0
        assert x.tolist() == [0, 0] and data.tolist() == [1, 1]
        assert [part.tolist() for part in fast(x)] == [[0, 0], [1, 1], [1, 1], [0, 0]]


def test_it_is_pickled_where_its_function_is():
    assert pickle.loads(pickle.dumps(jit_(grad(loss))))([(np.eye(2), np.zeros(2))], np.zeros((1, 2)), 0.0)[0][0].shape == (2, 2)
    with pytest.raises(XManError, match="cannot be pickled"):
        pickle.dumps(jit_(lambda x: x))


def test_a_method_is_compiled_with_its_object():
    class Line:
        def __init__(self, slope): self.slope = slope

        @jit_
        def at(self, x): return self.slope * x
    one, two = Line(1.0), Line(2.0)
    assert [line.at(3.0) for line in (one, two, one)] == [3.0, 6.0, 3.0]
    one.slope = 5.0
    assert one.at(3.0) == 15.0




def test_checks_of_numpys_own_are_guards_by_their_answer():
    numbers = np.random.default_rng(0)
    fast = jit_(lambda a, x: (np.linalg.cholesky(a), np.take_along_axis(x, np.argsort(x, 0), 0)))
    for _ in range(12):
        a, x = numbers.normal(size=(2, 3, 3))
        np.testing.assert_allclose(fast(a @ a.T, x), (np.linalg.cholesky(a @ a.T), np.sort(x, 0)), 1e-8)
    assert len(fast.lists) == 1
    with pytest.warns(RuntimeWarning, match="lower triangle alone"):
        np.testing.assert_array_equal(fast(a @ a.T + np.triu(a, 1), x)[0], np.linalg.cholesky(a @ a.T))


def test_the_product_of_two_vectors_may_be_the_result():
    both = jit_(value_and_grad(lambda x, y: x @ y, (0, 1)))
    for _ in range(2):
        value, (x, y) = both(np.arange(3.0), np.ones(3))
        assert (value, x.tolist(), y.tolist()) == (3.0, [1, 1, 1], [0, 1, 2])
    assert len(both.lists) == 1


def test_the_hessian_of_norms_along_an_axis_is_compiled():
    h = hessian(lambda x: np.sum(np.linalg.norm(x, axis=1) ** 3))
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(jit(h, "numpy")(x), h(x))


def recurrence(w, x):
    s, total = np.zeros(3), 0.0
    for t in range(300):
        s = np.tanh(w * s + x[t])
        total = total + np.sum(s * s)
    return np.log(1.0 + total)


def leaves(x): return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("derivative", [value_and_grad(recurrence, (0, 1)), grad(recurrence), jvp, recurrence,
                                        hessian(recurrence), grad(lambda w, x: recurrence(w * 2.0, np.sin(x)))])
def test_a_long_loop_of_python_is_a_loop_of_the_list(derivative):
    w, x = np.array([0.3, -0.2, 0.5]), np.random.default_rng(0).normal(size=(300, 3))
    fn = (lambda w, x: jvp(recurrence, (w, x), (np.ones(3), x))) if derivative is jvp else derivative
    compiled = jit_(fn)
    for shift in (0.0, 0.1, -0.7):
        for one, other in zip(leaves(compiled(w + shift, x)), leaves(fn(w + shift, x)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)
    assert [len(steps) < 300 for steps in compiled.lists] == [True]


def test_a_long_loop_beside_what_is_differentiated_is_one_of_the_list_too():
    def fn(w, x):
        s = np.zeros(3)
        for row in x:
            s = np.tanh(s + row)
        s = np.cos(s)
        for k in range(300):
            w = np.sin(w + s * x[k])
        return np.sum(w)
    compiled = jit(grad(fn))
    args = np.array([0.3, -0.2, 0.5]), np.random.default_rng(0).normal(size=(400, 3))
    np.testing.assert_allclose(compiled(*args), grad(fn)(*args), rtol=1e-10)
    np.testing.assert_allclose(compiled(*args), grad(fn)(*args), rtol=1e-10)
    assert [len(steps) < 300 for steps in compiled.lists] == [True]


def test_a_tangent_that_follows_from_an_adjoint_rule_is_compiled_too():
    a, t = np.eye(3) + np.arange(9.0).reshape(3, 3) ** .5, np.ones((3, 3)) + np.eye(3)  # of rank 1 it would give zeros
    for tangent in (lambda a: jvp(f.cofactor_slope, (a, a), (t, t))[1], lambda a: jvp(lambda a: jvp(f.cofactor, (a,), (t,))[1], (a,), (t,))[1]):
        np.testing.assert_allclose(jit(tangent, "numpy")(a), tangent(a), 1e-9, 1e-13)
