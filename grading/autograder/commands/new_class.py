"""Create a class in a separate folder, with its settings, its course id and a copy of the course's chapters.

Later changes to the course do not affect the class until you update it.
"""

import argparse
import re
from pathlib import Path

from gradlab import atomic
from gradlab.words import _

from ..errors import ClassError

COURSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # also a folder name in the exchange

SETTINGS = '''"""nbgrader's configuration of the class in this folder; grading/README.md lists the options."""

from pathlib import Path

from autograder.settings import configure

c = configure(get_config(), Path(__file__).parent, course_id={course_id!r})
'''


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("place", type=Path, metavar="FOLDER", help=_("a new folder, whose name is the course id"))
    command.add_argument("--exchange", type=Path, metavar="FOLDER", help=_("nbgrader's exchange, shared with students"))
    command.add_argument("--language", default="en", help=_("the language of the class, such as de"))


def run(args: argparse.Namespace) -> None:
    """Create the class and print what to do next.

    Raises ClassError, and creates nothing, if the folder is not empty or the id is invalid.
    """
    from ..class_chapters import course, speak
    from ..settings import CONFIG, open_class

    folder, exchange = args.place.resolve(), args.exchange and args.exchange.resolve()
    course_id = folder.name
    if not COURSE_ID.fullmatch(course_id):
        raise ClassError(_("{id!r} cannot be a course id. Use letters, digits, dots, - and _.", id=course_id))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ClassError(_("{folder} exists and is not empty. Name a new or empty folder.", folder=folder))
    course(args.language)  # raises ClassError while nothing has been created
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    settings, exported = SETTINGS.format(course_id=course_id), f"export GRADLAB_COURSE={course_id}"
    if exchange is not None:
        settings += f"c.Exchange.root = {str(exchange)!r}\n"
        exported += f" GRADLAB_EXCHANGE={exchange}"
    atomic.write_text(folder / CONFIG, settings, mode=0o600)
    speak(folder, args.language)
    open_class(folder)
    print(_("Created the class {id}. Only you can read it. Work there: cd {folder}", id=course_id, folder=folder))
    print(_("If students use nbgrader's exchange, their servers need: {variables}", variables=exported))
