"""A student's environment without a new installation: all packages of this environment, none of the rooms."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path


def borrow(folder: Path) -> Path:
    """Make such an environment, and return its Python; a room can be installed in it with pip."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    theirs = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (packages / "borrowed.pth").write_text("\n".join(theirs))  # the files in it, not the paths in its .pth files
    for place in ("etc", "share"):  # the folder of Jupyter's extensions
        (folder / place / "jupyter").parent.mkdir(exist_ok=True)
        (folder / place / "jupyter").symlink_to(Path(sysconfig.get_path("data"), place, "jupyter"))
    return folder / "bin/python"


def install(archive: Path, folder: Path) -> Path:
    """Unpack a student's archive in a folder and set it up as its page says; return where it is."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    root = folder / archive.stem
    python = borrow(root / ".venv")
    set_up = subprocess.run(
        [sys.executable, "-I", root / "course/gradlab", "setup", "--student"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert set_up.stdout.endswith(f"Ready: {python}\n"), set_up.stdout + set_up.stderr
    return root
