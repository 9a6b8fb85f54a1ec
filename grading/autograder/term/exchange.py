"""Protect nbgrader's exchange: only owners can replace their files, and collecting trusts no file that students wrote.

The drop box is the one place where students write into the instructor's file system, so nothing in it is opened through
a link, and one odd thing never stops the others from being collected.
"""

import contextlib
import errno
import itertools
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import NamedTuple

from nbgrader.api import Gradebook
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment

from gradlab import atomic
from gradlab.exchange import require_course
from gradlab.words import N_, _

from .. import gradebook
from ..steps import receipt
from ..steps.files import MAX_BYTES, MAX_DEPTH, MAX_FILES, TIMESTAMP, composed, known_as, read_time, readable

SLACK = timedelta(minutes=10)  # allowed from a submission's timestamp until its copy is complete
MOST_LISTED = 10  # files of one submission that were left out

try:
    import pwd
except ImportError:  # Windows, where nbgrader has no exchange
    pwd = None  # type: ignore[assignment]


class ReleaseSticky(ExchangeReleaseAssignment):
    """nbgrader's release step, which also sets the sticky bit of a world-writable exchange.

    Users can then rename only their own files.
    """

    def ensure_root(self):
        """Create the exchange; set its sticky bit, like that of `/tmp`, if it belongs to this account."""
        super().ensure_root()
        mode = os.stat(self.root).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX and os.stat(self.root).st_uid == os.geteuid():
            os.chmod(self.root, stat.S_IMODE(mode) | stat.S_ISVTX)


class Inbound(NamedTuple):
    """A folder in the drop box.

    time: of submission, from its name. owner: its uid. came: when it last changed. Times are in UTC without a zone.
    """

    student: str
    time: datetime
    folder: str
    owner: int
    came: datetime


class CollectOwn(ExchangeCollect):
    """nbgrader's collect step for a drop box in which anybody may have put anything.

    It takes the newest folder that belongs to the student's account. Folders of other accounts are skipped and logged,
    except those of the collecting account and of root, which can belong to any student, for example after an import;
    `c.ExchangeCollect.check_owner = False` accepts all owners, for machines on which account names and student ids
    differ. From the folder it copies the regular files that belong to the folder's owner, within the limits for a
    submission, without following links; the log lists everything else. The submission's time is the one in the folder's
    name. Folders that arrived too long after that time are logged too; the arrival is the change time, which students
    cannot set back.
    """

    def init_src(self):
        """Choose the folders to collect; fail if anyone but its owner could have changed the course's folder."""
        course = Path(self.root, self.coursedir.course_id)
        self.inbound_path = str(course / "inbound")
        if not self.coursedir.course_id or not os.path.isdir(self.inbound_path):
            self.fail(_("Course not found: {folder}", folder=self.inbound_path))
        try:
            require_course(course)
        except PermissionError as error:
            self.fail(str(error))
        due = self._due() if self.before_duedate else None
        inbound = sorted(self._inbound(), key=lambda submission: (submission.student, submission.time))
        self.src_records = []
        for _student, mine in itertools.groupby(inbound, key=lambda submission: submission.student):
            in_order = list(mine)
            on_time = [submission for submission in in_order if due and submission.time <= due]
            self.src_records.append((on_time or in_order)[-1])
        for submission in self.src_records:
            if submission.came - submission.time > SLACK:
                late = N_("{student}: the timestamp of {folder} is {time} UTC, but it arrived at {came} UTC.")
                self.log.error(_(late, **submission._asdict()))

    def copy_files(self):
        """Copy each chosen folder that is new, or with `--update` newer, into `submitted/`; log what was left out."""
        name = self.coursedir.assignment_id
        self.log.info(_("Students with submissions: {number}", number=len(self.src_records)))
        for submission in self.src_records:
            target = Path(self.coursedir.format_path(self.coursedir.submitted_directory, submission.student, name))
            had = receipt.timestamp(target)
            newer = had is None or (submission.time != had if self.before_duedate else submission.time > had)
            if target.is_dir() and not (newer and (self.update or self.before_duedate)):
                self.log.info(_("{student}: already collected; --update takes newer ones.", student=submission.student))
                continue
            try:
                self._collect(submission, target)
            except OSError as error:
                self.log.error(_not_collected(submission.folder, error))
            else:
                self.log.info(_("{student}: collected.", student=submission.student))

    def _due(self) -> datetime | None:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            return gradebook.find_assignment(book, self.coursedir.assignment_id).duedate

    def _inbound(self) -> Iterator[Inbound]:
        """Yield the drop box's folders for this assignment that may be collected; log the others."""
        wanted = re.compile(
            rf"(.+)\+{re.escape(self.coursedir.assignment_id)}\+([^+]*(?:\+\d{{4}})?)(?:\+[^+]*)?", re.DOTALL
        )
        for name in sorted(os.listdir(self.inbound_path)):
            match = wanted.fullmatch(name)
            if match and self.coursedir.student_id in ("", "*", match[1]):
                try:
                    yield self._may_be_collected(name, *match.groups())
                except (OSError, ValueError) as error:
                    self.log.error(_not_collected(name, error))

    def _may_be_collected(self, name: str, student: str, time: str) -> Inbound:
        """Return a folder of the drop box; raise ValueError, with the reason, if it must not be collected."""
        status = os.lstat(os.path.join(self.inbound_path, name))
        if not stat.S_ISDIR(status.st_mode):
            raise ValueError(_("it is a link, or not a folder"))
        owner = self._other_owner(status.st_uid, student)
        if owner:
            raise ValueError(_("it belongs to {owner}, but claims to be another student's", owner=owner))
        if known_as(student) != composed(student) or student in (os.curdir, os.pardir):
            raise ValueError(_("its name does not begin with a valid student id"))
        try:
            when = read_time(time)
        except Exception:  # any error: third-party libraries parse it
            raise ValueError(_("its name contains no time of submission")) from None
        came = datetime.fromtimestamp(status.st_ctime, UTC).replace(tzinfo=None, microsecond=0)
        return Inbound(composed(student), when, name, status.st_uid, came)

    def _other_owner(self, uid: int, student: str) -> str:
        """Return the account with this uid if it is not the student's, the collector's or root's; "" if it is."""
        if not self.check_owner or pwd is None or uid in (0, os.geteuid()):
            return ""
        try:
            owner = pwd.getpwuid(uid).pw_name
        except KeyError:
            owner = _("the unknown account {uid}", uid=uid)
        return "" if composed(owner) == composed(student) else owner

    def _collect(self, submission: Inbound, target: Path) -> None:
        """Replace the student's submission with the copied folder; log what was left out of it."""
        with tempfile.TemporaryDirectory(dir=self.coursedir.root, prefix=".collect-") as temporary:
            copy, chosen, before = (Path(temporary, part) for part in ("copy", "chosen", "before"))
            folder = Path(self.inbound_path, submission.folder)
            left = CopyOwn(folder, copy, f"{target.name}.ipynb", submission.owner if self.check_owner else None).left
            atomic.write_text(copy / TIMESTAMP, receipt.stamp(submission.time))
            self.do_copy(copy, chosen)  # with the class's patterns and permissions
            atomic.put_folder(chosen, target, before)
        if left:
            files, student = "; ".join(left[:MOST_LISTED] + ["…"] * (len(left) > MOST_LISTED)), submission.student
            self.log.error(_("{student}: left out of the submission: {files}.", student=student, files=files))


