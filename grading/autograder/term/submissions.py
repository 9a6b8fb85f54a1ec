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
from ..steps.answer_key import Released
from ..steps.due import compose_names
from ..steps.files import RECEIPTS, composed, readable, unfit
from ..steps.sanitise import require_ours
from . import platforms
from .archives import TEST_STUDENT, Upload, look_into
from .dates import Dates, extend_all
from .people import Match, People, each_once
from .platforms import Sent
from .worksheet import SUBMITTED_AT, Worksheet

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
        if not dry_run:
            compose_names(course)
        done, kept = [], {}
        with tempfile.TemporaryDirectory(dir=course.root, prefix=".import-") as temporary:
            importer = _Importer(course, name, release, opened, Path(temporary), update, dry_run)
            matches = each_once([_match(upload, held.platform, people, sheet) for upload in held.uploads])
            for upload, match in zip(held.uploads, matches, strict=True):
                if sheet and match.student and sheet.is_draft(sheet.rows[upload.number]):
                    said = _("a draft in Moodle, which was not submitted")
                    done.append(Imported(match.student, PASSED_OVER, said))
                elif held.platform == "canvas" and not match.student and upload.name.casefold() == TEST_STUDENT:
                    done.append(Imported(upload.who, PASSED_OVER, _("Canvas's Test Student")))
                else:
                    imported = importer.take(upload, match, *_time(upload, sheet, late_at))
                    done.append(imported)
                    if imported.state != REFUSED:
                        newest = str(max(upload.order.values()))
                        kept[match.student] = Sent(held.platform, upload.number, upload.name, newest)
        if kept and not dry_run:
            platforms.keep(course, name, kept)
    extended = _extensions(sheet, people) if sheet else {}
    dates = extend_all(folder, name, extended) if extended and not dry_run else None
    by_name = held.platform == "moodle" and sheet is None
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


def _match(upload: Upload, platform: str, people: People, sheet: Worksheet | None) -> Match:
    """Match an upload to a student: by the number on Canvas, or by Moodle's worksheet, or else by the full name.

    Students can choose their Canvas name, so a name such as `x_1001_99` could fake a number: it must fit the roster.
    """
    if sheet:
        if upload.number in sheet.rows:
            return sheet.find(sheet.rows[upload.number], people)
        return Match("", _("no Identifier in the worksheet ends in {number}", number=upload.number))
    if platform == "moodle":
        return people.find(name=upload.name)
    match = people.find(lms_user_id=upload.number)
    if not match.student:
        return match
    if not people.named(match.student, upload.name):
        return Match("", _("{student} has the number, but a different name in the roster", student=match.student))
    others = sorted(filter(None, (people.find(lms_user_id=number).student for number in upload.numbers)))
    if others:
        return Match("", _("the file could be from {students}", students=", ".join([match.student, *others])))
    return match


def _extensions(sheet: Worksheet, people: People) -> dict[str, datetime]:
    """Return the ends of the extensions that a worksheet states, in UTC by student."""
    ends = [(sheet.find(row, people).student, sheet.extended_until(row)) for row in sheet.rows.values()]
    return {student: until for student, until in ends if student and until}


def _time(upload: Upload, sheet: Worksheet | None, late_at: datetime | None) -> tuple[datetime | None, str]:
    """Return the time of an upload in UTC, None if it is unknown, and then what the platform says about it."""
    row = sheet.rows.get(upload.number) if sheet else None
    if sheet is None or row is None:
        return (late_at, _("late")) if upload.late else (None, "")
    said = sheet.get(row, SUBMITTED_AT)
    said = f"{said} ({sheet.get(row, 'status')})" if any(map(str.isdigit, said)) else _("no date")
    return sheet.submitted_at(row), said


