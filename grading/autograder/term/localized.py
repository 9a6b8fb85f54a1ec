"""Read dates as Moodle writes them, in the languages of LANGUAGES.

The names of months and days are from Unicode's CLDR, as in Moodle. Its form of a date is each language pack's
strftimedaydatetime, such as "%A, %d %B %Y, %I:%M %p", in the United States "%A, %B %d, %Y, %I:%M %p", and in German
"%A, %d. %B %Y, %H:%M".
"""

import contextlib
import functools
import re
import unicodedata
from datetime import date, datetime, time

from babel.dates import get_day_names, get_month_names

LANGUAGES = ["en", "es", "pt", "de", "fr", "it", "nl", "pl", "ru", "ja", "zh"]

# An hour with one digit and no AM or PM could be on either clock, and 03/04/2026 could be in March or in April, so
# both are not read.
_TIME = r"(?:(?P<hour>\d\d):|(?P<hour12>\d{1,2}):(?=[\d:]+ ?[ap]))(?P<minute>\d\d)(?::(?P<second>\d\d))?"
_TIME += r"(?: ?(?P<half>[ap])\.? ?m\.?)?"
_WEEKDAY, _YEAR = r"(?:(?P<weekday>[^\W\d][\w-]*)\.?,? )?", r"(?P<year>\d{4})"
FORMS = [
    re.compile(rf"{_WEEKDAY}(?P<day>\d\d?)\.?(?: de)? (?P<month>[^\W\d]+)\.?,?(?: de)? {_YEAR},?(?: [àa]s?)? {_TIME}"),
    re.compile(rf"{_WEEKDAY}(?P<month>[^\W\d]+)\.? (?P<day>\d\d?),? {_YEAR},? {_TIME}"),
    re.compile(rf"{_YEAR}年 ?(?P<month>\d\d?)月 ?(?P<day>\d\d?)日 ?\(?(?P<weekday>[^\W\d]+)?\)? {_TIME}"),
    re.compile(rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR},? {_TIME}"),
]


def read_localized(text: str) -> datetime | None:
    """Return the date and time that text states, without a time zone unless it states one; None if that is unclear.

    A date is unclear if its form is unknown, if its month is a different one in two languages, or if its day of the
    week is wrong.
    """
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(text) if ":" in text else None
    matches = [match for form in FORMS if (match := form.fullmatch(text.casefold()))]
    dates = {read for match in matches for language in LANGUAGES if (read := _read(match, language))}
    return dates.pop() if len(dates) == 1 else None


def _read(match: re.Match, language: str) -> datetime | None:
    """Return the date of a match, if its names are those of a language and it exists; else None."""
    months, weekdays = _names(language)
    hour, half, weekday = int(match["hour"] or match["hour12"]), match["half"], match.groupdict().get("weekday")
    month = match["month"]
    try:
        day = date(int(match["year"]), int(month) if month.isdecimal() else months[month], int(match["day"]))
        if (half and not 1 <= hour <= 12) or (weekday and weekdays[weekday] != day.weekday()):
            return None
        hour = hour % 12 + 12 * (half == "p") if half else hour
        return datetime.combine(day, time(hour, int(match["minute"]), int(match["second"] or 0)))
    except (KeyError, ValueError):
        return None


@functools.cache
def _names(language: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return a language's names of months, from 1, and of days, from Monday as 0: full and short, in both cases."""
    numbered = []
    for get in (get_month_names, get_day_names):
        kinds = [get(width, kind, language) for width in ("wide", "abbreviated") for kind in ("format", "stand-alone")]
        numbered.append({name.casefold().rstrip("."): number for names in kinds for number, name in names.items()})
    return numbered[0], numbered[1]
