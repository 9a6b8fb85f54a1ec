"""Submissions of a learning platform's archive, put where nbgrader looks for them, each under its student's id."""

import lzma
import re
import shutil
import tempfile
import unicodedata
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, did_you_mean
from ..run.interrupts import uninterrupted
from ..run.journal import only_run
from ..settings import class_api
from ..steps import receipt
from ..steps.files import readable
from .archives import Archive, HandedIn, look_into
from .people import Found, People, each_once
from .worksheet import Worksheet

NEW, REPLACED, UNCHANGED, KEPT, REFUSED = "new", "replaced", "unchanged", "another is there", "not imported"
DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, zlib.error, lzma.LZMAError)
RECEIPTS = {receipt.TIMESTAMP, receipt.SECRET}


@dataclass(frozen=True)
class Imported:
    """What became of what one person handed in: who that is in the class, NEW … REFUSED, and what else to say."""

    who: str
    state: str
    said: str = ""
    late: bool = False


@dataclass(frozen=True)
class Import:
    """What became of an archive: of each person's part, of members of nobody; whether people were found by name."""

    done: list[Imported]
    others: list[str]
    by_name: bool


def import_submissions(
    folder: Path,
    name: str,
    archive: Path,
    platform: str = "",
    worksheet: Path | None = None,
    update: bool = False,
    late_at: datetime | None = None,
) -> Import:
    """Put the submissions of an archive into `submitted/`, each under the id of its student.

    worksheet: Moodle's, which says who is who and when each was handed in. update: replace other submissions that are
    there. late_at: when those that Canvas marks LATE count as handed in, in UTC. Raises ClassError, before anything
    is written, if archive, worksheet or class cannot be used.
    """
    api = class_api(folder)
    course = api.coursedir
    gradebook.require(course)
    sheet = Worksheet(worksheet) if worksheet else None
    with only_run(folder), _opened(archive) as opened:
        held = look_into(opened, platform)
        if sheet and held.platform != "moodle":
            raise ClassError("A worksheet says who is who in Moodle's archives; this one is Canvas's.")
        with Gradebook(course.db_url, course.course_id) as book:
            _require_assignment(book, name)
            found = _who(held, People(book.students), sheet)
        done = []
        with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as temporary:
            for number, (one, who) in enumerate(zip(held.handed_in, found, strict=True)):
                place = Path(temporary, str(number), name)
                time = sheet.handed_in(sheet.rows[one.number]) if sheet and one.number in sheet.rows else None
                time = late_at if one.late and late_at else time
                done.append(_import(course, opened, one, who, place, time, update))
    by_name = held.platform == "moodle" and sheet is None
    return Import(sorted(done, key=lambda imported: imported.who), held.others, by_name)


