"""Operators, literals and small functions of C, in the types in which NumPy computes."""
from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

BOOL, INDEX = np.dtype(bool), np.dtype(np.int64)


class CNumber(NamedTuple):
    """A number in C: a variable, an entry of an array, or a c_literal."""
    text: str
    dtype: np.dtype

    def to(self, dtype: np.dtype) -> CNumber:
        text = f"({self.text} != 0)" if dtype == BOOL else f"({c_type(dtype)}){self.text}"
        return self if dtype == self.dtype else CNumber(text, dtype)


def c_type(dtype: np.dtype) -> str:
    names = {"bool": "bool", "float32": "float", "float64": "double"}
    return names.get(dtype.name, f"{dtype.name}_t")


def c_literal(x: Any, dtype: np.dtype) -> str:
    """A number as C writes it in that type."""
    if dtype == BOOL:
        return "true" if x else "false"
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            x = dtype.type(x)
        text = "NAN" if x != x else "INFINITY" if x == np.inf else "-INFINITY" if x == -np.inf else (
            f"{x!s}{'f' if dtype.itemsize == 4 else ''}")
    else:
        lowest = dtype.kind == "i" and x == np.iinfo(dtype).min  # C has no c_literal for it
        wide = f"{'U' * (dtype.kind == 'u')}INT64_C({int(x)})" if dtype.itemsize == 8 else str(int(x))
        text = f"INT{8 * dtype.itemsize}_MIN" if lowest else f"{wide}{'U' * (dtype == np.uint32)}"
    return f"({text})" if text.startswith("-") else text


LIBRARY = {"power": "pow", "abs": "fabs", **{op: op for op in """
    sqrt cbrt hypot floor ceil trunc rint exp exp2 expm1 log log2 log10 log1p erf sin cos tan sinh cosh tanh""".split()}}
LIBRARY |= {f"arc{op}": f"a{op}" for op in "sin cos tan tan2 sinh cosh tanh".split()}
COMPARED = dict(equal="==", not_equal="!=", less="<", less_equal="<=", greater=">", greater_equal=">=")
ARITHMETIC = dict(add="+", subtract="-", mul="*", divide="/")
# {0}, {1}, {2}: the arguments
WRITTEN = {"copy": "{0}", "where": "{0} ? {1} : {2}", "logical_and": "{0} && {1}", "logical_or": "{0} || {1}",
           "logical_not": "!{0}", "isnan": "isnan({0}) != 0", "isfinite": "isfinite({0}) != 0",
           "signbit": "signbit({0}) != 0"}
