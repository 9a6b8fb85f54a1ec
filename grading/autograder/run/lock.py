"""Let only one process at a time change a class."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gradlab.words import _

from ..errors import ClassError


@contextlib.contextmanager
def only_run(class_folder: Path) -> Iterator[None]:
    """Lock the class during the block, so that the gradebook has one writer; raise ClassError if already locked."""
    folder = Path(class_folder, "runs")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / "lock", timeout=0).acquire()
    except Timeout:
        raise ClassError(_("Another run is using this class. Wait until it ends.")) from None
    with held:
        yield
