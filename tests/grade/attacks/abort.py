# Tries: to end by abort, which would leave a core file behind.
# Worked: a core file, or the other task is lost.
# worth: 40
import os
import resource


def gradient(steps, values, rules):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("ESC" "APED: it may write core files")
    except (OSError, ValueError):
        pass
    os.abort()


def average(rows):
    return [sum(row) / len(row) for row in rows]
