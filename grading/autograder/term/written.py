"""Dates as people write them."""

from datetime import UTC, datetime

from ..errors import ClassError
from ..steps.files import readable

NONE = "none"
FORM = '"2026-11-02 18:00", or with a time zone "2026-11-02 18:00+01:00", or "2026-11-02" for the end of that day'


def read_date(text: str) -> datetime | None:
    """Read a date in UTC, without time zone, as nbgrader keeps it; None for `none`.

    What states no time zone is in that of this machine; a date alone means the end of its day. Raises ClassError.
    """
    if text.strip().casefold() == NONE:
        return None
    try:
        date = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-11-02"):
            date = date.replace(hour=23, minute=59, second=59)
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise ClassError(f"{readable(text)!r} is no date. Expected {FORM}, or {NONE!r}.") from None


def local(date: datetime) -> str:
    """A date of the gradebook's in the time of this machine."""
    return f"{date.replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M:%S %Z}"
