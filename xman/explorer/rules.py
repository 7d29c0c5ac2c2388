"""Operators' rules as data: the lines that the rules of ops.DG and ops.TG write, for the explorer's page."""
from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ops
from ops import f
from ops.expression import Rule
from ops.facts import MANY, arity, facts_of, parameters

from ..errors import XManError
from ..formulas.expressions import inlined, mathematical
from ..formulas.slopes import LEGIBLE, slopes_of, tidy
from ..notation import json_lines, json_literal
from ..passes import rewrite, simplify
from ..passes.writer import ListWriter, Symbol
from ..wengert import Line, WengertList, needed

SCRIPTS = Path(__file__).with_name("scripts")
TABLE_OF_PAGE = (SCRIPTS / "operators.js").read_text("utf-8").partition("const G = {")[2]
BY_NAME = " ".join(re.findall(r'byName\(\w+, "(.*)"\)', TABLE_OF_PAGE)).split()
IN_JAVASCRIPT = frozenset(re.findall(r"(?m)^  (\w+)(?::|,$)", TABLE_OF_PAGE) + BY_NAME)
READABLE = LEGIBLE + (rewrite(lambda d, a, b: f.dot_left(d, a, b), lambda d, a, b: d @ f.transpose(b)),
                   rewrite(lambda d, a, b: f.dot_right(d, a, b), lambda d, a, b: f.transpose(a) @ d))
# what a rule may raise that looks into its arguments
FAILURES_OF_RULES = XManError, TypeError, ValueError, AttributeError, IndexError


def value_as_lines(op: str) -> dict[str, Any] | None:
    """The value of an operator in terms of others, for any shape; None if its row has no such formula."""
    formula = facts_of(op).elsewhere or facts_of(op).formula
    names, defaults, *_ = parameters(ops.G[op])
    names = names or "x" * arity(ops.G[op])[0]
    try:
        # unwrapped, since the page computes in float64 in any case
        formula = inspect.unwrap(formula)
        written = rule_as_lines(lambda d, out, *args: formula(*args), [f"x{i}" for i in range(len(names))])
    except FAILURES_OF_RULES:  # there is none, or it looks at shapes or literals
        return None
    return {"op": op, "defaults": [json_literal(defaults.get(name)) for name in names], **written}


def likely(op: str) -> list[tuple]:
    """The patterns of literals that a reader is likely to type: none, an axis, an index."""
    least, greatest = arity(ops.G[op])
    names, defaults, *_ = parameters(ops.G[op])
    match names:
        case "axis", *_:
            cases = [(0, "_", "_"), (1, "_", "_")]
        case _, "axis", *_:
            cases = [("_", axis) for axis in (0, 1, -1)]
        case (_,) if greatest == MANY:
            cases = [("_", k) for k in range(3)]
        case _:
            cases = []
    return [("_",) * least + (None,) * (defaults.get("axis", 0) is None and least == 1), *cases]


def rules_for(steps: Iterable[Line]) -> list[dict[str, Any]]:
    """The rules of the operators in steps, and of all that the page evaluates: a reader may type any."""
    cases = [(op, case) for op in sorted(ON_THE_PAGE) for case in likely(op)]
    pattern = lambda args: tuple("_" if isinstance(a, str) else a for a in args)
    cases += [(op, pattern(args)) for _, op, args in unfolded(steps) if op not in ops.loops.ROWS]
    by_key = {json.dumps([op, [json_literal(a) for a in case]]): (op, case) for op, case in cases}
    return [rules for key, case in by_key.items() if (rules := written_rules(key, *case))]


def unfolded(steps: Iterable[Line]) -> list[Line]:
    """The lines, and those of the functions that they apply."""
    steps = [*steps]
    return [*steps, *(line for function in ops.loops.functions_in(steps) for line in function[3])]


def all_on_the_page(steps: Sequence[Line]) -> bool:
    """Whether the page computes all values and all derivatives of steps by itself."""
    operators = {op for _, op, _ in unfolded(steps)}
    rows = [row for row in rules_for(steps) if row["op"] in operators]
    rules = [rule for row in rows for rule in (*row["adjoint"], *row["tangent"]) if rule]
    in_rules = {op for rule in rules for _, op, _ in rule["lines"]}
    return in_rules | operators <= COMPUTED and operators - ops.loops.ROWS <= {row["op"] for row in rows}


def rules_of(key: str, op: str, case: tuple) -> dict[str, Any] | None:
    """The rules of an operator for a pattern of literals, or None. key: tells the literal 2 from 2.0."""
    args = [f"x{i}" if isinstance(a, str) else a for i, a in enumerate(case)]
    lines_of = lambda a, rule: rule_as_lines(rule, args) if rule and isinstance(a, str) else None
    try:
        adjoint, tangent = ([*map(lines_of, args, table[op])] for table in (ops.DG, ops.TG))
    except FAILURES_OF_RULES:  # this rule writes no lines for such arguments: the page says that it has none
        return None
    for i, slope in (slopes_of(op, args, "out", {}) or {} if facts_of(op).elementwise else {}).items():
        if isinstance(case[i], str) and adjoint[i]:
            adjoint[i]["label"] = mathematical(slope)
    pattern = ["_" if isinstance(a, str) else json_literal(a) for a in case]
    rules = {"adjoint": adjoint, "tangent": tangent}
    return {"op": op, "args": pattern, "gives": facts_of(op).gives.__name__, **rules}


cached_rules = functools.lru_cache(maxsize=4096)(rules_of)


def written_rules(key: str, op: str, case: tuple) -> dict[str, Any] | None:
    if op not in ops.OURS:  # not cached: a user may write the row anew
        return rules_of(key, op, case)
    try:
        return cached_rules(key, op, case)
    except TypeError:  # a literal that is an array cannot be a key of the cache
        return rules_of(key, op, case)


def rule_as_lines(rule: Rule, args: Sequence[Any]) -> dict[str, Any]:
    """What a rule sends to one argument: lines over d, out, x0, x1, …, their result, and a formula."""
    writer = ListWriter()
    symbols = {name: Symbol(writer, name) for name in ("d", "out", *(a for a in args if isinstance(a, str)))}
    sent = rule(symbols["d"], symbols["out"], *(symbols[a] if isinstance(a, str) else a for a in args))
    lines = [*writer.named(symbols)]
    end = sent.name if isinstance(sent, Symbol) else float(sent)
    lines = needed(lines, [end])
    return {"lines": json_lines(lines), "end": end, "text": legible(lines, end)}


def legible(lines: Sequence[Line], end: Any) -> str:
    """The formula of what is sent, without the operators that fit shapes; "" if it is too long to read."""
    if not lines:
        return str(end)
    try:
        short = simplify(WengertList([*lines, ("end", "alias", (end,))]), ["end"], None, READABLE)
        text = mathematical(tidy(inlined(short, "end", 40)))
    except FAILURES_OF_RULES:  # without a formula to read the page names the operator
        return ""
    text = re.sub(r"^broadcast\((.*), out\)$", r"\1", text)
    return text if len(text) <= 90 else ""


# the operators whose values Python writes into the page as lines, and all that the page computes by itself
WRITTEN = [*filter(None, map(value_as_lines, sorted(ops.OURS - ops.loops.ROWS - IN_JAVASCRIPT)))]
ON_THE_PAGE = IN_JAVASCRIPT | {row["op"] for row in WRITTEN}
COMPUTED = ON_THE_PAGE | ops.loops.ROWS
