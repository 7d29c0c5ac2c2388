"""What is graded of the assignment that is made to be attacked."""
import math

from xman.grade import expect, expect_that

from .public.checks import assignment, averages, derivatives
from .solution import attacked as reference

__all__ = ["assignment"]
OF_THE_GRADER = "c4n4ry-of-the-grader"
VALUES = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y, "power": lambda x, n: x ** n, "sin": math.sin}
RULES = {"add": lambda d, x, y: (d, d), "mul": lambda d, x, y: (d * y, d * x),
         "power": lambda d, x, n: (d * n * x ** (n - 1), 0.0), "sin": lambda d, x: (d * math.cos(x),)}


def random_list(rng, lines):
    """(steps, values of all registers)."""
    steps, values = [], {f"x{k}": float(rng.uniform(0.5, 1.5)) for k in range(3)}
    for k in range(lines):
        op = str(rng.choice(list(VALUES)))
        some = [str(name) for name in rng.choice(list(values)[-4:], 2)]
        args = {"power": (some[0], int(rng.integers(2, 4))), "sin": (some[0],)}.get(op, tuple(some))
        value = VALUES[op](*(values[a] if isinstance(a, str) else a for a in args))
        if abs(value) < 10:
            steps.append((f"z{k}", op, args))
            values[f"z{k}"] = value
    return steps, values


@derivatives.part("random lists", points=40, cases=[("short", 5), ("long", 40)])
def random_lists(student, rng, name, lines):
    steps, values = random_list(rng, lines)
    expect(student.gradient(steps, values, RULES), reference.gradient(steps, values, RULES), "the deltas")


@derivatives.part("each rule is asked for once a line", points=20, hidden=True)
def once(student, rng):
    steps, values = random_list(rng, 10)
    calls = []
    counted = {op: lambda d, *args, rule=rule: calls.append(args) or rule(d, *args) for op, rule in RULES.items()}
    expect(student.gradient(steps, values, counted), reference.gradient(steps, values, RULES), "the deltas")
    expect_that(len(calls) == len(steps), "one call for each line", f"{len(calls)} calls for {len(steps)} lines")


@averages.part("random rows", points=40)
def random_rows(student, rng):
    rows = rng.standard_normal((3, 4)).tolist()
    expect(student.average(rows), reference.average(rows), "the averages")
