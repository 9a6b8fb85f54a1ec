"""Import submissions from a learning platform's archive into nbgrader's folders."""

import lzma
import re
import shutil
import tempfile
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

import nbformat
from nbformat import from_dict
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic, ipynb
from gradlab.ipynb import Unreadable
from gradlab.returned import Release
from gradlab.words import N_, _

from .. import gradebook
from ..dropped import dropped
from ..errors import ClassError, SubmissionError
from ..run.lock import only_run
from ..settings import open_class
from ..steps import receipt
from ..steps.assignment import Released
from ..steps.due import compose_names
from ..steps.files import RECEIPTS, composed, readable, unfit
from ..steps.sanitise import require_ours
from .archives import TEST_STUDENT, Archive, Upload, look_into
from .dates import Dates, extend_all
from .people import Match, People, each_once
from .sent import Sent, keep
from .worksheet import Stated, Worksheet

NEW, REPLACED, UNCHANGED = N_("new"), N_("replaced"), N_("unchanged")
KEPT, REFUSED, PASSED_OVER = "kept", "not imported", "ignored"
DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, zlib.error, lzma.LZMAError)
MOST_READ = 5_000_000  # bytes of a notebook to search for cells


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

    by_name: whether students were matched by name only. extensions: what Moodle's worksheet states, in UTC by student.
    dates: the class's dates with them.
    """

    done: list[Imported]
    others: list[str]
    by_name: bool
    extensions: dict[str, datetime]
    dates: Dates | None


def import_submissions(
    folder: Path,
    name: str,
    archive: Path,
    worksheet: Path | None = None,
    update: bool = False,
    late_at: datetime | None = None,
    dry_run: bool = False,
) -> Import:
    """Put an archive's submissions into `submitted/`, each under its student's id.

    worksheet: Moodle's, with ids and submission times. update: replace existing submissions that differ. late_at: the
    time of submissions that Canvas marks LATE, in UTC. dry_run: change nothing. Raises
    ClassError, before writing anything, if the archive, the worksheet or the class cannot be used.
    """
    course = open_class(folder).coursedir
    sheet = Worksheet(worksheet) if worksheet else None
    with only_run(folder), _opened(archive) as opened:
        held = look_into(opened)
        if sheet and held.platform != "moodle":
            raise ClassError(_("A worksheet is for Moodle's archives, but this archive is from Canvas."))
        with Gradebook(course.db_url, course.course_id) as book:
            people, release = People(book.students), _release(course, book, name)
            matches = _matches(held, people, sheet)
            stated, extended = dict[str, Stated](), dict[str, datetime]()
            if sheet:
                stated = {number: sheet.stated(row) for number, row in sheet.rows.items()}
                late = {number: entry.until for number, entry in stated.items() if entry.until}
                extended = {sheet.find(sheet.rows[number], people).student: until for number, until in late.items()}
                extended.pop("", None)
        if not dry_run:
            compose_names(course)
        done, kept = [], {}
        with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as temporary:
            for number, (upload, match) in enumerate(zip(held.uploads, matches, strict=True)):
                unpacked = Path(temporary, str(number), name)
                of_sheet = stated.get(upload.number, Stated())
                time = late_at if upload.late else of_sheet.submitted_at
                if of_sheet.draft and match.student and not upload.why:
                    done.append(Imported(match.student, PASSED_OVER, _("a draft in Moodle, which was not submitted")))
                    continue
                untimed = (of_sheet.said or _("no date")) if sheet else _("late") * upload.late
                if not match.student and held.platform == "canvas" and upload.name.casefold() == TEST_STUDENT:
                    done.append(Imported(upload.who, PASSED_OVER, _("Canvas's Test Student")))
                    continue
                imported = _import(course, opened, upload, match, unpacked, time, untimed, update, release, dry_run)
                done.append(imported)
                if imported.state != REFUSED:
                    file = str(max(upload.order.values())) if upload.order else ""
                    kept[match.student] = Sent(held.platform, upload.number, upload.name, file)
        if kept and not dry_run:
            keep(course, name, kept)
    by_name = held.platform == "moodle" and sheet is None
    dates = extend_all(folder, name, extended) if extended and not dry_run else None
    return Import(sorted(done, key=lambda imported: imported.who), held.others, by_name, extended, dates)


def _opened(path: Path) -> ZipFile:
    try:
        return ZipFile(path)
    except (BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise ClassError(_("{file} is not a readable zip archive ({error}).", file=path, error=error)) from error


def _release(course: CourseDirectory, book: Gradebook, name: str) -> Release:
    """Return the released cells; raise ClassError if the gradebook has no such assignment of the course."""
    path = Path(course.format_path(course.release_directory, ".", name), f"{name}.ipynb")
    nb = nbformat.read(path, as_version=4) if path.exists() else nbformat.v4.new_notebook()
    return Release(Released.of(gradebook.find_notebook(book, name), nb).cells)


def _matches(held: Archive, people: People, sheet: Worksheet | None) -> list[Match]:
    """Return the matching student for each upload in an archive, in order; `sheet` is Moodle's worksheet."""

    def find(upload: Upload) -> Match:
        if held.platform == "canvas":
            return _of_canvas(upload, people)
        if sheet is None:
            return people.find(name=upload.name)
        if upload.number in sheet.rows:
            return sheet.find(sheet.rows[upload.number], people)
        return Match("", _("no Identifier in the worksheet ends in {number}", number=upload.number))

    return each_once([find(upload) for upload in held.uploads])


