"""What operators do to numbers, in LLVM's words.

`value` appends the instructions of an operator to the function and returns the name of what they compute. A
product of matrices aside, no flag lets LLVM change a result: sums alone may be taken in another order.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .elementary import formulas, powers
from .function import Function, literal, llvm_type

BOOL = np.dtype(bool)
# by kind of number: floats, whole numbers with a sign, those without and truths
COMPARISONS = {"equal": ("oeq", "eq", "eq"), "not_equal": ("une", "ne", "ne"), "less": ("olt", "slt", "ult"),
               "less_equal": ("ole", "sle", "ule"), "greater": ("ogt", "sgt", "ugt"), "greater_equal": ("oge", "sge", "uge")}
ARITHMETIC = {"add": ("fadd", "add"), "subtract": ("fsub", "sub"), "mul": ("fmul contract", "mul"), "divide": ("fdiv",)}
INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "maximum": "maximum", "minimum": "minimum", "floor": "floor", "ceil": "ceil",
              "trunc": "trunc", "rint": "rint"}
LIBRARY = {**{op: op for op in ("exp2", "log2", "log10", "tan", "sinh", "cosh", "cbrt", "hypot")}, "arctan2": "atan2",  # of C
           **{f"arc{op}": f"a{op}" for op in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}}
FORMULAS = {name: getattr(formulas, name, None) or getattr(powers, name) for name in (
    "exp", "expm1", "tanh", "sigmoid", "erf", "log", "log1p", "logaddexp", "sin", "cos", "power")}
WRITTEN = {**FORMULAS, "both": powers.both}  # the functions in a program's text
TRUTHS = {"isnan", "isfinite", "signbit", "logical_and", "logical_or", "logical_not", *COMPARISONS}
OF_FLOATS = {"copy", "where", "negative", "sign", "scale", "ratio", "share", *ARITHMETIC, *INTRINSICS, *LIBRARY, *FORMULAS}
OF_WHOLE = {"copy", "where", "negative", "add", "subtract", "mul", "maximum", "minimum"}


def has(op: str, computed: np.dtype, result: np.dtype) -> bool:
    """Whether the operator is known for numbers of that type."""
    if op in TRUTHS:
        return result == BOOL and (computed.kind == "f" or op not in ("isnan", "isfinite", "signbit"))
    return (op in {"f": OF_FLOATS, "b": {"copy", "where"}}.get(computed.kind, OF_WHOLE)
            and (op == "copy" or result == computed))


def converted(f: Any, x: str, source: np.dtype, to: np.dtype) -> str:
    """A number in another type. f: the function that is being written."""
    if source == to:
        return x
    old, new, kind = llvm_type(source), llvm_type(to), source.kind
    if to.kind == "b":
        return f.do(f"fcmp une {old} {x}, {literal(0, source)}" if kind == "f" else f"icmp ne {old} {x}, 0")
    if kind == "f":
        how = "fpext" if to.itemsize > source.itemsize else "fptrunc"
        how = {"u": "fptoui", "i": "fptosi"}.get(to.kind, how)
    elif to.kind == "f":
        how = "sitofp" if kind == "i" else "uitofp"
    elif old == new:
        return x
    else:
        how = "trunc" if to.itemsize < source.itemsize and kind != "b" else "sext" if kind == "i" else "zext"
    return f.do(f"{how} {old} {x} to {new}")


def call(f: Any, name: str, dtype: np.dtype, *args: str) -> str:
    """A call of one of LLVM's own functions, which `f` declares."""
    T, short = llvm_type(dtype), f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"
    f.declare(f"declare {T} @llvm.{name}.{short}({', '.join([T] * len(args))})")
    return f.do(f"call {T} @llvm.{name}.{short}({', '.join(f'{T} {a}' for a in args)})")


def extreme(f: Any, op: str, dtype: np.dtype, x: str, y: str) -> str:
    """The larger or the smaller of two; NaN where one is."""
    if dtype.kind == "f":
        return call(f, op[:3] + "imum", dtype, x, y)
    return call(f, f"{'s' if dtype.kind == 'i' else 'u'}{op[:3]}", dtype, x, y)


