"""What is remembered of a learner: small files of named entries beside the chapters, which several kernels change."""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import msgspec

from . import atomic, notebook

LOCK_TIMEOUT_S = 10  # a change takes milliseconds; where there are no locks, the last to write wins


class Store:
    """A file of entries by name, in the order in which they were put.

    file: its name. kind: the type of an entry; entries of another type are left out, and a damaged file counts as
    empty. `folder` is a chapter's folder or the one that holds all chapters; by default, the notebook's.
    """

    def __init__(self, file: str, kind: Any):
        self.file, self.kind = file, kind

    def read(self, folder: Path | None = None) -> dict[str, Any]:
        """Return all entries."""
        try:
            found = msgspec.json.decode(self._path(folder).read_bytes())
        except (OSError, ValueError):
            return {}
        return converted(found, self.kind)

    @contextlib.contextmanager
    def changed(self, folder: Path | None = None) -> Iterator[dict[str, Any]]:
        """Yield all entries and write what becomes of them, while no other kernel does.

        Where nothing can be written (a sandbox, a full disk) nothing is remembered and nothing raised.
        """
        path = self._path(folder)
        with _locked(path):
            entries = self.read(folder)
            yield entries
            text = msgspec.json.format(msgspec.json.encode(entries), indent=1)
            with contextlib.suppress(OSError):
                atomic.write_bytes(path, text + b"\n")

    def _path(self, folder: Path | None) -> Path:
        return notebook.home(folder) / self.file


def converted(found: object, kind: Any) -> dict[str, Any]:
    """The entries of `found` that are of a kind, by name; none if it is not a dict."""
    entries = {}
    for name, entry in found.items() if isinstance(found, dict) else ():
        with contextlib.suppress(msgspec.ValidationError):
            entries[name] = msgspec.convert(entry, kind)
    return entries


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which lies among this machine's temporary files, so that a learner never sees it."""
    name = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:16]
    lock = filelock.FileLock(Path(tempfile.gettempdir(), f"gradlab-{name}.lock"), timeout=LOCK_TIMEOUT_S)
    with contextlib.suppress(OSError, NotImplementedError):  # its Timeout is an OSError
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
