# Tries: to be interrupted at every moment, also while the answer is written: itimer, setitimer for all clocks.
# Worked: answers that are torn, the other task lost.
# worth: 40
import signal


def gradient(steps, values, rules):
    def handler(*_):
        raise ZeroDivisionError("alarm")
    for kind, number in zip((signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF),
                            (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF), strict=True):
        signal.signal(number, handler)
        signal.setitimer(kind, 1e-4, 1e-4)
    return {name: 0.0 for name in values}


def average(rows):
    return [sum(row) / len(row) for row in rows]
