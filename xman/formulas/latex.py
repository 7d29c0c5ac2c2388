"""The steps of derivations in LaTeX: their text is read as an expression, and in_latex with its commands."""
from __future__ import annotations

import ast
import functools
import re

from .slopes import unsigned

# a text in the notation of books, as Python reads it; ∘ becomes %, which binds as * does
NESTED = functools.reduce(lambda inner, _: rf"(?:[^()]|\({inner}\))*", range(8), "[^()]*")
READ = {rf"\b[d∂]\(({NESTED})\)/[d∂](\w+)": r"d_of(\1, \2)",
        r"\b[d∂](\w+)/[d∂](\w+)": r"d_of(\1, \2)"}
READ |= dict(row.split() for row in (
    r"‖([^‖]*)‖ norm_of(\1), ⁻¹ .inverse, ⁻ᵀ .inverse.T, ⁺ .pseudo, \b1ᵀ (1).T, ᵀ .T, ∘ %, · *, \^ **, ′ __prime, "
    r"\blambda\b lambda_").split(", "))
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega".split()
CALLS = dict(row.split(": ") for row in (
    r"norm_of: \lVert {} \rVert; sqrt: \sqrt{{{}}}; abs: \lvert {} \rvert; tr: \operatorname{{tr}}({}); det: \det({}); "
    r"logdet: \log \lvert\det {}\rvert; sigmoid: \sigma({}); Φ: \Phi({}); "
    r"Σ: \textstyle\sum {}; Σ_i: \textstyle\sum_i {}; Σ_j: \textstyle\sum_j {}").split("; "))
AFTER = {"T": r"\top", "inverse": "-1", "pseudo": "+"}
SUM, PRODUCT, POWER, ATOM = range(4)
SIGNS = {ast.Add: (" + ", SUM), ast.Sub: (" - ", SUM), ast.Mult: (r" \, ", PRODUCT), ast.Mod: (r" \odot ", PRODUCT)}
COMPARED = {ast.Gt: ">", ast.Lt: "<", ast.GtE: r"\ge", ast.LtE: r"\le", ast.Eq: "=", ast.NotEq: r"\ne"}


def latex(sentence: str) -> str:
    r"""A step or a reason in LaTeX's mathematics: df/dx = 2·x is \frac{df}{dx} = 2 \, x; words are text."""
    pieces = re.split(r"(; (?:and )?|, and | and | for | where |, (?=\w+ = )| ← )", sentence)
    return "".join(as_text(piece) if k % 2 else equation(piece) for k, piece in enumerate(pieces))


def as_text(text: str) -> str:
    return rf"\text{{{re.sub('([_%&#])', lambda found: chr(92) + found[1], text)}}}"


def equation(piece: str) -> str:
    if piece.isidentifier() and len(piece) > 1:
        return as_text(piece)
    try:
        return " = ".join(in_latex(parsed(side))[0] for side in piece.split(" = "))
    except (SyntaxError, NotImplementedError):
        return as_text(piece)


def parsed(text: str) -> ast.expr:
    """The expression of a text in the notation of books. SyntaxError where it is none."""
    for sign, python in READ.items():
        text = re.sub(sign, python, text)
    return ast.parse(text.strip(), mode="eval").body


def in_latex(e: ast.expr) -> tuple[str, int]:
    """(LaTeX, how tightly it holds together). NotImplementedError for what is not in_latex in it."""
    at = lambda e, level: inner if (inner := in_latex(e))[1] >= level else (rf"\left({inner[0]}\right)", ATOM)
    if (positive := unsigned(e)) is not None:
        return f"-{at(positive, PRODUCT)[0]}", SUM
    match e:
        case ast.Name(name):
            return latex_name(name), ATOM
        case ast.Constant(int() | float() as c):
            return str(c), ATOM
        case ast.BinOp(x, ast.Div(), y):
            return rf"\frac{{{in_latex(x)[0]}}}{{{in_latex(y)[0]}}}", ATOM
        case ast.BinOp(x, ast.Pow(), y):
            return f"{at(x, ATOM)[0]}^{{{in_latex(y)[0]}}}", POWER
        case ast.BinOp(x, sign, y) if type(sign) in SIGNS:
            between, level = SIGNS[type(sign)]
            if level == PRODUCT and isinstance(y, ast.Constant):
                between = r" \cdot "  # 2 3 would be 23
            return at(x, level)[0] + between + at(y, level + 1)[0], level
        case ast.Compare(x, [sign], [y]):
            return f"{at(x, SUM)[0]} {COMPARED[type(sign)]} {at(y, SUM)[0]}", SUM
        case ast.Attribute(ast.Attribute(x, "inverse"), "T"):
            return f"{at(x, ATOM)[0]}^{{-\\top}}", POWER
        case ast.Attribute(x, sign) if sign in AFTER:
            return f"{at(x, ATOM)[0]}^{{{AFTER[sign]}}}", POWER
        case ast.List([inside]):
            return f"[{in_latex(inside)[0]}]", ATOM
        case ast.Call(ast.Name("d_of"), [x, y]):
            of = in_latex(x)[0]
            return rf"\frac{{d{of if isinstance(x, ast.Name) else f'({of})'}}}{{d{in_latex(y)[0]}}}", ATOM
        case ast.Call(ast.Name(name), args, []):
            inside = ", ".join(in_latex(a)[0] for a in args)
            if len(args) == 1 and name in CALLS:
                inside = at(args[0], PRODUCT)[0] if name.startswith("Σ") else inside
                return CALLS[name].format(inside), PRODUCT if name.startswith("Σ") else ATOM
            return rf"{latex_name(name, True)}({inside})", ATOM
    raise NotImplementedError(ast.dump(e))


def latex_name(name: str, function: bool = False) -> str:
    r"""A name in LaTeX: z12 is z_{12}, W_out is W_{out}, beta is \beta, and loss is upright."""
    if function:
        return rf"\operatorname{{{name.replace('_', chr(92) + '_')}}}"
    name, prime, _ = name.partition("__prime")
    letters, below = re.fullmatch(r"(\D*?)_?(\d.*|(?<=_).*|)", name).groups()
    stem = rf"\{letters}" if letters in GREEK else letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    below = below.replace("_", r"\_")
    return stem + (f"_{{{below}}}" if len(below) > 1 else f"_{below}" if below else "") + "'" * bool(prime)
