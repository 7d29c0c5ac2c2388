"""What a rule writes of a function that a line applies: what it takes, the lines that have names, and what it gives."""
import pytest
from operator_cases import FAR, GROWN, STEP, YES

import ops
from xman.passes import gradient, tangent

ONE = ("def", "one", ("x", "y"), (("z", "exp", ("x",)),), ("z",))
GIVEN = ("def", "given", ("h", "x", "U"), (("a", "dot", ("h", "U")), ("k", "tanh", ("a",)), ("y", "mul", ("k", "x"))), ("k", "k", "y"))
KEPT, LOOP = "step_kept(h, x, U): a b k -> k, h | ", "grown_kept(x, t, y): a z -> z, x | "
APPLIED = {  # by what is applied: the entries of the bundle, the line, and which of its results counts
    "a carry of a step": ("h x U", "scan", (STEP, 1, 1, "b"), 0), "what is stacked": ("h x U", "scan", (STEP, 1, 1, "b", True), 1),
    "carries that are given": ("h x U", "scan", (GIVEN, 1, 1, "b", True), 1), "a call": ("x y", "call", (YES, "b"), 0),
    "one of two": ("x y", "cond", ("c", YES, ONE, "b"), 0), "a loop with an end": ("x y", "while_loop", (FAR, GROWN, 1, "b"), 0)}


@pytest.mark.parametrize("applied, back, forth", [
    ("a carry of a step", KEPT + "step_back(dh, dU, h, x, U): a b k dh0 dU1 -> dh0, dU1", KEPT + "step_dot(h_dot, h, x, U, U_dot): a b k k_dot -> k_dot"),
    ("what is stacked", KEPT + "step_back(dh, dU, h, x, dy, U): a b k dh0 dU1 -> dh0, dU1",
     KEPT + "step_dot(h_dot, h, x, y, U, U_dot): a b k k_dot y_dot -> k_dot, y_dot"),
    ("carries that are given", "given_back(dh, dU, h, dk, k, U): dh0 dU1 -> dh0, dU1", "given_dot(h_dot, h, k, U, U_dot): k_dot -> k_dot, k_dot"),
    ("a call", "yes_back(x, y, dz): dx dy -> dx, dy", "yes_dot(x, y_dot, z): z_dot -> z_dot"),
    ("one of two", "yes_back(x, y, dz, z): dx dy -> dx, dy | one_back(x, y, dz, z): dx dy -> dx, dy",
     "yes_dot(x, y_dot, z): z_dot -> z_dot | one_dot(x, y_dot, z): z_dot -> z_dot"),
    ("a loop with an end", LOOP + "grown_back(dx, dy, x, y): a dx0 dy1 -> dx0, dy1", LOOP + "grown_dot(x_dot, x, y, y_dot): a z z_dot -> z_dot")])
def test_a_derived_function_takes_and_computes_what_it_needs_under_the_names_of_the_first(applied, back, forth):
    entries, op, args, which = APPLIED[applied]
    steps = [("b", "bundle", tuple(entries.split())), ("s", op, args), ("r", "item", ("s", which)), ("l", "sum", ("r",))]
    for lines, wanted in (gradient(steps, "l", entries.split()[::2 if "U" in entries else 1]), back), (tangent(steps, entries.split()[-1:]), forth):
        derived = [function for function in ops.loops.functions_in(lines) if function not in args]
        assert " | ".join(f"{name}({', '.join(parameters)}): {' '.join(dst for dst, _, _ in body if not dst[1:].isdigit())} -> {', '.join(results)}"
                          for _, name, parameters, body, results in derived) == wanted
