"""Remember a learner's results and guesses in small files beside the chapters, shared by several kernels."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import msgspec
from jupyter_core.paths import jupyter_runtime_dir

from . import atomic, notebook

LOCK_TIMEOUT_S = 10  # a change takes milliseconds; without locks, the last writer wins


class Store:
    """A file of entries by name, in insertion order.

    file: its name. kind: the type of an entry; entries of other types are ignored, and a damaged file counts as empty.
    `folder` is a chapter's folder or the one that holds all chapters; by default, the notebook's.
    """

    def __init__(self, file: str, kind: Any):
        self.file, self.kind = file, kind

    def read(self, folder: Path | None = None) -> dict[str, Any]:
        """Return all entries."""
        try:
            data = msgspec.json.decode(self._path(folder).read_bytes())
        except (OSError, ValueError):
            return {}
        return converted(data, self.kind)

    @contextlib.contextmanager
    def changed(self, folder: Path | None = None) -> Iterator[dict[str, Any]]:
        """Yield all entries, and write them back with their changes while other kernels wait.

        If nothing can be written (a sandbox, a full disk), the changes are lost without an error.
        """
        path = self._path(folder)
        with _locked():
            entries = self.read(folder)
            yield entries
            text = msgspec.json.format(msgspec.json.encode(entries), indent=1)
            with contextlib.suppress(OSError):
                atomic.write_bytes(path, text + b"\n")

    def _path(self, folder: Path | None) -> Path:
        return notebook.home(folder) / self.file


def converted(data: object, kind: Any) -> dict[str, Any]:
    """Return the entries of `data` that have the type `kind`, by name; none if `data` is not a dict."""
    entries = {}
    for name, entry in data.items() if isinstance(data, dict) else ():
        with contextlib.suppress(msgspec.ValidationError):
            entries[name] = msgspec.convert(entry, kind)
    return entries


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """Hold the learner's lock on all such files; it is in Jupyter's own folder, where nobody else can hold it."""
    lock = filelock.FileLock(Path(jupyter_runtime_dir(), "gradlab.lock"), timeout=LOCK_TIMEOUT_S)
    with contextlib.suppress(OSError, NotImplementedError):  # its Timeout is an OSError
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
