"""The derivative of a number by an array, in the notation of matrices: the adjoints of registers on the way.

There is no table of derivatives here either: a rule of ops.DG that is given symbols writes its list, and the
rewrites for the shapes make it the formula of a book. Each formula is evaluated before it is shown, and one
whose value is not that of `backprop` is not taken.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import ops

from ..errors import XManError
from ..interpreters import backprop, eval
from ..notation import shown
from ..passes import gradient, simplify
from ..passes.differentiate import adjoints
from ..wengert import Line, WengertList, all_registers, needed, registers
from .algebra import same_value, simplest
from .expressions import formula, inlined, node, with_replaced
from .rewrites import MATRICES, summing_to_one
from .slopes import names_in, sum_tree, tidy
from .text import evaluated_at, is_product, matrix_text

SIZE = 3  # of each axis where no values are given
TRIED = 2000  # the most ways to give the inputs numbers of axes
LONGEST_STEP = 400  # letters of a step
LONGEST_FORMULA = 100  # letters of a formula with all definitions put in
KINDS = "a number", "a vector", "a matrix", "an array", "an array"
GREEK = "alpha beta gamma delta epsilon eta theta kappa lam lambda_ mu nu rho sigma tau α β γ δ ε η θ κ λ μ ν ρ σ τ".split()


def in_matrices(steps: WengertList, of: str, wrt: str, likes: Mapping[str, Any] | None) -> Iterator[tuple]:
    """The rows (step, reason, shapes) of a derivation on arrays. steps: the list, without the line of wrt.

    A register is taken after all that read it: its adjoint is the sum over them (Adams, Computing Gradients
    with Backpropagation, eq. 36), each the rule of one line. likes: an example of each input, for its shape;
    None: those of `by_letters`. The last row has the definitions put in.
    """
    steps = WengertList(needed(steps, [of]))
    if loops := [line for line in steps if line[1] in ops.loops.ROWS]:
        raise XManError(
            f"{shown(loops[0])} is not one number made of numbers, and a derivation on arrays has no "
            "functions and loops; `explain` and `paths` take it"
        )
    adjoints = Adjoints(steps, of, wrt, likes)
    yield adjoints.first()
    depends = lambda dst: dst in adjoints and wrt in WengertList(needed(steps, [dst])).inputs
    between = [dst for dst, _, _ in steps if depends(dst)]
    if wrt in adjoints and between[-1:] == [of]:
        yield from map(adjoints.row, [wrt, *between][-2::-1])
        yield from adjoints.with_definitions(wrt)
    else:
        yield f"{adjoints.name(wrt)} = 0", f"{of} does not depend on {wrt}", ""


def by_letters(steps: WengertList, of: str, wrt: str) -> dict[str, Any]:
    """Examples of the inputs: capital letters are matrices, small ones vectors and Greek ones numbers.

    Small ones other than wrt may be numbers or matrices where this makes `of` a number; and all may be
    anything where nothing else fits. XManError if nothing does.
    """
    kinds = lambda x: (2, 1, 0) if x[0].isupper() else (0, 1, 2) if x in GREEK else (1, 0, 2)
    random, fitting = np.random.default_rng(1), {}
    inputs = {x: [numbers_for(n, random) for n in kinds(x)] for x in steps.inputs}
    for way in sorted(itertools.islice(itertools.product(range(3), repeat=len(inputs)), TRIED), key=sum):
        likes = {x: inputs[x][k] for x, k in zip(inputs, way, strict=True)}
        strange = any(k and (x[0].isupper() or x == wrt) for x, k in zip(inputs, way, strict=True))
        if fitting.keys() <= {(True, False), (True, True)} or not strange:
            with contextlib.suppress(XManError):  # these shapes do not fit
                fitting.setdefault((strange, np.size(eval(steps, likes)[of]) > 1), likes)
    if not fitting:
        raise XManError("the list fits no vectors and square matrices; give values of such shapes")
    return fitting[min(fitting)]


def numbers_for(axes: int, random: np.random.Generator) -> Any:
    """Numbers in (0, 1), of which there are logarithms; a matrix has an inverse, and is not symmetric."""
    x = random.uniform(0.2, 0.8, (SIZE,) * axes)
    return 0.1 * x + 0.5 * np.eye(SIZE) if axes == 2 else x


class Adjoints(dict):
    """The values of the adjoints of a list's registers by name, and the formulas of them in the registers."""

    def __init__(self, steps: WengertList, of: str, wrt: str, likes: Mapping[str, Any] | None):
        self.steps, self.of, self.shaped = steps, of, likes is not None
        likes = dict(likes) if likes is not None else by_letters(steps, of, wrt)
        targets = {args[1] for _, op, args in steps if ops.facts_of(op).outputs == "softmax"} & {
            *steps.inputs
        }
        if not self.shaped:
            likes |= {y: likes[y] / np.sum(likes[y], -1, keepdims=True) for y in targets if np.ndim(likes[y])}
        labels = {y for y in targets if np.asarray(likes[y]).dtype.kind in "iu"}
        sums_to_one = lambda y: np.ndim(y) and np.shape(y)[-1] > 1 and np.allclose(np.sum(y, -1), 1)
        self.targets = labels | {y for y in steps.inputs if y not in labels and sums_to_one(likes[y])}
        names = [f"oneHot({y})" if y in labels else y for y in sorted(self.targets)]
        self.assumption = f"each row of {', '.join(names)} sums to 1"
        self.values = eval(steps, likes)
        self.is_number = np.size(self.values[of]) == 1
        self.top = of if self.is_number else next(x for x in "LEJQ" if x not in all_registers(steps))
        self.start = None if self.is_number else self.seed(of)
        start = np.random.default_rng(2).normal(size=np.shape(self.values[of])) if self.start else 1.0
        super().__init__(backprop(steps, self.values, **{of: start}))
        self.values |= {self.seed(x): d for x, d in self.items()}
        short = simplify(gradient(steps, of, [x for x in steps.inputs if x in self]), None, likes, MATRICES)
        counted = re.findall(r"= count\((\w+)\)$", str(short), re.M)
        self.counted = [*{np.shape(self.values.get(x, ())): x for x in reversed(counted)}.values()]
        self.last = ""

    def name(self, x: str) -> str:
        return f"d{self.top}/d{x}"

    def seed(self, x: str) -> str:
        return f"d{self.top}__d{x}"  # as the name of a register

    def text(self, e: ast.expr) -> str:
        """The text, in which adjoints are called df/dx."""
        plain = matrix_text(e, self.values, one_count=len(self.counted) == 1)
        for x in sorted(self, key=len, reverse=True):
            plain = plain.replace(self.seed(x), self.name(x))
        return plain

    def first(self) -> tuple[str, str, str]:
        kind = lambda value: shape_text(value) if self.shaped and np.ndim(value) else KINDS[np.ndim(value)]
        reason = ", ".join(f"{x} {kind(self.values[x])}" for x in self.steps.inputs)
        reason += ", by the letters" * (not self.shaped)
        if self.is_number:
            return f"{self.name(self.of)} = 1", reason, ""
        return self.name(self.of), f"{self.top} is a number made of {self.of}; {reason}", ""

    def row(self, x: str) -> tuple[str, str, str]:
        users = [line for line in self.steps if x in registers(line[2]) and line[0] in self]
        lines = [line for line in self.steps if line[0] != x]
        terms = [self.formula([line], line[0], x, self.seed(line[0])) for line in users]
        total, assumed = (
            self.text(self.formula(lines, self.of, x, self.start, y)) for y in ((), self.targets)
        )
        by_rules = sum_tree(*terms)
        reasons = [self.rule(line, x, e) for line, e in zip(users, terms, strict=True)]
        if total != assumed and self.assumption:
            reasons.append(self.assumption)
            total, self.assumption = f"{total} = {assumed}", ""
        elif not self.assumption:
            total = assumed
        step = " = ".join(dict.fromkeys([self.name(x), self.text(by_rules), total]))
        if len(self.counted) == 1 and "/n" in step and "/n" not in self.last:
            reasons.append(f"n is the number of entries of {self.counted[0]}")
        if len(step) > LONGEST_STEP:
            raise XManError(
                f"{self.name(x)}, by {shown(users[0])}, has no short formula; `explain` and `paths` take it"
            )
        self.last = step
        return step, "; ".join(reasons), self.shapes(by_rules)

    def with_definitions(self, wrt: str) -> Iterator[tuple[str, str, str]]:
        """The last row: the formula in the inputs, if it is short, and differs."""
        lines = gradient(self.steps, self.of, [wrt], self.start)
        e = self.written(lines, f"d{self.of}_d{wrt}", () if self.assumption else self.targets)
        if (
            len(formula := self.text(e)) <= LONGEST_FORMULA
            and not self.last.endswith(f" = {formula}")
            and names_in(e) <= {*self.steps.inputs, self.start}
            and same_value(evaluated_at(e, self.values), self[wrt])
        ):
            shapes = self.shapes(node(self.seed(wrt)))
            yield f"{self.name(wrt)} = {formula}", "put in the definitions and simplify", shapes

    def shapes(self, e: ast.expr) -> str:
        """The shape of an expression, and before it those in its product of matrices: 3×5·5×4 = 3×4."""
        factors: list[ast.expr] = [next(filter(is_product, ast.walk(e)), e)]
        while is_product(factors[0]):
            factors[:1] = [factors[0].left, factors[0].right]
        shape = lambda e: shape_text(evaluated_at(e, self.values)) or "1"
        return self.shaped * " = ".join(["·".join(map(shape, factors))] * (len(factors) > 1) + [shape(e)])

    def formula(
        self, steps: list[Line], of: str, x: str, seed: str | None = None, targets: Collection[str] = ()
    ) -> ast.expr:
        """The adjoint of x in these lines, from that of `of`, which is 1 or the register `seed`."""
        lines = WengertList(line for line, _ in adjoints(steps, of, [x], seed)[len(steps) :])
        value = backprop(WengertList(steps), self.values, **{of: self.values[self.seed(of)]})[x]
        e = self.written(lines, f"d{of}_d{x}", targets)
        return (
            e
            if same_value(evaluated_at(e, self.values), value)
            else self.written(lines, f"d{of}_d{x}", (), ())
        )

    def written(
        self, lines: WengertList, goal: str, targets: Collection[str], rewrites: Iterable = MATRICES
    ) -> ast.expr:
        """The register as one expression, in the simplest form."""
        rewrites = (*rewrites, *[summing_to_one(targets)] * bool(targets))
        number = lambda a: node(a.item()) if isinstance(a, np.ndarray) and a.ndim == 0 else a
        short = simplify(lines, [goal], {name: self.values[name] for name in lines.inputs}, rewrites)
        short = [(dst, op, tuple(map(number, args))) for dst, op, args in short]
        return simplest(tidy(inlined(short, goal)), self.values)

    def rule(self, line: Line, x: str, e: ast.expr) -> str:
        """The line, and its rule in letters, capital ones for matrices: df/dB = Aᵀ·df/dC for C = A·B.
        e: the rule in registers."""
        dst, op, args = line
        letters = zip(dict.fromkeys([*registers(args), dst]), "abceghijk", strict=False)
        by = {a: letter.upper() if np.ndim(self.values[a]) > 1 else letter for a, letter in letters}
        values = {by[a]: self.values[a] for a in by} | {self.seed(dst): self.values[self.seed(dst)]}
        in_letters = lambda e: matrix_text(
            with_replaced(e, {a: node(letter) for a, letter in by.items()}), values
        )
        rule = in_letters(e).replace(self.seed(dst), self.name(by[dst]))
        definition, rule = formula(op, args), f"{self.name(by[x])} = {rule}"
        return f"{dst} = {self.text(definition)}, and {rule} for {by[dst]} = {in_letters(definition)}"


def shape_text(value: Any) -> str:
    return "×".join(map(str, np.shape(value)))
