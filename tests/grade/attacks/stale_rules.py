# Tries: to keep the functions of one question, and to call them in the next one, from a thread as well.
# Worked: the grader answers for the wrong question, or hangs.
# worth: 40
import threading
import time

kept = []


def gradient(steps, values, rules):
    if kept:
        for op in kept[0]:
            try:
                kept[0][op](1.0, 2.0, 3.0)
            except ValueError:
                pass
    kept.append(rules)
    threading.Thread(target=later, args=(rules,), daemon=True).start()
    return {}


def later(rules):
    while True:
        time.sleep(0.001)
        try:
            rules["add"](1.0, 2.0, 3.0)
        except ValueError:
            pass


def average(rows):
    return [sum(row) / len(row) for row in rows]
