"""Import submissions from a learning platform's archive into nbgrader's folders."""

import lzma
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import nbformat
from nbformat import from_dict
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic, ipynb
from gradlab.ipynb import Unreadable
from gradlab.returned import Release

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, SubmissionError
from ..run.interrupts import uninterrupted
from ..run.lock import only_run
from ..settings import open_class
from ..steps import receipt
from ..steps.assignment import Released
from ..steps.due import compose_names
from ..steps.files import RECEIPTS, composed, readable, unfit
from ..steps.sanitise import require_ours
from .archives import TEST_STUDENT, Archive, Upload, look_into
from .dates import Dates, extend_all
from .people import Found, People, each_once
from .sent import Sent, keep
from .tables import key_of, read_table
from .worksheet import Stated, Worksheet
from .written import read_date

NEW, REPLACED, UNCHANGED, KEPT, REFUSED = "new", "replaced", "unchanged", "kept", "not imported"
PASSED_OVER = "ignored"
DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, zlib.error, lzma.LZMAError)
TIMES = ["submitted at", "handed in", "submitted", "time", "date"]  # column names in a table of times, best first
MOST_READ = 5_000_000  # bytes of a notebook to search for cells
APART = timedelta(minutes=1)  # between the times of one person's files, if they are not those of the download


@dataclass(frozen=True)
class Imported:
    """The result for one person's upload. who: the student. state: NEW, …, PASSED_OVER. said: details to print.

    refusal: why grading will refuse it; it is imported anyway. untimed: what the platform says about its time, if that
    is not a time; it then counts as on time.
    """

    who: str
    state: str
    said: str = ""
    refusal: str = ""
    untimed: str = ""


@dataclass(frozen=True)
class Import:
    """The result of importing an archive. others: members that match no student.

    typed: people who typed text into Canvas instead of submitting a file. by_name: whether students were matched by
    name only. extensions: what Moodle's worksheet states, in UTC by student. dates: the class's dates with them.
    """

    platform: str
    done: list[Imported]
    others: list[str]
    typed: list[str]
    by_name: bool
    extensions: dict[str, datetime]
    dates: Dates | None


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
    course = open_class(folder).coursedir
    sheet = Worksheet(worksheet) if worksheet else None
    with only_run(folder), _opened(archive) as opened:
        held = look_into(opened, platform)
        if sheet and held.platform != "moodle":
            raise ClassError("A worksheet is for Moodle's archives, but this archive is from Canvas.")
        with Gradebook(course.db_url, course.course_id) as book:
            gradebook.find_assignment(book, name)
            people = People(book.students)
            found = _who(held, people, sheet)
            release = _release(course, book, name)
            times = _times(late_at, people) if isinstance(late_at, Path) else {}
            typed = [_of_canvas(one, people).student or one.who for one in held.typed]
            stated, extended = dict[str, Stated](), dict[str, datetime]()
            if sheet:
                stated = {number: sheet.stated(row) for number, row in sheet.rows.items()}
                late = {number: one.until for number, one in stated.items() if one.until}
                extended = {sheet.find(sheet.rows[number], people).student: until for number, until in late.items()}
                extended.pop("", None)
        if not dry_run:
            compose_names(course)
        done, kept = [], {}
        with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as temporary:
            for number, (one, who) in enumerate(zip(held.uploads, found, strict=True)):
                place = Path(temporary, str(number), name)
                of_sheet = stated.get(one.number, Stated())
                time = late_at if one.late and isinstance(late_at, datetime) else times.get(who.student)
                time = time or of_sheet.submitted_at
                if of_sheet.draft and who.student and not one.why:
                    done.append(Imported(who.student, PASSED_OVER, "a draft in Moodle, which was not submitted"))
                    continue
                untimed = (of_sheet.said or "no date") if sheet else "late" * one.late
                imported = _import(course, opened, one, who, place, time, untimed, update, release, dry_run)
                done.append(imported)
                if imported.state not in (REFUSED, PASSED_OVER):
                    file = str(max(one.order.values())) if one.order else ""
                    kept[who.student] = Sent(held.platform, one.number, one.name, file)
        if kept and not dry_run:
            keep(course, name, kept)
    by_name = held.platform == "moodle" and sheet is None
    dates = extend_all(folder, name, extended) if extended and not dry_run else None
    done.sort(key=lambda one: one.who)
    return Import(held.platform, done, held.others, sorted(typed), by_name, extended, dates)