def value(f: Any, op: str, dtype: np.dtype, v: list[str]) -> tuple[str, np.dtype]:
    """`op` of numbers of one type, and the type of what comes out. `where`: the first is a truth."""
    T, real = llvm_type(dtype), dtype.kind == "f"
    zero, one = literal(0, dtype), literal(1, dtype)
    choose = lambda test, x, y: f.do(f"select i1 {test}, {T} {x}, {T} {y}")
    compare = lambda op, x, y: f.do(f"fcmp {COMPARISONS[op][0]} {T} {x}, {y}" if real else
                                    f"icmp {COMPARISONS[op][1 if dtype.kind == 'i' else 2]} {T} {x}, {y}")
    if op in COMPARISONS:
        return compare(op, *v), BOOL
    if op in ("logical_and", "logical_or", "logical_not"):
        truth = [converted(f, x, dtype, BOOL) for x in v]
        return f.do(f"xor i1 {truth[0]}, true" if op == "logical_not"
                    else f"{op[8:]} i1 {', '.join(truth)}"), BOOL
    if op == "isnan":
        return f.do(f"fcmp uno {T} {v[0]}, {v[0]}"), BOOL
    if op == "isfinite":
        return f.do(f"fcmp olt {T} {call(f, 'fabs', dtype, v[0])}, {literal(np.inf, dtype)}"), BOOL
    if op == "signbit":
        bits = f.do(f"bitcast {T} {v[0]} to i{8 * dtype.itemsize}")
        return f.do(f"icmp slt i{8 * dtype.itemsize} {bits}, 0"), BOOL
    if op == "copy":
        return v[0], dtype
    if op == "where":
        return choose(*v), dtype
    if op in ARITHMETIC:
        return f.do(f"{ARITHMETIC[op][not real]} {T} {v[0]}, {v[1]}"), dtype
    if op == "negative":
        return f.do(f"fneg {T} {v[0]}" if real else f"sub {T} 0, {v[0]}"), dtype
    if op in ("maximum", "minimum"):
        return extreme(f, op, dtype, *v), dtype
    if op in ("scale", "ratio"):
        return choose(compare("equal", v[0], zero), zero,
                      f.do(f"f{'mul' if op == 'scale' else 'div'} {T} {v[0]}, {v[1]}")), dtype
    if op == "share":
        low = choose(compare("greater_equal", *v), literal(0.5, dtype), zero)
        return choose(compare("greater", *v), one, low), dtype
    if op == "sign":
        up = choose(compare("greater", v[0], zero), one,
                    choose(compare("less", v[0], zero), literal(-1, dtype), zero))
        return choose(f.do(f"fcmp uno {T} {v[0]}, {v[0]}"), v[0], up), dtype
    if op in INTRINSICS:
        return call(f, INTRINSICS[op], dtype, *v), dtype
    if op in LIBRARY:
        name = LIBRARY[op] + "f" * (dtype.itemsize == 4)
        f.declare(f"declare {T} @{name}({', '.join([T] * len(v))}) memory(none)")
    else:
        name = f"xman_{op}_{dtype.name}"
        f.declare((op, dtype.name))
    return f.do(f"call {T} @{name}({', '.join(f'{T} {x}' for x in v)})"), dtype


@functools.cache
def pairs_in_vectors() -> bool:
    """Whether LLVM makes vectors of a loop that calls for two numbers at once, as from version 21 on."""
    from llvmlite import binding
    return binding.llvm_version_info >= (21,)


def one_of_both(f: Any, op: str, dtype: np.dtype, x: str) -> tuple[str, np.dtype]:
    """sin or cos of x, by a call that gives both: LLVM makes one of two such calls."""
    T = llvm_type(dtype)
    f.declare(("both", dtype.name))
    found = f.do(f"call {{{T}, {T}}} @xman_both_{dtype.name}({T} {x})")
    return f.do(f"extractvalue {{{T}, {T}}} {found}, {op == 'cos':d}"), dtype


