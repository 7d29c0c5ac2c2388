"""The text form of a list, read by Python's own parser; whatever is no line of a list is refused."""
from __future__ import annotations

import ast
from itertools import count
from typing import Any

import numpy as np

import ops
from ops.writer import frozen

# what Python's parser raises for a text, and what these functions raise for its tree
UNREADABLE = (SyntaxError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
              MemoryError)

SIGNS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "mul", ast.Div: "divide", ast.MatMult: "dot",
         ast.Pow: "power", ast.BitXor: "power", ast.FloorDiv: "floor_divide", ast.Mod: "remainder"}


def from_text(text: str) -> list[tuple]:
    """The lines of a text, without empty ones and comments. ValueError names a line that cannot be read."""
    functions: dict[str, tuple] = {}
    lines, header = [], None  # header: (name, parameters, lines) of the function that is being read
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if header and not line[0].isspace():
            raise ValueError(f"line {number} of the text stands where {header[0]} has not returned; it ends "
                            "with return h1")
        line = line.strip()
        try:
            # a header by itself is no statement of Python: it gets a body
            match ast.parse(line + " pass" * line.startswith("def ")).body:
                case [ast.Assign([ast.Name(dst)], ast.Call(ast.Name(op), args, []))]:
                    args = map(argument_of_node, args)
                    args = tuple([functions.get(a, a) if isinstance(a, str) else a for a in args])
                    (header[2] if header else lines).append((dst, op, args))
                case [ast.FunctionDef(name, ast.arguments([], args, None, [], [], None, []))] if not header:
                    header = name, tuple(a.arg for a in args), []
                case [ast.Return(ast.Name() | ast.Tuple() as names)] if header:
                    results = tuple([r.id for r in getattr(names, "elts", [names])])
                    functions[header[0]] = ("def", *header[:2], tuple(header[2]), results)
                    header = None
                case _:
                    raise SyntaxError
        except UNREADABLE:
            mend = spelled_out(line, text) or (
                "wanted an assignment of one operator on registers and literals, as in z1 = mul(h, 2.0); a "
                "function begins as in def step(h, x): and ends with return h1")
            raise ValueError(f"line {number} of the text cannot be read: {line[:80]!r}; {mend}") from None
    if header:
        raise ValueError(f"the text ends before {header[0]} returns; a function ends with return h1")
    return lines


def spelled_out(line: str, text: str) -> str:
    """What to write for a formula, one operator a line: z1 = mul(2, x), f = add(z1, y) for f = 2*x + y; ""
    where the line is none. text: all that is written, whose names are taken."""
    lines: list[str] = []
    names = (name for k in count(1) if (name := f"z{k}") not in text)

    def argument(node: ast.expr) -> str:
        if not (written := call(node)):
            argument_of_node(node)  # raises for what is neither a register nor a literal
            return ast.unparse(node)
        lines.append(f"{(name := next(names))} = {written}")
        return name

    def call(node: ast.expr) -> str:
        match node:
            case ast.BinOp(a, sign, b):
                op, args = SIGNS[type(sign)], [a, b]
            case ast.UnaryOp(ast.USub(), a) if not isinstance(a, ast.Constant):
                op, args = "negative", [a]
            case ast.Attribute(a, "T"):
                op, args = "transpose", [a]
            case ast.Call(ast.Name(op) | ast.Attribute(ast.Name("np" | "f" | "math"), op), args, []):
                if op not in ops.G:
                    return ""
            case _:
                return ""
        return f"{op}({', '.join(map(argument, args))})"

    try:
        match ast.parse(line).body:
            case [ast.Assign([ast.Name(dst)], node)]:
                last = call(node) or f"alias({argument(node)})"
                lines.append(f"{dst} = {last}")
                apart = ": one operator a line" * (len(lines) > 1)
                return f"write {', '.join(lines)}{apart}" if len(lines) < 10 else ""
    except UNREADABLE:
        pass
    return ""


def argument_of_node(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        raise ValueError("a string is not a literal by itself")
    return node.id if isinstance(node, ast.Name) else literal_of_node(node)


def literal_of_node(node: ast.expr) -> Any:
    """The literal that the syntax tree stands for; ValueError for anything else."""
    match node:
        case ast.Call(ast.Name("slice"), args, []):
            return slice(*map(literal_of_node, args))
        case ast.Call(ast.Name("float"), [ast.Constant(str(text))], []):
            return float(text)
        case ast.Call(ast.Name("array"), args, []):
            return array_literal(*map(literal_of_node, args))
        case ast.Tuple(entries):
            return tuple(map(literal_of_node, entries))
        case ast.List(entries):
            return list(map(literal_of_node, entries))
        case ast.Constant(a) if not isinstance(a, bytes):
            return a
        case ast.Call(ast.Name("complex"), [real, imag], []):
            return complex(literal_of_node(real), literal_of_node(imag))
        case ast.UnaryOp(ast.USub(), operand):
            return -literal_of_node(operand)
    raise ValueError


def array_literal(entries: Any, dtype: str, shape: tuple | None = None) -> np.ndarray:
    """An array literal. ValueError unless its dtype is a kind of number."""
    if not isinstance(dtype, str) or np.dtype(dtype).kind not in "biufc":
        raise ValueError(f"{dtype!r} is not a dtype of numbers")
    array = np.array(entries, dtype)
    if shape is not None:
        array = array.reshape(shape) if array.ndim else np.broadcast_to(array, shape)
    return frozen(array)  # a literal belongs to the list: nobody changes it behind its back
