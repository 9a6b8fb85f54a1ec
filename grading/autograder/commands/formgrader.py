"""Open nbgrader's Formgrader on the class, in JupyterLab.

Other options are JupyterLab's own, such as --no-browser.
"""

import argparse
import os
from pathlib import Path

from gradlab.setup.lab import server

from ..errors import ClassError

HELP = "open nbgrader's Formgrader on the class, in JupyterLab"
JUPYTER_SETTINGS = Path(__file__).resolve().parents[1] / "jupyter"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes: what it does not know is left to JupyterLab."""


def run(args: argparse.Namespace) -> int:
    """Become JupyterLab's server; returns only if that fails."""
    from ..settings import CONFIG, open_class, settings_of

    folder, settings = args.folder, settings_of(args.folder)
    if not settings:
        raise ClassError(f"Without an {CONFIG} Formgrader would not find the class.")
    open_class(folder)
    command = [*server(), f"--ServerApp.root_dir={folder.parent}"]
    command += ["--LabApp.extension_manager=readonly"]  # the other one asks a package index
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    search = os.pathsep.join(filter(None, [str(JUPYTER_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")]))
    print("Formgrader is in the menu Nbgrader.", flush=True)
    os.chdir(settings[0].parent)  # nbgrader reads its configuration where the server is started
    os.environ |= {"JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    os.execv(command[0], [*command, *args.options])
