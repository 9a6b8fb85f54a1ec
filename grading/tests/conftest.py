"""Fixtures of the grading tests."""

import functools
import os

import nbgrader.api
import pytest
import tiny_class

from autograder.sandbox.machine import SandboxError, require


@pytest.fixture(scope="session", autouse=True)
def sandbox():
    """Skip where no sandbox can be made, with the advice; fail where CI=true."""
    try:
        require()
    except SandboxError as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(error))


@pytest.fixture(scope="session", autouse=True)
def threads():
    """Close the Dask threads on which tiny classes are graded, where a test has started them."""
    yield
    if tiny_class.threads.cache_info().currsize:
        tiny_class.threads().close()


@pytest.fixture(scope="session", autouse=True)
def one_alembic():
    """Let nbgrader start alembic once, and not for each new gradebook, to be told the version of its tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", functools.cache(nbgrader.api.get_alembic_version))
        yield
