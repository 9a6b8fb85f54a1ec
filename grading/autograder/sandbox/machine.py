"""Check whether this machine can create a sandbox, and say what to install or enable if not."""

import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gradlab.words import N_, _

from ..errors import ClassError
from . import bubblewrap

ROOMS = [Path(__file__).resolve().parents[3] / room for room in ("solutions", "grading")]

WITHOUT = N_(
    "To grade without a sandbox, which gives every submission your rights, use --no-sandbox with python -m "
    "autograder grade, or configure(…, sandbox=False) in nbgrader_config.py for nbgrader's own commands."
)
INSTALL = N_(
    "Submissions run in a bubblewrap sandbox, but the program bwrap was not found. Install it:\n"
    "  Debian, Ubuntu: sudo apt-get install -y bubblewrap\n"
    "  Fedora:         sudo dnf install -y bubblewrap"
)
ENABLE = N_(
    "bubblewrap is installed but cannot create a sandbox here. Its error: {reason}\n"
    "Most likely, this system does not let ordinary users create namespaces. To enable this:\n"
    "  Ubuntu 24.04:   sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0\n"
    "  Debian 10:      sudo sysctl kernel.unprivileged_userns_clone=1\n"
    "  Fedora, others: sudo sysctl user.max_user_namespaces=15000\n"
    "  in a container: start it with --privileged, or grade as root with --cap-add SYS_ADMIN --security-opt "
    "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
)
ELSEWHERE = N_(
    "Submissions run in a sandbox made of Linux namespaces, which {system} does not have. Use Linux on this machine:\n"
    "  macOS:   in a container (Docker Desktop, Podman, Colima), started with --privileged\n"
    "  Windows: in WSL 2 (wsl --install, then sudo apt-get install -y bubblewrap in it)"
)


class SandboxError(ClassError):
    """No sandbox can be created; the message says what to install or enable."""


@functools.cache
def require() -> None:
    """Create and end a sandbox; raise SandboxError if that fails. A success is cached for the process."""
    if not sys.platform.startswith("linux"):
        system = {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
        raise SandboxError(f"{_(ELSEWHERE, system=system)}\n{_(WITHOUT)}")
    if shutil.which("bwrap") is None:
        raise SandboxError(f"{_(INSTALL)}\n{_(WITHOUT)}")
    for room in ROOMS:
        require_hidden(room)
    with tempfile.TemporaryDirectory() as folder:
        sandbox = bubblewrap.start(Path(folder), 1, ["/bin/sh", "-c", "exit 0"], stderr=subprocess.PIPE)
        reason = sandbox.communicate()[1]
    if sandbox.returncode != 0:
        raise SandboxError(f"{_(ENABLE, reason=reason.strip())}\n{_(WITHOUT)}")


def require_hidden(folder: Path) -> None:
    """Raise SandboxError if submissions could read `folder`, because it is inside a folder visible in every sandbox."""
    if seen := bubblewrap.exposed(folder):
        why = _("{folder} is inside {seen}, which submissions can read. Move one of them.", folder=folder, seen=seen)
        raise SandboxError(why)