def _opened(path: Path) -> ZipFile:
    try:
        return ZipFile(path)
    except (BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise ClassError(f"Nothing was imported: {path} is no zip archive that can be read ({error}).") from error


def _require_assignment(book: Gradebook, name: str) -> None:
    try:
        book.find_assignment(name)
    except MissingEntry:
        meant = did_you_mean(name, [assignment.name for assignment in book.assignments])
        raise ClassError(f"{name} is not in the gradebook: nbgrader generate_assignment {name}.{meant}") from None


def _who(held: Archive, people: People, sheet: Worksheet | None) -> list[Found]:
    """Who each person of an archive is, in order."""

    def find(one: HandedIn) -> Found:
        if held.platform == "canvas":
            return _of_canvas(one, people)
        if sheet is None:
            return people.find(name=one.name)
        if one.number in sheet.rows:
            return sheet.find(sheet.rows[one.number], people)
        return Found("", f"no Identifier of the worksheet ends in {one.number}")

    return each_once([find(one) for one in held.handed_in])


def _of_canvas(one: HandedIn, people: People) -> Found:
    """Who a part of one of Canvas's archives belongs to: a student with its number whose name agrees.

    People choose what Canvas calls them, and with a name such as `x_1001_99` the number that seems to be theirs.
    """
    found = people.find(number=one.number)
    if not found.student:
        return found
    if not people.named(found.student, one.name):
        return Found("", f"the number is that of {found.student}, whose name in the roster is a different one")
    others = sorted(filter(None, (people.find(number=number).student for number in one.numbers)))
    if others:
        return Found("", f"its name could be that of {found.student} or of {' or '.join(others)}")
    return found


def _import(
    course: CourseDirectory,
    archive: ZipFile,
    one: HandedIn,
    found: Found,
    place: Path,
    time: datetime | None,
    update: bool,
) -> Imported:
    if not found.student or one.why:
        who = f"{found.student}, {one.who}" if found.student else one.who
        return Imported(readable(who), REFUSED, one.why or found.why)
    if found.student in dropped(course):
        return Imported(found.student, REFUSED, "was dropped from the class")
    files, said = _named(one, place.name)
    why = _unpack(archive, files, place)
    if why:
        return Imported(found.student, REFUSED, why)
    target = Path(course.format_path(course.submitted_directory, found.student, place.name))
    state = _compare(target, place, course, update)
    if state in (NEW, REPLACED):
        if time:
            atomic.write_text(place / receipt.TIMESTAMP, _stamp(time))
        with uninterrupted():
            target.parent.mkdir(parents=True, exist_ok=True)
            if state == REPLACED:
                target.rename(place.parent / "before")
            place.rename(target)
    elif state == UNCHANGED and time and receipt.timestamp(target) is None:
        atomic.write_text(target / receipt.TIMESTAMP, _stamp(time))
    return Imported(found.student, state, said, one.late)


def _compare(target: Path, place: Path, course: CourseDirectory, update: bool) -> str:
    if not target.exists() and not target.is_symlink():
        return NEW
    ignored = [*course.ignore, *RECEIPTS]
    if receipt.fingerprint(target, ignored) == receipt.fingerprint(place, ignored):
        return UNCHANGED
    return REPLACED if update else KEPT


def _named(one: HandedIn, name: str) -> tuple[dict[str, ZipInfo], str]:
    """The files under the names they were released with, and what was renamed.

    The receipts of nbgrader's exchange are nothing that a student hands in. A notebook may bear what a browser or
    Canvas puts behind a name that there was before: `NAME-1.ipynb`, `NAME (1).ipynb`. Of several the newest counts.
    """
    files = {path: info for path, info in one.files.items() if path.casefold() not in RECEIPTS}
    again = re.compile(rf"{re.escape(unicodedata.normalize('NFC', name))}(?:[-_]\d+| ?\(\d+\))?\.ipynb")
    candidates = [path for path in files if again.fullmatch(path)]
    wanted = f"{name}.ipynb"
    if one.order:
        candidates.sort(key=lambda path: one.order[path])
    elif wanted in candidates or len(candidates) > 1:  # which of Moodle's is the newest, nothing says
        return files, ""
    if not candidates or candidates == [wanted]:
        return files, ""
    newest = candidates[-1]
    chosen = {path: info for path, info in files.items() if path not in candidates} | {wanted: files[newest]}
    left = [path for path in candidates if path != newest]
    said = [f"{readable(newest)} was renamed"] * (newest != wanted) + [f"{readable(path)} is older" for path in left]
    return chosen, "; ".join(said)


def _unpack(archive: ZipFile, files: dict[str, ZipInfo], place: Path) -> str:
    """Write files into a new folder; returns why that cannot be, else ""."""
    place.mkdir(parents=True)
    for path, info in files.items():
        target = place / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as member, target.open("xb") as file:
                shutil.copyfileobj(member, file)  # no more than the size that was looked at
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            return f"{readable(path)[:200]} is there twice, as file or folder"
        except DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the disk
            return f"{readable(path)[:200]} is damaged in the archive ({error})"
    return ""


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S.%f} UTC"
