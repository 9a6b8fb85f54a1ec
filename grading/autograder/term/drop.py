"""Drop a student from the class, or take them back."""

import shutil
from pathlib import Path

from nbgrader.api import Gradebook

from .. import gradebook
from ..dropped import dropped, listed, write_list
from ..errors import ClassError, did_you_mean
from ..run.lock import only_run
from ..settings import class_api
from ..steps.files import readable


def drop(folder: Path, student: str, remove_grades: bool = False) -> list[str]:
    """Exclude a student from grading, feedback, reports and exports; return their assignments' names. Submissions stay.

    remove_grades: also delete the student's grades, graded notebooks and feedback pages. Raises ClassError if the
    student is unknown or the id contains a comma.
    """
    api = class_api(folder)
    course = api.coursedir
    gradebook.require(course)
    with only_run(folder), gradebook.needed(course), Gradebook(course.db_url, course.course_id) as book:
        known = sorted({one.id for one in book.students} | api.get_submitted_students("*"))
        if student not in known:
            raise ClassError(f"The class has no student {readable(student)}.{did_you_mean(student, known)}")
        if "," in student:
            raise ClassError(f"{readable(student)} cannot be dropped: nbgrader separates excluded ids by commas.")
        write_list(folder, sorted({*listed(folder), student}))
        graded = sorted(one.assignment.name for one in book.student_submissions(student))
        for name in graded if remove_grades else []:
            for part in (course.autograded_directory, course.feedback_directory):
                shutil.rmtree(course.format_path(part, student, name), ignore_errors=True)
            book.remove_submission(name, student)
        return graded


def undo(folder: Path, student: str) -> None:
    """Take a dropped student back into the class; raise ClassError if the student was not dropped."""
    ids = listed(folder)
    if student not in ids:
        meant = did_you_mean(student, ids)
        by_settings = student in dropped(class_api(folder).coursedir)
        where = " nbgrader_config.py lists the id in CourseDirectory.student_id_exclude." if by_settings else meant
        raise ClassError(f"{readable(student)} was not dropped with this command.{where}")
    with only_run(folder):
        write_list(folder, [one for one in ids if one != student])
