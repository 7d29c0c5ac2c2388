# Tries: to use up the clock in small pieces, each of them well within the limit: it asks the grader, sleeps, asks again.
# Worked: the record comes late.
# worth: 40
# waits: 1
import time


def gradient(steps, values, rules):
    while True:
        time.sleep(0.1)
        rules["add"](1.0, 2.0, 3.0)


def average(rows):
    return [sum(row) / len(row) for row in rows]
