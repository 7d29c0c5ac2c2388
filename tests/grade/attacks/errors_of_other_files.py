# Tries: to have lines of other files shown: errors that say that they were raised in /etc/passwd, in the grader, in the solution.
# Worked: a line of such a file is in the record.
# worth: 40
import sys

asked = []


def gradient(steps, values, rules):
    asked.append(1)
    if len(asked) == 1:
        error = SyntaxError("look")
        error.filename, error.lineno, error.text = "/etc/passwd", 1, "root:" + "x" * 10 ** 6
        raise error
    if len(asked) == 2:
        exec(compile("\n\nraise ValueError('look')", "/etc/passwd", "exec"), {})
    try:
        error = SyntaxError("look")
        error.filename, error.lineno = __file__, "\x1b[31m" * 1000
        raise error
    finally:
        sys.modules["linecache"].getline = lambda *_: "\x1b[31mevil\n" * 10 ** 5


def average(rows):
    return [sum(row) / len(row) for row in rows]
