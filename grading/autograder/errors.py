"""Errors that are not bugs: an unusable class or machine, or an unusable submission."""

import difflib
from collections.abc import Iterable

from gradlab.words import _


class ClassError(Exception):
    """The class or this machine is not ready. This affects every submission; the message says what to do."""


class SubmissionError(Exception):
    """One submission cannot be graded; the message gives the reason and is written for its student."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean …?" with the known name most like an unknown `name`; "" if none is similar."""
    names = {candidate.casefold(): candidate for candidate in known}
    like = [candidate for candidate in names if candidate.startswith(name.casefold())]
    like = like or difflib.get_close_matches(name.casefold(), names, n=1)
    return " " + _("Did you mean {name}?", name=names[like[0]]) if name and like else ""


def require_success(said: dict | None, failed: str) -> None:
    """Raise ClassError with `failed` and the log if nbgrader's API says that it did not succeed.

    It says nothing, None, where it has no exchange.
    """
    if said is None:
        raise ClassError(f"{failed}: " + _("nbgrader has no exchange on this system."))
    if not said["success"]:
        raise ClassError(f"{failed}:\n{said.get('log') or said.get('error')}")
