"""Write files atomically: a file is written completely or not at all, even if the process is interrupted."""

import os
import secrets
from pathlib import Path


def write_bytes(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace the file at `path`, even a read-only one; the folder must exist. mode: the file's permissions.

    Raises OSError, with a file name, if writing fails. The earlier file then stays, and no temporary file is left.
    """
    new = path.with_name(f".new-{secrets.token_hex(6)}")
    try:
        with new.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk's error has no file name
        raise


def write_text(path: Path, text: str, mode: int | None = 0o644) -> None:
    """Replace the file at `path` with text in UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode(), mode)


def put_folder(new: Path, target: Path, aside: Path) -> None:
    """Move the folder `new` to `target`. What was there goes to `aside`, and comes back if anything interrupts this."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if os.path.lexists(target):
            target.rename(aside)
        new.rename(target)
    except BaseException:
        if os.path.lexists(aside) and not os.path.lexists(target):
            aside.rename(target)
        raise
