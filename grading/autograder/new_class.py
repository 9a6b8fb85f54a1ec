"""Create a class: a folder with its settings, its course id and a copy of the course's chapters."""

import re
from pathlib import Path

from gradlab import atomic

from .errors import ClassError
from .settings import CONFIG, open_class

COURSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # also a folder name in the exchange

SETTINGS = '''"""nbgrader's configuration of the class in this folder; grading/README.md lists the options."""

from pathlib import Path

from autograder.settings import configure

c = configure(get_config(), Path(__file__).parent, course_id={course_id!r})
'''


def new_class(folder: Path, course_id: str | None = None, exchange: Path | None = None) -> str:
    """Create a class in `folder`, which must be new or empty; return what its instructor needs to know.

    course_id: defaults to the folder's name. exchange: the folder of nbgrader's exchange; defaults to
    GRADLAB_EXCHANGE. Raises ClassError, and creates nothing, if the folder is not empty or the id is invalid.
    """
    folder = folder.resolve()
    course_id = folder.name if course_id is None else course_id
    if not COURSE_ID.fullmatch(course_id):
        raise ClassError(
            f"{course_id!r} is not a valid course id. Use letters, digits, dots, - and _, for example autograd-2026, "
            "and pass it as --course-id."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ClassError(f"{folder} exists and is not empty. Name a new or empty folder.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    text = SETTINGS.format(course_id=course_id)
    if exchange is not None:
        text += f"c.Exchange.root = {str(exchange.resolve())!r}\n"
    atomic.write_text(folder / CONFIG, text, mode=0o600)
    open_class(folder)
    exported = f"export GRADLAB_COURSE={course_id}"
    exported += f" GRADLAB_EXCHANGE={exchange.resolve()}" if exchange is not None else ""
    return (
        f"Created the class {course_id} in {folder}, with a copy of the course's current chapters. Only you can "
        f"read it.\nWork there: cd {folder}\n"
        f"If students use nbgrader's exchange, their servers need: {exported}"
    )
