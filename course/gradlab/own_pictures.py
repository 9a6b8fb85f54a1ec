"""The learner's own pictures: what each payoff drew last, kept in a hidden folder beside the chapters."""

import base64
import contextlib
import re
from pathlib import Path

from . import atomic
from .checks.results import FILE
from .notebook import home

FOLDER = ".pictures"  # hidden in JupyterLab's list of files, whose pages may show it all the same
MILESTONE = "milestone-"  # begins the name of a picture of what the learner's engine has done: "milestone-one-neuron"
_IMAGE = re.compile(r'src="data:image/(png|svg)[^;"]*;base64,([^"]*)"')


def keep(name: str, html: str) -> None:
    """Keep the last image in a payoff's output, in place of the earlier one with this name, such as an exercise's id.

    Only a workspace in which a check has run keeps pictures; if nothing can be written, nothing is kept.
    """
    images = _IMAGE.findall(html)
    if not images or not (home() / FILE).exists():
        return
    kind, encoded = images[-1]
    with contextlib.suppress(OSError):
        (home() / FOLDER).mkdir(exist_ok=True)
        for before in (home() / FOLDER).glob(f"{name}.*"):
            before.unlink()
        atomic.write_bytes(home() / FOLDER / f"{name}.{kind}", base64.b64decode(encoded))


def kept(folder: Path | None = None) -> dict[str, Path]:
    """Return the pictures of the workspace that holds this folder, by name, the oldest first."""
    with contextlib.suppress(OSError):
        found = [path for path in (home(folder) / FOLDER).iterdir() if path.suffix in (".png", ".svg")]
        return {path.stem: path for path in sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))}
    return {}
