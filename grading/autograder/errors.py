"""What can go wrong that is not a mistake in the program."""

import difflib
from collections.abc import Iterable


class ClassError(Exception):
    """The class folder or this machine is not ready; it concerns every submission, and the message says what to do."""


class SubmissionError(Exception):
    """This submission cannot be graded; the message is the reason, written for its student."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to add where a name is not known: the one that it may have been meant to be; "" if none is like it."""
    names = {one.casefold(): one for one in known}
    like = [one for one in names if one.startswith(name.casefold())]
    like = like or difflib.get_close_matches(name.casefold(), names, n=1)
    return f" Did you mean {names[like[0]]}?" if name and like else ""
