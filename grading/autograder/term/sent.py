"""Store the names and numbers that a learning platform uses for imported submissions, to return feedback to it."""

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

FOLDER = "platform"  # in the class folder: files for a learning platform, and these names


@dataclass(frozen=True)
class Sent:
    """A submission on a platform: the person's number and name there, and Canvas's number for the file."""

    platform: str
    number: str
    name: str
    file: str = ""


def read(course: CourseDirectory, name: str) -> dict[str, Sent]:
    """Return the stored Sent of an assignment's imported submissions by student, without those that are no Sent."""
    entries: dict[str, Sent] = {}
    try:
        stored = msgspec.json.decode(_path(course, name).read_bytes(), type=dict)
    except (OSError, ValueError):
        return {}
    for student, entry in stored.items():
        with contextlib.suppress(msgspec.ValidationError):
            entries[student] = msgspec.convert(entry, Sent)
    return entries


def platforms(course: CourseDirectory, name: str) -> list[str]:
    """Return the platforms from which an assignment's submissions were imported."""
    return sorted({entry.platform for entry in read(course, name).values()})


def keep(course: CourseDirectory, name: str, sent: dict[str, Sent]) -> None:
    """Add entries to an assignment's stored ones, replacing existing entries of the same students."""
    folder(course)
    entries = {student: asdict(entry) for student, entry in sorted((read(course, name) | sent).items())}
    atomic.write_text(_path(course, name), json.dumps(entries, indent=1, ensure_ascii=False) + "\n", mode=0o600)


def folder(course: CourseDirectory) -> Path:
    """Return the folder for a platform's files, creating it if needed."""
    path = Path(course.root, FOLDER)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root, FOLDER, f"{name}.imported.json")
