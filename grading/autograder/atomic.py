"""Files that are there whole or not at all, whatever happens while they are written."""

import os
import tempfile
from pathlib import Path


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Put a text file in the place of what is at `path`, read-only files too; the folder has to exist."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".new-", delete=False, encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, mode)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