def _of_canvas(upload: Upload, people: People) -> Match:
    """Match a Canvas upload to the student with its number, if the name in the file name fits the roster too.

    Students can choose their Canvas name, so a name such as `x_1001_99` could fake a number.
    """
    match = people.find(number=upload.number)
    if not match.student:
        return match
    if not people.named(match.student, upload.name):
        return Match("", _("{student} has the number, but a different name in the roster", student=match.student))
    others = sorted(filter(None, (people.find(number=number).student for number in upload.numbers)))
    if others:
        return Match("", _("the file could be from {students}", students=", ".join([match.student, *others])))
    return match


def _import(
    course: CourseDirectory,
    archive: ZipFile,
    upload: Upload,
    match: Match,
    unpacked: Path,
    time: datetime | None,
    untimed: str,
    update: bool,
    release: Release,
    dry_run: bool,
) -> Imported:
    if not match.student or upload.why:
        who = f"{match.student}, {upload.who}" if match.student else upload.who
        return Imported(readable(who), REFUSED, upload.why or match.why)
    if match.student in dropped(course):
        return Imported(match.student, REFUSED, _("was dropped from the class"))
    files, said = _named(upload, unpacked.name, archive, release)
    receipts = [path for path in files if path.casefold() in RECEIPTS]  # a student could fake them
    said = "; ".join([*filter(None, [said]), *(_("{file} was ignored", file=readable(path)) for path in receipts)])
    files = {path: info for path, info in files.items() if path not in receipts}
    why = _unpack(archive, files, unpacked)
    if why:
        return Imported(match.student, REFUSED, why)
    target = Path(course.format_path(course.submitted_directory, match.student, unpacked.name))
    state = _compare(target, unpacked, course, update)
    refusal = unfit(unpacked, unpacked.name) or _refusal((unpacked / f"{unpacked.name}.ipynb").read_bytes(), release)
    timed = time or (state in (UNCHANGED, KEPT) and receipt.timestamp(target))
    imported = Imported(match.student, state, said, refusal, "" if timed else untimed)
    if dry_run:
        return imported
    if state in (NEW, REPLACED):
        if time:
            atomic.write_text(unpacked / receipt.TIMESTAMP, receipt.stamp(time))
        atomic.put_folder(unpacked, target, unpacked.parent / "before")
    elif state == UNCHANGED and time and receipt.timestamp(target) is None:
        atomic.write_text(target / receipt.TIMESTAMP, receipt.stamp(time))
    return imported


