"""Release an assignment to students, in nbgrader's exchange and as an archive."""

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from gradlab.words import _

from ..class_chapters import contents
from ..errors import require_success
from ..run import return_feedback
from ..run.lock import only_run
from . import platforms


def generate(api: NbGraderAPI, name: str) -> bool:
    """Generate an assignment unless it already exists; return whether it was new. Raises ClassError on failure."""
    course = api.coursedir
    with Gradebook(course.db_url, course.course_id) as book:
        if name in [assignment.name for assignment in book.assignments] and _folder(api, name).is_dir():
            return False
    with only_run(Path(course.root)):
        require_success(api.generate_assignment(name), _("{assignment} could not be generated", assignment=name))
    return True


def put_into_exchange(api: NbGraderAPI, name: str) -> bool:
    """Release an assignment in nbgrader's exchange; return False if there is none. Raises ClassError on failure."""
    if return_feedback.exchange(api) is None:
        return False
    api.update_config(Config({"ExchangeReleaseAssignment": {"force": True}}))
    said = api.release_assignment(name)
    require_success(said, _("{assignment} could not be released in the exchange", assignment=name))
    return True


def pack(api: NbGraderAPI, name: str) -> Path:
    """Pack an assignment's released files, in a folder named after it, into an archive; return its path."""
    path = platforms.folder(api.coursedir) / f"{name}.zip"
    files = sorted(contents(_folder(api, name)).items())
    platforms.pack(path, {f"{name}/{inside.as_posix()}": data for inside, data in files}, mode=0o644)
    return path


def _folder(api: NbGraderAPI, name: str) -> Path:
    return Path(api.coursedir.format_path(api.coursedir.release_directory, ".", name))
