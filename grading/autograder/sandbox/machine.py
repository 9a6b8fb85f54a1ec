"""Whether this machine can make a sandbox, and if not, what to install or enable."""

import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..errors import ClassError
from . import bubblewrap

ROOMS = [Path(__file__).resolve().parents[3] / room for room in ("solutions", "grading")]

WITHOUT = (
    "To grade without a sandbox, with your own rights for every submission, say so: --no-sandbox for python -m "
    "autograder grade; configure(…, sandbox=False) in nbgrader_config.py for nbgrader's own commands."
)
INSTALL = (
    "Submissions run in a sandbox that bubblewrap makes, and there is no program bwrap. Install it:\n"
    "  Debian, Ubuntu: sudo apt-get install -y bubblewrap\n"
    "  Fedora:         sudo dnf install -y bubblewrap"
)
ENABLE = (
    "bubblewrap is installed but cannot make a sandbox here; it says: {reason}\n"
    "Most likely this system does not let ordinary users make namespaces. To enable it:\n"
    "  Ubuntu 24.04:   sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0\n"
    "  Debian 10:      sudo sysctl kernel.unprivileged_userns_clone=1\n"
    "  Fedora, others: sudo sysctl user.max_user_namespaces=15000\n"
    "  in a container: start it with --privileged, or grade as root with --cap-add SYS_ADMIN --security-opt "
    "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
)
ELSEWHERE = (
    "Submissions run in a sandbox of Linux namespaces, which {system} does not have. Grade in Linux on this machine:\n"
    "  macOS:   in a container (Docker Desktop, Podman, Colima), started with --privileged\n"
    "  Windows: in WSL 2 (wsl --install, then sudo apt-get install -y bubblewrap in it)"
)


class SandboxError(ClassError):
    """No sandbox can be made; the message says what to install or enable."""


@functools.cache
def require() -> None:
    """Make a sandbox and leave it again; raises SandboxError if that fails. Asked once in a process."""
    if not sys.platform.startswith("linux"):
        system = {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
        raise SandboxError(f"{ELSEWHERE.format(system=system)}\n{WITHOUT}")
    if shutil.which("bwrap") is None:
        raise SandboxError(f"{INSTALL}\n{WITHOUT}")
    for room in ROOMS:
        require_hidden(room)
    with tempfile.TemporaryDirectory() as folder:
        sandbox = bubblewrap.start(Path(folder), 1, ["/bin/sh", "-c", "exit 0"], stderr=subprocess.PIPE)
        _, reason = sandbox.communicate()
    if sandbox.returncode != 0:
        raise SandboxError(f"{ENABLE.format(reason=reason.strip())}\n{WITHOUT}")


def require_hidden(folder: Path) -> None:
    """Raise SandboxError if submissions could read `folder`, because it lies in what every sandbox shows."""
    seen = bubblewrap.exposed(folder)
    if seen:
        raise SandboxError(
            f"{folder} lies in {seen}, which a submission can read: Python is there. Move one or the other."
        )
