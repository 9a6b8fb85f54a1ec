"""Import submissions from a learning platform's archive into nbgrader's folders."""

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

from gradlab import atomic, ipynb
from gradlab.ipynb import Unreadable

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError
from ..run.interrupts import uninterrupted
from ..run.journal import only_run
from ..settings import class_api
from ..steps import receipt
from ..steps.files import RECEIPTS, readable, unfit
from .archives import TEST_STUDENT, Archive, Upload, look_into
from .people import Found, People, each_once
from .sent import Sent, keep
from .tables import key_of, read_table
from .worksheet import Worksheet
from .written import read_date

NEW, REPLACED, UNCHANGED, KEPT, REFUSED = "new", "replaced", "unchanged", "kept", "not imported"
PASSED_OVER = "ignored"
DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, zlib.error, lzma.LZMAError)
TIMES = ["submitted at", "handed in", "submitted", "time", "date"]  # column names in a table of times, best first
MOST_READ = 5_000_000  # bytes of a notebook to search for cells


@dataclass(frozen=True)
class Imported:
    """The result for one person's upload. who: the student. state: NEW, …, PASSED_OVER. said: details to print.

    refusal: why grading will refuse it; it is imported anyway. untimed: whether it is late, but its time is unknown.
    """

    who: str
    state: str
    said: str = ""
    refusal: str = ""
    untimed: bool = False


@dataclass(frozen=True)
class Import:
    """The result of importing an archive. others: members that match no student.

    typed: people who typed text into Canvas instead of submitting a file. by_name: whether students were matched by
    name only.
    """

    platform: str
    done: list[Imported]
    others: list[str]
    typed: list[str]
    by_name: bool


def import_submissions(
    folder: Path,
    name: str,
    archive: Path,
    platform: str = "",
    worksheet: Path | None = None,
    update: bool = False,
    late_at: datetime | Path | None = None,
    dry_run: bool = False,
) -> Import:
    """Put an archive's submissions into `submitted/`, each under its student's id.

    worksheet: Moodle's, with ids and submission times. update: replace existing submissions that differ. late_at: the
    time of submissions that Canvas marks LATE, in UTC, or a table with the times. dry_run: change nothing. Raises
    ClassError, before writing anything, if the archive, the worksheet or the class cannot be used.
    """
    api = class_api(folder)
    course = api.coursedir
    gradebook.require(course)
    sheet = Worksheet(worksheet) if worksheet else None
    with only_run(folder), _opened(archive) as opened:
        held = look_into(opened, platform)
        if sheet and held.platform != "moodle":
            raise ClassError("A worksheet is for Moodle's archives, but this archive is from Canvas.")
        with Gradebook(course.db_url, course.course_id) as book:
            gradebook.find_assignment(book, name)
            people = People(book.students)
            found = _who(held, people, sheet)
            released = _released(book, name)
            times = _times(late_at, people) if isinstance(late_at, Path) else {}
            typed = [_of_canvas(one, people).student or one.who for one in held.typed]
        done, kept = [], {}
        with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as temporary:
            for number, (one, who) in enumerate(zip(held.uploads, found, strict=True)):
                place = Path(temporary, str(number), name)
                time = sheet.submitted_at(sheet.rows[one.number]) if sheet and one.number in sheet.rows else None
                time = late_at if one.late and isinstance(late_at, datetime) else times.get(who.student, time)
                imported = _import(course, opened, one, who, place, time, update, released, dry_run)
                done.append(imported)
                if imported.state not in (REFUSED, PASSED_OVER):
                    file = str(max(one.order.values())) if one.order else ""
                    kept[who.student] = Sent(held.platform, one.number, one.name, file)
        if kept and not dry_run:
            keep(course, name, kept)
    by_name = held.platform == "moodle" and sheet is None
    return Import(held.platform, sorted(done, key=lambda one: one.who), held.others, sorted(typed), by_name)


