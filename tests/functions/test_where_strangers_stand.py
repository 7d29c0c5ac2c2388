"""What programs of others do around a derivative: jit in a trace, C code, libraries, odd arrays and odd objects."""
from __future__ import annotations

import array
import functools
import math
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse

import xman
from xman import Dual, XManError, derivative, f, grad, hessian, jit, jvp, trace, value_and_grad

X = np.array([1.0, 2.0, 3.0])


# ---- jit of a function that reads a traced value ----------------------------------------------------------------------

class Held:
    __slots__ = "x"

    def __init__(self, x): self.x = x
    def times(self, y): return self.x * y


def by_default(x):
    def times(y, x=x): return y * x
    return jit(times)(4.0)


def by_list(x):
    entries = [{"x": x}]
    return jit(lambda y: y * entries[0]["x"])(4.0)


INNER = {"a closure": lambda x: jit(lambda y: y * x)(4.0), "a list": by_list,
         "an attribute": lambda x: jit(Held(x).times)(4.0), "a default": by_default,
         "a partial": lambda x: jit(functools.partial(lambda x, y: y * x, x))(4.0),
         "a branch": lambda x: jit(lambda y: y * x if x > 0 else y)(4.0), "a gradient": lambda x: jit(grad(lambda y: y * y * x))(2.0),
         "a value and gradient": lambda x: jit(value_and_grad(lambda y: y * x))(4.0)[0], "jit in jit": lambda x: jit(lambda y: jit(lambda z: z * y * x)(2.0))(2.0)}


@pytest.mark.parametrize("name", INNER)
def test_a_jitted_function_may_read_a_traced_value(name):
    fn = INNER[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(fn)(5.0) == 4.0 == jvp(fn, (5.0,), (1.0,))[1] == derivative(fn)(5.0) == fn(Dual(5.0, 1.0)).tangent
        program = jit(fn)
        assert program(5.0) == program(5.0) == 20.0 == fn(5.0)
        assert program(6.0) == 24.0
        assert grad(lambda x: fn(x) * x)(5.0) == 40.0 and hessian(lambda x: fn(x) * x)(5.0) == 8.0


def test_a_jitted_function_is_compiled_again_after_it_has_read_a_traced_value():
    def scaled(y): return y * box["x"]
    box, program = {"x": 2.0}, jit(scaled)

    def through(x):
        box["x"] = x
        return program(3.0) + program(4.0)
    for _ in range(2):
        box["x"] = 2.0
        assert program(3.0) == 6.0 and len(program.lists) == 1
        assert grad(through)(5.0) == 7.0


def test_an_array_in_a_closure_of_a_jitted_function_is_differentiated():
    fn = lambda w: np.sum(jit(lambda y: y @ w)(X))
    np.testing.assert_array_equal(grad(fn)(np.ones(3)), X)


# ---- C code and libraries ---------------------------------------------------------------------------------------------

FROM_C = {name: lambda a, name=name: getattr(scipy.optimize, name)(lambda x: x * x - a, 0.0, 4.0)
          for name in ("brentq", "brenth", "bisect", "ridder", "toms748")}
FROM_C |= {"a bound": lambda a: scipy.optimize.brentq(lambda x: x - 1.0, 0.0, a), "quad": lambda a: scipy.integrate.quad(lambda x: x * a, 0, 1)[0],
           "fsolve": lambda a: scipy.optimize.fsolve(lambda x: x * x - a, 1.0)[0],
           "odeint": lambda a: np.sum(scipy.integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0]))}


@pytest.mark.parametrize("name", FROM_C)
@pytest.mark.parametrize("of", [grad, lambda fn: lambda a: trace(fn, a), derivative], ids=["grad", "trace", "derivative"])
def test_C_code_that_calls_a_traced_closure_ends_in_a_sentence_with_the_line(name, of, capfd):
    with pytest.raises(XManError, match=r"^test_where_strangers_stand.py:\d+"):
        of(FROM_C[name])(2.0)


@pytest.mark.parametrize("name", FROM_C)
def test_jit_of_what_cannot_be_traced_is_the_function_and_says_why(name):
    program = jit(FROM_C[name], "numpy")
    with pytest.warns(RuntimeWarning, match=r"test_where_strangers_stand.py:\d+.*runs as plain Python"):
        assert program(2.0) == FROM_C[name](2.0)
    assert program(3.0) == FROM_C[name](3.0) and program.engine == "python"


