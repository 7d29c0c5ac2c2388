"""Nests as a file of C99 and its header."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from ...errors import XManError
from ...wengert import fresh
from ..nests.builder import Builder
from .expressions import c_literal, c_type, helpers
from .function import CFunction, ascii_name

LARGEST = 2 ** 22  # numbers: the most in all constants, which a compiler reads as text


def identifier(stem: str) -> str:
    """The name of a file as an identifier: with _run at its end it is no word of C's, and no function."""
    return re.sub(r"^(?=\d)|^$", "m", ascii_name(stem))


def comment(text: str) -> str:
    """Text that is safe in a comment."""
    text = text.encode("ascii", "backslashreplace").decode().replace("*/", "* /").replace("/*", "/ *")
    return re.sub(r"\s+", " ", text.replace("??", "? ?"))


class CFile:
    """A file that is being written. name: of its function, without _run."""

    def __init__(self, name: str):
        self.name = name
        self.constants: dict[tuple, str] = {}
        self.arrays: list[str] = []
        self.functions: list[str] = []
        self.bytes = self.numbers = self.steps = 0

    def constant(self, a: np.ndarray) -> str:
        """The name of a constant array."""
        key = a.dtype, a.shape, a.tobytes()
        if key not in self.constants:
            self.constants[key] = name = f"c{len(self.constants)}"
            self.numbers += a.size
            if self.numbers > LARGEST:
                raise XManError(f"the constants are more than {LARGEST:,} numbers, too many for a file of C: "
                                "leave them inputs")
            words = [c_literal(x, a.dtype) for x in a.ravel()] or ["0"]
            rows = [", ".join(words[k:k + 8]) for k in range(0, len(words), 8)]
            self.arrays.append(f"static const {c_type(a.dtype)} {name}[{len(words)}] = {{\n    "
                               + ",\n    ".join(rows) + "\n};")
        return self.constants[key]

    def step(self, nests: Builder) -> tuple[str, list[str]]:
        """(name, roots): the function of one step of a loop, and its parameters in order."""
        roots = [x for x, root in nests.tree.roots.items() if root.place in ("given", "output")]
        names = {x: f"p{k}_{ascii_name(x)}" for k, x in enumerate(roots)}
        self.steps += 1
        name = f"step{self.steps}"
        self.function(name, nests, names, "static ")
        return name, roots

    def function(self, name: str, nests: Builder, names: dict[str, str], storage: str = "") -> None:
        function = CFunction(self, nests, names)
        self.bytes += function.bytes
        body = "\n".join(function.out)
        unread = [f"    (void){p};\n" for p in names.values() if not re.search(rf"\b{p}\b", body)]
        head = f"{storage}int {name}({', '.join(parameters(nests, names, 'restrict '))})"
        self.functions.append(f"{head} {{\n{''.join(unread)}{body}\n    return 0;\n}}")

    def texts(self, nests: Builder, inputs: Iterable[str], facts: Mapping[str, str]) -> tuple[str, str]:
        """(source, header) of a program. inputs: in the order of the function's parameters."""
        program, roots, name = nests.program, nests.tree.roots, f"{self.name}_run"
        overwritten = {*program.inplace.values()}
        output = {view.root: x for x, view in nests.results.items()}
        names: dict[str, str] = {}
        for root, x in ({x: x for x in inputs if x in program.original.inputs} | output).items():
            way = "out" if root in output else "io" if x in overwritten else "in"
            names[root] = fresh(f"{way}_{ascii_name(x)}", {*names.values()})
        self.function(name, nests, names)
        about = [f"{key}: {x}" for key, x in facts.items()]
        about += [f"{p}: {roots[x].shape}, {output.get(x, x)}" for x, p in names.items()]
        header = HEADER.format(name=name, guard=f"{name.upper()}_H", size=f"{self.bytes:,}",
                               parameters=", ".join(parameters(nests, names)),
                               about="\n   ".join(map(comment, about)))
        text = "\n\n".join([*self.arrays, *helpers("\n".join(self.functions)), *self.functions])
        return SOURCE.format(file=self.name, text=text), header


def parameters(nests: Builder, names: Mapping[str, str], qualifier: str = "") -> list[str]:
    tree = nests.tree
    return [f"{'' if tree.writers.get(x) else 'const '}{c_type(tree.roots[x].dtype)} *{qualifier}{p}"
            for x, p in names.items()]


SOURCE = """/* Written by xman; the header says what it is. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "{file}.h"

{text}
"""
HEADER = """/* Written by xman. The function returns 0, or 1 if the values are not for it. Arrays lie row by row,
   and do not overlap. It has {size} bytes of static memory, so one thread at a time can run it.

   {about} */
#ifndef {guard}
#define {guard}
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif
int {name}({parameters});
#ifdef __cplusplus
}}
#endif
#endif
"""
