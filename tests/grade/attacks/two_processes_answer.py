# Tries: to answer twice: it forks within a call, and the child gives back another answer to the same question.
# Worked: points of the parts that it answers wrong, or processes that live on.
# worth: 40
import os


def gradient(steps, values, rules):
    child = os.fork()
    deltas = dict.fromkeys(values, float(child == 0))
    if child:
        os.waitpid(child, os.WNOHANG)
    return deltas


def average(rows):
    return [sum(row) / len(row) for row in rows]
