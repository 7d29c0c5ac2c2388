"""A derivative by the chain rule, step by step with reasons (Cohen's notes, Tables 1 to 3)."""
from __future__ import annotations

import ast
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.loops import functions_apart, is_function

from ..errors import XManError
from ..formulas.expressions import formula, mathematical, node, with_replaced
from ..formulas.latex import latex
from ..formulas.polynomial import formula_text, polynomial, polynomials
from ..formulas.slopes import Rules, factors_in, names_in, number_in, slopes_of, sum_tree, tidy, times_tree
from ..formulas.steps import in_matrices
from ..interpreters import eval
from ..notation import definition as definition_of
from ..notation import shown, table_as_text
from ..wengert import Steps, WengertList, checked_list, known_registers, needed

LONGEST_STEP = 300  # the most parts of an expression in a derivation: some lines of text
TERMS_PUT_IN = 20   # the most terms of a register that a brief derivation substitutes at its end


class Equation(NamedTuple):
    """An equation and the reason for it."""
    step: str
    reason: str


class Derivation(list):
    """A list of steps that prints itself as a table. shapes: on arrays, those of each step."""

    shapes: list[str] = []

    def __str__(self) -> str: return self.wrapped()

    def wrapped(self, columns: int | None = None) -> str:
        """The table in so many columns, at least 40, with longer cells on several lines (None: no limit)."""
        rows = [("Derivation step", "Reason"), *self]
        if any(self.shapes):
            rows = [(*row, shape) for row, shape in zip(rows, ["Shapes", *self.shapes], strict=True)]
        return table_as_text(rows, 3, columns and max(columns, 40), "   ", "  ")

    def latex(self) -> str:
        """The table in LaTeX, an align* of amsmath: a step and its reason in each line."""
        lines = [f"{latex(step).replace(' = ', ' &= ', 1)} && {latex(reason)}" for step, reason in self]
        return "\n".join([r"\begin{align*}", *(f"{line} \\\\" for line in lines), r"\end{align*}"])

    __repr__ = __str__
    _repr_latex_ = latex


def derivation(steps: Steps, of: str, wrt: Collection[str], brief: bool = False,
               values: Mapping[str, Any] | None = None) -> Derivation:
    """The steps that lead to the derivative of `of` with respect to wrt, and to its formula in the inputs.

    Each step substitutes a definition from the list, or the derivative of an operator, from its rule in
    ops.DG. On arrays it goes from `of` to wrt in the notation of matrices: · is the product of matrices, ∘
    and / are entry by entry, a vector is a column, 1 is an array of ones too, [x > 0] is 1 where it holds,
    and Σ_i, Σ_j are sums over rows and columns; each step gives dof/dx in the shape of x, and its rule.
    steps: the list. of, wrt: names of registers; a computed wrt is taken as an input. brief: on numbers,
    do both in one step, as in Table 3. (Table 2 prints df/dx1 on two of the lines that derive df/dx2; this
    does not.) values: an example of each input, for its shape; without them all are numbers, and where a line
    is on arrays capital letters are matrices and small ones vectors, as far as these fit. The derivations of
    functions and loops come after the main one. Raises XManError for a name that the list does not have, for
    a function or a loop on arrays, and above 300 parts in an expression.
    """
    steps = checked_list(steps, ops.G)
    (of,) = known_registers(steps, of, "of", one=True)
    (wrt,) = known_registers(steps, wrt, "wrt", one=True)
    lines = functions_apart([line for line in steps if line[0] != wrt], definition_of)
    goal = f"d{of}/d{wrt}"
    if values is not None and any(map(np.ndim, eval(WengertList(lines), values).values())):
        values = {x: np.asarray(value, float) if x == wrt else value for x, value in values.items()}
        return on_arrays(lines, of, wrt, values)
    e: ast.expr = ast.Name(goal)
    rows, inside, rules = Derivation(), Derivation(), {}

    def say(e: ast.expr, reason: str, *formulas: str) -> None:
        step = " = ".join(dict.fromkeys([goal, mathematical(e), *formulas]))
        if not rows or rows[-1].step != step:
            rows.append(Equation(step, reason))

    for line in reversed(needed(lines, [of])):
        dst, op, args = line
        if op in ops.loops.ROWS and f"d{dst}/d{wrt}" not in names_in(e):
            continue
        partials = None if op in ops.loops.ROWS else slopes_of(op, args, formula(op, args), rules)
        if op == "item" and (of_item := slopes_of_item(line, lines, wrt, brief)):
            reason, slopes, equations = of_item
            e = put_in(e, dst, wrt, sum_tree(*(times_tree(p, slope_of(a, wrt)) for a, p in slopes.items())))
            say(e, reason)
            inside += [row for row in equations if row not in inside]
            continue
        if partials is None and op not in ops.loops.ROWS:
            return on_arrays(lines, of, wrt, values)
        if partials is None:
            raise XManError(f"{shown(line)} is not one number made of numbers, and a derivation is written for "
                            "numbers; `explain` and `paths` take it")
        definition = f"{dst} = {mathematical(formula(op, args))}"
        if not brief:
            say(put_in(e, dst, wrt, question(op, args, partials, wrt)), definition)
        e = put_in(e, dst, wrt, chain(op, args, partials, wrt))
        say(e, f"{definition} and {rule(op, args, rules, wrt)}" if brief else rule(op, args, rules))
        if parts(e) > LONGEST_STEP:
            raise XManError(f"{goal} has more than {LONGEST_STEP} parts after {shown(line)}, too many to be written "
                            "out; derive a register nearer to the inputs, or let `paths` sum over the graph")
    leaves = {name for name in names_in(e) if name[0] == "d" and "/" in name}
    e = tidy(with_replaced(e, {name: node(int(name == f"d{wrt}/d{wrt}")) for name in leaves}))
    if not brief:
        constants = any(not name[1:].partition("/")[0].isidentifier() for name in leaves)
        say(e, "da/da = 1 and da/db = 0 for inputs a, b" + ", dc/da = 0 for a constant c" * constants)
    say(*simplified_term(e, [line for line in lines if line[1] not in ops.loops.ROWS], brief))
    return Derivation(rows + inside)