def combined(f: Any, how: str, dtype: np.dtype, x: str, y: str) -> str:
    """What is gathered so far, and one more number."""
    T = llvm_type(dtype)
    if how in ("max", "min"):
        return extreme(f, how, dtype, x, y)
    if dtype.kind == "b":
        return f.do(f"or i1 {x}, {y}")
    name = "mul" if how == "prod" else "add"
    return f.do(f"f{name} reassoc contract {T} {x}, {y}" if dtype.kind == "f" else f"{name} {T} {x}, {y}")


def start(how: str, dtype: np.dtype) -> str:
    """What is gathered of no numbers."""
    if how in ("max", "min"):
        low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return literal(low if how == "max" else high, dtype)
    return literal(how == "prod", dtype)


# calls of formulas, up to which loops take them in, and what counts for several: more would take LLVM long
INLINED, HEAVY = 24, {"power": 4}


def definitions(declared: Iterable[str | tuple[str, str]], callers: Iterable[str]) -> list[str]:
    """What a program declares as text, its formulas, (operator, type), for loops to take in, or as functions
    that they share, of one number and several. callers: the text that calls them.

    An attribute tells LLVM which shared one is of how many numbers.
    """
    called = [x for text in callers for x in re.findall(r"@xman_(\w+)_float", text)]
    few = sum(HEAVY.get(op, 1) for op in called) <= INLINED
    text, names = [x for x in declared if isinstance(x, str)], []
    for op, kind in (x for x in declared if isinstance(x, tuple)):
        if few and WRITTEN[op] not in powers.FAR:  # these have a branch, which no loop of vectors has
            text += written(op, kind, 1, "alwaysinline")
            continue
        name, args = f"xman_{op}_{kind}", "v" * WRITTEN[op].__code__.co_argcount
        wide = (4, 8) if kind == "float64" else (4, 8, 16)
        several = ",".join(f"_ZGV_LLVM_N{n}{args}_{name}({name}_{n})" for n in wide)
        text += written(op, kind, 1, 'noinline nounwind willreturn memory(none) '
                                    f'"vector-function-abi-variant"="{several}"')
        for n in wide:
            text += written(op, kind, n, "noinline")
        names += [f"ptr @{name}_{n}" for n in wide]
    if names:
        text.append(f"@llvm.compiler.used = appending global [{len(names)} x ptr] [{', '.join(names)}], "
                    'section "llvm.metadata"')
    return [*dict.fromkeys(text)]


@functools.cache
def written(op: str, kind: str, lanes: int, attributes: str) -> list[str]:
    """One of the formulas as the text of a function, after what it declares."""
    f, formula = Function({}), WRITTEN[op]
    args = [formulas.Lane(f, lanes, kind, f"%x{k}") for k in range(formula.__code__.co_argcount)]
    gives = f"{{{args[0].type}, {args[0].type}}}" if op == "both" else args[0].type

    def give(y: Any, *more: Any) -> None:
        for z in more:
            one = f.do(f"insertvalue {gives} undef, {y}, 0")
            y = f"{gives} {f.do(f'insertvalue {gives} {one}, {z}, 1')}"
        f.put(f"ret {y}")

    found = [*formula(*args)] if op == "both" else [formula(*args)]
    if formula in powers.FAR:
        near = formulas.magnitude(args[0]) < powers.NEAR
        every = f"icmp eq i{lanes} {f.do(f'bitcast {near} to i{lanes}')}, -1"
        f.put(f"br i1 {f.do(every)}, label %near, label %far")
        f.begin("near")
        give(*found)
        f.begin("far")
        found = [formulas.where(near, *pair)
                 for pair in zip(found, powers.by_library(args[0], *powers.FAR[formula]), strict=True)]
    give(*found)
    name = f"xman_{op}_{kind}" + f"_{lanes}" * (lanes > 1)
    head = f"define internal {gives} @{name}({', '.join(map(str, args))}) {attributes} {{"
    return [*f.declared, "\n".join([head, "entry:", *f.out, "}"])]
