"""Decide whether the submission, the class or the machine is at fault for an error."""

import errno
import logging
import traceback
from pathlib import Path

from nbformat import ValidationError
from sqlalchemy.exc import DataError, SQLAlchemyError
from traitlets import TraitError

from authoring.places import ChapterError
from gradlab.ipynb import Unreadable
from gradlab.words import _

from ..errors import ClassError, SubmissionError
from .files import readable, without_paths

LOG = logging.getLogger(__name__)

# Errors that no submission can cause: the class is not ready, its gradebook is gone, a plugin is missing
OF_THE_CLASS = (ClassError, ChapterError, SQLAlchemyError)
OF_ITS_SETTINGS = (ImportError, TraitError)
OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
LONGEST = 500  # characters of an error's text in a reason
FORBIDDEN = {errno.EACCES, errno.EPERM}


def reason_for(error: BaseException, folder: Path) -> str:
    """Return why the submission in `folder` could not be graded, worded for its student; log unexpected errors.

    Raises the error again, or a ClassError, if it is not the submission's fault and would affect every submission.
    """
    if isinstance(error, SubmissionError):
        return without_paths(str(error))
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, ValidationError):
        return no_notebook(error)
    if isinstance(error, OF_THE_CLASS) and not isinstance(error, DataError):
        raise error
    if isinstance(error, OF_ITS_SETTINGS) or (isinstance(error, OSError) and _of_the_machine(error, folder)):
        why = _("This class cannot be graded on this machine: {error}. Fix this, then grade again.", error=error)
        raise ClassError(why) from error
    trace = "\n".join(map(readable, "".join(traceback.format_exception(error)[-40:]).splitlines()))
    said = _("{folder}: unexpected error in grading. Please report it with these lines:", folder=readable(folder))
    LOG.error("%s\n%s", said, trace)
    return f"{type(error).__name__}: {_first_line(error)}"


def no_notebook(error: Exception) -> str:
    """Return the reason to give when a file is not a notebook."""
    why = f"{type(error).__name__}: {_first_line(error)}"
    return _("the file is not a notebook that Jupyter can read ({why}).", why=why)


def _of_the_machine(error: OSError, folder: Path) -> bool:
    in_submission = error.filename is not None and Path(str(error.filename)).is_relative_to(folder)
    return error.errno in OF_THE_DISK or (error.errno in FORBIDDEN and not in_submission)


def _first_line(error: BaseException) -> str:
    return readable(without_paths(next(iter(str(error).splitlines()), "")))[:LONGEST]
