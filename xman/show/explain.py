"""Values, tangents and adjoints side by side: the traces of Bishop, Deep Learning, §8.2, and Adams."""
from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..formulas.expressions import expression, formula, mathematical, with_replaced
from ..formulas.slopes import slopes_of, sum_tree, tidy, times_tree
from ..interpreters import backprop, eval, forward
from ..interpreters.context import varies
from ..notation import in_notebooks, table_as_text
from ..wengert import Steps, checked_list, known_registers

ENTRIES_SHOWN = 6  # an array with more entries is shown by its shape, range and norm


class Row(NamedTuple):
    """A register and its operator, arguments, value, tangent and adjoint; None for what it does not have. For
    several outputs the adjoint is a tuple, with one for each."""
    register: str
    op: str | None
    args: tuple
    value: Any
    tangent: Any
    adjoint: Any


class Explanation(list):
    """The rows of a trace, inputs first. It prints itself as a table of numbers with `digits` decimals.
    of: the register of the adjoints. along: the name or direction of the tangents."""

    def __init__(self, rows: list[Row], of: str | list[str], along: str, digits: int):
        super().__init__(rows)
        self.of, self.along, self.digits = of, along, digits

    def table(self) -> list[list[str]]:
        """The titles of the columns, and a row for each register."""
        axes = {row.register: np.ndim(row.value) for row in self}
        titles = [f"adjoint ∂{'Σ' * bool(axes[y])}{y}/∂" for y in listed(self.of)]
        table = [["register", "definition", "value", f"tangent {self.along}", *titles]]
        for register, op, args, value, tangent, adjoint in self:
            numbers = value, tangent, *(adjoint if isinstance(self.of, list) else [adjoint])
            defined = mathematical(expression(op, args)) if op else ""
            table.append([register, defined, *(shown_number_or_array(x, self.digits) for x in numbers)])
        return [[cell for k, cell in enumerate(row) if k != 3 or self.along] for row in table]

    def interleaved(self) -> str:
        """Each register of a list on numbers, and its tangent, with the numbers put in: Adams, (18) to (35).

            v1 = va/vb = 1.5000/0.5000 = 3.0000
            v1′ = va′/vb - va/vb^2·vb′ = 1.0000/0.5000 - 1.5000/0.5000^2·0.0000 = 2.0000

        XManError for a line on arrays or of functions."""
        values = {row.register: row.value for row in self} | {f"{row.register}′": row.tangent for row in self}
        numbers = {x: decimals_of(value, self.digits) for x, value in values.items() if not np.ndim(value)}
        numbers = {x: ast.Name(text) for x, text in numbers.items()}
        lines, rules = [], {}
        for register, op, args, *_ in self:
            partials = slopes_of(op, args, formula(op, args), rules) if op else {}
            if partials is None or register not in numbers:
                raise XManError(f"{register} is not a number made of numbers, of which this trace is made")
            moving = [(p, args[i]) for i, p in partials.items() if isinstance(args[i], str)]
            tangents = [times_tree(p, ast.Name(f"{a}′")) for p, a in moving]
            pair = {register: op and formula(op, args), f"{register}′": op and sum_tree(*tangents)}
            for name, e in pair.items():
                forms = [e, with_replaced(e, numbers)] if op else []
                if name == register or self.along:
                    texts = [name, *(mathematical(tidy(form, fold=True)) for form in forms), numbers[name].id]
                    lines.append(" = ".join(dict.fromkeys(texts)))
        return "\n".join(lines)

    def __str__(self) -> str: return table_as_text(self.table(), 2)

    __repr__ = __str__
    _repr_html_ = in_notebooks("trace_in_html")


