"""The law of engines: whatever eval can do, every engine does, in the same words where it is refused."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ops
import xman
from xman import XManError, eval

sys.path.append(str(Path(__file__).parents[1] / "ops"))
from every_call import DTYPES, OWN, cases, forget_own_operators, merged, own_operators
from operator_cases import OF_NUMBERS as CASES
from random_programs import program, sensitive

# the tape says that it is for numbers alone, and hands on what is not; that is no failure of it
pytestmark = pytest.mark.filterwarnings("ignore:the engine tape cannot build this list.* the tape :RuntimeWarning")
ALL = bool(os.environ.get("XMAN_ALL_CASES"))  # else a few of each operator
RTOL = {"float64": (1e-10, 1e-10), "float32": (3e-4, 2e-5)}


def needs(package):
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"this engine needs {package}")


ENGINES = ["interpret", "numpy", pytest.param("llvm", marks=needs("llvmlite")), "tape", pytest.param("jax", marks=needs("jax"))]


@pytest.fixture(params=ENGINES)
def engine(request, own_cache):
    with np.errstate(all="ignore"):
        yield request.param


@pytest.fixture
def own():
    own_operators()
    yield
    forget_own_operators()


def wrong(case, engine):
    """What an engine makes otherwise than eval, in words; nothing where all agrees. Second: whether it ran there itself."""
    copies = lambda: {x: v.copy() if isinstance(v, np.ndarray) else v for x, v in case.values.items()}
    step = xman.compile(case.steps, case.outputs, engine=engine, inplace=case.inplace)
    if case.outputs is None:
        with pytest.raises(XManError) as caught:
            step(copies())
        return "" if str(caught.value) == case.refusal else f"{caught.value}; eval says: {case.refusal}", True
    wanted = eval(case.steps, case.values)
    single = "mixed" in case.name or any(np.asarray(v).dtype == np.float32 for v in wanted.values())  # a float64 may come of it
    for _ in range(2):  # the second time there is a program
        values = copies()
        try:
            found = step(values)
        except (XManError, RuntimeWarning) as error:
            return f"{type(error).__name__}: {error}", False
        for name, x, y in [*((y, found[y], wanted[y]) for y in case.outputs),
                           *((x, values[x], wanted[case.inplace.get(x, x)]) for x in values)]:
            if words := differ(x, y, single):
                return f"{name}: {words}", True
        arrays = [x for x in found.values() if isinstance(x, np.ndarray)]
        others = [x for x in (*values.values(), *(a for _, _, args in case.steps for a in args)) if isinstance(x, np.ndarray)]
        if not all(x.flags.writeable and not any(np.may_share_memory(x, y) for y in (*arrays[k + 1:], *others))
                   for k, x in enumerate(arrays)):
            return "a result is no array of its own", True
    return ("" if step.engine == engine or engine == "tape" else step.why), step.engine == engine


def differ(x, y, single):
    x, y = np.asarray(x), np.asarray(y)
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
    rtol, atol = RTOL["float32" if single else "float64"]
    return "" if np.allclose(x, y, rtol, atol, equal_nan=True) else f"{x.ravel()[:5]}, not {y.ravel()[:5]}"


def test_every_engine_does_what_eval_does(engine, own):
    """Every operator of ops and of a user, literals in any place, every precision, output and gradient, and in place."""
    random, bad, counted, there = np.random.default_rng(0), {}, 0, 0
    for op, of in (CASES | OWN).items():
        every = [(k, dtype) for k in range(len(of)) for dtype in DTYPES]
        if not ALL:
            share = {"jax": 0.02, "llvm": 0.15}.get(engine, 0.5)  # two compile, and test_engines has all operators in one list
            every = [every[random.integers(len(every))]] if random.uniform() < share else []
        for k, dtype in every:
            found = list(cases(op, k, dtype))
            counted += len(found)
            if engine == "jax":
                sure = [case for case in found if case.outputs is not None]
                found = [case for case in found if case.outputs is None] + [merged(sure)] * bool(sure)
            for case in found:
                words, itself = wrong(case, engine)
                there += itself * (1 + case.name.count(","))
                if words:
                    bad[case.name] = words
    print(f"{engine}: {counted - len(bad):,} of {counted:,} lists agree, {there:,} of them on the engine itself")
    assert not bad, "\n".join([f"{len(bad)} lists differ on {engine}; for an operator of your own look at its row in {__file__}",
                               *(f"{name}: {words}" for name, words in list(bad.items())[:20])])


def disagreement(p, engine):
    """What an engine makes of a random program otherwise than eval, beyond what a rounding of the inputs changes."""
    names = [*p.outputs, *p.inplace.values()]
    moved = sensitive(p.steps, p.values, names)
    if moved is None:
        return ""
    wanted, values = eval(p.steps, p.values), {x: np.array(v) if isinstance(v, np.ndarray) else v for x, v in p.values.items()}
    rounding = 1e-4 if any(np.asarray(v).dtype == np.float32 for v in wanted.values()) else 1e-10
    found = xman.compile(p.steps, p.outputs, engine=engine, inplace=p.inplace)(values)
    for name, x, y in [*((y, found[y], wanted[y]) for y in p.outputs), *((x, values[x], wanted[p.inplace.get(x, x)]) for x in values)]:
        x, y = np.asarray(x), np.asarray(y)
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return f"{name}: {x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        scale = np.max(np.abs(y), initial=1.0, where=np.isfinite(y))
        if not np.allclose(x, y, rounding, (rounding + 100 * moved.get(name, 0.0)) * scale, equal_nan=True):
            return f"{name}: {x.ravel()[:5]}, not {y.ravel()[:5]}"
    return ""


@settings(max_examples=3000 if ALL else 20, deadline=None, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_every_engine_agrees_on_programs_of_any_operators(engine, own, data):
    if engine == "jax" and not ALL:
        return  # a second of compiling each
    p = program(lambda n: data.draw(st.integers(0, n - 1)), 1 + data.draw(st.integers(0, 14)), tuple(OWN))
    assert not disagreement(p, engine), p.steps


def test_an_operator_whose_result_may_lie_in_an_argument_says_so():
    """Else the memory of the argument is given away while the result is read."""
    shared = set()
    for op, of in CASES.items():
        for args in of:
            for kind in "f8", "f4", "i8", "?":
                given = [a.astype(kind) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
                arrays = [a for a in given if isinstance(a, np.ndarray)]
                with np.errstate(all="ignore"):
                    try:
                        out = ops.G[op](*given)
                    except (TypeError, ValueError, IndexError, RuntimeWarning):
                        continue
                shared |= {op} if isinstance(out, np.ndarray) and any(np.may_share_memory(out, a) for a in arrays) else set()
    assert not (lacking := {op for op in shared if not ops.facts_of(op).view}), f"view=True is missing in the rows of {lacking}"


@pytest.mark.parametrize("op", ["mean", "var", "std"])
def test_a_count_beyond_the_largest_half_precision_number_still_divides(op, engine):
    x, function = np.linspace(0, 1, 70_000), lambda x: getattr(ops.f, op)(x)
    T = xman.trace(function, x.astype(np.float16))
    (name,), of = T.inputs, T.outputs[-1]
    steps = xman.gradient(T, of, [name])
    for written in steps, xman.simplify(steps, [of, f"d{of}_d{name}"], {name: x.astype(np.float16)}):
        got = xman.compile(written, [of, f"d{of}_d{name}"], engine)({name: x.astype(np.float16)})
        want = eval(written, {name: x})
        for register in got:
            assert got[register].dtype == np.float16
            np.testing.assert_allclose(got[register], want[register], 2e-3, 1e-7)


@pytest.mark.parametrize("op", ["centered", "var"])
def test_spread_about_an_infinite_mean_is_what_eval_gives(engine, op):
    steps = xman.gradient([("y", op, ("x", -1)), ("l", "sum", ("y",))], "l", ["x"])
    values = {"x": np.array([[np.inf, 1.0, 2.0], [1.0, -np.inf, 3.0], [np.inf, -np.inf, 1.0], [np.inf, np.inf, 1.0], [np.nan, 1.0, 2.0]])}
    wanted, made = eval(steps, values), xman.compile(steps, ["y", "dl_dx"], engine=engine)(values)
    for y in made:
        assert not differ(made[y], wanted[y], False)


def test_a_power_of_one_half_has_the_bits_of_numpy(engine):
    steps, x = [("y", "power", ("x", 0.5))], np.array([-np.inf, -0.0, 0.0, 3.0, -1.0, np.inf])
    bits = lambda y: np.where(np.isnan(y), np.nan, y).tobytes()
    for values in x, x.astype("f"), x[0], x[1]:
        got, want = xman.compile(steps, engine=engine)({"x": values})["y"], eval(steps, {"x": values})["y"]
        assert bits(got) == bits(want)