OF_TRUTHS = {"logical_and", "logical_or", "logical_not"}
# functions of their own; T: the type, and a name with T at its end is libm's or ours for that type
HELPERS = {
    "maximum": "(T x, T y) { return x > y || isnan(x) ? x : y; }",
    "minimum": "(T x, T y) { return x < y || isnan(x) ? x : y; }",
    "larger": "(T x, T y) { return x > y ? x : y; }",  # of whole numbers
    "smaller": "(T x, T y) { return x < y ? x : y; }",
    "sign": "(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x; }",
    "share": "(T x, T y) { return x > y ? (T)1 : x >= y ? (T)0.5 : (T)0; }",
    "remainder": """(T x, T y) {
    const T rest = fmod_T(x, y);
    return rest == 0 ? copysign_T(rest, y) : (rest < 0) != (y < 0) ? rest + y : rest;
}""",
    "scale": "(T x, T w) { const T y = x * w; return x == 0 && isnan(y) ? (T)0 : y; }",
    "ratio": "(T x, T w) { const T y = x / w; return x == 0 && isnan(y) ? (T)0 : y; }",
    "sigmoid": "(T x) { const T e = exp_T(-fabs_T(x)); return (x < 0 ? e : (T)1) / ((T)1 + e); }",
    "logaddexp": """(T x, T y) {
    const T d = x - y;
    return x == y ? x + (T)0.693147180559945309 : d > 0 ? x + log1p_T(exp_T(-d)) :
        d <= 0 ? y + log1p_T(exp_T(d)) : d;
}""",
    # P A = L U of A stored column by column, as LAPACK's getrf; 1 if A is singular
    "factors": """(long n, T *a, int32_t *p) {
    int singular = 0;
    for (long k = 0; k < n; ++k) {
        long top = k;
        for (long i = k + 1; i < n; ++i) if (fabs_T(a[i + k*n]) > fabs_T(a[top + k*n])) top = i;
        p[k] = (int32_t)(top + 1);
        if (a[top + k*n] == 0) { singular = 1; continue; }
        for (long j = 0; j < n; ++j) { const T x = a[k + j*n]; a[k + j*n] = a[top + j*n]; a[top + j*n] = x; }
        for (long i = k + 1; i < n; ++i) a[i + k*n] /= a[k + k*n];
        for (long j = k + 1; j < n; ++j)
            for (long i = k + 1; i < n; ++i) a[i + j*n] -= a[i + k*n] * a[k + j*n];
    }
    return singular;
}""",
    # A x = b for each of the columns b, as LAPACK's gesv; 1 if A is singular
    "solution": """(long n, long columns, T *a, int32_t *p, T *b) {
    if (factors_T(n, a, p)) return 1;
    for (long j = 0; j < columns; ++j, b += n) {
        for (long k = 0; k < n; ++k) { const T x = b[k]; b[k] = b[p[k] - 1]; b[p[k] - 1] = x; }
        for (long k = 0; k < n; ++k) for (long i = k + 1; i < n; ++i) b[i] -= a[i + k*n] * b[k];
        for (long k = n; k-- > 0;) {
            b[k] /= a[k + k*n];
            for (long i = 0; i < k; ++i) b[i] -= a[i + k*n] * b[k];
        }
    }
    return 0;
}""",
    # L of A = L L', row by row; 1 if A is not positive definite
    "cholesky": """(long n, T *a) {
    for (long i = 0; i < n; ++i) for (long j = 0; j <= i; ++j) {
        T x = a[i*n + j];
        for (long k = 0; k < j; ++k) x -= a[i*n + k] * a[j*n + k];
        if (i == j && !(x > 0)) return 1;
        a[i*n + j] = i == j ? sqrt_T(x) : x / a[j*n + j];
    }
    return 0;
}"""}
GIVES_INT, NEEDS = {"factors", "solution", "cholesky"}, {"solution": ("factors",)}


def c_expression(op: str, dtype: np.dtype, args: list[str]) -> str:
    """The operator of numbers of that type; a helper of our own is called by its name and the type."""
    if op in ARITHMETIC or op == "negative":
        x, y = args if op in ARITHMETIC else ("0", *args)
        sign = ARITHMETIC.get(op, "-")
        if dtype.kind == "f":
            return f"{x} {sign} {y}" if op in ARITHMETIC else f"-{y}"
        unsigned = "uint64_t" if dtype.itemsize == 8 else "uint32_t"  # it wraps around, as NumPy's does
        return f"({c_type(dtype)})(({unsigned}){x} {sign} ({unsigned}){y})"
    if op in COMPARED:
        return f"{args[0]} {COMPARED[op]} {args[1]}"
    if op in WRITTEN:
        return WRITTEN[op].format(*args)
    if op in LIBRARY:
        return f"{LIBRARY[op]}{'f' * (dtype.itemsize == 4)}({', '.join(args)})"
    comparisons = {"maximum": "larger", "minimum": "smaller"} if dtype.kind != "f" else {}
    return f"{comparisons.get(op, op)}_{c_type(dtype)}({', '.join(args)})"


def helpers(text: str) -> list[str]:
    """The functions of our own that a text calls, each after those that it calls itself."""
    calls = dict.fromkeys(re.findall(r"\b([a-z]\w*?)_(float|double|u?int\d+_t)\(", text))
    wanted = [(op, T) for op, T in calls if op in HELPERS]
    return list(dict.fromkeys(helper_text(name, T) for op, T in wanted for name in (*NEEDS.get(op, ()), op)))


def helper_text(op: str, T: str) -> str:
    suffixed = lambda m: f"{m[1]}_{T}" if m[1] in HELPERS else f"{m[1]}{'f' * (T == 'float')}"
    body = re.sub(r"\bT\b", T, re.sub(r"\b(\w+)_T\b", suffixed, HELPERS[op]))
    return f"static {'int' if op in GIVES_INT else T} {op}_{T}{body}"
