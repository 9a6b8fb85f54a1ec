"""Keep the list of dropped students in the class folder; the list sets nbgrader's `student_id_exclude`."""

import unicodedata
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

FILE = "dropped.txt"  # one id per line; configure passes it to nbgrader as CourseDirectory.student_id_exclude


def listed(folder: Path) -> list[str]:
    """Return the sorted ids of a class folder's dropped students; empty if there is no list."""
    path = Path(folder, FILE)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted({unicodedata.normalize("NFC", line.strip()) for line in lines} - {""})


def write_list(folder: Path, students: list[str]) -> None:
    """Replace a class folder's list of dropped students with a file that only the folder's owner can read."""
    atomic.write_text(Path(folder, FILE), "".join(f"{student}\n" for student in sorted(students)), mode=0o600)


def dropped(course: CourseDirectory) -> set[str]:
    """Return the ids that a class excludes: those on its list and those in its nbgrader_config.py."""
    return set(filter(None, course.student_id_exclude.split(",")))


def enrolled(gradebook: Gradebook, course: CourseDirectory) -> list[Student]:
    """Return all students in the gradebook who have not been dropped, sorted by id."""
    out = dropped(course)
    return sorted((student for student in gradebook.students if student.id not in out), key=lambda s: s.id)