def _opened(path: Path) -> ZipFile:
    try:
        return ZipFile(path)
    except (BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise ClassError(f"Nothing was imported: {path} is not a readable zip archive ({error}).") from error


def _release(course: CourseDirectory, book: Gradebook, name: str) -> Release:
    """Return the released cells; none if the notebook is not named like the assignment."""
    path = Path(course.format_path(course.release_directory, ".", name), f"{name}.ipynb")
    try:
        notebook = book.find_notebook(name, name)
    except MissingEntry:
        return Release([])
    nb = nbformat.read(path, as_version=4) if path.exists() else nbformat.v4.new_notebook()
    return Release(Released.of(notebook, nb).cells)


def _times(path: Path, people: People) -> dict[str, datetime]:
    """Read submission times by student from a table with a roster column and one of the TIMES columns.

    Raises ClassError if it has no column of times, or a time is invalid.
    """
    table = read_table(path)
    table.require_once({"id", "sis login id", "email", "email address", "student", *TIMES})
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
    untimed: str,
    update: bool,
    release: Release,
    dry_run: bool,
) -> Imported:
    if not found.student and one.order and one.name.casefold() == TEST_STUDENT:
        return Imported("Canvas's Test Student", PASSED_OVER)
    if not found.student or one.why:
        who = f"{found.student}, {one.who}" if found.student else one.who
        return Imported(readable(who), REFUSED, one.why or found.why)
    if found.student in dropped(course):
        return Imported(found.student, REFUSED, "was dropped from the class")
    files, said = _named(one, place.name, archive, release)
    receipts = [path for path in files if path.casefold() in RECEIPTS]  # a student could fake them
    said = "; ".join([*filter(None, [said]), *(f"{readable(path)} was ignored" for path in receipts)])
    files = {path: info for path, info in files.items() if path not in receipts}
    why = _unpack(archive, files, place)
    if why:
        return Imported(found.student, REFUSED, why)
    target = Path(course.format_path(course.submitted_directory, found.student, place.name))
    state = _compare(target, place, course, update)
    refusal = unfit(place, place.name) or _refusal((place / f"{place.name}.ipynb").read_bytes(), release)
    timed = time or (state in (UNCHANGED, KEPT) and receipt.timestamp(target))
    imported = Imported(found.student, state, said, refusal, "" if timed else untimed)
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


def _refusal(notebook: bytes, release: Release) -> str:
    """Return why grading will refuse a notebook; "" if it will not, or if the assignment's notebook is unknown."""
    try:
        if release.cells:
            require_ours(from_dict(ipynb.read(notebook)), release)
    except (Unreadable, SubmissionError) as error:
        return str(error)
    return ""


def _named(one: Upload, name: str, archive: ZipFile, release: Release) -> tuple[dict[str, ZipInfo], str]:
    """Return an upload's files by path, with the notebook under its released name, and what was chosen, as text.

    Considers notebooks that contain released cells, or have the released name, even with a suffix that browsers and
    platforms add to repeated names, such as `NAME-1.ipynb` and `NAME (1).ipynb`.
    A notebook whose released cells are unchanged counts only if all are; then the newest counts.
    """
    files, wanted = one.files, f"{name}.ipynb"
    notebooks = [path for path in files if path.casefold().endswith(".ipynb") and not _HIDDEN.search(path)]
    if notebooks in ([], [wanted]):
        return files, ""
    again = re.compile(rf"{re.escape(composed(name))}(?:[-_](\d+)| ?\((\d+)\))?\.ipynb")
    numbers = {path: int("0" + "".join(filter(None, n.groups()))) for path in notebooks if (n := again.fullmatch(path))}
    found = {path: _in(archive, files[path], release) for path in notebooks}
    candidates = [path for path in notebooks if path in numbers or found[path][0]]
    if not candidates:
        return files, ""
    answered = [path for path in candidates if found[path] != (True, False)] or candidates
    chosen, known = _newest(one, answered, lambda path: (numbers.get(path, -1), path))
    said = [] if chosen == wanted else [f"{readable(chosen)} {'' if chosen in numbers else _OURS}was renamed"]
    for path in candidates:
        if path != chosen:
            why = "has no answers" if path not in answered else "is older" if known else _UNKNOWN
            said.append(f"{readable(path)} {why}")
    top = "" if chosen in numbers else chosen[: chosen.rfind("/") + 1]
    rest = {path: info for path, info in files.items() if path not in candidates}
    inside = {path.removeprefix(top): info for path, info in rest.items() if path.startswith(top)}
    return inside | {wanted: files[chosen]}, "; ".join(said)


_HIDDEN = re.compile(r"(^|/)\.")  # such as .ipynb_checkpoints
_OURS = "has the released cells and "
_UNKNOWN = "is ignored, but could be newer: the archive does not say; compare them"


def _newest(one: Upload, paths: list[str], otherwise: Callable[[str], Any]) -> tuple[str, bool]:
    """Return the newest of an upload's files, and whether the archive says so; if not, the greatest by `otherwise`.

    Canvas numbers files. Earlier versions of Moodle write when each file was uploaded; newer ones write when they
    packed it, one file after the other, so only times that are APART count.
    """
    if one.order:
        return max(paths, key=one.order.__getitem__), True
    if len(paths) > 1:
        times = {path: _time_of(one.files[path]) for path in paths}
        before, newest = sorted(paths, key=times.__getitem__)[-2:]
        if times[newest] - times[before] >= APART:
            return newest, True
    return max(paths, key=otherwise), len(paths) == 1


def _time_of(info: ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return datetime.min


def _in(archive: ZipFile, info: ZipInfo, release: Release) -> tuple[bool, bool]:
    """Return whether a file is a notebook that grading would accept, and whether it has answers."""
    if info.file_size > MOST_READ:
        return False, False
    try:
        with archive.open(info) as member:
            data = member.read(MOST_READ)
        ours = not _refusal(data, release)
        return ours, ours and bool(release.find(ipynb.read(data)["cells"]).homes)
    except DAMAGED:
        return False, False


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
