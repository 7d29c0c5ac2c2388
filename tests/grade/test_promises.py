"""Each starter that promises to leave an argument as it is has a mutant that does not, in that very function, and loses by it."""
import ast
import re

import pytest
from test_assignments import NAMES, mutants, solution

PROMISE = re.compile(r"(?<!others )stays? as (it is|they are)|(is|are) not changed")
# by what its mutants are called; where a function moves an element and puts it back, that is seen in the answer
BREAKS = re.compile(r"writes into|for good|moves start itself|stays moved|in place|shuffle the data|used up|not copied")


def promising(name):
    """The functions of a solution whose docstrings promise it; those of a list, where the module's does."""
    tree = ast.parse(solution(name))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    found = [function for function in functions if PROMISE.search(" ".join((ast.get_docstring(function) or "").split()))]
    if PROMISE.search(" ".join(ast.get_docstring(tree).split())):
        found += [function for function in functions if function.name in ("dead_lines", "common_subexpressions", "fold")]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_promise_to_leave_an_argument_as_it_is_has_a_mutant_in_its_function(name):
    source, kept = solution(name), {function.name for function in promising(name)}
    broken = set()
    for what, right, _, _ in mutants(name):
        line = source[:source.find(right)].count("\n") + 1 + right.startswith("\n")
        broken |= {function.name for function in promising(name) if function.lineno <= line <= function.end_lineno
                   and BREAKS.search(what)}
    assert kept - broken == set()


def test_the_promises_are_found():
    assert {(name, function.name) for name in NAMES for function in promising(name)} >= {
        ("wengert", "eval"), ("wengert", "backprop"), ("wengert", "descend"), ("operators", "differences"), ("logreg", "step"),
        ("logreg", "minibatches"), ("mlp", "train"), ("lstm", "untied"), ("lstm", "clipped"), ("lstm", "train"),
        ("compiler", "fold")}
