"""Fixtures that the tests of all rooms share."""

import itertools
import socket
import tempfile

# The browser kit is a plugin, so that the rooms share its browser and its server.
pytest_plugins = ["browser"]
# Files whose tests share a fixture that takes long. xdist_group would say so, but with pytest 9.2 xdist 3.8 ignores it.
TOGETHER = ("test_card_in_lab.py", "test_pseudo_language.py", "test_site.py", "test_widgets_browser.py")


def pytest_xdist_make_scheduler(config, log):
    """With --dist=loadgroup, run the tests of a file in TOGETHER in one process, and all others separately."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling  # imported only where it is used

    class FilesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return file if file.endswith(TOGETHER) else nodeid

    return FilesTogether(config, log)


def pytest_collection_modifyitems(items):
    """Let nbval compare the student edition: its cells have outputs but no execution counts, which nbval requires."""
    for cell in (item.cell for item in items if hasattr(item, "cell")):
        if cell.outputs and cell.execution_count is None:
            cell.execution_count = 0


def pytest_configure(config):
    """Let nbval's kernels listen on sockets in a folder, not on ports, where the system has such sockets.

    Others can take a port that a kernel is about to bind. A kernel without its iopub port lives, but is mute.
    """
    if not (config.getoption("nbval", False) and hasattr(socket, "AF_UNIX")):
        return
    import nbval.kernel  # imported only where it is used
    from jupyter_client.manager import KernelManager

    folder, numbers = tempfile.TemporaryDirectory(), itertools.count()
    config.add_cleanup(folder.cleanup)

    def manager(**options):
        return KernelManager(transport="ipc", ip=f"{folder.name}/{next(numbers)}", **options)

    nbval.kernel.KernelManager = manager
