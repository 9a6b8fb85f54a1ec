"""Give a learning platform what it takes: zip archives, with feedback pages under the names by which it matches them.

Canvas, app/models/abstract_assignment.rb (infer_comment_context_from_filename), splits a name at _ and ignores LATE;
the first two numbers are the person's number and a submitted file's. It ignores names that begin with ._ and names
whose last part begins with link; names beginning with anon have a different form. A page appears as a comment, named
after the submitted file.

Moodle, mod/assign/feedback/file/importziplib.php (is_valid_filename_for_import), expects, since 2.4, the name, the
number in this assignment, the kind and name of the plugin, and the file's own name, joined by _. It ignores names that
begin with . or ~, and files that it already has.
"""

import contextlib
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

FOLDER = "platform"  # in the class folder: files for a learning platform, and the names and numbers there


@dataclass(frozen=True)
class Sent:
    """A submission on a platform: the person's number and name there, and Canvas's number for the file."""

    platform: str
    number: str
    name: str
    file: str = ""


def read(course: CourseDirectory, name: str) -> dict[str, Sent]:
    """Return the stored Sent of an assignment's imported submissions by student, without those that are no Sent."""
    entries: dict[str, Sent] = {}
    try:
        stored = msgspec.json.decode(_path(course, name).read_bytes(), type=dict)
    except (OSError, ValueError):
        return {}
    for student, entry in stored.items():
        with contextlib.suppress(msgspec.ValidationError):
            entries[student] = msgspec.convert(entry, Sent)
    return entries


def keep(course: CourseDirectory, name: str, sent: dict[str, Sent]) -> None:
    """Add entries to an assignment's stored ones, replacing existing entries of the same students."""
    folder(course)
    entries = msgspec.json.encode(read(course, name) | sent, order="sorted")
    atomic.write_bytes(_path(course, name), msgspec.json.format(entries), 0o600)


def folder(course: CourseDirectory) -> Path:
    """Return the class's folder for a platform's files, creating it if needed."""
    path = Path(course.root, FOLDER)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root, FOLDER, f"{name}.imported.json")


def member(sent: Sent, name: str) -> str:
    """Return the archive name of one student's page for assignment `name`."""
    if sent.platform == "canvas":
        who = re.sub(r"[\W\d_]", "", sent.name).removeprefix("anon") or "student"
        return f"{who}_{sent.number}_{sent.file}_{name}_feedback.html"
    who = sent.name.replace("_", " ").strip(" .~") or "Participant"
    return f"{who}_{sent.number}_assignfeedback_file_{name}_feedback.html"


def pack(path: Path, members: Mapping[str, bytes], mode: int = 0o600) -> None:
    """Write an archive of `members`, contents by name, to `path`, replacing an existing file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)  # with the earliest date, so that archives are reproducible
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    atomic.write_bytes(path, made.getvalue(), mode)
