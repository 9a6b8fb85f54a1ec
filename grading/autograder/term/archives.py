"""Archives of submissions as learning platforms make them: which member belongs to whom, by the names in them.

Neither platform writes into its archive when a submission was handed in: the times of the members are those of the
download. Nothing is written here, and no member is read before its name and its size have been looked at.
"""

import contextlib
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from zipfile import ZipFile, ZipInfo

from ..errors import ClassError
from ..steps.files import MAX_BYTES, MAX_DEPTH, MAX_FILES, readable

# Canvas, lib/content_zipper.rb (get_filename, add_upload_submission): the sortable name, of which letters, digits and _
# are left; LATE if it was handed in late; the number of the person; the number of the file; the file's name, in which
# Canvas writes -1, -2 … for each time that the same name was handed in again. Under anonymous grading anon_… stands
# for name and number. What was typed instead of handed in ends in _text.html or _link.html, and has no file's number.
CANVAS = re.compile(r"(?!anon_)(?P<name>[^/]*?)_(?P<late>(?i:LATE)_)?(?P<id>\d+)_(?P<file>\d+)_(?P<inside>[^/]+)")

TYPED = re.compile(r"(?!anon_)(?P<name>[^/]*?)_(?:(?i:LATE)_)?(?P<id>\d+)_(?:text|link)\.html")
TEST_STUDENT = "studenttest"  # Canvas's own, of each course: "Student, Test"

# Moodle, mod/assign/classes/downloader.php (get_student_prefix, load_submissionplugin_filelist): the full name, or
# Participant where it is hidden, and a number that Moodle gives this person for this one assignment; then a folder of
# each kind of submission (since 3.1; at first with a _ at its end), or all in the file's name ("Download submissions
# in folders" is off, and before 3.1).
MOODLE = re.compile(
    r"(?P<name>[^/_]*)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_?/|_)(?P<inside>[^/].*)", re.DOTALL
)
_NUMBERS = re.compile(r"(?=(?:^|_)(\d+)_\d+_)")
LONGEST = 4096  # characters of a path, on Linux
OF_THE_SYSTEM = ("__MACOSX/", ".DS_Store")


@dataclass
class HandedIn:
    """What an archive holds of one person: the platform's number, the name there, and the files by their paths.

    order: of Canvas's files the number of each, the newest the greatest. why: why nothing of it may be taken.
    """

    number: str
    name: str
    late: bool = False
    files: dict[str, ZipInfo] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    why: str = ""

    @property
    def numbers(self) -> set[str]:
        """Other numbers that could be the person's, where a name holds what looks like one of Canvas's own."""
        return {number for name in self.files for number in _NUMBERS.findall(name)}

    @property
    def who(self) -> str:
        """What to call this person where nobody knows yet who it is."""
        return f"{readable(self.name)[:100] or 'no name'} ({self.number})"


@dataclass(frozen=True)
class Archive:
    """All that an archive holds, by person; who typed something instead of a file; and the members of nobody."""

    platform: str
    handed_in: list[HandedIn]
    others: list[str]
    typed: list[HandedIn] = field(default_factory=list)


def look_into(archive: ZipFile, platform: str = "") -> Archive:
    """Sort the members of an archive by person; without a platform, that one whose names they have.

    Raises ClassError if a member's name leads out of the archive, or if no platform names files like this.
    """
    members = [(name_of(info), info) for info in archive.infolist() if not info.is_dir()]
    members = [(name, info) for name, info in members if not name.startswith(OF_THE_SYSTEM[0])]
    members = [(name, info) for name, info in members if PurePosixPath(name).name != OF_THE_SYSTEM[1]]
    for name, info in members:
        if _leads_out(name):
            raise ClassError(
                f"Nothing was imported: {readable(name)[:200]!r} in the archive is no name of a file inside it. No "
                "learning platform writes such a name; ask where the archive comes from."
            )
        if info.flag_bits & 1:
            raise ClassError(f"Nothing was imported: {readable(name)[:200]} in the archive is encrypted.")
    found = {name: sort(members) for name, sort in PLATFORMS.items() if platform in ("", name)}
    best = max(found.values(), key=lambda archive: len(archive.handed_in))
    if not best.handed_in:
        names = ", ".join(readable(name)[:80] for name, _ in members[:3]) or "nothing"
        raise ClassError(
            f"Nothing was imported: in the archive stand {names}. Moodle's would be "
            "Anna Lena_12345_assignsubmission_file/NAME.ipynb, Canvas's lenaanna_12345_67890_NAME.ipynb; take the "
            "archive as the platform gives it, without unpacking and packing it again."
        )
    for one in best.handed_in:
        one.why = one.why or _too_much(one)
    return best


def name_of(info: ZipInfo) -> str:
    """The name of a member in Unicode's composed form; older programs write UTF-8 without saying so."""
    name = info.filename
    if not info.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def canvas(members: Iterable[tuple[str, ZipInfo]]) -> Archive:
    """Sort the members of one of Canvas's archives by the number of the person and the name before it.

    Who chooses a name such as `x_1001_99` chooses the number, too: `submissions` compares the name with the roster's.
    """
    people, others, typed = {}, [], []
    for name, info in members:
        found = CANVAS.fullmatch(name)
        if found is None:
            text = TYPED.fullmatch(name)
            others += [] if text else [name]
            typed += [HandedIn(text["id"], text["name"])] if text else []
            continue
        one = people.setdefault((found["id"], found["name"]), HandedIn(found["id"], found["name"]))
        one.late = one.late or found["late"] is not None
        number = int(found["file"][:18])
        if number >= one.order.get(found["inside"], -1):
            one.files[found["inside"]], one.order[found["inside"]] = info, number
    return Archive("canvas", list(people.values()), others, typed)


def moodle(members: Iterable[tuple[str, ZipInfo]]) -> Archive:
    """Sort the members of one of Moodle's archives by the number of the person in this assignment."""
    people, others = {}, []
    for name, info in members:
        found = MOODLE.fullmatch(name)
        if found is None or found["kind"] != "file":
            others.append(name)
            continue
        one = people.setdefault(found["id"], HandedIn(found["id"], found["name"]))
        if found["inside"] in one.files:
            one.why = f"{readable(found['inside'])[:200]} is there twice"
        one.files[found["inside"]] = info
    return Archive("moodle", list(people.values()), others)


PLATFORMS = {"moodle": moodle, "canvas": canvas}  # what reads like both is Moodle's, whose names say more


def _leads_out(name: str) -> bool:
    parts = name.split("/")
    return len(name) > LONGEST or "\\" in name or ":" in parts[0][:2] or any(part in ("", ".", "..") for part in parts)


def _too_much(one: HandedIn) -> str:
    """Why the files of one person are not taken; grading would refuse them for the same reasons."""
    if len(one.files) > MAX_FILES:
        return f"there are more than {MAX_FILES} files in it"
    if sum(info.file_size for info in one.files.values()) > MAX_BYTES:
        return f"its files have more than {MAX_BYTES / 1e6:g} MB together"
    for name, info in one.files.items():
        parts = name.split("/")
        if len(parts) > MAX_DEPTH:
            return f"its folders lie more than {MAX_DEPTH} deep in each other"
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            return f"{readable(name)[:200]} is a link or a special file"
        if max(len(part.encode(errors="surrogateescape")) for part in parts) > 200 or "\0" in name:
            return f"the name {readable(name)[:50]}… is too long"
    return ""
