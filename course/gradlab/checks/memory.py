"""The small memory of what has been tried and passed, and of what there is to try."""

import contextlib
import json
import os
import re
import tempfile
from pathlib import Path

from .. import notebook
from .record import SUFFIX, Record, RecordError

MEMORY = ".progress.json"
CHAPTER = re.compile(r"(\d\d)_(\w+)")


def _home(folder=None):
    """The folder that holds the chapters' folders: above a chapter's own, else the folder itself."""
    folder = Path(folder or notebook.FOLDER)
    return folder.parent if CHAPTER.fullmatch(folder.name) else folder


def read(folder=None):
    """Return what is remembered, what came last at the end: {"02.1": "passed" or "tried"}.

    A damaged memory counts as empty.
    """
    try:
        found = json.loads((_home(folder) / MEMORY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    verdicts = ("passed", "tried")
    return {k: v for k, v in found.items() if v in verdicts} if isinstance(found, dict) else {}


def remember(check_id, verdict, folder=None):
    """Note how a check ended when it ran last: "passed" or "tried". What was passed is taken back if it fails later.

    Called by the check. Where nothing can be written (a sandbox, a full disk) nothing is remembered and nothing raised.
    """
    if verdict not in ("passed", "tried"):
        raise ValueError(f"a check is 'passed' or 'tried', not {verdict!r}")
    known = read(folder)
    known.pop(check_id, None)
    known[check_id] = verdict
    home = _home(folder)
    try:
        with tempfile.NamedTemporaryFile("w", dir=home, prefix=MEMORY, delete=False, encoding="utf-8") as sink:
            json.dump(known, sink, indent=1)
        os.replace(sink.name, home / MEMORY)
    except OSError:
        pass


def exercises(folder=None):
    """Return the checks by chapter and id, from the records of this folder: {"02_external_gradients": {"02.1": …}}.

    A folder without a record that can be read is left out.
    """
    found = {}
    for path in sorted(_home(folder).glob(f"*/*{SUFFIX}")):
        chapter = path.name.removesuffix(SUFFIX)
        if chapter == path.parent.name and CHAPTER.fullmatch(chapter):
            with contextlib.suppress(OSError, ValueError, RecordError):
                found[chapter] = Record.from_json(path.read_text(encoding="utf-8"), path.name).checks
    return found
