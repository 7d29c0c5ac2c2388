"""Lists of one call each: every case of every operator, its arguments as registers or as literals, in every precision, its
gradient, from the sum and from one entry of the result, with outputs of every kind, and in place."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from operator_cases import OF_NUMBERS as CASES

import ops
from ops import elementwise, linear, operator
from xman import WengertList, XManError, eval, gradient
from xman.interpreters.context import varies

DTYPES = "float64", "float32", "mixed", "int64", "bool"
A, V = np.array([[0.5, -1.5, 2.5], [1.0, 0.25, -0.75]]), np.array([1.5, -0.5, 0.75])
OWN = {"cube": [(A,), (np.array(0.5),)], "swish": [(A, 2.0), (V, V)], "twofold": [(A,), (V,)], "peak": [(A,), (V,)], "untraced": [(A,), (V,)],
       "gemm": [(A, V), (V, V)], "itself": [(A,), (np.array(2.0),)], "halves": [(V,)], "dual": [(A, V)]}


def own_operators() -> None:
    """Operators of a user: of every kind of row, without rules, with a name that engines use, with results of every kind."""
    operator("cube", lambda x: x * x * x)
    elementwise("swish", lambda x, b: x / (1.0 + np.exp(-b * x)), lambda out, x, b: x, lambda out, x, b: b)
    linear("twofold", lambda x: 2.0 * x, lambda d, out, x: 2.0 * d)
    operator("peak", lambda x: float(np.max(x)), None)
    operator("untraced", lambda x: np.array([float(v) for v in np.ravel(x)]).reshape(np.shape(x)), lambda d, out, x: d)
    operator("gemm", lambda x, y: x + y)
    operator("itself", lambda x: x, lambda d, out, x: d)
    operator("halves", lambda x: [v / 2 for v in x.tolist()], None)  # a list of Python's
    operator("dual", np.fmax, None, None)                            # a ufunc


def forget_own_operators() -> None:
    for op in OWN:
        for table in (ops.G, ops.DG, ops.TG, ops.facts.FACTS):
            del table[op]
        delattr(ops.f, op)


class Case(NamedTuple):
    """outputs is None for a list that eval refuses: the sentence is in `refusal`."""
    name: str
    steps: list
    values: dict[str, Any]
    outputs: list[str] | None
    inplace: dict[str, str]
    refusal: str = ""


def in_precision(a: Any, dtype: str, i: int) -> Any:
    if a == ("float64",) if isinstance(a, tuple) else False:  # the literal of astype
        return ("float32",) if dtype == "mixed" else (dtype,)
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
        return a
    if dtype == "bool":
        return np.asarray(a > 0)
    if dtype == "int64":
        return np.asarray(np.where(np.rint(2 * a) == 0, 1, np.rint(2 * a)).astype(int))
    return a.astype({"mixed": "float32" if i % 2 else "float64"}.get(dtype, dtype))


def places(args: tuple) -> list[set[int]]:
    """The places of the registers: every set of arrays and numbers of a few, each by itself of many."""
    free = [i for i, a in enumerate(args) if isinstance(a, np.ndarray) or type(a) in (int, float)]
    if len(free) <= 3:
        return [set(chosen) for n in range(len(free) + 1) for chosen in itertools.combinations(free, n)]
    arrays = {i for i in free if isinstance(args[i], np.ndarray)}
    return [arrays, set(), set(free), *(arrays ^ {i} for i in free)]


def calls(op: str, k: int, dtype: str) -> Iterator[tuple[str, tuple, dict]]:
    """(name, arguments, values) of the k-th case. A number is one of Python, one of NumPy and an array without axes in turn."""
    args = tuple(in_precision(a, dtype, i) for i, a in enumerate((CASES | OWN)[op][k]))
    for registers in places(args):
        values, written = {}, []
        for i, a in enumerate(args):
            form, single = (k + i + len(registers)) % 3, isinstance(a, np.ndarray) and not a.ndim
            if i in registers:
                values[f"x{i}"] = np.asarray(a)[()] if not single or form else a
            written.append(f"x{i}" if i in registers else (a, a.item(), a[()])[form] if single else a)
        yield f"{op}-{k}-{dtype}-{''.join(map(str, sorted(registers)))}", tuple(written), values


def cases(op: str, k: int, dtype: str) -> Iterator[Case]:
    """The lists for the k-th case of an operator: its value, its gradient, that from one entry, and what eval refuses."""
    for name, args, values in calls(op, k, dtype):
        first = [("out", op, args), ("same", "alias", ("out",)), ("three", "alias", (3.0,)), ("ones", "alias", (np.ones(2),))]
        try:
            found = eval(first, values)
        except XManError as error:
            yield Case(name, first, values, None, {}, str(error))
            continue
        yield Case(name, first, values, [*values, "same", "out", "three", "ones"], {})
        floats = [x for x in values if varies(values[x]) and np.asarray(values[x]).dtype.kind == "f"]
        if not floats or not varies(found["out"]) or np.asarray(found["out"]).dtype.kind != "f":
            continue
        for what, of, lines in [("gradient", "loss", [("loss", "sum", ("out",))]),
                                ("entry", "e", [("l", "reshape", ("out", (-1,))), ("e", "getitem", ("l", 0))])]:
            try:
                steps = list(gradient([*first[:1], *lines], of, floats))
                eval(steps, values)
            except XManError:  # no rule, no entry, an axis that is a register
                continue
            arrays = [x for x in floats if isinstance(values[x], np.ndarray)] if what == "gradient" else []
            steps += [(f"{x}_next", "subtract", (x, f"d{of}_d{x}")) for x in arrays]
            yield Case(f"{name} {what}", steps, values, [of, *(f"d{of}_d{x}" for x in floats)], {x: f"{x}_next" for x in arrays})


def merged(found: list[Case]) -> Case:
    """One list of all, the registers of each with its number: what is compiled costs more by the list than by the line."""
    steps, values, outputs, inplace = [], {}, [], {}
    for k, case in enumerate(found):
        own = lambda a, k=k: f"{a}_{k}" if isinstance(a, str) else a
        steps += [(own(dst), op, tuple(map(own, args))) for dst, op, args in case.steps]
        values |= {own(x): v for x, v in case.values.items()}
        outputs += map(own, case.outputs)
        inplace |= {own(x): own(y) for x, y in case.inplace.items()}
    return Case(", ".join(case.name for case in found), WengertList(steps), values, outputs, inplace)
