# Tries: to make namespaces of its own, in which it would be root: unshare, clone, clone3, setns, and to map users.
# Worked: ESCAPED.
# worth: 40
# needs: seccomp
import ctypes
import os
import platform


def gradient(steps, values, rules):
    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.syscall if platform.machine() == "x86_64" else lambda *_: -1  # the numbers are its
    for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x80):
        if libc.unshare(flag) == 0:
            print("ESC" "APED: unshare", hex(flag))
        if flag != 0x80 and os.getuid():
            child = call(56, flag | 17, 0, 0, 0, 0)  # clone
            if child == 0:
                os._exit(0)
            if child > 0:
                print("ESC" "APED: clone", hex(flag))
            arguments = (ctypes.c_uint64 * 11)(flag, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
            child = call(435, arguments, ctypes.sizeof(arguments))  # clone3
            if child == 0:
                os._exit(0)
            if child > 0:
                print("ESC" "APED: clone3", hex(flag))
    for number in range(8):
        if libc.setns(number, 0) == 0:
            print("ESC" "APED: setns", number)
    try:
        with open("/proc/self/uid_map", "w") as file:
            file.write("0 0 1")
            print("ESC" "APED: uid_map")
    except OSError:
        pass
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
