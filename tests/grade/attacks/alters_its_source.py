# Tries: to change or delete its own source while it runs, so that the next task or the one who reads it finds another one.
# Worked: ESCAPED, or the file of the submission is another one afterwards.
# worth: 40
import os
import shutil
import sys


def gradient(steps, values, rules):
    folder = os.path.dirname(__file__)
    for change in (lambda: os.unlink(__file__), lambda: open(__file__, "w").close(), lambda: os.rename(folder, folder + "2"),
                   lambda: shutil.rmtree(folder),
                   lambda: os.symlink("/etc/passwd", folder + "/x.py"), lambda: os.chmod(folder, 0o777),
                   lambda: os.link(__file__, "/tmp/link")):
        try:
            change()
            print("ESC" "APED: changed")
        except OSError:
            pass
    sys.modules["linecache"].cache[__file__] = (1, None, ["\x1b[31mevil\n"] * 1000, __file__)
    raise ValueError("look at my line")


def average(rows):
    return [sum(row) / len(row) for row in rows]
