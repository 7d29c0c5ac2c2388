# Tries: to run code in destructors and callbacks of the garbage collector, while the worker writes its answer.
# Worked: answers that are torn.
# worth: 40
import gc
import sys


class Late:
    def __del__(self):
        frame = sys._getframe()
        while frame:
            me = frame.f_locals.get("self")
            if hasattr(me, "answers"):
                me.answers.write(b'{"torn":')
                me.answers.flush()
            frame = frame.f_back
        if "x" in kept:
            Late()


kept = {}


def gradient(steps, values, rules):
    gc.callbacks.append(lambda *_: Late())
    gc.set_threshold(1, 1, 1)
    circle = [Late()]
    circle.append(circle)
    return {name: 0.0 for name in values}


def average(rows):
    return [sum(row) / len(row) for row in rows]
