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
    if settings.get("landlock") and not landlock(**settings["landlock"]):
        raise OSError("Landlock does not work here")
    with contextlib.suppress(ImportError):  # Windows has no such limits
        set_limits(settings["limits"])
    if sys.platform == "linux":
        gain_nothing(settings)


def landlock(listable, readable, writable):
    """Close all files to this process and its children but these, and TCP; False if Linux cannot.

    listable: folders whose names, but not files, may be read. The numbers are those of linux/landlock.h: what
    each version of the kernel's interface can refuse.
    """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    CREATE, ADD, RESTRICT = 444, 445, 446  # the numbers of its calls, the same on every processor
    version = libc.syscall(CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    # 13 rights to files; then to link elsewhere (2), to truncate (3), to control devices (5)
    files = (1 << 13) - 1 | (version >= 2) << 13 | (version >= 3) << 14 | (version >= 5) << 15
    READ_FILE, READ_FOLDER, EXECUTE = 4, 8, 1
    # TCP (4); abstract sockets and signals (6)
    rules = (ctypes.c_uint64 * 3)(files, 3 * (version >= 4), 3 * (version >= 6))
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(CREATE, rules, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False

    class Beneath(ctypes.Structure):
        _pack_, _fields_ = 1, [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]

    read = READ_FILE | READ_FOLDER | EXECUTE
    for paths, access in ((listable, READ_FOLDER), (readable, read), (writable, files)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:  # this user cannot reach it anyway
                continue
            to_files = READ_FILE | EXECUTE | 2 | (files & (1 << 14 | 1 << 15))  # 2: WRITE_FILE
            rule = Beneath(access if os.path.isdir(path) else access & to_files, place)
            if libc.syscall(ADD, ruleset, 1, ctypes.byref(rule), 0):
                return False
            os.close(place)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    closed = libc.syscall(RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return closed


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
