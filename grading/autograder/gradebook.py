"""Open the gradebook and turn its errors into ClassErrors."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import nbgrader.api
from nbgrader.api import Assignment, Gradebook, MissingEntry, Notebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from gradlab.words import _

from .errors import ClassError, did_you_mean


def find_assignment(book: Gradebook, name: str) -> Assignment:
    """Return an assignment; raise ClassError if the gradebook has none by this name."""
    return _found(book, name, lambda: book.find_assignment(name))


def find_notebook(book: Gradebook, name: str) -> Notebook:
    """Return an assignment's notebook, which has the same name; raise ClassError if the gradebook has none."""
    return _found(book, name, lambda: book.find_notebook(name, name))


def _found(book: Gradebook, name: str, find: Callable[[], Any]) -> Any:
    try:
        return find()
    except MissingEntry:
        meant = did_you_mean(name, [assignment.name for assignment in book.assignments])
        why = _("{name} is not in the gradebook; run nbgrader generate_assignment {name}.", name=name)
        raise ClassError(why + meant) from None


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """Let all gradebooks opened in this block share one engine per database.

    nbgrader opens the gradebook several times per feedback page, and SQLAlchemy caches compiled queries per engine.
    """
    make = nbgrader.api.create_engine
    nbgrader.api.create_engine = functools.cache(make)
    try:
        yield
    finally:
        nbgrader.api.create_engine = make


@contextlib.contextmanager
def needed(course: CourseDirectory) -> Iterator[None]:
    """Turn a SQLAlchemy error raised in this block into a ClassError that says what to do."""
    try:
        yield
    except SQLAlchemyError as error:
        require(course)
        raise ClassError(_("The gradebook could not be written: {error}", error=error)) from error


def require(course: CourseDirectory) -> None:
    """Open the gradebook once, creating the tables of a new one; raise ClassError if that fails."""
    try:
        Gradebook(course.db_url, course.course_id).close()
    except (SQLAlchemyError, ImportError) as error:
        url = make_url(course.db_url)
        shown = url.set(query={}).render_as_string()  # without its password
        cause = getattr(error, "orig", None) or error
        why = _("The gradebook {url} cannot be opened: {error}", url=shown, error=cause)
        see = "" if url.get_backend_name() == "sqlite" else "\n" + _("See grading/POSTGRESQL.md.")
        raise ClassError(why + see) from None
