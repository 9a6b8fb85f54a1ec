"""Whose fault an error is: the submission's, which then could not be graded, or that of the class and its machine."""

import errno
import logging
import traceback
from pathlib import Path

from nbformat import ValidationError
from nbformat.reader import NotJSONError
from sqlalchemy.exc import DataError, SQLAlchemyError
from traitlets import TraitError

from authoring.places import ChapterError

from ..errors import ClassError, SubmissionError
from .files import readable, without_paths

LOG = logging.getLogger(__name__)

# What no submission can bring about: the class is not ready, its gradebook is gone, a plugin is missing
OF_THE_CLASS = (ClassError, ChapterError, SQLAlchemyError)
OF_ITS_SETTINGS = (ImportError, TraitError)
OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
LONGEST = 500  # characters of a reason
FORBIDDEN = {errno.EACCES, errno.EPERM}


def reason_for(error: BaseException, folder: Path) -> str:
    """Why the submission in `folder` could not be graded, in words for its student; what nobody expected is logged.

    Raises the error again, or a ClassError in its place, if it is not the submission's fault: everyone's would fail on
    it.
    """
    if isinstance(error, SubmissionError):
        return without_paths(str(error))
    if isinstance(error, NotJSONError):
        return "the notebook file is not valid JSON; it was probably cut off or edited by hand."
    if isinstance(error, ValidationError | UnicodeDecodeError):
        return no_notebook(error)
    if isinstance(error, OF_THE_CLASS) and not isinstance(error, DataError):
        raise error
    if isinstance(error, OF_ITS_SETTINGS):
        raise ClassError(f"The class's nbgrader_config.py names what cannot be used: {error}") from error
    if isinstance(error, OSError) and _of_the_machine(error, folder):
        raise ClassError(
            f"This machine does not let a submission be graded: {error}. Mend it, then go on with --resume."
        ) from error
    trace = "\n".join(map(readable, "".join(traceback.format_exception(error)[-40:]).splitlines()))
    LOG.error("%s: grading should have foreseen this. Please report it, with these lines:\n%s", readable(folder), trace)
    return f"{type(error).__name__}: {_first_line(error)}"


def no_notebook(error: Exception) -> str:
    """What to say of a file that is not what a notebook is."""
    return f"the file is not a notebook that Jupyter can read ({type(error).__name__}: {_first_line(error)})."


def _of_the_machine(error: OSError, folder: Path) -> bool:
    handed_in = error.filename is not None and Path(str(error.filename)).is_relative_to(folder)
    return error.errno in OF_THE_DISK or (error.errno in FORBIDDEN and not handed_in)


def _first_line(error: BaseException) -> str:
    return readable(without_paths(next(iter(str(error).splitlines()), "")))[:LONGEST]
