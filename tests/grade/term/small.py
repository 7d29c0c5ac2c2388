"""Assignments that are judged in no time: square(x), one part of which is hidden; and what students write."""

CHECKS = """
from xman.grade import Assignment, expect
assignment = Assignment("NAME", "Squares", wall_seconds=20)
squares = assignment.task(1, "square")

@squares.check("two squared")
def two(student, rng):
    expect(student.square(2.0), 4.0, "the square")
"""
GRADING = """
from xman.grade import expect
from .public.checks import assignment, squares

@squares.part("the square", points=60)
def the_square(student, rng):
    x = float(rng.uniform(1, 2))
    expect(student.square(x), x * x, "the square")

@squares.part("the square of a negative number", points=40, hidden=True)
def negative(student, rng):
    expect(student.square(-2.0), 4.0, "the square")
"""
OWN = GRADING.replace("from .public", "from xman.grade.term.personal import deltas_by_hand, drawn_list\nfrom .public") + """
assignment.tasks[0].parts.pop()

@squares.part("your own list", points=40, personal=drawn_list)
def own_list(student, rng, steps, values):
    expect(student.answers(), deltas_by_hand(steps, values), "the deltas on your sheet")
"""
SOLUTION = '''
def square(x):
    """x², as in the text."""
    # task 1: square
    return x * x
    # end of task 1
'''
RIGHT, POSITIVE, WRONG = (f"def square(x): return {form}\n" for form in ("x * x", "x * abs(x)", "x + 1"))


def write_assignment(folder, grading=GRADING):
    (folder / "public").mkdir(parents=True, exist_ok=True)
    (folder / "solution").mkdir(exist_ok=True)
    (folder / "public" / "checks.py").write_text(CHECKS.replace("NAME", folder.name))
    (folder / "grading.py").write_text(grading)
    (folder / "handout.md").write_text("# Squares\n")
    (folder / "solution" / f"{folder.name}.py").write_text(SOLUTION)
