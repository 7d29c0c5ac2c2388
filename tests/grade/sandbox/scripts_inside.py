"""Scripts that run in a sandbox in the worker's place, confined as it is."""

import itertools
import json
import os
import textwrap
from pathlib import Path

from xman.grade.sandbox import Limits

BEGIN = """
import json, os, sys
import confine
settings = json.loads(sys.stdin.readline())
confine.confine(settings)
sys.path += settings["path"]
from importlib.util import find_spec

def error(function, *args, **keywords):
    try:
        function(*args, **keywords)
    except Exception as error:
        return type(error).__name__ if not isinstance(error, OSError) else "OSError"

"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import signal, time
        for number in range(1, 32):
            if number not in (9, 17, 19):
                signal.signal(number, signal.SIG_IGN)
        print("started", flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
sys.stdin.read()
"""
UNLIMITED, NUMBERS = Limits(), itertools.count()


def started(box, folder, script, packages=(), limits=UNLIMITED, submission=None, **more):
    """A worker that runs the script; more is told to it besides."""
    file = Path(folder, f"script{next(NUMBERS)}.py")
    file.write_text(BEGIN + textwrap.dedent(script))
    worker = box.start(submission or {}, packages, limits, {"worker.py": file})
    worker.process.stdin.write(json.dumps({**worker.settings, **more}).encode() + b"\n")
    return worker


def nobody_holds(pipe):
    """Whether all that could write to the pipe have ended."""
    os.set_blocking(pipe, False)
    try:
        while os.read(pipe, 1000):
            pass
    except BlockingIOError:
        return False
    finally:
        os.close(pipe)
    return True
