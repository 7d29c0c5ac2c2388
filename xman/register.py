"""Registers and Operations: an expression's graph (Cohen, Automatic Reverse-Mode Differentiation, §1.6)."""
from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ops import DG, Expression, f
from ops.writer import frozen, user_line

from .errors import XManError
from .notation.pickling import InOrder


class Register(Expression):
    """A variable: an input or a parameter, which has no definition, or the output of an Operation.

    name, later `chosen_name`: the name that its user gave it, if any; its manager decides which name it has
    in a list. role: "input", "param" or "operationOutput". default: its value in `XMan.inputDict`.
    """

    attribute_names: frozenset[str] = frozenset()  # of models that have it as an attribute, by setup()
    temporary_names: frozenset[str] = frozenset()  # z1, z2, … in lists
    in_floats: Any = None  # what `initial` made of the default

    def __init__(self, name: str | None = None, role: str = "input", default: Any = None):
        if role not in (roles := ("input", "param", "operationOutput")):
            raise XManError(f"a register's role is one of {', '.join(roles)}, not {role!r}")
        if name is not None and not isinstance(name, str):
            if default is not None:
                raise XManError(f"{role}({name!r}, …): a register's name is a string")
            name, default = None, name
        self.chosen_name, self.role = name, role
        self.default = default
        self.definedAs: Operation | None = None
        self.home: tuple[type, str] | None = None  # the class that it is an attribute of, and its name there

    def __reduce_ex__(self, protocol: int) -> Any:
        home = self.home and vars(self.home[0]).get(self.home[1]) is self
        return (getattr, self.home) if home else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict: return InOrder(self, evaluation_order, self)

    @property
    def name(self) -> str | None:
        """The name that its user gave it, else its models' name from setup() on. XManError if they differ."""
        if len(self.names) > 1:
            raise XManError(f"a register is called {' and elsewhere '.join(self.names)}: write the one that "
                            "you mean, or give it a name of its own, register.name = 'x'")
        return (*self.names, None)[0]

    @name.setter
    def name(self, name: str | None) -> None: self.chosen_name = name

    @property
    def names(self) -> list[str]:
        names = self.attribute_names or self.temporary_names
        return [self.chosen_name] if self.chosen_name else sorted(names)

    def record(self, op: str, args: tuple) -> Register:
        """The register that op(*args) defines: an operator of `ops` calls this when it meets a register."""
        return XManFunctions.registerDefinedByOperator(op, *args)

    def initial(self) -> Any:
        """A copy of the default; a parameter's, in floats, is its default from now on, in all models."""
        if self.role != "param":
            return copy.copy(self.default)
        if self.in_floats is not self.default:
            self.default = self.in_floats = as_floats(copy.copy(self.default))
        return self.default

    def inputsTo(self) -> list[Register]:
        """The registers that this one is computed from directly."""
        return [a for a in self.definedAs.args if isinstance(a, Register)] if self.definedAs else []

    def __repr__(self) -> str:
        definition = f" = {self.definedAs.fun}(…)" if self.definedAs else ""
        return f"<{self.role} {(*self.names, 'without a name')[0]}{definition}>"


class Operation:
    """The call of an operator `fun` on `args`, Registers and literals; its result is `outputReg`."""

    def __init__(self, fun: str, *args: Any):
        rules = DG.get(fun, ())
        for k, a in enumerate(args):
            if isinstance(a, str) and k < len(rules) and rules[k]:  # by what it has a derivative, it computes
                raise refusal(a, fun)
        self.fun, self.args = fun, tuple(as_arg(a, fun) for a in args)
        self.outputReg: Register | None = None

    def asStringTuple(self, names: dict[int, str] | None = None) -> tuple[str, str, tuple]:
        """The line (dst, op, args) of a list. names: of registers by their id; others have their own name."""
        def named(a): return (names or {}).get(id(a)) or a.name or "???" if isinstance(a, Register) else a
        return named(self.outputReg), self.fun, tuple(named(a) for a in self.args)

    def __str__(self) -> str:
        dst, op, args = self.asStringTuple()
        return f"{dst} = f.{op}({','.join(map(str, args))})"


