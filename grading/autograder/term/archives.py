"""Group the files of a learning platform's submission archive by person, according to the file names.

Archives contain no submission times: the members' times are from the download. This module writes nothing, and
checks each member's name and size before reading it.
"""

import contextlib
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from zipfile import ZipFile, ZipInfo

from gradlab.words import _

from ..errors import ClassError
from ..steps.files import MAX_BYTES, MAX_DEPTH, MAX_FILES, composed, readable

# How each platform names the files.
#
# Canvas, lib/content_zipper.rb (get_filename, add_upload_submission): the sortable name, reduced to letters, digits
# and _; LATE if it was submitted late; the person's number; the file's number; the file's name, to which Canvas adds
# -1, -2 … each time the same name is submitted again. Under anonymous grading, anon_… replaces name and number. Typed
# text ends in _text.html or _link.html, has no file number, and does not match.
#
# Moodle, mod/assign/classes/downloader.php (get_student_prefix, load_submissionplugin_filelist): the full name, or
# Participant if it is hidden, and the person's number in this assignment; then a folder per kind of submission (since
# 3.1; in early versions ending in _), or everything in the file's name (before 3.1, or if "Download submissions in
# folders" is off).
NAMES = {
    "moodle": re.compile(r"(?P<name>[^/_]*)_(?P<id>\d+)_assignsubmission_file(?:_?/|_)(?P<inside>[^/].*)", re.DOTALL),
    "canvas": re.compile(r"(?!anon_)(?P<name>[^/]*?)_(?P<late>(?i:LATE)_)?(?P<id>\d+)_(?P<file>\d+)_(?P<inside>[^/]+)"),
}
TEST_STUDENT = "studenttest"  # each Canvas course has one: "Student, Test"
_NUMBERS = re.compile(r"(?=(?:^|_)(\d+)_\d+_)")
LONGEST, LONGEST_NAME = 1000, 200  # bytes of a path, and of a name in it; Linux allows 4096 and 255


@dataclass
class Upload:
    """One person's files in an archive, by path, with the person's number and name on the platform.

    order: Canvas's number for each file, and 0 in Moodle; newer files have greater numbers. why: why the files must not
    be imported.
    """

    number: str
    name: str
    late: bool = False
    files: dict[str, ZipInfo] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    why: str = ""

    @property
    def numbers(self) -> set[str]:
        """All numbers in the file names that could be a Canvas user number."""
        return {number for name in self.files for number in _NUMBERS.findall(name)}

    @property
    def who(self) -> str:
        """The name and number to show for a person who has not been identified."""
        return f"{readable(self.name)[:100]} ({self.number})"


@dataclass(frozen=True)
class Archive:
    """An archive's contents: uploads by person, and the other members."""

    platform: str
    uploads: list[Upload]
    others: list[str]


def look_into(archive: ZipFile) -> Archive:
    """Return an archive's members grouped by person, as the platform whose file names these are does.

    Raises ClassError if a member's path leads outside the archive, or if no platform uses such names.
    """
    members = [(name_of(info), info) for info in archive.infolist() if not info.is_dir()]
    outside = [readable(name)[:200] for name, _info in members if _leads_out(name)]
    if outside:
        raise ClassError(_("Nothing was imported: {path!r} leads outside the archive.", path=outside[0]))
    # ambiguous names count as Moodle's, whose pattern is stricter
    best = max((_grouped(platform, members) for platform in NAMES), key=lambda archive: len(archive.uploads))
    if not best.uploads:
        names = ", ".join(readable(name)[:80] for name, _info in members[:3]) or _("nothing")
        nothing = _("Nothing was imported: no file is named as in an archive of Moodle or Canvas.")
        download = _("The archive contains {names}. Import it as you downloaded it.", names=names)
        raise ClassError(f"{nothing} {download}")
    for upload in best.uploads:
        upload.why = upload.why or _too_much(upload)
    return best


def name_of(info: ZipInfo) -> str:
    """Return a member's name in Unicode's composed form, even if an older program wrote UTF-8 without declaring it."""
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return composed(name)


def _grouped(platform: str, members: Iterable[tuple[str, ZipInfo]]) -> Archive:
    """Group the members of an archive by person: by the number in the file name and the name before it.

    A Canvas name such as `x_1001_99` can fake a number, so `submissions` also compares the name with the roster.
    """
    people: dict[tuple[str, str], Upload] = {}
    others = []
    for name, info in members:
        match = NAMES[platform].fullmatch(name)
        if match is None:
            others.append(name)
            continue
        parts = match.groupdict()
        upload = people.setdefault((parts["id"], parts["name"]), Upload(parts["id"], parts["name"]))
        upload.late = upload.late or parts.get("late") is not None
        number, before = int(parts.get("file", "0")[:18]), upload.order.get(parts["inside"], -1)
        if number == before:
            upload.why = _("the archive contains {path} twice", path=readable(parts["inside"])[:200])
        if number >= before:
            upload.files[parts["inside"]], upload.order[parts["inside"]] = info, number
    return Archive(platform, list(people.values()), others)


def _leads_out(name: str) -> bool:
    parts = name.split("/")
    return "\\" in name or ":" in parts[0][:2] or any(part in ("", ".", "..") for part in parts)


def _too_much(upload: Upload) -> str:
    """Return why grading would refuse a person's files, which then must not be imported; "" if it would not."""
    if len(upload.files) > MAX_FILES or sum(info.file_size for info in upload.files.values()) > MAX_BYTES:
        return _("it contains more than {files} files or {size:g} MB", files=MAX_FILES, size=MAX_BYTES / 1e6)
    for name, info in upload.files.items():
        parts = name.split("/")
        if len(parts) > MAX_DEPTH:
            return _("its folders are nested more than {most} levels deep", most=MAX_DEPTH)
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            return _("{path} is a link or a special file", path=readable(name)[:200])
        if len(name.encode()) > LONGEST or max(len(part.encode()) for part in parts) > LONGEST_NAME:
            return _("the name {name}… is too long", name=readable(name)[:50])
    return ""
