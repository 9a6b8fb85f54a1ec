"""Fixtures of the grading tests."""

import functools
import os

import nbformat
import nbgrader.api
import pytest
import tiny_class

from autograder.sandbox.machine import SandboxError, require


@pytest.fixture(scope="session", autouse=True)
def sandbox():
    """Skip with the advice if no sandbox can be created; fail if CI=true."""
    try:
        require()
    except SandboxError as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))


@pytest.fixture(scope="session", autouse=True)
def one_alembic():
    """Let nbgrader query alembic for its table version once, instead of for each new gradebook."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", functools.cache(nbgrader.api.get_alembic_version))
        yield


@pytest.fixture
def tiny(tmp_path):
    """A class with the tiny chapter, without students."""
    return tiny_class.TinyClass(tmp_path / "class")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a function that writes the tiny chapter of a course, which has only this one."""

    def write(notebook) -> None:
        path = tmp_path / "course" / tiny_class.NAME / f"{tiny_class.NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)

    monkeypatch.setattr("authoring.places.SOURCES", tmp_path / "course")
    return write


@pytest.fixture
def said(capsys):
    """Return a function that runs a command on a class, which must end with `code`, and returns what it prints.

    With the code 1, the error follows.
    """

    def said(tiny, *words, code=0):
        capsys.readouterr()
        assert tiny.command(*words) == code
        printed = capsys.readouterr()
        return printed.out + printed.err if code else printed.out

    return said
