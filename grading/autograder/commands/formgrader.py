"""Open nbgrader's Formgrader for the class, in JupyterLab.

All other options, such as --no-browser, are passed to JupyterLab.
"""

import argparse
import os
from pathlib import Path

from gradlab.setup.lab import server
from gradlab.words import _

from ..errors import ClassError

JUPYTER_SETTINGS = Path(__file__).resolve().parents[1] / "jupyter"


def add_arguments(command: argparse.ArgumentParser) -> None:
    pass  # all of them are passed to JupyterLab


def run(args: argparse.Namespace) -> None:
    """Replace this process with JupyterLab's server. Raises ClassError if no configuration names the class."""
    from ..settings import CONFIG, open_class, settings_of

    folder, settings = args.folder, settings_of(args.folder)
    if not settings:
        raise ClassError(_("Formgrader finds the class only through an {file}; none names it.", file=CONFIG))
    open_class(folder)
    command = [*server(), f"--ServerApp.root_dir={folder.parent}"]
    command += ["--LabApp.extension_manager=readonly"]  # the default manager queries a package index
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    search = os.pathsep.join(filter(None, [str(JUPYTER_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")]))
    print(_("In JupyterLab, choose Nbgrader > Formgrader."), flush=True)
    os.chdir(settings[0].parent)  # nbgrader reads its configuration from the server's working folder
    os.environ |= {"JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    os.execv(command[0], [*command, *args.options])
