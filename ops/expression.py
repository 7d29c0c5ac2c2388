"""Expression, the base of all objects that stand for arrays.

`Expression` is the protocol between the tables and the rest of the world: an operator that finds one among
its arguments computes nothing, but returns `expression.record(op, args)`. A subclass defines what this does
(`xman.Register` writes a Wengert list, `Traced` in `ops.writer` a tape). This file has the syntax: Python's
operators and NumPy's functions.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


class OperatorTable(dict):
    """A dict that shows only its size, so that `help` of a function with such a default stays short."""
    __slots__ = ()
    def __repr__(self) -> str: return f"<{len(self)} operators>"


Rule = Callable[..., Any]
G: dict[str, Callable[..., Any]] = OperatorTable()  # the tables, which `ops.table` fills
DG: dict[str, Sequence[Rule | None]] = OperatorTable()
TG: dict[str, Sequence[Rule | None]] = OperatorTable()
FLAT: set[str] = set()  # operators without a derivative by any argument
ROOTS: set[str] = set()  # operators whose rows say what their square is


class Named(type):
    def __getattr__(cls, name: str) -> Any:
        from scipy import special  # only an error needs it
        ours = "; registers are made by xman's f: from xman import f" * (name in ("input", "param"))
        # what SciPy has is no slip: exp1 is not expm1, nor is stdtr std
        hint = ours or habit(name) or ("" if hasattr(special, name) else nearest(name, G))
        raise AttributeError(f"there is no operator {name!r}{hint}")


class f(metaclass=Named):
    """The operators by name: `f.exp(x)` computes if x is a number, and records if x is an Expression."""


class Expression:
    """The base of objects that stand for arrays. A subclass defines `record(op, args)`.

    level: of several Expressions the one with the highest level records. slopeless: whether it is a truth
    value or the result of an operator in `FLAT`, so that its 0 stays 0.
    """

    __slots__ = ()
    level, slopeless = 0, False
    __array_priority__ = 1000
    __hash__ = object.__hash__
    __iter__ = __contains__ = None  # without them Python would loop over x[0], x[1], … forever

    def __pos__(self): return self
    def __getitem__(self, key): return f.getitem(self, *(key if isinstance(key, tuple) else (key,)))

    T = property(lambda self: f.transpose(self))
    mT = property(lambda self: f.mT(self))

    def dot(self, other): return f.dot(self, other)
    def reshape(self, *shape): return f.reshape(self, shape[0] if isinstance(shape[0], tuple) else shape)

    def __bool__(self):
        raise TypeError(f"{self!r} has no truth value before it is evaluated: a branch on it cannot be "
                        "recorded; use where(condition, x, y)")

    def __array__(self, *_, **__):
        raise TypeError(f"{self!r} has no numbers before it is evaluated and cannot become an array; "
                        "write np.stack([…]) in the place of a list that holds it")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            raise TypeError(f"np.{ufunc.__name__} on {self!r} can only be called plainly, without .{method} "
                            "or options")
        return operator_for(ufunc)(*inputs)

    def __array_function__(self, function, types, args, options):
        return (REARRANGED.get(function) or operator_for(function))(*args, **options)


# Python's operators, and NumPy's methods
INFIX = {"add": "add", "sub": "subtract", "mul": "mul", "truediv": "divide", "pow": "power", "matmul": "dot",
         "and": "logical_and", "or": "logical_or", "lt": "less", "le": "less_equal", "gt": "greater",
         "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
for _op in ("sum", "mean", "max", "min"):
    setattr(Expression, _op, lambda self, axis=None, keepdims=False, op=_op: getattr(f, op)(
        self, axis=axis, keepdims=keepdims))
for _name, _op in INFIX.items():
    setattr(Expression, f"__{_name}__", lambda self, other, op=_op: getattr(f, op)(self, other))
    setattr(Expression, f"__r{_name}__", lambda self, other, op=_op: getattr(f, op)(other, self))
for _name, _op in {"neg": "negative", "abs": "abs", "invert": "logical_not"}.items():
    setattr(Expression, f"__{_name}__", lambda self, op=_op: getattr(f, op)(self))

# names of NumPy and SciPy for operators that have another name in the notes
SAME = dict(pair.split("=") for pair in """
    multiply=mul true_divide=divide absolute=abs fabs=abs matmul=dot amax=max amin=min rint=round
    broadcast_to=broadcast matrix_transpose=mT expit=sigmoid log_expit=logSigmoid log_softmax=logSoftmax
    conjugate=conj psi=digamma gamma=Gamma beta=Beta log_ndtr=logNdtr
    jv=besselJ yv=besselY iv=besselI ive=besselIe kv=besselK kve=besselKe""".split())

# other names of operators: in NumPy, and in the code of the course's students; and what xman's parts were
SYNONYMS = SAME | dict(pair.split("=") for pair in """
    plus=add sub=subtract minus=subtract neg=negative div=divide pow=power sqr=square squared=square ln=log
    asin=arcsin acos=arccos atan=arctan atan2=arctan2 times=mul hadamard=mul elem_prod=mul elem_mul=mul
    ele_mul=mul element_mul=mul elementMul=mul mm=dot matrix_mul=dot matrixMul=dot transp=transpose
    logistic=sigmoid softMax=softmax soft_max=softmax
    crossEnt=crossEntropy cross_entropy=crossEntropy one_hot=oneHot leaky_relu=leakyRelu
    vector_norm=norm crossEnt-softMax=softmaxCrossEntropy
    numba=llvm fused=engines course=grade sandbox=grade submissions=grade""".split())

# NumPy's functions whose arguments have another order than ours
REARRANGED = {
    np.concatenate: lambda arrays, axis=0: f.concat(axis, *arrays),
    np.stack: lambda arrays, axis=0: f.stack(axis, *arrays),
    np.einsum: lambda subscripts, *arrays: f.einsum(subscripts, *arrays),
    np.reshape: lambda a, shape: f.reshape(a, shape if isinstance(shape, tuple) else (shape,)),
    np.clip: lambda a, a_min=None, a_max=None: f.clip(a, a_min, a_max),
    **{getattr(np, op): lambda a, axis=None, op=op, **options: getattr(f, op)(a, axis=axis, **options)
       for op in ("sum", "mean", "max", "min", "prod", "var", "std")},
    np.linalg.norm: lambda x, **options: f.norm(x, **options),
    **{getattr(np.fft, op): lambda a, *, axis=-1, norm="backward", op=op: getattr(f, op)(a, axis, (norm,))
       for op in ("fft", "ifft")}}


def operator_for(function):
    """Our operator for NumPy's function. TypeError if there is none."""
    name = function.__name__
    op = getattr(f, SAME.get(name, name), None)
    if op is None:
        raise TypeError(f"np.{name} has no operator here; write it with those there are, or define it with "
                        "ops.operator")
    return op


HABITS: dict[str, str] = {}  # for names of other systems what to write here: `xman.notation.habits` has them


def habit(name: str) -> str:
    """'; here: …' for a name of another system or of an operator, else nothing."""
    op = SYNONYMS.get(name, name)
    here = HABITS.get(name) or (f"f.{op}" if op in G else "")
    return f"; here: {here}" if here else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """'; did you mean …?' where a known name is close to this one, else nothing."""
    import difflib  # only an error needs it
    if str(name).startswith("__"):  # programs ask any object for __test__ or __wrapped__, and no person does
        return ""
    names = list(names)
    near = [SYNONYMS[name]] if SYNONYMS.get(name) in names else difflib.get_close_matches(str(name), names, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
