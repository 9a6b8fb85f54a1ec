"""A gradebook in PostgreSQL: its URL, which holds no password, and what to do where it cannot be opened."""

import contextlib
import functools
import getpass
from collections.abc import Callable, Iterator
from typing import Any

import nbgrader.api
from nbgrader.api import Assignment, Gradebook, MissingEntry, Notebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from .errors import ClassError, did_you_mean

FORM = "postgresql+psycopg://USER@HOST/DATABASE"
PASSWORD = (
    "the password:  in the file ~/.pgpass, which only you may read (chmod 600 ~/.pgpass), the line\n"
    "                 {host}:{port}:{database}:{user}:PASSWORD"
)
ADVICE = f"""What it may need:
  the driver:    {FORM} is the form for the one that the course installs
  the server:    sudo systemctl start postgresql; in its pg_hba.conf, a line that lets you in
  the user:      sudo -u postgres createuser --pwprompt {{user}}
  the database:  sudo -u postgres createdb --owner={{user}} {{database}}
  {PASSWORD}
More in grading/POSTGRESQL.md."""


def without_password(gradebook: str) -> str:
    """Return the URL that a configuration gives; ends the program if it is none, or has a password in it.

    Raises SystemExit, because nbgrader shows any other error of its configuration with the line in which it arose, and
    goes on with a gradebook of its own.
    """
    try:
        url = make_url(gradebook)
    except (ArgumentError, ValueError):
        raise SystemExit(f"error: The gradebook must be a URL such as {FORM}; what stands there is none.") from None
    if url.password is not None or "password" in url.query:
        raise SystemExit(
            f"error: The gradebook's URL has a password in it, and URLs end up in messages. Write {_shown(url)}"
            f" and put\n  {PASSWORD.format(**_parts(url))}"
        )
    return gradebook


def find_assignment(book: Gradebook, name: str) -> Assignment:
    """Return an assignment; raises ClassError if the gradebook has none of this name."""
    return _found(book, name, lambda: book.find_assignment(name))


def find_notebook(book: Gradebook, name: str) -> Notebook:
    """Return the notebook of an assignment, which has its name; raises ClassError if the gradebook has none."""
    return _found(book, name, lambda: book.find_notebook(name, name))


def _found(book: Gradebook, name: str, find: Callable[[], Any]) -> Any:
    try:
        return find()
    except MissingEntry:
        meant = did_you_mean(name, [assignment.name for assignment in book.assignments])
        raise ClassError(f"{name} is not in the gradebook: nbgrader generate_assignment {name}.{meant}") from None


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """Let all gradebooks that are opened in this block share one engine for each database.

    nbgrader opens the gradebook eight times for each submission, and SQLAlchemy keeps compiled queries by engine.
    """
    make = nbgrader.api.create_engine
    nbgrader.api.create_engine = functools.cache(make)
    try:
        yield
    finally:
        nbgrader.api.create_engine = make


@contextlib.contextmanager
def needed(course: CourseDirectory) -> Iterator[None]:
    """Raise ClassError, which says what to do, in the place of an error of the gradebook's."""
    try:
        yield
    except SQLAlchemyError as error:
        require(course)
        raise ClassError(f"The gradebook could not be written: {error}") from error


def require(course: CourseDirectory) -> None:
    """Open the gradebook once, which makes its tables if it is new; raises ClassError if that fails."""
    try:
        Gradebook(course.db_url, course.course_id).close()
    except (SQLAlchemyError, ImportError) as error:
        url = make_url(course.db_url)
        reason = "\n  ".join(str(getattr(error, "orig", None) or error).strip().splitlines())
        advice = ADVICE.format(**_parts(url)) if url.drivername.startswith("postgres") else ""
        raise ClassError(f"The gradebook {_shown(url)} cannot be opened:\n  {reason}\n{advice}".rstrip()) from None


def _shown(url: URL) -> str:
    return url._replace(password=None, query={}).render_as_string()


def _parts(url: URL) -> dict[str, str]:
    user = url.username or getpass.getuser()
    defaults = {"host": "localhost", "port": "5432", "database": user, "user": user}
    return {name: str(getattr(url, name, None) or default) for name, default in defaults.items()}
