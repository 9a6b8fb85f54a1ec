"""Pack feedback pages into an archive, under the file names by which a learning platform matches students.

Canvas, app/models/abstract_assignment.rb (infer_comment_context_from_filename), splits a name at _ and ignores LATE;
the first two numbers are the person's number and a submitted file's. It ignores names that begin with ._ and names
whose last part begins with link; names beginning with anon have a different form. A page appears as a comment, named
after the submitted file.

Moodle, mod/assign/feedback/file/importziplib.php (is_valid_filename_for_import), expects, since 2.4, the name, the
number in this assignment, the kind and name of the plugin, and the file's own name, joined by _. It ignores names that
begin with . or ~, and files that it already has.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from . import zipped
from .sent import Sent


def member(sent: Sent, name: str) -> str:
    """Return the archive name of one student's page for assignment `name`."""
    if sent.platform == "canvas":
        who = re.sub(r"[\W\d_]", "", sent.name).removeprefix("anon") or "student"
        return f"{who}_{sent.number}_{sent.file}_{name}_feedback.html"
    who = sent.name.replace("_", " ").strip(" .~") or "Participant"
    return f"{who}_{sent.number}_assignfeedback_file_{name}_feedback.html"


def pack(path: Path, name: str, pages: Mapping[str, Path], sent: Mapping[str, Sent], platform: str) -> list[str]:
    """Pack an assignment's pages for a platform; return the students whose pages are not in the archive.

    pages, sent: by student. Students who were not imported from this platform are left out.
    """
    own = {student: sent[student] for student in pages if student in sent and sent[student].platform == platform}
    zipped.write(path, {member(entry, name): pages[student].read_bytes() for student, entry in sorted(own.items())})
    return sorted(set(pages) - set(own))
