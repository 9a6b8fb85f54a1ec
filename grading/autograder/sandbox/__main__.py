"""Try to break out of the sandbox: python -m autograder.sandbox, also run by `make doctor`."""

import argparse
import socket
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from gradlab.words import N_, _

from . import machine
from .manager import SandboxManager

SECRET = "a line that only the grader may read"

# Code that succeeds only outside the sandbox, by name
ESCAPES = {
    N_("read the notebook"): "open('secret.ipynb').read()",
    N_("read the grader's files"): "open({secret!r}).read()",
    N_("see the grader's home"): "import os; next(entry for entry in os.scandir({home!r}) if entry.is_file())",
    N_("import the grader"): "import autograder",
    N_("import the solutions"): "import mini_autograd",
    N_("see the grader's processes"): "import os; next(n for n in os.listdir('/proc') if n.isdigit() and int(n) > 1e3)",
    N_("reach the loopback network"): "import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
    N_("write to Python"): "import sys; open(sys.prefix + '/escaped', 'w')",
    N_("write to /usr"): "open('/usr/escaped', 'w')",
    N_("fill the disk"): "open('big', 'wb').truncate(1 << 40)",
    N_("become root"): "import os; os.setuid(0)",
    N_("make a namespace"): "import subprocess; subprocess.run(['unshare', '--user', 'true'], check=True)",
    N_("mount"): "import ctypes; assert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    N_("take all memory"): "bytearray(1 << 40)",
}
GROUPED = "assert 'gradlab-' in open('/proc/self/cgroup').read()"  # the prefix that forkserver uses
WORKS = "import torch, gradlab; x = torch.ones(2, requires_grad=True); (x * x).sum().backward(); open('note', 'w')"


def escaped() -> tuple[list[str], bool]:
    """Run all escape attempts in one sandboxed kernel.

    Returns the names of the successful attempts, and whether a control group limits the kernel's memory. Raises
    SandboxError if no sandbox can be created, or if code that must work inside fails.
    """
    machine.require()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder, "class", "secret")
        work = Path(folder, "class", "work")
        work.mkdir(parents=True)
        secret.write_text(SECRET)
        (work / "secret.ipynb").write_text(SECRET)
        names = {"secret": str(secret), "home": str(Path.home()), "port": server.getsockname()[1]}
        sources = [WORKS, GROUPED, *(source.format(**names) for source in ESCAPES.values())]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        client = NotebookClient(notebook, kernel_manager_class=SandboxManager, allow_errors=True, timeout=600)
        client.resources = {"metadata": {"path": str(work)}}
        client.execute()
    works, counted, *tries = map(_failed, notebook.cells)
    if works:
        raise machine.SandboxError(_("The sandbox cannot run code that must work in it: {error}", error=works))
    return [name for name, failed in zip(ESCAPES, tries, strict=True) if not failed], not counted


def _failed(cell: NotebookNode) -> str:
    return next((f"{o.ename}: {o.evalue}" for o in cell.outputs if o.output_type == "error"), "")


def main(argv: list[str] | None = None) -> int:
    """Print the successful escapes; return 1 if there are any, or if no sandbox can be created, else 0."""
    about = _("Try to break out of the sandbox in which submissions run. The exit code is 1 if something escaped.")
    argparse.ArgumentParser(prog="python -m autograder.sandbox", description=about).parse_args(argv)
    try:
        out, grouped = escaped()
    except machine.SandboxError as error:
        print(error)
        return 1
    for name in out:
        # Translators: what follows is one of the attempts, such as "become root"
        print(_("ESCAPED: a submission can {attempt}", attempt=_(name)))
    memory = _("a control group limits memory") if grouped else _("memory is only measured: no control group")
    counts = {"blocked": len(ESCAPES) - len(out), "total": len(ESCAPES)}
    print(_("{blocked} of {total} escape attempts were blocked; {memory}", memory=memory, **counts))
    return 1 if out else 0


if __name__ == "__main__":
    sys.exit(main())
