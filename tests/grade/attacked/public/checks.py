"""An assignment made to be attacked: a derivative, for which the grader lends its functions, and something easy beside it."""
from xman.grade import Assignment, expect

assignment = Assignment("attacked", title="Attacked", packages=["numpy"], cpu_seconds=2, wall_seconds=5, memory_mib=512)
derivatives = assignment.task(1, "gradient")
averages = assignment.task(2, "average")


@averages.check("two rows")
def two_rows(student, rng):
    expect(student.average([[1.0, 2.0], [3.0, 5.0]]), [1.5, 4.0], "the averages")