def on_arrays(lines: Steps, of: str, wrt: str, values: Mapping[str, Any] | None) -> Derivation:
    """The derivation in the notation of matrices."""
    steps, reasons, shapes = zip(*in_matrices(lines, of, wrt, values), strict=True)
    table = Derivation(map(Equation, steps, reasons))
    table.shapes = list(shapes)
    return table


def simplified_term(e: ast.expr, lines: Steps, brief: bool) -> tuple:
    """(the expression without its 0s and 1s, the reason), and its formula in the inputs, unless too long.
    brief: substitute the definitions of registers."""
    e = tidy(e, fold=True)
    inside = names_in(e)
    try:
        values = polynomials(lines, *inside)
        texts = [formula_text(polynomial(e, values)), *with_definitions(e, lines)]
        formulas = [min(map(mathematical, texts), key=len)]
    except (OverflowError, XManError):
        values, formulas = {}, []
    # a brief derivation has not put the definitions in on its way: it does so now, where they are short
    short = {dst for dst, p in values.items() if brief and dst in inside and 0 < len(p) < TERMS_PUT_IN}
    used = [line for line in lines if line[0] in short]
    e = with_replaced(e, {dst: ast.parse(str(values[dst]), mode="eval").body for dst, _, _ in used})
    definitions = ", ".join(f"{dst} = {mathematical(formula(op, args))}" for dst, op, args in used)
    return e, definitions + " and " * bool(used) + "simplify", *formulas


def with_definitions(e: ast.expr, lines: Steps) -> list[ast.expr]:
    """e with the definitions of its registers, where (p - t)·p·(1 - p) stays a product; its number is in
    front. Nothing if it is too long: each definition may read the one before it twice."""
    for dst, op, args in reversed(lines):
        if dst in names_in(e):
            e = tidy(with_replaced(e, {dst: formula(op, args)}), fold=True)
            if parts(e) > LONGEST_STEP:
                return []
    numbers = {factor: c for factor in factors_in(e) if (c := number_in(factor)) is not None}
    others = [factor for factor in factors_in(e) if factor not in numbers]
    return [tidy(times_tree(node(prod(numbers.values())), *others), fold=True)]


def parts(e: ast.expr) -> int: return sum(isinstance(branch, ast.expr) for branch in ast.walk(e))


# ---- functions ---------------------------------------------------------------------------------------------

