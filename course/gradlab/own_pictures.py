"""The learner's own pictures: what each payoff drew last, kept in a hidden folder beside the chapters."""

import base64
import contextlib
import re
from pathlib import Path

from . import atomic
from .notebook import home

FOLDER = ".pictures"  # hidden in JupyterLab's list of files, whose pages may show it all the same
MILESTONE = "milestone-"  # begins the name of a picture of what the learner's engine has done: "milestone-one-neuron"
_IMAGE = re.compile(r'src="data:image/(png|svg)[^;"]*;base64,([^"]*)"')


def keep(name: str, html: str) -> None:
    """Keep the last image in a payoff's output, in place of the earlier one with this name, such as an exercise's id.

    If there is no image, or nothing can be written, the earlier one stays.
    """
    images = _IMAGE.findall(html)
    with contextlib.suppress(OSError, IndexError):
        kind, encoded = images[-1]
        (home() / FOLDER).mkdir(exist_ok=True)
        for before in (home() / FOLDER).glob(f"{name}.*"):
            before.unlink()
        atomic.write_bytes(home() / FOLDER / f"{name}.{kind}", base64.b64decode(encoded))


def as_data(path: Path) -> str:
    """Return a picture as an address that contains it."""
    kind = {".svg": "svg+xml"}.get(path.suffix, "png")
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def kept(folder: Path | None = None) -> dict[str, Path]:
    """Return the pictures of the workspace that holds this folder, by name, the oldest first."""
    with contextlib.suppress(OSError):
        paths = [path for path in (home(folder) / FOLDER).iterdir() if path.suffix in (".png", ".svg")]
        return {path.stem: path for path in sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))}
    return {}
