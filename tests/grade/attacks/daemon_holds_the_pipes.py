# Tries: to end, and to leave a process behind that holds all pipes open, so that whoever reads them until their end waits.
# Worked: the record comes late, or the process is left.
# worth: 40
import os
import time


def gradient(steps, values, rules):
    if os.fork() == 0:
        os.setsid()
        time.sleep(3600)
    os._exit(0)


def average(rows):
    return [sum(row) / len(row) for row in rows]
