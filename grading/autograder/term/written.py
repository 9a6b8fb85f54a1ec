"""Parse dates that people wrote."""

from datetime import UTC, datetime

from gradlab.words import N_, _

from ..errors import ClassError
from ..steps.files import readable

NONE = "none"
FORM = N_('"2026-11-02 18:00", with a time zone "2026-11-02 18:00+01:00", "2026-11-02" for the end of the day, or none')


def read_date(text: str) -> datetime | None:
    """Parse a date into naive UTC, as nbgrader stores it; return None for "none".

    Without a time zone, this machine's applies; without a time, the date means the end of that day. Raises ClassError
    if the text is not a date.
    """
    text = text.strip()
    if text.casefold() == NONE:
        return None
    try:
        date = datetime.fromisoformat(text)
        if len(text) <= len("2026-11-02"):
            date = date.replace(hour=23, minute=59, second=59)
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        problem = _("{text!r} is not a date. Expected {form}.", text=readable(text), form=_(FORM))
        raise ClassError(problem) from None
