"""A new class: a folder of its own with its settings, its course id, and its copy of the course's chapters."""

import re
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from .errors import ClassError
from .gradebook import require, without_password
from .settings import CONFIG, open_class

COURSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # it is a folder's name in the exchange

SETTINGS = '''"""nbgrader's configuration of the class in this folder; what can be set is in grading/README.md."""

from pathlib import Path

from autograder.settings import configure

c = configure(get_config(), Path(__file__).parent, course_id={course_id!r}{gradebook})
'''


def new_class(folder: Path, course_id: str | None = None, exchange: Path | None = None, gradebook: str = "") -> str:
    """Begin a class in `folder`, which is new or empty; returns what its instructor needs to know.

    course_id: the folder's name unless told otherwise. exchange: the folder of nbgrader's exchange, if not that of
    GRADLAB_EXCHANGE. gradebook: the URL of one in PostgreSQL, instead of a file in the folder. Raises ClassError, and
    makes nothing, where something is in the folder, where the id is none, or where the gradebook cannot be opened.
    """
    folder = folder.resolve()
    course_id = folder.name if course_id is None else course_id
    if not COURSE_ID.fullmatch(course_id):
        raise ClassError(
            f"{course_id!r} cannot be a course id, which is letters, digits, dots, - and _, such as autograd-2026. "
            "Name one with --course-id."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ClassError(f"{folder} is there already, and not empty. Name a folder that is new, or empty.")
    if gradebook:
        require(CourseDirectory(db_url=without_password(gradebook), course_id=course_id))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    setting = f", gradebook={gradebook!r}" if gradebook else ""
    text = SETTINGS.format(course_id=course_id, gradebook=setting)
    if exchange is not None:
        text += f"c.Exchange.root = {str(exchange.resolve())!r}\n"
    atomic.write_text(folder / CONFIG, text, mode=0o600)
    open_class(folder)
    exported = f"export GRADLAB_COURSE={course_id}"
    exported += f" GRADLAB_EXCHANGE={exchange.resolve()}" if exchange is not None else ""
    return (
        f"The class {course_id} is in {folder}, with a copy of the course's chapters as they are now. Only you can "
        f"look into it.\nWork there: cd {folder}\n"
        f"If students fetch and hand in by nbgrader's exchange, their servers need: {exported}"
    )
