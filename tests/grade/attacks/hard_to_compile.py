# Tries: to use up memory and time in the compiler while it runs: nested, long and folded expressions, and a syntax error of a
# megabyte.
# Worked: the record comes late or is large, or the other task is lost.
# worth: 40
def gradient(steps, values, rules):
    for text in ("(" * 10_000 + ")" * 10_000, "-" * 200_000 + "1", "x = " + "+".join(["1"] * 20_000),
                 "[" * 90 + "]" * 90 + " = 1", "a" * 10 ** 6 + " b",
                 "f'" + "{1:" * 100 + "}" * 100 + "'", "'\\N{" + "x" * 10 ** 5 + "}'", "lambda: " * 5_000 + "1"):
        try:
            compile(text, "x", "exec")
        except (SyntaxError, RecursionError, MemoryError, OverflowError, ValueError):
            pass
    compile("\x1b[31m" * 10 ** 5, __file__, "exec")


def average(rows):
    return [sum(row) / len(row) for row in rows]
