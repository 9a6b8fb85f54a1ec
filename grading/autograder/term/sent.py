"""What a learning platform calls a submission: kept when it is imported, so that its feedback finds the way back."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

FOLDER = "platform"  # of the class: what goes to a learning platform, and by which names


@dataclass(frozen=True)
class Sent:
    """A submission as a platform names it: the person's number and name there, and Canvas's number of the file."""

    platform: str
    number: str
    name: str
    file: str = ""


def read(course: CourseDirectory, name: str) -> dict[str, Sent]:
    """What was kept of an assignment, by student; nothing if nothing was imported."""
    try:
        kept = json.loads(_path(course, name).read_text(encoding="utf-8"))
        return {student: Sent(**one) for student, one in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep(course: CourseDirectory, name: str, sent: dict[str, Sent]) -> None:
    """Keep what was imported, in addition to what was imported before."""
    folder(course)
    found = {student: asdict(one) for student, one in sorted((read(course, name) | sent).items())}
    atomic.write_text(_path(course, name), json.dumps(found, indent=1, ensure_ascii=False) + "\n", mode=0o600)


def folder(course: CourseDirectory) -> Path:
    """The folder for what goes to a platform; makes it."""
    path = Path(course.root, FOLDER)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root, FOLDER, f"{name}.imported.json")
