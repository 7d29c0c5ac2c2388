# Tries: to leave by SystemExit, KeyboardInterrupt, GeneratorExit and an exception that is no Exception.
# Worked: the grader ends too, or the other task is lost.
# worth: 40
calls = []


class Leave(BaseException):
    pass


def gradient(steps, values, rules):
    calls.append(1)
    raise [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), Leave()][len(calls) % 4]


def average(rows):
    return [sum(row) / len(row) for row in rows]
