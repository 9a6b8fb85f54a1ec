"""Read the class folder's list of dropped students, which sets nbgrader's `student_id_exclude`."""

import unicodedata
from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory

FILE = "dropped.txt"  # you write it, one id per line


def listed(folder: Path) -> list[str]:
    """Return the sorted ids of a class folder's dropped students; empty if there is no list."""
    path = Path(folder, FILE)
    lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    return sorted({unicodedata.normalize("NFC", line.strip()) for line in lines} - {""})


def dropped(course: CourseDirectory) -> set[str]:
    """Return the ids that a class excludes: those on its list and those in its nbgrader_config.py."""
    return set(filter(None, course.student_id_exclude.split(",")))


def enrolled(gradebook: Gradebook, course: CourseDirectory) -> list[Student]:
    """Return all students in the gradebook who have not been dropped, sorted by id."""
    out = dropped(course)
    return sorted((student for student in gradebook.students if student.id not in out), key=lambda s: s.id)
