"""A student's own copy of the chapters: brought up to date without ever overwriting work.

Each chapter is a folder and travels as a whole. A file the student has not touched follows the released one. Where a
file was changed on both sides, the student's chapter stays as it is and the released one is laid beside it. What was
released last is remembered in `.released.json`, as a hash of each file.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

MEMORY = ".released.json"
PASSING = {"__pycache__", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Change:
    """What happened to one item of the workspace: `added`, `updated`, `restored` or `beside`."""

    name: str
    what: str
    place: Path

    def __str__(self):
        if self.what == "beside":
            return (
                f"{self.name} has a new edition. Yours is kept as it is; the new one is in {self.place.name}: "
                "copy your answers over when you like."
            )
        return f"{self.what} {self.name}"


def bring_up_to_date(released: dict[str, Path], workspace: Path) -> list[Change]:
    """Copy released items, each a file or a folder by its name in the workspace, and return what changed.

    Nothing that a student wrote is overwritten or deleted. A file that was deleted or renamed comes back as released,
    which is how to begin a chapter anew.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    memory = _remembered(workspace / MEMORY)
    changes = []
    for name, source in released.items():
        change = _bring(name, source, workspace, memory.get(name, {}))
        memory[name] = hashes(source)
        changes += [change] if change else []
    (workspace / MEMORY).write_text(json.dumps(memory, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return changes


def hashes(item: Path) -> dict[str, str]:
    """Return the hash of a file, or of each file of a folder by its path below it; a file's own path is ""."""
    files = [item] if item.is_file() else sorted(path for path in item.rglob("*") if path.is_file())
    paths = {path: path.relative_to(item) for path in files if not PASSING & set(path.relative_to(item).parts)}
    return {
        "" if path == item else relative.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path, relative in paths.items()
    }


def _bring(name: str, source: Path, workspace: Path, before: dict[str, str]) -> Change | None:
    place = workspace / name
    now = hashes(source)
    if not place.exists():
        _copy(source, place, now)
        return Change(name, "restored" if before else "added", place)
    here = hashes(place)
    due = {path for path in now if here.get(path) != now[path] and (path not in here or now[path] != before.get(path))}
    if any(path in here and here[path] != before.get(path) for path in due):
        place = _free_name(place)
        _copy(source, place, now)
        return Change(name, "beside", place)
    for path in before.keys() - now.keys():
        if here.get(path) == before[path]:
            (place / path).unlink()
    _copy(source, place, due)
    if not due:
        return None
    return Change(name, "updated" if any(path in here for path in due) else "restored", place)


def _copy(source: Path, place: Path, paths) -> None:
    for path in sorted(paths):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, place / path)


def _free_name(place: Path) -> Path:
    """Return the first name such as `02_external_gradients.new-1`, or `README.new-1.md`, that is not taken."""
    number = 1
    while True:
        free = place.with_name(f"{place.stem}.new-{number}{place.suffix}")
        if not free.exists():
            return free
        number += 1


def _remembered(file: Path) -> dict[str, dict[str, str]]:
    """Return what was released last; without a readable memory, files that differ count as the student's work."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
