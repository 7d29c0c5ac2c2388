# Tries: to make the grader's functions answer a thread that outlives its part, and to take their results for the next one.
# Worked: points of the first task, or an answer of the second that is lost.
# worth: 40
import threading
import time

ANSWERS = []


def gradient(steps, values, rules):
    def later():
        for _ in range(20):
            time.sleep(0.001)
            try:
                ANSWERS.append(next(iter(rules.values()))(1.0, 2.0, 3.0))
            except Exception as error:
                ANSWERS.append(error)
    threading.Thread(target=later, daemon=True).start()
    return dict.fromkeys(values, ANSWERS[-1] if ANSWERS else 0.0)


def average(rows):
    return [sum(row) / len(row) for row in rows]