def explain(steps: Steps, of: str | Collection[str] | None = None,
            wrt: Collection[str] | Mapping[str, Any] | None = None, values: Mapping[str, Any] | None = None,
            digits: int = 4) -> Explanation:
    """The trace of a list: a row (register, op, args, value, tangent, adjoint) for each input and each line.

        >>> explain([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], "area", "h", {"h": 3, "w": 6})
        register  definition    value  tangent ∂/∂h  adjoint ∂area/∂
        h                      3.0000        1.0000           3.0000
        w                      6.0000        0.0000           1.5000
        z1        h·w         18.0000        6.0000           0.5000
        area      0.5·z1       9.0000        3.0000           1.0000

    steps: the list. of: the register whose derivatives the adjoints are, or several, as in (8.65); its own
    adjoint is 1 for each entry (None: the last line's). wrt: what the tangents differentiate by: the name
    of an input, whose tangent is 1 for each entry, or a direction {name: tangent}, numbers or of the shape
    of the input; None leaves the tangents out. values: the inputs. digits: the decimals that are printed; a
    number that would round to 0 is printed as a power of ten. If a register does not depend on wrt its
    tangent is 0; if `of` does not depend on it its adjoint is 0; whole numbers have neither. An array of
    more than 6 entries is printed as its shape, range and norm √Σx². Raises XManError for a name that the
    list does not have, and as the interpreters do. Bishop (8.50) to (8.64), (8.70) to (8.76); Adams,
    Computing Gradients with Backpropagation, (18) to (36).
    """
    steps = checked_list(steps, ops.G)
    several = isinstance(of, Collection) and not isinstance(of, str)
    outputs = [output(steps, y) for y in listed(of)]
    if not isinstance(digits, int) or not 0 <= digits <= 17:
        raise XManError(f"digits is the number of decimals, 0 to 17, not {digits!r}")
    values = eval(steps, values)
    wrt = {} if wrt is None else wrt
    names = known_registers(steps, wrt, "wrt", one=not isinstance(wrt, Mapping))
    direction = wrt if isinstance(wrt, Mapping) else dict.fromkeys(names, 1.0)
    for name in names:
        if not varies(values[name]):
            raise XManError(f"wrt names {name!r}, which holds whole numbers and has no tangent; give it as "
                            "floats")
    tangents = forward(steps, values, direction) if direction else {}
    adjoints = [backprop(steps, values, **{y: 1.0}) for y in outputs]

    def row(register: str, op: str | None, args: tuple) -> Row:
        x = values[register]
        zero = np.zeros_like(x)[()] if varies(x) and not isinstance(x, tuple) else None
        tangent = tangents.get(register, zero) if direction else None
        bars = tuple(deltas.get(register, zero) for deltas in adjoints)
        return Row(register, op, args, x, tangent, bars if several else bars[0])

    rows = [row(name, None, ()) for name in steps.inputs] + [row(*line) for line in steps]
    number = direction is not wrt and not any(np.ndim(values[name]) for name in names)
    along = ("∂/∂" if number else "along ") * bool(names) + ", ".join(names)
    return Explanation(rows, outputs if several else outputs[0], along, digits)


def listed(of: str | Collection[str] | None) -> list:
    return list(of) if isinstance(of, Collection) and not isinstance(of, str) else [of]


def output(steps: Steps, of: str | None) -> str:
    """The register `of`, or the last line's for None. XManError for an empty list and for an unknown name."""
    if not steps:
        raise XManError("the list is empty: there is nothing to differentiate")
    return known_registers(checked_list(steps), steps[-1][0] if of is None else of, "of", one=True)[0]


def shown_number_or_array(x: Any, digits: int) -> str:
    """x in one line: a number, the entries of a small array, the shape, range and norm of a larger one."""
    if x is None:
        return ""
    if isinstance(x, (tuple, dict)):
        return "a bundle"
    if not isinstance(x, np.ndarray):
        return decimals_of(x, digits) if np.ndim(x) == 0 and not hasattr(x, "tocsr") else f"sparse {x.shape}"
    if x.size <= ENTRIES_SHOWN:
        entries = {"all": lambda entry: decimals_of(entry, digits)}
        text = np.array2string(x, separator=" ", formatter=entries, max_line_width=10_000)
        return " ".join(text.split()).replace("[ ", "[")
    low, high, norm = (decimals_of(total, digits)
                       for total in (x.min(), x.max(), np.sqrt(np.sum(np.square(x, dtype=float)))))
    return f"{x.shape} all {low}" if low == high else f"{x.shape} {low} to {high}, norm {norm}"


def decimals_of(x: Any, digits: int) -> str:
    """x with so many decimals; as a power of ten if it is too small, or too large, for them."""
    if not isinstance(x, (float, np.floating)):
        return str(x)
    plain = x == 0 or 0.5 * 10.0 ** -digits <= abs(x) < 1e8 or not np.isfinite(x)
    return f"{x + 0.0:.{digits}f}" if plain else f"{x:.{digits}e}"