@dataclass(frozen=True)
class _Importer:
    """Imports uploads of the assignment `name` into a class. temporary: a folder on the class's disk."""

    course: CourseDirectory
    name: str
    release: Release
    archive: ZipFile
    temporary: Path
    update: bool
    dry_run: bool

    def take(self, upload: Upload, match: Match, time: datetime | None, untimed: str) -> Imported:
        """Import an upload for the matching student; see `_time` for its time."""
        why = upload.why or match.why
        if why:
            who = f"{match.student}, {upload.who}" if match.student else upload.who
            return Imported(readable(who), REFUSED, why)
        if match.student in dropped(self.course):
            return Imported(match.student, REFUSED, _("was dropped from the class"))
        files, said = self._named(upload)
        receipts = [path for path in files if path.casefold() in RECEIPTS]  # a student could fake them
        said += [_("{file} was ignored", file=readable(path)) for path in receipts]
        unpacked = Path(tempfile.mkdtemp(dir=self.temporary), self.name)
        why = _unpack(self.archive, {path: info for path, info in files.items() if path not in receipts}, unpacked)
        if why:
            return Imported(match.student, REFUSED, why)
        target = Path(self.course.format_path(self.course.submitted_directory, match.student, self.name))
        state, before = self._compare(target, unpacked), receipt.timestamp(target)
        refusal = unfit(unpacked, self.name) or _refusal((unpacked / f"{self.name}.ipynb").read_bytes(), self.release)
        if not self.dry_run:
            self._put(unpacked, target, state, time)
        timed = time or (before and state in (UNCHANGED, KEPT))
        return Imported(match.student, state, "; ".join(said), refusal, "" if timed else untimed)

    def _compare(self, target: Path, unpacked: Path) -> str:
        if not target.exists() and not target.is_symlink():
            return NEW
        ignored = [*self.course.ignore, *RECEIPTS]
        if receipt.fingerprint(target, ignored) == receipt.fingerprint(unpacked, ignored):
            return UNCHANGED
        return REPLACED if self.update else KEPT

    def _put(self, unpacked: Path, target: Path, state: str, time: datetime | None) -> None:
        """Put the submission into its place, if it is new or replaces one, and state its time if it is known."""
        if state in (NEW, REPLACED):
            if time:
                atomic.write_text(unpacked / receipt.TIMESTAMP, receipt.stamp(time))
            atomic.put_folder(unpacked, target, unpacked.parent / "before")
        elif state == UNCHANGED and time and receipt.timestamp(target) is None:
            atomic.write_text(target / receipt.TIMESTAMP, receipt.stamp(time))

    def _named(self, upload: Upload) -> tuple[dict[str, ZipInfo], list[str]]:
        """Return an upload's files by path, with the notebook under its released name, and what was chosen, as texts.

        Considers notebooks that contain released cells, or have the released name, even with a suffix that browsers
        and platforms add to repeated names, such as `NAME-1.ipynb` and `NAME (1).ipynb`. A notebook whose released
        cells are unchanged counts only if all are; then the newest counts, by Canvas's number, or else by the number
        in its name.
        """
        files, wanted = upload.files, f"{self.name}.ipynb"
        notebooks = [path for path in files if path.casefold().endswith(".ipynb") and not _HIDDEN.search(path)]
        if notebooks in ([], [wanted]):
            return files, []
        again = re.compile(rf"{re.escape(composed(self.name))}(?:[-_](\d+)| ?\((\d+)\))?\.ipynb")
        matches = {path: again.fullmatch(path) for path in notebooks}
        numbers = {path: int("0" + "".join(filter(None, m.groups()))) for path, m in matches.items() if m}
        answers = {path: self._answered(files[path]) for path in notebooks}
        candidates = [path for path in notebooks if path in numbers or answers[path] is not None]
        if not candidates:
            return files, []
        answered = [path for path in candidates if answers[path] is not False] or candidates
        chosen = max(answered, key=lambda path: (upload.order[path], numbers.get(path, -1), path))
        others = [path for path in candidates if path != chosen]
        said = {chosen: RENAMED if chosen in numbers else OURS} if chosen != wanted else {}
        older = OLDER if upload.order[chosen] else UNKNOWN
        said |= {path: older if path in answered else NO_ANSWERS for path in others}
        top = "" if chosen in numbers else chosen[: chosen.rfind("/") + 1]
        rest = {path: info for path, info in files.items() if path not in candidates}
        inside = {path.removeprefix(top): info for path, info in rest.items() if path.startswith(top)}
        return inside | {wanted: files[chosen]}, [_(what, file=readable(path)) for path, what in said.items()]

    def _answered(self, info: ZipInfo) -> bool | None:
        """Return whether a notebook has answers; None if it is not one that grading would accept."""
        if info.file_size > MOST_READ:
            return None
        try:
            with self.archive.open(info) as member:
                data = member.read(MOST_READ)
            return None if _refusal(data, self.release) else bool(self.release.find(ipynb.read(data)["cells"]).homes)
        except DAMAGED:
            return None


_HIDDEN = re.compile(r"(^|/)\.")  # such as .ipynb_checkpoints
RENAMED, OURS = N_("{file} was renamed"), N_("{file} was renamed, because it has the released cells")
NO_ANSWERS, OLDER = N_("{file} has no answers"), N_("{file} is older")
UNKNOWN = N_("{file} is ignored, but could be newer: the archive does not say; compare them")


def _refusal(notebook: bytes, release: Release) -> str:
    """Return why grading will refuse a notebook; "" if it will not."""
    try:
        require_ours(from_dict(ipynb.read(notebook)), release)
    except (Unreadable, SubmissionError) as error:
        return str(error)
    return ""


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
