"""Take rights away from a process in a sandbox: capabilities, and the system calls that a filter refuses."""

import ctypes
import errno
import os
import platform
import struct

CLONE_NEWUSER = 0x10000000
DUMPABLE, SECCOMP, CAPBSET_DROP, NO_NEW_PRIVS = 4, 22, 24, 38  # of prctl
CLONE3, MAP_SHARED, MAP_ANONYMOUS, PROT_EXEC = 435, 0x01, 0x20, 0x04
REFUSED = ["memfd_create", "memfd_secret", "shmget", "msgget", "add_key", "request_key", "keyctl"]
REFUSED_ALONE = ["execve", "execveat", "prctl", "ptrace", "process_vm_writev"]
CALLS = ["clone", "unshare", "mmap", *REFUSED, "mprotect", "pkey_mprotect", *REFUSED_ALONE]
_ARCHITECTURES = {  # by machine: the architecture's number, and the numbers of these calls
    "x86_64": (0xC000003E, [56, 272, 9, 319, 447, 29, 68, 248, 249, 250, 10, 329, 59, 322, 157, 101, 311]),
    "aarch64": (0xC00000B7, [220, 97, 222, 279, 447, 194, 186, 217, 218, 219, 226, 288, 221, 281, 167, 117, 271]),
}
ARCHITECTURES = {name: (own, dict(zip(CALLS, calls, strict=True))) for name, (own, calls) in _ARCHITECTURES.items()}
LOAD, IF_EQUAL, IF_AT_LEAST, IF_SET, LEAVE = 0x20, 0x15, 0x35, 0x45, 0x06  # operations of a filter
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS  # how a filter leaves
ARGUMENT = range(16, 64, 8)  # where a filter finds a call's arguments

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments) -> None:
    """Call a function of the C library; raise OSError if it fails."""
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def drop_privileges(uid: int) -> None:
    """Give up all capabilities permanently; root becomes the user `uid`."""
    for capability in range(64):
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)  # fails for capabilities unknown to this kernel
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    version, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    call("capset", version, nothing)
    call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
    filter_calls()
    call("prctl", DUMPABLE, 1, 0, 0, 0)  # otherwise, after changing user, it could not read its own /proc entries


def filter_calls() -> None:
    """Install a seccomp filter against system calls that a kernel does not need or that could bypass a limit.

    It refuses:
    - user namespaces, in which anyone may mount (bubblewrap forbids them too, unless it runs as root);
    - memory that belongs to no process or folder and would go uncounted, such as memfds, System V segments and queues,
      and shared memory without a file;
    - keyrings, because the session's keyring belongs to the grading account.

    clone3, whose flags a filter cannot see, is reported as missing, so the C library calls clone.
    """
    _, numbers = ARCHITECTURES[platform.machine()]
    steps = [(IF_EQUAL, 0, 1, CLONE3), (LEAVE, 0, 0, UNKNOWN)]
    for name in REFUSED:
        steps += [(IF_EQUAL, 0, 1, numbers[name]), (LEAVE, 0, 0, REFUSE)]
    for name in ("clone", "unshare"):
        steps += _if_called(name, (LOAD, 0, 0, ARGUMENT[0]), (IF_SET, 0, 1, CLONE_NEWUSER))
    shared = [(LOAD, 0, 0, ARGUMENT[3]), (IF_SET, 0, 2, MAP_SHARED), (IF_SET, 0, 1, MAP_ANONYMOUS)]
    install([*steps, *_if_called("mmap", *shared)])


def filter_alone() -> None:
    """Add a filter for a process that observes answers alone, in which no code may change or come from outside.

    It refuses other programs, memory that becomes executable (files can still be: Python has compiled modules), and
    access to other processes. Nothing can read or write the process's memory through /proc.
    """
    call("prctl", DUMPABLE, 0, 0, 0, 0)
    _, numbers = ARCHITECTURES[platform.machine()]
    steps = []
    for name in REFUSED_ALONE:
        steps += [(IF_EQUAL, 0, 1, numbers[name]), (LEAVE, 0, 0, REFUSE)]
    executable = [(LOAD, 0, 0, ARGUMENT[2]), (IF_SET, 0, 1, PROT_EXEC)]
    for name in ("mprotect", "pkey_mprotect"):
        steps += _if_called(name, *executable)
    nothing = [(LOAD, 0, 0, ARGUMENT[2]), (IF_SET, 0, 3, PROT_EXEC), (LOAD, 0, 0, ARGUMENT[3])]
    install([*steps, *_if_called("mmap", *nothing, (IF_SET, 0, 1, MAP_ANONYMOUS))])


def _if_called(name: str, *conditions: tuple) -> list[tuple]:
    """Return steps that refuse a call under these conditions, the last of which skips one step if it is not met."""
    steps = [*conditions, (LEAVE, 0, 0, REFUSE), (LEAVE, 0, 0, ALLOW)]
    return [(IF_EQUAL, 0, len(steps), ARCHITECTURES[platform.machine()][1][name]), *steps]


def install(steps: list[tuple]) -> None:
    """Install a seccomp filter: the operation, steps to skip if true, steps to skip if false, and operand of each step.

    The steps begin with the call's number loaded; a call that they do not leave is allowed.
    """
    steps = [
        (LOAD, 0, 0, 4),
        (IF_EQUAL, 1, 0, ARCHITECTURES[platform.machine()][0]),
        (LEAVE, 0, 0, REFUSE),
        (LOAD, 0, 0, 0),
        (IF_AT_LEAST, 0, 1, 0x40000000),  # x32 calls, which have their own numbers
        (LEAVE, 0, 0, REFUSE),
        *steps,
        (LEAVE, 0, 0, ALLOW),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    call("prctl", SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(header)), 0, 0)