def _not_collected(folder: str, error: Exception) -> str:
    why = getattr(error, "strerror", None) or error
    return _("{folder} is not collected: {why}.", folder=readable(folder), why=why)


class CopyOwn:
    """A copy, in the new folder `target`, of the regular files in a folder that belong to its owner.

    owner: the owner's uid, or None to copy everybody's files. Follows no link, not even one that takes a file's place
    meanwhile. Copies at most MAX_FILES files and folders and MAX_BYTES bytes, beginning with the file `first`, and no
    timestamp. left: what was left out, a few words each. Raises OSError if the folder cannot be read or is not the
    owner's.
    """

    def __init__(self, folder: Path, target: Path, first: str, owner: int | None):
        self.target, self.first, self.owner, self.left = target, PurePath(first), owner, list[str]()
        self.files = self.bytes = 0
        with _opened(folder) as (at, status):
            if owner not in (None, status.st_uid):
                raise PermissionError(errno.EPERM, _("its owner changed while it was collected"))
            self._folder(at, PurePath())

    def _folder(self, at: int, path: PurePath) -> None:
        (self.target / path).mkdir(parents=True)
        with os.scandir(at) as entries:
            inside = {path / entry.name for entry in itertools.islice(entries, MAX_FILES + 1)}
        inside -= {self.first, PurePath(TIMESTAMP)}
        for child in [*([] if path.parts else [self.first]), *sorted(inside)]:
            try:
                with _opened(child.name, at) as (file, status):
                    self._copy(file, status, child)
            except FileNotFoundError:  # it has no such notebook, or the file is gone by now
                continue
            except (OSError, ValueError) as error:
                why = _("a link") if getattr(error, "errno", 0) == errno.ELOOP else getattr(error, "strerror", error)
                self.left.append(f"{readable(str(child))} ({why})")

    def _copy(self, file: int, status: os.stat_result, path: PurePath) -> None:
        """Copy an opened file or folder; raise ValueError, with the reason, if it must be left out."""
        if self.owner not in (None, status.st_uid):
            raise ValueError(_("another account's"))
        if len(path.parts) > MAX_DEPTH or self.files == MAX_FILES:
            raise ValueError(_("more than {files} files or {depth} levels", files=MAX_FILES, depth=MAX_DEPTH))
        self.files += 1
        if stat.S_ISDIR(status.st_mode):
            return self._folder(file, path)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise ValueError(_("a link or special file"))
        room = MAX_BYTES - self.bytes
        with open(file, "rb", closefd=False) as opened:
            data = opened.read(room + 1) if status.st_size <= room else b""
        if max(status.st_size, len(data)) > room:
            raise ValueError(_("more than {most:g} MB in total", most=MAX_BYTES / 1e6))
        self.bytes += len(data)
        (self.target / path).write_bytes(data)
        return None


@contextlib.contextmanager
def _opened(path: Path | str, folder: int | None = None) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file or folder, but no link, inside the opened `folder`; yield its descriptor and its status."""
    at = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        yield at, os.fstat(at)
    finally:
        os.close(at)