def _compare(target: Path, unpacked: Path, course: CourseDirectory, update: bool) -> str:
    if not target.exists() and not target.is_symlink():
        return NEW
    ignored = [*course.ignore, *RECEIPTS]
    if receipt.fingerprint(target, ignored) == receipt.fingerprint(unpacked, ignored):
        return UNCHANGED
    return REPLACED if update else KEPT


def _refusal(notebook: bytes, release: Release) -> str:
    """Return why grading will refuse a notebook; "" if it will not."""
    try:
        require_ours(from_dict(ipynb.read(notebook)), release)
    except (Unreadable, SubmissionError) as error:
        return str(error)
    return ""


def _named(upload: Upload, name: str, archive: ZipFile, release: Release) -> tuple[dict[str, ZipInfo], str]:
    """Return an upload's files by path, with the notebook under its released name, and what was chosen, as text.

    Considers notebooks that contain released cells, or have the released name, even with a suffix that browsers and
    platforms add to repeated names, such as `NAME-1.ipynb` and `NAME (1).ipynb`. A notebook whose released cells are
    unchanged counts only if all are; then the newest counts, by Canvas's number, or else by the number in its name.
    """
    files, wanted = upload.files, f"{name}.ipynb"
    notebooks = [path for path in files if path.casefold().endswith(".ipynb") and not _HIDDEN.search(path)]
    if notebooks in ([], [wanted]):
        return files, ""
    again = re.compile(rf"{re.escape(composed(name))}(?:[-_](\d+)| ?\((\d+)\))?\.ipynb")
    numbers = {path: int("0" + "".join(filter(None, n.groups()))) for path in notebooks if (n := again.fullmatch(path))}
    states = {path: _in(archive, files[path], release) for path in notebooks}
    candidates = [path for path in notebooks if path in numbers or states[path][0]]
    if not candidates:
        return files, ""
    answered = [path for path in candidates if states[path] != (True, False)] or candidates
    chosen = max(answered, key=lambda path: (upload.order.get(path), numbers.get(path, -1), path))
    others = [path for path in candidates if path != chosen]
    said = {chosen: RENAMED if chosen in numbers else OURS} if chosen != wanted else {}
    said |= {path: NO_ANSWERS if path not in answered else OLDER if upload.order else UNKNOWN for path in others}
    top = "" if chosen in numbers else chosen[: chosen.rfind("/") + 1]
    rest = {path: info for path, info in files.items() if path not in candidates}
    inside = {path.removeprefix(top): info for path, info in rest.items() if path.startswith(top)}
    return inside | {wanted: files[chosen]}, "; ".join(_(what, file=readable(path)) for path, what in said.items())


_HIDDEN = re.compile(r"(^|/)\.")  # such as .ipynb_checkpoints
RENAMED, OURS = N_("{file} was renamed"), N_("{file} was renamed, because it has the released cells")
NO_ANSWERS, OLDER = N_("{file} has no answers"), N_("{file} is older")
UNKNOWN = N_("{file} is ignored, but could be newer: the archive does not say; compare them")


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


def _unpack(archive: ZipFile, files: dict[str, ZipInfo], folder: Path) -> str:
    """Extract files into a new folder; return why that failed, else ""."""
    folder.mkdir(parents=True)
    for path, info in files.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as member, target.open("xb") as file:
                shutil.copyfileobj(member, file)  # zipfile reads no more than the checked size
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            return _("the archive contains {path} twice, as a file or folder", path=readable(path)[:200])
        except DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                error.filename = error.filename or str(target)
                raise  # a disk error, not a damaged archive
            return _("{path} is damaged in the archive ({error})", path=readable(path)[:200], error=error)
    return ""
