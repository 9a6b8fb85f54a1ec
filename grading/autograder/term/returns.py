"""Feedback pages as one archive, under the names by which a learning platform finds whose each is.

Canvas, app/models/abstract_assignment.rb (infer_comment_context_from_filename): of the parts between the _ of a name,
without LATE, the first two that are numbers are the person's and that of a file that they handed in. It ignores names
that begin with ._, and those whose last part begins with link; anon begins another form. A page appears as a comment,
under the name of the file that was handed in.

Moodle, mod/assign/feedback/file/importziplib.php (is_valid_filename_for_import): name, number in this assignment, kind
and name of the plugin, and the file's own name, with _ between them; in this form since 2.4. It ignores names that
begin with . or ~, and files that it has already.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from . import zipped
from .sent import Sent


def member(sent: Sent, name: str) -> str:
    """The name in the archive of one student's page."""
    if sent.platform == "canvas":
        who = re.sub(r"[\W\d_]", "", sent.name).removeprefix("anon") or "student"
        return f"{who}_{sent.number}_{sent.file}_{name}_feedback.html"
    who = sent.name.replace("_", " ").strip(" .~") or "Participant"
    return f"{who}_{sent.number}_assignfeedback_file_{name}_feedback.html"


def pack(path: Path, name: str, pages: Mapping[str, Path], sent: Mapping[str, Sent], platform: str) -> list[str]:
    """Write the pages of an assignment into an archive for a platform; returns whose are not in it.

    pages, sent: by student. Who was not imported from this platform has no name there.
    """
    own = {student: sent[student] for student in pages if student in sent and sent[student].platform == platform}
    zipped.write(path, {member(one, name): pages[student].read_bytes() for student, one in sorted(own.items())})
    return sorted(set(pages) - set(own))
