"""Remove caches and build leftovers."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import os
import re
import shutil
from pathlib import Path

from .needs import ROOT


def clean(root: Path = ROOT) -> None:
    """Remove caches and build leftovers; work, classes and `.venv` stay."""
    kept = {".git", ".venv", "node_modules", "workspace", "class"}
    names = re.compile(
        r"__pycache__|build|.*\.egg-info|\.(pytest|ruff)_cache|\.hypothesis|\.ipynb_checkpoints|\.coverage"
    )
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in kept]
        for name in [name for name in folders if names.fullmatch(name)]:
            shutil.rmtree(Path(folder) / name)
            folders.remove(name)
        for name in [name for name in files if names.fullmatch(name)]:
            (Path(folder) / name).unlink()
