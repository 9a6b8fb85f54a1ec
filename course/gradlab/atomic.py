"""Files that are there whole or not at all, whatever happens while they are written."""

import os
import secrets
from pathlib import Path


def write_bytes(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace what is at `path`, a read-only file too; the folder must exist. mode: the file's permissions.

    Raises OSError, which names a file, where nothing can be written; what was there before then stays, and nothing else
    is left behind.
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
            error.filename = str(path)  # a full disk names none
        raise


def write_text(path: Path, text: str, mode: int | None = 0o644) -> None:
    """Write a text as `write_bytes` writes bytes, in UTF-8."""
    write_bytes(path, text.encode(), mode)