def test_an_error_that_a_refusal_led_to_is_that_refusal():
    def reads(x):
        try:
            return float(x)
        except ValueError:
            raise KeyError("rate") from None
    with pytest.raises(XManError, match="float.. would turn"):
        grad(reads)(2.0)
    with pytest.raises(KeyError, match="rate"):
        grad(lambda x: {}["rate"])(2.0)


def test_the_line_in_an_error_is_the_users_and_the_sentence_names_the_library():
    pd, metrics = pytest.importorskip("pandas"), pytest.importorskip("sklearn.metrics")
    frame = pd.DataFrame({"a": X})
    for call, name in (lambda w: np.sum(frame["a"] * w), "pandas"), (lambda w: metrics.mean_squared_error(w, X), "sklearn"):
        with pytest.raises(XManError, match=rf"^test_where_strangers_stand.py:\d+, `for call.*: {name} takes plain arrays"):
            grad(call)(X)


@pytest.mark.parametrize("matrix", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
def test_jit_of_a_function_with_a_sparse_matrix_runs_and_says_so(matrix):
    dense = np.arange(9.0).reshape(3, 3)
    S = matrix(dense)
    for fn, plain in ((lambda w: S @ w, lambda w: dense @ w), (lambda w: w @ S, lambda w: w @ dense), (lambda w: f.dot(S, w), lambda w: dense @ w),
                      (grad(lambda w: np.sum(f.dot(S, w) ** 2)), grad(lambda w: np.sum((dense @ w) ** 2))),
                      (grad(lambda w: np.sum((w @ S) ** 2)), grad(lambda w: np.sum((w @ dense) ** 2))),
                      (hessian(lambda w: np.sum((w @ S) ** 2)), hessian(lambda w: np.sum((w @ dense) ** 2)))):
        with pytest.warns(RuntimeWarning, match="sparse"):
            program = jit(fn, "numpy")
            np.testing.assert_allclose(program(X), plain(X), rtol=1e-12)
        np.testing.assert_allclose(program(X + 1), plain(X + 1), rtol=1e-12)


def test_a_slice_by_a_loops_counter_names_take():
    for y in X, np.stack([X, X], 1):
        with pytest.raises(XManError, match=r"np\.take\(x, i \+ np\.arange\(2\), 0\)"):
            xman.scan(lambda h, i, y=y: (h + np.sum(y[i:i + 2]), None), 0.0, 2)
    with pytest.raises(XManError, match="xman.cond"):
        xman.scan(lambda h, i: (h + 1.0 if X[0:2].sum() * h > 1 else h, None), 0.0, 2)
    assert xman.scan(lambda h, i: (h + np.sum(f.take(X, i + np.arange(2), 0)), None), 0.0, 2)[0] == 8.0
    assert grad(lambda x: xman.scan(lambda h, i: (h + np.sum(np.take(x * X, i + np.arange(2), 0)), None), 0.0, 2)[0])(3.0) == 8.0


# ---- numbers as text, and as whole numbers ----------------------------------------------------------------------------

def formatted(x):
    text = "%.1f"
    text %= x
    return x if text == "2.0" else 2 * x


ONE, TWO, BYTES, OF_DICT = "%.1f", "%.1f %d", b"%.1f", "%(x).1f"
TEXTS = {"%": lambda x: x if ONE % x == "2.0" else 2 * x, "%=": formatted, "% of several": lambda x: x if TWO % (x, x) == "2.0 2" else 2 * x,
         "% of bytes": lambda x: x if BYTES % x == b"2.0" else 2 * x, "% of a dict": lambda x: x if OF_DICT % {"x": x} == "2.0" else 2 * x,
         "repr": lambda x: x if repr([x]) else 2 * x, "format": lambda x: x if f"{x:.1f}" == "2.0" else 2 * x,
         "trunc": lambda x: x * math.trunc(x), "floor": lambda x: x * math.floor(x), "ceil": lambda x: x * math.ceil(x),
         "is_integer": lambda x: x * 2 if x.is_integer() else x}


@pytest.mark.parametrize("name", TEXTS)
def test_a_traced_number_is_written_and_counted_as_a_number_of_NumPy(name):
    fn, program = TEXTS[name], jit(TEXTS[name])
    for x in map(np.float64, (2.0, 3.5, -2.0, 2.0)):
        assert program(x) == fn(x)
        assert grad(fn)(x) == fn(x) / x or "s" in name
    if name != "format":  # a Dual is written with its tangent
        assert fn(Dual(2.0, 1.0)).value == fn(np.float64(2.0))


def test_an_attribute_that_only_numbers_have_is_refused_in_a_sentence():
    for call in (lambda x: x.hex(), lambda x: x.as_integer_ratio()[0]):
        with pytest.raises(XManError, match="the number's"):
            grad(call)(2.0)
    with pytest.raises(AttributeError):
        grad(lambda x: np.sum(x.hex()))(X)


# ---- precisions beyond those of lists ---------------------------------------------------------------------------------

def test_a_list_has_no_number_of_more_than_64_bits():
    for long in np.longdouble(2), np.array([1, 2], np.longdouble):
        with pytest.raises(XManError, match="at most 64 bits"):
            str(trace(lambda x, long=long: x * long, 1.0))
        with pytest.raises(XManError, match="at most 64 bits"):
            f.mul(f.input("x"), long)


@pytest.mark.parametrize("fn", [lambda x: np.sum(x * x), lambda x: np.sum(x * x * np.longdouble(3)), lambda x: np.sum(np.exp(x) / 3),
                                lambda x: np.sum(x * np.longdouble("0.1"))])
@pytest.mark.parametrize("x", [np.longdouble(2), np.array([1, 2], np.longdouble)], ids=["a number", "an array"])
@pytest.mark.filterwarnings("ignore:jit.*at most 64 bits:RuntimeWarning")
def test_jit_of_a_gradient_in_longdouble_is_the_gradient(fn, x):
    program, plain = jit(grad(fn)), grad(fn)(x)
    for got in program(x), program(x):
        assert got.dtype == plain.dtype == np.longdouble
        np.testing.assert_allclose(got, plain, rtol=1e-18)


# ---- what jit reads ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_jit_reads_a_memory_map(mode, tmp_path):
    np.save(tmp_path / "X.npy", np.arange(6.0).reshape(3, 2))
    mapped, w = np.load(tmp_path / "X.npy", mmap_mode=mode), np.array([1.0, 2.0])
    fn = lambda w: np.sum((mapped @ w) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = jit(grad(fn))
        for _ in range(3):
            np.testing.assert_allclose(program(w), grad(fn)(w), rtol=1e-12)
        if mode != "r":
            mapped[0] = 5.0
            np.testing.assert_allclose(program(w), grad(fn)(w), rtol=1e-12)
        np.testing.assert_allclose(jit(lambda m, w: m @ w, "numpy")(mapped, w), mapped @ w)


class Computed:
    def __getattribute__(self, name): return 2.0


class Labelled(np.ndarray):
    rate = 2.0


def odd_objects():
    computed, buffer, masked, labelled = Computed(), array.array("d", [1.0]), np.ma.array([2.0, 3.0, 4.0], mask=[0, 0, 1]), X.view(Labelled)

    def appends(x):
        buffer.append(1.0)
        return np.sum(x) * len(buffer)
    return {"__getattribute__": lambda x: np.sum(x) * computed.rate, "an array of Python's": appends,
            "a masked array": lambda x: np.sum(x) * float(masked.sum()), "a subclass": lambda x: np.sum(x * labelled.view(np.ndarray)) * labelled.rate}


@pytest.mark.parametrize("name", odd_objects())
@pytest.mark.filterwarnings("ignore:jit:RuntimeWarning")
def test_jit_of_a_function_that_reads_an_odd_object_is_the_function(name):
    program, plain = jit(odd_objects()[name]), odd_objects()[name]
    for x in X, X, 2 * X:
        assert program(x) == plain(x)


@pytest.mark.filterwarnings("ignore:jit:RuntimeWarning")
def test_jit_of_a_function_that_reads_a_frame_of_polars_is_the_function():
    table = pytest.importorskip("polars").DataFrame({"a": [2.0, 3.0, 1.0]})
    program = jit(lambda x: np.sum(x * table["a"].to_numpy()))
    assert program(X) == program(X) == 11.0


def test_a_list_that_holds_itself_is_refused_in_a_sentence():
    loop = [1.0]
    loop.append(loop)
    for call in jit(lambda a: a[0], "numpy"), jit(lambda x, a=None: a[0], "numpy"), lambda a: trace(lambda a: a[0], a):
        with pytest.raises(XManError, match="contains itself"):
            call(loop) if "a=" not in str(call) else call(1.0, a=loop)
