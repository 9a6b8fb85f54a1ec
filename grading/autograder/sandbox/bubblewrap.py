"""Create one kernel's sandbox with bubblewrap, and define which files are visible inside."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gradlab

MIB = 1 << 20
ZEROS = 1 << 16  # bytes in /dev/zero, a file here: memory mapped from the device would be charged to no process
WORK = "/home/student/work"
GRADLAB = Path(gradlab.__file__).resolve().parent
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime"]

ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    "PYTHONPATH": str(GRADLAB.parent),
    "HOME": "/home/student",
    "USER": "student",
    "LOGNAME": "student",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",  # a second thread in the fork server would hang its children; kernels share the cores
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "TQDM_DISABLE": "1",  # a progress bar would stay on the feedback page
    "GRADLAB_ONE_PROCESS": "1",  # a lesson that starts further ones would take longer than the exercises
}

# As root, use no user namespace: the kernel becomes a real user who owns nothing. Otherwise create one, in which
# no further namespaces can be created.
NAMESPACES = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
USER_NAMESPACE = ["--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]


@functools.cache
def python_paths() -> list[str]:
    """Return the folders of Python and its installed packages, leaving out folders inside others."""
    wanted = {sys.prefix, sys.base_prefix, *(p for p in sys.path if p.endswith(("site-packages", "dist-packages")))}
    return sorted(path for path in wanted if not any(_inside(path, other) for other in {*wanted, *SYSTEM} - {path}))


def exposed(path: Path) -> str | None:
    """Return the folder that contains `path` and is visible inside every sandbox; None if `path` is hidden."""
    return next((seen for seen in [*SYSTEM, *python_paths(), str(GRADLAB)] if _inside(str(path), seen)), None)


def _inside(path: str, folder: str) -> bool:
    return Path(path).resolve().is_relative_to(Path(folder).resolve())


def start(folder: Path, disk_mib: int, program: list[str], info_fd: int | None = None, **popen) -> subprocess.Popen:
    """Start `program` in a new sandbox that shows the files in `folder`, except notebooks.

    disk_mib: the size of each writable place; all are in memory and vanish with the sandbox. info_fd: the descriptor
    to which bubblewrap writes, as JSON, the id of the sandbox's first process. The arguments and environment, which
    are readable inside, reveal nothing about the class.
    """
    with (
        os.fdopen(os.memfd_create("options"), "w", errors="surrogateescape") as options,
        os.fdopen(os.memfd_create("zeros"), "wb") as zeros,
    ):
        zeros.write(bytes(ZEROS))
        zeros.seek(0)
        options.write("\0".join(_options(folder, disk_mib, info_fd, zeros.fileno())) + "\0")
        options.seek(0)
        fds = [options.fileno(), zeros.fileno(), *([] if info_fd is None else [info_fd])]
        words = [shutil.which("bwrap") or "bwrap", "--args", str(options.fileno()), "--", *program]
        return subprocess.Popen(words, pass_fds=fds, env=ENVIRONMENT, start_new_session=True, text=True, **popen)


def _options(folder: Path, disk_mib: int, info_fd: int | None, zeros_fd: int) -> list[str]:
    words = [*NAMESPACES, *([] if os.geteuid() == 0 else USER_NAMESPACE)]
    words += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        words += ["--setenv", name, value]
    for path in SYSTEM:
        words += ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "0444", "--ro-bind-data", str(zeros_fd), "/dev/zero"]
    words += [*_writable("/dev/shm", disk_mib), "--remount-ro", "/dev"]
    words += _writable("/tmp", disk_mib) + _writable("/home/student", disk_mib) + _writable("/run/kernel", 1)
    words += ["--perms", "1777", "--dir", WORK]
    for path in [*python_paths(), str(GRADLAB)]:
        words += ["--dir", str(Path(path).parent)]  # otherwise only root could enter the parent folder
        words += ["--ro-bind", path, path]
    for entry in sorted(folder.iterdir()):
        if entry.suffix != ".ipynb" and not entry.is_symlink() and (entry.is_file() or entry.is_dir()):
            words += ["--ro-bind", str(entry), f"{WORK}/{entry.name}"]
    words += ["--info-fd", str(info_fd)] if info_fd is not None else []
    return [*words, "--remount-ro", "/", "--chdir", WORK]


def _writable(path: str, size_mib: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size_mib * MIB), "--tmpfs", path]
