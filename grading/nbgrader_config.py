"""nbgrader's configuration of the class in grading/class; see autograder/settings.py for all settings."""

from pathlib import Path

from autograder.settings import configure

c = configure(get_config(), Path(__file__).parent / "class")  # noqa: F821 (nbgrader defines get_config)