def slopes_of_item(line: tuple, lines: Steps, wrt: str, brief: bool) -> tuple[str, dict, list] | None:
    """(where an item comes from, its partial derivatives by arguments that depend on wrt, their derivation).

    They are those of a function's result; for a loop, the recurrence of its tangents. None if the item is not
    one number computed from numbers. Of the arguments of a function the first k are carried from step to
    step, those up to m are slices: for `h = step(h, x)`, whose result is `w·h + x`, the derivative of the
    last h by w is written as h′ where h′ ← w·h′ + h, from h′ = 0.
    """
    dst, _, (bundle, i) = line
    defined = {x: (op, args) for x, op, args in lines}
    op, args = defined.get(bundle, ("", ())) if isinstance(bundle, str) and isinstance(i, int) else ("", ())
    match op, *args:
        case "bundle", *_ if i in range(len(args)):
            slopes = {args[i]: node(1)} if isinstance(args[i], str) else {}
            return f"{dst} = {mathematical(node(args[i]))}", slopes, []
        case ("call", *functions, str(b)) | ("cond", _, *functions, str(b)):
            k = m = 0
        case "scan", function, int(k), int(m), str(b), *_ if i in range(k):
            functions, m = [function], k + m
        case "while_loop", _, function, int(k), str(b), *_ if i in range(k):
            functions, m = [function], k
        case _:
            return None
    kind, inputs = defined.get(b, ("", ()))
    by = dict.fromkeys(a for a in inputs if isinstance(a, str) and leads_to(lines, wrt, a))
    fits = lambda g: is_function(g) and len(g[2]) == len(inputs) and max(i + 1, k) <= len(g[4])
    if kind != "bundle" or by.keys() & {*inputs[k:m]} or not all(map(fits, functions)):
        return None
    rows, inner = [], {}
    arguments = lambda parameters: ", ".join(f"{p} = {mathematical(node(x))}"
                                             for p, x in zip(parameters, inputs, strict=True))
    where = f"where {args[0]} holds, " * (op == "cond") + ", else ".join(
        f"{name} at {arguments(parameters)}" for _, name, parameters, *_ in functions)
    for a in by:
        tangents_after = []  # a formula for each carry of the loop, or for the item of each function
        for _, name, parameters, body, results in functions:
            for c in range(k) or [i]:  # of a loop all carries: the tangent of one moves with the others
                r = results[c]
                moved = [(p, j < k) for j, p in enumerate(parameters)
                         if (j < k or inputs[j] == a) and leads_to(body, p, r)]
                inner |= {(name, r, p): body for p, _ in moved if r != p}
                slope = lambda p, r=r: slope_of(r, p) if r != p else node(1)
                total = sum_tree(*(times_tree(slope(p), *[ast.Name(f"{p}′")] * carry) for p, carry in moved))
                tangents_after.append(mathematical(tidy(total, fold=True)) + f" of {name}" * (not k))
        starts = ", ".join(f"{p}′ = {int(x == a)}" for p, x in zip(parameters[:k], inputs, strict=False))
        tangents = ", ".join(f"{p}′" for p in parameters[:k])
        recurrence = f"{parameters[i]}′ where {tangents} ← " if k else ""
        reason = f"from {starts}, in each step of {bundle}" if k else where
        rows.append(Equation(f"∂{dst}/∂{a} = {recurrence}{', '.join(tangents_after)}", reason))
    for (name, r, p), body in inner.items():
        rows += [Equation(f"{name}: {step}", reason) for step, reason in derivation(body, r, p, brief)]
    return f"{shown(line)}, {shown((bundle, op, args))}", {a: ast.Name(f"∂{dst}/∂{a}") for a in by}, rows


def leads_to(lines: Steps, wrt: str, of: str) -> bool:
    return of == wrt or wrt in WengertList(needed(lines, [of])).inputs


# ---- one line ----------------------------------------------------------------------------------------------

def slope_of(a: Any, wrt: str) -> ast.expr:
    """da/dwrt as a name, which no register can have."""
    text = a if isinstance(a, str) else ast.unparse(node(a))
    return ast.Name(f"d({text})/d{wrt}" if text.startswith("-") else f"d{text}/d{wrt}")


def put_in(e: ast.expr, dst: str, wrt: str, value: ast.expr) -> ast.expr:
    """e with the value in place of d dst/d wrt."""
    return tidy(with_replaced(e, {f"d{dst}/d{wrt}": value}))


def question(op: str, args: Sequence[Any], places: Iterable[int], wrt: str) -> ast.expr:
    """The derivative of op(*args), still to be found; for one register in the form of the chain rule."""
    text = mathematical(formula(op, args))
    inner = [args[i] for i in places]
    if len(inner) == 1:
        return times_tree(ast.Name(f"d({text})/d{inner[0]}"), slope_of(inner[0], wrt))
    return ast.Name(f"d({text})/d{wrt}")


def chain(op: str, args: Sequence[Any], partials: Mapping[int, ast.expr], wrt: str) -> ast.expr:
    """Σ ∂op/∂a · da/dwrt; for a product in the usual order, da/dwrt·b + a·db/dwrt."""
    products = [(p, slope_of(args[i], wrt)) for i, p in partials.items()]
    if op == "mul" and 0 in partials:
        products[0] = products[0][::-1]
    return sum_tree(*(times_tree(*factors) for factors in products))


def rule(op: str, args: Sequence[Any], rules: Rules, wrt: str | None = None) -> str:
    """The rule of an operator in letters: d(a^2)/da = 2·a, or with wrt d(a^2)/dx = 2·a·da/dx."""
    places = slopes_of(op, args, "out", rules) or ()
    letters = (letter for letter in string.ascii_letters if letter != wrt)
    args = [next(letters) if i in places else a for i, a in enumerate(args)]
    partials = slopes_of(op, args, formula(op, args), rules) or {}
    text = f"d({mathematical(formula(op, args))})/d"
    if not partials:
        return f"{text}{wrt or 'x'} = 0 for constants"
    if wrt:
        return f"{text}{wrt} = {mathematical(chain(op, args, partials, wrt))}"
    shown = [mathematical(p) for p in partials.values()]
    sides = [text + args[i] for i in partials]
    if len({*shown}) == 1:
        return " = ".join([*sides, shown[0]])
    return " and ".join(f"{side} = {p}" for side, p in zip(sides, shown, strict=True))
