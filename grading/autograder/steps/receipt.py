"""Keep a submission's receipt: its timestamp, the secret for returning its feedback, and its fingerprint.

nbgrader's exchange gives every submission a timestamp and a secret. If one submission lacks them, nbgrader returns
no feedback to the class, so grading adds both to submissions that came from an archive or were placed manually.
"""

import contextlib
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

from .files import MAX_BYTES, MAX_FILES, SECRET, TIMESTAMP, all_in, own_text, timestamp


def keep(submitted: Path, autograded: Path) -> None:
    """Write a submission's timestamp and secret beside its autograded notebook.

    If either is missing, use the current time or a random secret.
    """
    autograded.mkdir(parents=True, exist_ok=True)
    for folder in (path for path in (autograded / TIMESTAMP, autograded / SECRET) if path.is_dir()):
        shutil.rmtree(folder)  # a folder submitted under that name
    atomic.write_text(autograded / TIMESTAMP, stamp(timestamp(submitted) or datetime.now(UTC)))
    atomic.write_text(autograded / SECRET, secret(submitted) or secrets.token_hex(64))


def settle(submitted: Path) -> None:
    """Write the timestamp of a submission in UTC if nbgrader, whose Formgrader compares it, would misread it."""
    time = timestamp(submitted)
    with contextlib.suppress(Exception):  # any error: third-party libraries parse it
        if time and parse_utc(own_text(submitted / TIMESTAMP).strip()) != time:
            atomic.write_text(submitted / TIMESTAMP, stamp(time))


def stamp(time: datetime) -> str:
    """Return a time in UTC as nbgrader's exchange writes it."""
    return f"{time:%Y-%m-%d %H:%M:%S.%f} UTC"


def secret(folder: Path) -> str:
    """Return the secret that nbgrader's exchange gave the submission in a folder; "" if it has none."""
    try:
        return own_text(folder / SECRET)
    except (OSError, ValueError):
        return ""


def fingerprint(folder: Path, ignored: list[str]) -> str:
    """Return a digest that identifies a submission by its files, except those matching the `ignored` patterns."""
    digest, size = hashlib.sha256(), 0
    try:
        entries = [] if folder.is_symlink() else list(itertools.islice(all_in(folder), MAX_FILES))
        for path, status in entries:
            inside = path.relative_to(folder)
            if any(fnmatch.fnmatch(part, pattern) for part in inside.parts for pattern in ignored):
                continue
            digest.update(b"%s\0%d\0%d\0" % (os.fsencode(inside), stat.S_IFMT(status.st_mode), status.st_size))
            size += status.st_size
            if stat.S_ISREG(status.st_mode) and size <= MAX_BYTES:
                digest.update(path.read_bytes())
    except OSError as error:
        digest.update(str(error.errno).encode())
    return digest.hexdigest()
