"""jit: on every call, whatever has changed, what the plain function gives."""
from __future__ import annotations

import functools
import operator
import os
import random
import types
import warnings

import numpy as np
import pytest

from xman import WengertList, XManError, jit, trace, value_and_grad

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


def test_a_constant_without_axes_is_an_array_at_every_call_where_it_is_one():
    for fn in (lambda n: np.where(n > 1, n, 0), lambda n: np.zeros(()), lambda n: np.float64(n), lambda n: (n, np.full((), n))):
        fast = jit(fn)
        assert [repr(fast(2)) for _ in range(3)] == [repr(fn(2))] * 3


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
