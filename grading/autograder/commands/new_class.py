"""Create a class in a separate folder, with its settings, its course id and a copy of the course's chapters.

Later changes to the course do not affect the class until you update it.
"""

import argparse
import re
from pathlib import Path

from gradlab import atomic

from ..errors import ClassError

COURSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # also a folder name in the exchange

SETTINGS = '''"""nbgrader's configuration of the class in this folder; grading/README.md lists the options."""

from pathlib import Path

from autograder.settings import configure

c = configure(get_config(), Path(__file__).parent, course_id={course_id!r})
'''


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "place", type=Path, metavar="FOLDER", help="a new or empty folder, whose name is the course id"
    )
    command.add_argument("--exchange", type=Path, metavar="FOLDER", help="nbgrader's exchange, shared with students")


def run(args: argparse.Namespace) -> None:
    """Create the class and print what to do next.

    Raises ClassError, and creates nothing, if the folder is not empty or the id is invalid.
    """
    from ..settings import CONFIG, open_class

    folder, exchange = args.place.resolve(), args.exchange and args.exchange.resolve()
    course_id = folder.name
    if not COURSE_ID.fullmatch(course_id):
        raise ClassError(
            f"{course_id!r}, the folder's name, is also the class's course id. Use letters, digits, dots, - and _, "
            "for example autograd-2026."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ClassError(f"{folder} exists and is not empty. Name a new or empty folder.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    settings, exported = SETTINGS.format(course_id=course_id), f"export GRADLAB_COURSE={course_id}"
    if exchange is not None:
        settings += f"c.Exchange.root = {str(exchange)!r}\n"
        exported += f" GRADLAB_EXCHANGE={exchange}"
    atomic.write_text(folder / CONFIG, settings, mode=0o600)
    open_class(folder)
    print(
        f"Created the class {course_id} in {folder}, with a copy of the course's current chapters. Only you can "
        f"read it.\nWork there: cd {folder}\n"
        f"If students use nbgrader's exchange, their servers need: {exported}"
    )
