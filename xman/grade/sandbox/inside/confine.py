"""Before a worker reads a submission, it gives up all rights that it will not need."""
import base64
import contextlib
import os
import sys

MIB = 2 ** 20
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38  # linux/prctl.h
MS_NOSUID, MS_NODEV, MS_REMOUNT = 2, 4, 32  # linux/mount.h
SIGKILL, SECCOMP_MODE_FILTER = 9, 2


def confine(settings):
    """Close inherited files, become another user, set the limits, and give up all further rights.

    settings: uid: the user to become (None: none). limits: those of `set_limits`. seccomp: the filter of
    system calls in base64, or None. in_memory: {folder in memory: options for the kernel}. hidden: whether to
    hide from other processes of this user. keeps_capabilities: whether root keeps them.
    """
    with contextlib.suppress(ValueError, OSError):
        os.closerange(3, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 256)
    for folder, options in settings["in_memory"].items():
        remount(folder, options)
    if settings["uid"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["uid"]] * 3)
        os.setresuid(*[settings["uid"]] * 3)
    os.umask(0o077)
    with contextlib.suppress(ImportError):  # Windows has no such limits
        set_limits(settings["limits"])
    if sys.platform == "linux":
        gain_nothing(settings)


def remount(folder, options):
    """Bound the number of files, which bubblewrap cannot: each file costs the kernel a kilobyte."""
    import ctypes
    ctypes.CDLL(None).mount(None, folder.encode(), None, MS_REMOUNT | MS_NOSUID | MS_NODEV, options.encode())


def set_limits(limits):
    """Set the limits of this process, which its children inherit; None sets none."""
    import resource
    seconds = limits["cpu_seconds"]
    for name, soft, hard in [("CPU", seconds, seconds and seconds + 1),  # the first signal tells the reason
                             ("AS", limits["memory_mib"] and limits["memory_mib"] * MIB, None),
                             ("NPROC", limits["processes"], None),
                             ("NOFILE", limits["open_files"], None),
                             ("FSIZE", limits["file_mib"] and limits["file_mib"] * MIB, None),
                             ("CORE", 0, None), ("MSGQUEUE", 0, None), ("MEMLOCK", 0, None),
                             ("RTPRIO", 0, None),
                             ("SIGPENDING", 256, None)]:
        if soft is None or not hasattr(resource, f"RLIMIT_{name}"):
            continue
        number = getattr(resource, f"RLIMIT_{name}")
        bound = resource.getrlimit(number)[1]
        soft, hard = [value if bound == resource.RLIM_INFINITY else min(value, bound)
                      for value in (soft, hard or soft)]
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(number, (soft, hard))


def gain_nothing(settings):
    """Linux: give up capabilities, also those of programs; end with the parent process; set the filter."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)

    def done(status, call):
        if status != 0:
            raise OSError(ctypes.get_errno(), f"{call}: {os.strerror(ctypes.get_errno())}")

    # _LINUX_CAPABILITY_VERSION_3, this process
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if not settings["keeps_capabilities"]:
        done(libc.capset(header, nothing), "capset")
    if settings["hidden"]:
        done(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "PR_SET_DUMPABLE")
    done(libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "PR_SET_PDEATHSIG")
    done(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    if settings["seccomp"]:
        code = base64.b64decode(settings["seccomp"])

        class Program(ctypes.Structure):  # struct sock_fprog (linux/filter.h)
            _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]

        program = Program(len(code) // 8, code)
        done(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0), "PR_SET_SECCOMP")
