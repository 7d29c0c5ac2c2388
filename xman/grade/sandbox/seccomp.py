"""A filter for the kernel, by libseccomp, that refuses the system calls that a worker does not need."""
from __future__ import annotations

import functools
import tempfile
from errno import ENOSYS, EPERM

# The calls by their purpose. A name that this kernel or libseccomp does not know is skipped.
REFUSED = {
    "other processes": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp",
    "namespaces": "unshare setns",
    "mounts": "mount umount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr "
              "quotactl quotactl_fd swapon swapoff",
    "the network": "socket socketpair socketcall bind connect listen accept accept4",
    "keys": "keyctl add_key request_key",
    "programs in the kernel": "bpf seccomp perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register",
    "old asynchronous files": "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
    "memory that no limit counts": "memfd_create memfd_secret shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop "
                                   "semctl semtimedop ipc mq_open mq_unlink setxattr lsetxattr fsetxattr "
                                   "inotify_init inotify_init1 fanotify_init fanotify_mark",
    "files by handle": "open_by_handle_at name_to_handle_at",
    "pipes into pages": "splice tee vmsplice",
    "where memory lies": "mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages remap_file_pages modify_ldt",
    "the machine": "reboot kexec_load kexec_file_load init_module finit_module delete_module create_module iopl ioperm acct "
                   "syslog settimeofday clock_settime clock_settime64 clock_adjtime clock_adjtime64 adjtimex stime sethostname "
                   "setdomainname vhangup personality lookup_dcookie nfsservctl uselib ustat sysfs _sysctl vm86 vm86old",
}
# refused where the process in the first argument is another than the caller, 0
OF_ANOTHER = "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr"
# so where it is the second; the first says that it is a process, and not a group, or all processes of a user
OF_SEVERAL = {"setpriority": 0, "ioprio_set": 1}
# what Landlock leaves open of files, for a worker who is their owner, or root
OF_FILES = ("chmod fchmod fchmodat chown fchown lchown fchownat utime utimes futimesat utimensat "
            "removexattr lremovexattr fremovexattr")
SINCE_2022 = range(451, 600)  # the same numbers on every machine; what calls one can do without it, as on a kernel of 2021
# CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET (linux/sched.h)
NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
CLONE_THREAD = 0x00010000
# TIOCSTI, TIOCLINUX and TIOCSETD write into a terminal, or change what it is (asm/ioctls.h)
TERMINAL = (0x5412, 0x541C, 0x5423)


@functools.cache
def program(forks: bool = True, owner: bool = False) -> bytes | None:
    """The filter in the kernel's form; None without libseccomp.

    forks: whether new processes are allowed. owner: whether the worker is the user who grades, with files.
    """
    try:
        import pyseccomp as kernel  # optional; without libseccomp it raises RuntimeError
    except (ImportError, RuntimeError, OSError, AttributeError):
        return None
    rules = kernel.SyscallFilter(kernel.ALLOW)
    rules.set_attr(kernel.Attr.ACT_BADARCH, kernel.KILL_PROCESS)  # 32-bit calls have other numbers
    rules.set_attr(kernel.Attr.CTL_OPTIMIZE, 2)  # a binary tree

    def refuse(name: str, *arguments, error: int = EPERM) -> None:
        if (number := kernel.resolve_syscall(kernel.Arch.NATIVE, name)) >= 0:
            rules.add_rule(kernel.ERRNO(error), number, *arguments)

    for name in " ".join([*REFUSED.values(), *[OF_FILES] * owner]).split():
        refuse(name)
    for number in SINCE_2022:
        rules.add_rule(kernel.ERRNO(ENOSYS), number)
    # its flags are in memory, where a filter cannot look; without it the C library uses clone
    refuse("clone3", error=ENOSYS)
    for name in OF_ANOTHER.split():
        refuse(name, kernel.Arg(0, kernel.NE, 0))
    for name, process in OF_SEVERAL.items():
        refuse(name, kernel.Arg(0, kernel.NE, process))
        refuse(name, kernel.Arg(1, kernel.NE, 0))
    if forks:
        for flag in NEW_NAMESPACES:
            refuse("clone", kernel.Arg(0, kernel.MASKED_EQ, flag, flag))
    else:
        refuse("clone", kernel.Arg(0, kernel.MASKED_EQ, CLONE_THREAD, 0))
        refuse("fork")
        refuse("vfork")
    for request in TERMINAL:  # the kernel, and so this rule, reads the lower 32 bits alone
        refuse("ioctl", kernel.Arg(1, kernel.MASKED_EQ, 0xFFFFFFFF, request))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
