"""A sum that each step adds a product to is one product over all steps: the same sum, and a carry less."""
import itertools

import numpy as np
import pytest

from xman import eval
from xman.passes import ALGEBRA, simplify

R = np.random.default_rng(21)
VALUES = {"X": R.normal(size=(5, 4, 3)), "D": R.normal(size=(5, 4, 2)), "u": R.normal(size=(5, 3)), "v": R.normal(size=(5, 2)),
          "W": R.normal(size=(3, 2)), "h": R.normal(size=3), "E": R.normal(size=(6, 2)), "N": R.integers(0, 6, (5, 4)), "M": np.array([1, 0, 1, 5]), "w": R.normal(size=(4, 2)),
          "A0": R.normal(size=(3, 2)), "b0": R.normal(size=2), "E0": R.normal(size=(6, 2)), "k0": R.normal(size=(1, 2))}
# by name: (the carry's first value, the slices and constants of a step, the lines of the term p)
TERMS = {
    "product":        ("A0", "x d", [("q", "transpose", ("x",)), ("p", "dot", ("q", "d"))]),
    "outer":          ("A0", "u v", [("p", "outer", ("u", "v"))]),
    "of the state":   ("A0", "u v W", [("g", "tanh", ("h",)), ("p", "outer", ("g", "v"))]),
    "sum":            ("b0", "d", [("p", "sum", ("d", 0))]),
    "sum of a slope": ("b0", "d", [("e", "square", ("d",)), ("p", "sum", ("e", 0))]),
    "kept axis":      ("k0", "d", [("p", "sum", ("d", 0, True))]),
    "lookup":         ("E0", "d n E", [("p", "scatterAdd", ("d", "E", "n"))]),
    # no such sums: of a constant, of another axis, of a vector, of a product that reads the carry
    "constant":       ("b0", "d w", [("p", "sum", ("w", 0))]),
    "one place":      ("E0", "d m E", [("p", "scatterAdd", ("d", "E", "m"))]),
    "other axis":     ("w", "x d", [("s", "sum", ("x", 1, True)), ("p", "mul", ("s", "d"))]),
    "vectors":        ("b0", "v", [("p", "mul", ("v", 2.0))]), "array in front": ("b0", "v", [("p", "mul", (np.array([2.0, 3.0]), "v"))]),
    "one argument":   ("b0", "v", [("p", "tanh", ("v",))]),
    "of itself":      ("A0", "x d", [("q", "transpose", ("x",)), ("r", "dot", ("q", "d")), ("p", "mul", ("r", "c"))]),
}
ARRAYS = dict(x="X", d="D", u="u", v="v", n="N", m="M", W="W", E="E", w="w")
SUMS = {  # how the step adds its term
    "added": [("c1", "add", ("c", "p"))], "in front": [("c1", "add", ("p", "c"))], "taken off": [("c1", "subtract", ("c", "p"))],
    "twice": [("c0", "add", ("c", "p")), ("c1", "subtract", ("c0", "p"))], "taken from": [("c1", "subtract", ("p", "c"))],
    "read as well": [("c1", "add", ("c", "p")), ("more", "sum", ("c",))]}


def scan_of(term, added, reverse=(), more=False):
    """The list of a loop with the carries c and h, whose h goes on by a rule of its own."""
    start, reads, lines = TERMS[term]
    slices = [a for a in reads.split() if a not in ("W", "E", "w", "m")] + (["u"] if "u" not in reads else [])
    constants = [a for a in reads.split() if a not in slices]
    body = (*lines, *SUMS[added], ("h1", "add", ("h", "u")))
    results = ("c1", "h1", *["more"] * (added == "read as well"), *["p"] * more)
    step = ("def", "step", ("c", "h", *slices, *constants), body, results)
    steps = [("b", "bundle", (start, "h", *[ARRAYS[a] for a in (*slices, *constants)])), ("s", "scan", (step, 2, len(slices), "b", *reverse)),
             *[(f"y{i}", "item", ("s", i)) for i in range(len(results))]]
    return steps, {name: VALUES[name] for name in (start, "h", *[ARRAYS[a] for a in (*slices, *constants)])}


def carries(steps):
    return [args[1] for _, op, args in steps if op == "scan"]


@pytest.mark.parametrize("term", TERMS)
def test_a_sum_over_all_steps_is_what_the_loop_adds_up(term):
    hoisted = list(TERMS).index(term) < list(TERMS).index("constant")
    for added, reverse, more, keep in itertools.product(SUMS, [(), (True,)], [False, True], [["y0"], ["y0", "y1"]]):
        steps, values = scan_of(term, added, reverse, more)
        keep = keep + [f"y{i}" for i in range(2, 2 + more)]
        short, whole = simplify(steps, keep, values, ALGEBRA), eval(steps, values)
        found = eval(short, values)
        for y in keep:
            np.testing.assert_allclose(found[y], whole[y], rtol=1e-12, atol=1e-12, strict=True, err_msg=f"{added} {reverse} {y}")
        stays = not hoisted or added == "taken from" or added == "read as well" and more
        assert sum(carries(short)) == stays + ("y1" in keep or term == "of the state"), (added, short)


def test_a_sum_whose_shape_grows_in_the_first_step_stays_in_the_loop():
    steps, values = scan_of("sum", "added")
    values["b0"] = np.zeros((1, 2)) * 1.0
    short = simplify(steps, ["y0"], values, ALGEBRA)
    np.testing.assert_allclose(eval(short, values)["y0"], eval(steps, values)["y0"])
