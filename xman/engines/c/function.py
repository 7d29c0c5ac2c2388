"""Nests as a function of C, whose arguments are pointers to the roots that come from outside."""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ..nests.builder import Builder
from ..nests.emission import NestWriter
from ..nests.tree import Applied, Line, Loop, Product, Routine, of_none
from ..nests.views import View
from .expressions import BOOL, COMPARED, INDEX, OF_TRUTHS, CNumber, c_expression, c_literal, c_type

if TYPE_CHECKING:
    from .file import CFile

ROUTINES = {"getrf": "factors", "gesv": "solution", "potrf": "cholesky"}


class CFunction(NestWriter):
    """A function of nests. file: gets the functions and constants that it needs. names: of its parameters, by
    root."""

    def __init__(self, file: CFile, nests: Builder, names: dict[str, str]):
        self.walks(nests.tree)
        self.file, self.nests, self.names = file, nests, {**names}
        self.out: list[str] = []
        self.depth, self.count = 1, 0
        self.bytes = 0
        static, tree = [], nests.tree
        for x, low, high in nests.bounds:
            self.bounded(x, low, high)
        zeroed = {node.target.root for nodes in tree.writers.values() for node in nodes
                  if isinstance(node, Line) and node.mode == "into"}
        for numbers, nodes in groupby(tree.body, lambda node: isinstance(node, Line)):
            for group in [[*nodes]] if numbers else [[node] for node in nodes]:
                tree.narrow_numbers(group)
                self.values, self.slots = {}, {}
                for x in sorted(touched(group) & zeroed):
                    zeroed.discard(x)
                    if self.roots[x].place != "given":
                        with self.stepping(self.roots[x].size) as k:
                            self.put(f"{self.name(x)}[{k}] = 0;")
                with self.block("{"):
                    self.nodes(group)
        read = {word for line in self.out for word in re.findall(r"\w+", re.sub(r"^ *\w+\[", "", line))}
        for x, root in self.roots.items():
            if root.place in ("arena", "stack") and x in self.names:
                storage = "static " * (root.place == "arena")
                name = self.names[x]
                static.append(f"    {storage}{c_type(root.dtype)} {name}[{max(root.size, 1)}];")
                if name not in read:
                    self.put(f"(void){name};")  # its numbers are read where they are computed
                self.bytes += root.bytes * (root.place == "arena")
        self.out = static + self.out

    def nodes(self, group: Sequence) -> None:
        node = group[0]
        if isinstance(node, (Line, Loop)):
            self.body(group)
        elif isinstance(node, Product):
            self.product(node)
        elif isinstance(node, Routine):
            self.routine(node)
        else:
            self.applied(node)

    # ---- text ----------------------------------------------------------------------------------------------

    def put(self, text: str) -> None:
        self.out.append("    " * self.depth + text)

    def new(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.put(head)
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    @contextmanager
    def stepping(self, size: int | str, first: int | str = 0, step: int = 1) -> Iterator[str]:
        i = self.new("i")
        with self.block(f"for (long {i} = {first}; {i} < {size}; {i} += {step}) {{"):
            yield i

    def name(self, x: str) -> str:
        """The name of a root's memory."""
        if x not in self.names:
            constants = self.nests.constants | self.nests.program.constants
            if x in constants and self.roots[x].place == "given":
                self.names[x] = self.file.constant(np.asarray(constants[x], self.roots[x].dtype))
            else:
                self.names[x] = self.new(f"{ascii_name(x)}_")
        return self.names[x]

    def place(self, view: View, loops: Sequence[str] = ()) -> str:
        """The pointer to where loops over the first axes of a view are."""
        terms = {i: s for i, s in zip(loops, view.strides, strict=False) if s}
        return f"{self.name(view.root)} + {self.sum(terms, view.offset)}"

    # ---- C's words for the walk ----------------------------------------------------------------------------

    def number_at(self, dtype: np.dtype, place: str) -> CNumber: return CNumber(place, dtype)
    def store(self, number: CNumber, place: str) -> None: self.put(f"{place} = {number.text};")
    def place_of(self, root: str, k: str) -> str: return f"{self.name(root)}[{k}]"

    def slot(self, dtype: np.dtype) -> str:
        name = self.new("s")
        self.put(f"{c_type(dtype)} {name};")
        return name

    def variable(self, text: str, dtype: np.dtype) -> CNumber:
        name = self.new("v")
        self.put(f"const {c_type(dtype)} {name} = {text};")
        return CNumber(name, dtype)

    def sum(self, terms: dict[str, int], start: int) -> str:
        products = [i if step == 1 else f"{step}*{i}" for i, step in terms.items() if step]
        return " + ".join([*products, *[str(start)] * bool(start or not products)]).replace("+ -", "- ")

    def in_range(self, key: CNumber, n: int) -> str:
        k = self.new("k")
        self.put(f"const long {k} = (long){key.text};")
        return f"({k} < 0 ? {k} + {n} : {k})"

    def identity(self, reduction: str, dtype: np.dtype) -> CNumber:
        return CNumber(c_literal(of_none(reduction, dtype), dtype), dtype)

    def combined(self, reduction: str, x: CNumber, y: CNumber) -> CNumber:
        op = {"max": "maximum", "min": "minimum", "prod": "mul"}.get(reduction, "add")
        op = "logical_or" if x.dtype == BOOL else op
        return CNumber(c_expression(op, x.dtype, [x.text, y.to(x.dtype).text]), x.dtype)

    def computed(self, line: Line, args: list) -> CNumber:
        op, dtype, texts = line.op, line.dtype, []
        for k, a in enumerate(args):
            of = BOOL if op in OF_TRUTHS or op == "where" and k == 0 else dtype
            text = a.to(of).text if isinstance(a, CNumber) else c_literal(a, of)
            if not isinstance(a, CNumber) and op in COMPARED and of.kind != "f":
                text = self.variable(text, of).text  # compilers warn of unsigned numbers below a c_literal 0
            texts.append(text)
        gives = BOOL if op in COMPARED or op in OF_TRUTHS or op in ("isnan", "isfinite", "signbit") else dtype
        number = CNumber(c_expression(op, dtype, texts), gives)
        result = self.dtype(line)
        if result != gives:
            number = CNumber(f"({number.text})", gives).to(result)
        return number if re.fullmatch(r"v\d+", number.text) else self.variable(number.text, result)

    def loop(self, node: Loop, tile: tuple) -> None:
        last, step = node.size, node.width if node.kind == "tile" else 1
        first, last = tile if node.kind == "lane" else (0, last)
        with self.stepping(last, first, step) as i:
            if node.kind == "tile":
                end = self.new("e")
                self.put(f"const long {end} = {i} + {step} < {last} ? {i} + {step} : {last};")
                tile = self.tiles[node] = i, end
            self.index[node] = i
            self.body(node.body, tile)

    # ---- products, routines, functions that are applied ----------------------------------------------------

    @contextmanager
    def over(self, *sizes: int) -> Iterator[list[str]]:
        with ExitStack() as loops:
            yield [loops.enter_context(self.stepping(n)) for n in sizes]

    def product(self, node: Product) -> None:
        """target = alpha·s·a@b, row by row: the innermost loop goes through memory in order."""
        dtype, (*lead, m, n), k = self.roots[node.target.root].dtype, node.target.shape, node.a.shape[-1]
        at = lambda view, loops: self.place_of(view.root, self.sum(
            {i: s for i, s in zip(loops, view.strides, strict=True) if s}, view.offset))
        with self.over(*lead, m) as outer:
            *batch, i = outer
            if not node.added:
                with self.stepping(n) as j:
                    self.put(f"{at(node.target, [*batch, i, j])} = 0;")
            with self.stepping(k) as t:
                factors = [at(node.a, [*batch, i, t])]
                factors += [c_literal(node.alpha, dtype)] * (node.alpha != 1)
                if node.s:
                    factors.append(CNumber(at(node.s, ()), self.roots[node.s.root].dtype).to(dtype).text)
                x = self.variable(" * ".join(factors), dtype).text
                with self.stepping(n) as j:
                    self.put(f"{at(node.target, [*batch, i, j])} += {x} * {at(node.b, [*batch, t, j])};")

    def routine(self, node: Routine) -> None:
        """A routine of LAPACK as loops; a singular matrix ends the function, unless it has a determinant."""
        *lead, rows, n = node.target.shape
        with self.over(*lead) as loops:
            views = [self.place(view, loops) for view in node.views]
            args = {"getrf": [n, *views[::-1]], "gesv": [n, rows, *views], "potrf": [n, *views]}[node.op]
            T = c_type(self.roots[node.target.root].dtype)
            call = f"{ROUTINES[node.op]}_{T}({', '.join(map(str, args))})"
            self.put(f"(void){call};" if node.op == "getrf" else f"if ({call}) return 1;")

    def applied(self, node: Applied) -> None:
        """A loop or a branch, whose steps are functions of their own."""
        steps = [self.file.step(run.nests) for run in node.runs]

        def go(k: int, t: str = "0") -> None:
            name, roots = steps[k]
            args = [self.argument(node.runs[k].places[x], t, node) for x in roots]
            self.put(f"if ({name}({', '.join(args)})) return 1;")
        if node.op == "cond":
            for k, head in enumerate([f"if ({self.entry(node.test)}) {{", "else {"]):
                with self.block(head):
                    go(k)
        elif node.op == "while":
            t = self.new("t")
            with self.block(f"for (int64_t {t} = 0; ; ++{t}) {{"):
                self.put(f"{self.entry(node.count)} = {t};")
                go(0)
                self.put(f"if (!{self.entry(node.test)}) break;")
                self.put(f"if ({t} >= {c_literal(node.size, INDEX)}) return 1;")
                go(1)
        else:
            first, last = "0", node.size
            if node.count:
                self.put(f"if ({self.entry(node.count)} > {node.size}) return 1;")
                many = f"(long){self.entry(node.count)}"
                first, last = (f"{node.size} - {many}", node.size) if node.way < 0 else ("0", many)
            with self.stepping(last, first) as t:
                go(0, t)

    def argument(self, place: tuple | None, t: str, node: Applied) -> str:
        """The pointer that the t-th step gets."""
        if place is None:
            k = self.new("k")
            self.put(f"const int64_t {k} = {self.sum({t: node.way}, node.first)};")
            return f"&{k}"
        view, stride = place
        return f"{self.name(view.root)} + {self.sum({t: stride}, view.offset)}"

    def entry(self, view: View) -> str:
        return self.place_of(view.root, str(view.offset))

    def bounded(self, x: str, low: int, high: int) -> None:
        """End the function if a whole number is outside of low … high − 1."""
        root, info = self.roots[x], np.iinfo(self.roots[x].dtype)
        with self.stepping(int(np.prod(root.shape))) as k:
            number = f"{self.name(x)}[{k}]"
            tests = [f"{number} < {low}"] * (low > info.min) + [f"{number} >= {high}"] * (high <= info.max)
            self.put(f"if ({' || '.join(tests) or '0'}) return 1;")


def touched(group: Sequence) -> set[str]:
    return {x for node in group for x in (
        touched(node.body) if isinstance(node, Loop) else [v.root for v in node.views] + [node.target.root])}


def ascii_name(name: str) -> str:
    """A name as C's identifiers have it: é is u00e9."""
    return re.sub(r"\W", "_", "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name))
