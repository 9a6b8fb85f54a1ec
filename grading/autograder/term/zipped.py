"""Write reproducible zip archives atomically."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gradlab import atomic

FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip archive


def write(path: Path, members: Mapping[str, bytes], mode: int = 0o600) -> None:
    """Write an archive of `members`, contents by name, to `path`, replacing an existing file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, FIRST_DAY)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)
    atomic.write_bytes(path, made.getvalue(), mode)
