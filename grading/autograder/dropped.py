"""Who was dropped from a class: nbgrader's own list of students to leave out, as a file in the class folder."""

from pathlib import Path

from nbgrader.api import Gradebook, Student
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

FILE = "dropped.txt"  # one id a line; configure makes of it nbgrader's setting CourseDirectory.student_id_exclude


def listed(folder: Path) -> list[str]:
    """The ids in a class folder's list, in order."""
    path = Path(folder, FILE)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return sorted({line.strip() for line in lines} - {""})


def write_list(folder: Path, students: list[str]) -> None:
    """Put another list in the place of a class folder's."""
    atomic.write_text(Path(folder, FILE), "".join(f"{student}\n" for student in sorted(students)), mode=0o600)


def dropped(course: CourseDirectory) -> set[str]:
    """Who is left out by the settings of a class: those on its list, and whom its nbgrader_config.py names."""
    return set(filter(None, course.student_id_exclude.split(",")))


def enrolled(gradebook: Gradebook, course: CourseDirectory) -> list[Student]:
    """All students in the gradebook but those who were dropped, in order of their ids."""
    out = dropped(course)
    return sorted((student for student in gradebook.students if student.id not in out), key=lambda s: s.id)
