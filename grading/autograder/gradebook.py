"""Open the gradebook, in SQLite or PostgreSQL, and turn its errors into advice."""

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
    "the password:  this line in ~/.pgpass, which only you may read (chmod 600 ~/.pgpass)\n"
    "                 {host}:{port}:{database}:{user}:PASSWORD"
)
ADVICE = f"""Check these:
  the driver:    the course installs the one for {FORM}
  the server:    sudo systemctl start postgresql; in its pg_hba.conf, a line that lets you in
  the user:      sudo -u postgres createuser --pwprompt {{user}}
  the database:  sudo -u postgres createdb --owner={{user}} {{database}}
  {PASSWORD}
More in grading/POSTGRESQL.md."""


def without_password(gradebook: str) -> str:
    """Return the configured database URL unchanged.

    Raises SystemExit if it is not a URL or contains a password. After any other exception in its configuration file,
    nbgrader prints the offending line and continues with its default gradebook.
    """
    try:
        url = make_url(gradebook)
    except (ArgumentError, ValueError):
        raise SystemExit(f"error: The gradebook is not a URL. Expected one such as {FORM}.") from None
    if url.password is not None or "password" in url.query:
        raise SystemExit(
            f"error: The gradebook's URL contains a password, and URLs end up in messages. Write {_shown(url)}"
            f" and set\n  {PASSWORD.format(**_parts(url))}"
        )
    return gradebook


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
        raise ClassError(f"{name} is not in the gradebook; run nbgrader generate_assignment {name}.{meant}") from None


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """Let all gradebooks opened in this block share one engine per database.

    nbgrader opens the gradebook eight times per submission, and SQLAlchemy caches compiled queries per engine.
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
        raise ClassError(f"The gradebook could not be written: {error}") from error


def require(course: CourseDirectory) -> None:
    """Open the gradebook once, creating the tables of a new one; raise ClassError if that fails."""
    try:
        Gradebook(course.db_url, course.course_id).close()
    except (SQLAlchemyError, ImportError) as error:
        url = make_url(course.db_url)
        reason = "\n  ".join(str(getattr(error, "orig", None) or error).strip().splitlines())
        advice = ADVICE.format(**_parts(url)) if url.drivername.startswith("postgres") else ""
        raise ClassError(f"The gradebook {_shown(url)} cannot be opened:\n  {reason}\n{advice}".rstrip()) from None


def _shown(url: URL) -> str:
    return url._replace(password=None).set(query={}).render_as_string()


def _parts(url: URL) -> dict[str, str]:
    user = url.username or getpass.getuser()
    defaults = {"host": "localhost", "port": "5432", "database": user, "user": user}
    return {name: str(getattr(url, name, None) or default) for name, default in defaults.items()}