def _opened(path: Path) -> ZipFile:
    try:
        return ZipFile(path)
    except (BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise ClassError(f"Nothing was imported: {path} is not a readable zip archive ({error}).") from error


def _released(book: Gradebook, name: str) -> set[str]:
    """Return the grade_ids of the released cells; empty if the notebook is not named like the assignment."""
    try:
        return {cell.name for cell in book.find_notebook(name, name).source_cells}
    except MissingEntry:
        return set()


def _times(path: Path, people: People) -> dict[str, datetime]:
    """Read submission times by student from a table with a roster column and one of the TIMES columns.

    Raises ClassError if it has no column of times, or a time is invalid.
    """
    table = read_table(path)
    columns = {key_of(column): column for column in table.columns}
    when = next((columns[key] for key in TIMES if key in columns), None)
    if when is None:
        raise ClassError(f"{path} has no column of times. Expected one of: {', '.join(TIMES)}.")
    found = {}
    for row in table.rows:
        said = {
            key: row.get(columns.get(key, "")) for key in ("id", "sis login id", "email", "email address", "student")
        }
        who = people.find(
            number=said["id"],
            user=said["sis login id"] or said["id"],
            email=said["email address"] or said["email"],
            name=said["student"],
        )
        time = read_date(row.get(when)) if row.get(when) else None
        if who.student and time:
            found[who.student] = time
    return found


def _who(held: Archive, people: People, sheet: Worksheet | None) -> list[Found]:
    """Return the matching student for each upload in an archive, in order; `sheet` is Moodle's worksheet."""

    def find(one: Upload) -> Found:
        if held.platform == "canvas":
            return _of_canvas(one, people)
        if sheet is None:
            return people.find(name=one.name)
        if one.number in sheet.rows:
            return sheet.find(sheet.rows[one.number], people)
        return Found("", f"no Identifier in the worksheet ends in {one.number}")

    return each_once([find(one) for one in held.uploads])


def _of_canvas(one: Upload, people: People) -> Found:
    """Match a Canvas upload to the student with its number, if the name in the file name fits the roster too.

    Students can choose their Canvas name, so a name such as `x_1001_99` could fake a number.
    """
    found = people.find(number=one.number)
    if not found.student:
        return found
    if not people.named(found.student, one.name):
        return Found("", f"the number belongs to {found.student}, who has a different name in the roster")
    others = sorted(filter(None, (people.find(number=number).student for number in one.numbers)))
    if others:
        return Found("", f"the file name could belong to {found.student} or {' or '.join(others)}")
    return found


def _import(
    course: CourseDirectory,
    archive: ZipFile,
    one: Upload,
    found: Found,
    place: Path,
    time: datetime | None,
    update: bool,
    released: set[str],
    dry_run: bool,
) -> Imported:
    if not found.student and one.order and one.name.casefold() == TEST_STUDENT:
        return Imported("Canvas's Test Student", PASSED_OVER)
    if not found.student or one.why:
        who = f"{found.student}, {one.who}" if found.student else one.who
        return Imported(readable(who), REFUSED, one.why or found.why)
    if found.student in dropped(course):
        return Imported(found.student, REFUSED, "was dropped from the class")
    files, said = _named(one, place.name, archive, released)
    why = _unpack(archive, files, place)
    if why:
        return Imported(found.student, REFUSED, why)
    target = Path(course.format_path(course.submitted_directory, found.student, place.name))
    state = _compare(target, place, course, update)
    refusal = unfit(place, place.name) or _another(place / f"{place.name}.ipynb", released)
    imported = Imported(found.student, state, said, refusal, one.late and time is None)
    if dry_run:
        return imported
    if state in (NEW, REPLACED):
        if time:
            atomic.write_text(place / receipt.TIMESTAMP, receipt.stamp(time))
        with uninterrupted():
            target.parent.mkdir(parents=True, exist_ok=True)
            if state == REPLACED:
                target.rename(place.parent / "before")
            place.rename(target)
    elif state == UNCHANGED and time and receipt.timestamp(target) is None:
        atomic.write_text(target / receipt.TIMESTAMP, receipt.stamp(time))
    return imported


def _compare(target: Path, place: Path, course: CourseDirectory, update: bool) -> str:
    if not target.exists() and not target.is_symlink():
        return NEW
    ignored = [*course.ignore, *RECEIPTS]
    if receipt.fingerprint(target, ignored) == receipt.fingerprint(place, ignored):
        return UNCHANGED
    return REPLACED if update else KEPT


def _another(notebook: Path, released: set[str]) -> str:
    """Return why a notebook file is not the released notebook; "" if it is, or if it is too large to check."""
    if not released or notebook.stat().st_size > MOST_READ:
        return ""
    try:
        found = _names_in(notebook.read_bytes())
    except Unreadable as error:
        return str(error)
    return "" if found & released else "it contains none of the released notebook's cells."


def _names_in(notebook: bytes) -> set[str]:
    """Return the grade_ids and the ids of a notebook's cells; raise Unreadable if it is not one."""
    cells = ipynb.read(notebook)["cells"]
    return {name for cell in cells for name in (ipynb.grade_id(cell), cell.get("id")) if name}


def _named(one: Upload, name: str, archive: ZipFile, released: set[str]) -> tuple[dict[str, ZipInfo], str]:
    """Return an upload's files by path, with the notebook under its released name, and what was renamed, as text.

    Removes receipts of nbgrader's exchange. Accepts the suffixes that browsers and Canvas add to repeated names, such
    as `NAME-1.ipynb` and `NAME (1).ipynb`; the newest file counts. A notebook with a different name or folder is
    accepted if it is the only one and contains released cells.
    """
    files = {path: info for path, info in one.files.items() if path.casefold() not in RECEIPTS}
    again = re.compile(rf"{re.escape(unicodedata.normalize('NFC', name))}(?:[-_]\d+| ?\(\d+\))?\.ipynb")
    candidates = [path for path in files if again.fullmatch(path)]
    wanted = f"{name}.ipynb"
    notebooks = [path for path in files if path.casefold().endswith(".ipynb")]
    if not candidates and len(notebooks) == 1 and _has_cells(archive, files[notebooks[0]], released):
        top = notebooks[0].rpartition("/")[0]
        inside = {
            path.removeprefix(f"{top}/"): info for path, info in files.items() if not top or path.startswith(f"{top}/")
        }
        chosen = {path: info for path, info in inside.items() if info is not files[notebooks[0]]}
        return chosen | {
            wanted: files[notebooks[0]]
        }, f"{readable(notebooks[0])} has the released cells and was renamed"
    if one.order:
        candidates.sort(key=lambda path: one.order[path])
    elif wanted in candidates or len(candidates) > 1:  # Moodle does not say which is newest
        return files, ""
    if not candidates or candidates == [wanted]:
        return files, ""
    newest = candidates[-1]
    chosen = {path: info for path, info in files.items() if path not in candidates} | {wanted: files[newest]}
    left = [path for path in candidates if path != newest]
    said = [f"{readable(newest)} was renamed"] * (newest != wanted) + [f"{readable(path)} is older" for path in left]
    return chosen, "; ".join(said)


def _has_cells(archive: ZipFile, info: ZipInfo, released: set[str]) -> bool:
    if info.file_size > MOST_READ:
        return False
    try:
        with archive.open(info) as member:
            return bool(_names_in(member.read(MOST_READ)) & released)
    except DAMAGED:  # among them is Unreadable
        return False


def _unpack(archive: ZipFile, files: dict[str, ZipInfo], place: Path) -> str:
    """Extract files into a new folder; return why that failed, else ""."""
    place.mkdir(parents=True)
    for path, info in files.items():
        target = place / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as member, target.open("xb") as file:
                shutil.copyfileobj(member, file)  # zipfile reads no more than the checked size
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            return f"the archive contains {readable(path)[:200]} twice, as a file or folder"
        except DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                error.filename = error.filename or str(target)
                raise  # a disk error, not a damaged archive
            return f"{readable(path)[:200]} is damaged in the archive ({error})"
    return ""
