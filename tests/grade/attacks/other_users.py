# Tries: to become root again, or another user or group: all the calls that there are for it, saved numbers, groups, capabilities.
# Worked: ESCAPED.
# worth: 40
import ctypes
import os
import platform


def gradient(steps, values, rules):
    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.syscall if platform.machine() == "x86_64" else lambda *_: -1  # the numbers are its
    for name, args in (("setuid", (0,)), ("setgid", (0,)), ("seteuid", (0,)), ("setreuid", (0, 0)), ("setresuid", (0, 0, 0)),
                       ("setresgid", (0, 0, 0)),
                       ("setgroups", ([0],)), ("setuid", (1,)), ("setresuid", (os.getuid() + 1,) * 3),
                       ("initgroups", ("root", 0))):
        try:
            getattr(os, name)(*args)
            print("ESC" "APED:", name, args, os.getresuid())
        except OSError:
            pass
    everything = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
    if libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), everything) == 0:
        print("ESC" "APED: capabilities")
    for number, args in ((122, (0,)), (123, (0,)), (0, ())):  # setfsuid and setfsgid give back the old number
        if args and call(number, *args) == 0 and call(number, *args) == 0:
            print("ESC" "APED: setfsuid")
    if libc.prctl(38, 0, 0, 0, 0) == 0 or libc.prctl(39, 0, 0, 0, 0) == 0:
        print("ESC" "APED: new privileges can be gained")
    for capability in range(41):
        if libc.prctl(47, 2, capability, 0, 0) == 0 or libc.prctl(23, capability, 0, 0, 0) == 1 and os.getuid() == 0:
            print("ESC" "APED: capability", capability)
            break
    if os.getuid() == 0:
        print("ESC" "APED: it is root")
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
