"""The receipt of a submission: when it was handed in, by which secret its feedback goes back, and what it was.

nbgrader's exchange gives every submission a timestamp and a secret, and nbgrader returns feedback to nobody where one
of a class is without. What was put in its place by hand, or comes from an archive, gets both when it is graded.
"""

import fnmatch
import hashlib
import itertools
import os
import secrets
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from gradlab import atomic

from .files import MAX_BYTES, MAX_FILES, SECRET, TIMESTAMP, YEARS, all_in

LONGEST = 1000  # characters of either


def keep(submitted: Path, autograded: Path) -> None:
    """Write the timestamp and the secret of a submission beside its autograded notebook.

    Where it has none, the time is that of its newest file, and the secret one that nobody knows.
    """
    autograded.mkdir(parents=True, exist_ok=True)
    for folder in (path for path in (autograded / TIMESTAMP, autograded / SECRET) if path.is_dir()):
        shutil.rmtree(folder)  # which was handed in under that name
    time = timestamp(submitted) or _newest(submitted)
    atomic.write_text(autograded / TIMESTAMP, f"{time:%Y-%m-%d %H:%M:%S.%f} UTC")
    atomic.write_text(autograded / SECRET, secret(submitted) or secrets.token_hex(64))


def timestamp(folder: Path) -> datetime | None:
    """When the submission in a folder was handed in, in UTC; None if nothing in it says so."""
    try:
        found = parse_utc(_own_text(folder / TIMESTAMP).strip())
    except Exception:  # of all kinds: it is parsed by others' libraries
        return None
    return found if found.year in YEARS else None


def secret(folder: Path) -> str:
    """The secret that nbgrader's exchange gave the submission in a folder; "" if it did not come that way."""
    try:
        return _own_text(folder / SECRET)
    except (OSError, ValueError):
        return ""


def fingerprint(folder: Path, ignored: list[str]) -> str:
    """What tells a submission from any other that is put in its place: a digest of its files, but for ignored ones."""
    digest, size = hashlib.sha256(), 0
    try:
        for path, found in _some(folder):
            inside = path.relative_to(folder)
            if any(fnmatch.fnmatch(part, pattern) for part in inside.parts for pattern in ignored):
                continue
            digest.update(b"%s\0%d\0%d\0" % (os.fsencode(inside), stat.S_IFMT(found.st_mode), found.st_size))
            size += found.st_size
            if stat.S_ISREG(found.st_mode) and size <= MAX_BYTES:
                digest.update(path.read_bytes())
    except OSError as error:
        digest.update(str(error.errno).encode())
    return digest.hexdigest()


def _newest(folder: Path) -> datetime:
    now = datetime.now(UTC)
    try:
        times = [found.st_mtime for _, found in _some(folder)] or [folder.lstat().st_mtime]
        newest = datetime.fromtimestamp(max(times), UTC)
    except (OSError, ValueError, OverflowError):
        return now
    return newest if newest.year in YEARS and newest < now else now


def _some(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """As many files of a submission as one may have, none of them by way of a link."""
    return [] if folder.is_symlink() else list(itertools.islice(all_in(folder), MAX_FILES))


def _own_text(path: Path) -> str:
    """The text of a small file that is no link, nor in a folder that is one; raises OSError or ValueError."""
    found = path.lstat()
    if path.parent.is_symlink() or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size > LONGEST:
        raise ValueError(f"{path} is not a submission's own file")
    return path.read_text(encoding="utf-8")
