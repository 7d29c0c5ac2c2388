# Tries: to run in another interpreter in the same process, in an isolated thread, or in a new Python, where no hook sees it.
# Worked: ESCAPED.
# worth: 40
# needs: seccomp
import ctypes
import os
import sys


def gradient(steps, values, rules):
    libc = ctypes.CDLL(None)
    for program in ("/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/perl", "/bin/busybox"):
        if os.path.exists(program):
            print("ESC" "APED: there is", program)
    if libc.system(b"id > /dev/null") == 0:
        print("ESC" "APED: a shell")
    child = os.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-S", "-c",
                                  "import socket; socket.socket(); print('ESC' 'APED: a socket in a new program')"])
    os.waitpid(child, 0)
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