def as_arg(a: Any, op: str) -> Any:
    """The argument a as a list holds it. XManError unless it is a register or can be a literal.
    A list or an array becomes an array that nobody can change, a string becomes a tuple of it."""
    kind = type(a)  # not isinstance: a traced value passes for an array, but it is no literal
    if issubclass(kind, (Register, bool, int, float, complex, type(None), slice, type(Ellipsis))) or (
            issubclass(kind, tuple) and not any(isinstance(entry, Register) for entry in a)):
        return a
    if issubclass(kind, str):
        return (a,)  # a bare string would name a register
    if issubclass(kind, (np.ndarray, np.generic)) and a.dtype.kind in "fc" and a.real.itemsize > 8:
        raise XManError(f"{op} was given a {a.dtype}, and a list has numbers of at most 64 bits; write "
                        "x.astype(float)")
    if issubclass(kind, np.generic) and a.dtype.kind in "biufc":
        return a.item()
    if issubclass(kind, (np.ndarray, list)) and (array := np.asarray(a)).dtype.kind in "biufc":
        return frozen(array)  # the list stays as it is when the user's array changes
    raise refusal(a, op)


def refusal(a: Any, op: str) -> XManError:
    """The error for an argument that the operator does not take."""
    inside = " with registers in it" if isinstance(a, (tuple, list)) else ""
    return XManError(f"{op} was given a {type(a).__name__}{inside}; an operator takes registers, numbers, "
                     f"shapes, slices and arrays of numbers, {op}(x, y), and everything else has to come in "
                     "through an input register")


def as_floats(x: Any) -> Any:
    """x, a list or an array of whole numbers as an array of floats: a parameter has a gradient."""
    x = np.array(x) if isinstance(x, list) else x
    return x.astype(float) if isinstance(x, np.ndarray) and x.dtype.kind in "biu" else x


class XManFunctions(f):
    """Functions that make registers: `input`, `param`, and each operator of `ops` under its name."""

    @staticmethod
    def input(name: str | None = None, default: Any = None) -> Register:
        """A register for data. A first argument that is not a string is the default: input(8.0)."""
        return Register(name, "input", default)

    @staticmethod
    def param(name: str | None = None, default: Any = None) -> Register:
        """A register to train. A first argument that is not a string is the default: param(np.zeros(3))."""
        return Register(name, "param", default)

    @staticmethod
    def registerDefinedByOperator(fun: str, *args: Any) -> Register:
        """A new register, cross-linked with the Operation fun(*args) that defines it."""
        reg = Register(role="operationOutput")
        reg.definedAs = Operation(fun, *args)
        reg.definedAs.outputReg, reg.place = reg, user_line()
        return reg


def evaluation_order(*outputs: Register, done: Iterable[int] = ()) -> Iterator[Register]:
    """The outputs and all registers that they depend on, each after the registers it is computed from.

    The notes (§1.6) speak of pre-order; the list needs post-order. No recursion: chains can be long. So a
    register goes onto the stack twice: to open its inputs, and below them, to be given once they are done.
    done: ids of registers to pass over. Raises XManError where registers define one another in a circle.
    """
    done, open_ = set(done), set()
    todo = [(r, False) for r in reversed(outputs)]
    while todo:
        r, inputs_done = todo.pop()
        if inputs_done:
            open_.discard(id(r))
            done.add(id(r))
            yield r
        elif id(r) in open_:
            raise XManError(f"{r!r} is defined by itself: its definition leads back to it, and has no value")
        elif id(r) not in done:
            open_.add(id(r))
            todo.append((r, True))
            todo += [(a, False) for a in reversed(r.inputsTo()) if id(a) not in done]
