"""nbgrader's exchange and the workspace: a class's release arrives as a new edition that keeps the student's work.

The Assignment List and `python -m gradlab lab` both deliver releases this way, so each knows what the other delivered.
"""

import contextlib
import os
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeList
from traitlets.config.loader import PyFileConfigLoader

from .setup.workspace import bring_up_to_date, is_of_edition
from .words import _


def released_by_class(settings: Path) -> dict[str, Path]:
    """Return the folders that the class has released, by name; settings: the workspace's nbgrader_config.py."""
    with contextlib.chdir(settings.parent):  # the folder in which nbgrader reads it
        c = PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
    if not Path(c.Exchange.root).is_dir():
        raise NotADirectoryError(_("the exchange {folder} is not a folder", folder=c.Exchange.root))
    outbound = Path(c.Exchange.root, c.CourseDirectory.course_id, "outbound")
    if outbound.is_dir():
        require_own(outbound)
    names = os.listdir(outbound) if outbound.is_dir() else []
    return {name: outbound / name for name in sorted(names) if (outbound / name).is_dir()}


def require_own(outbound: Path) -> None:
    """Raise PermissionError if anyone but its owner could have added to a course's releases."""
    course = outbound.parent
    require_course(course)
    _refuse_open(outbound)
    released = [path for path in outbound.iterdir() if path.is_dir()]
    if {path.lstat().st_uid for path in [outbound, *released]} != {course.stat().st_uid}:
        raise PermissionError(_("the files in {folder} belong to several users; ask your instructor", folder=course))


def require_course(course: Path) -> None:
    """Raise PermissionError if anyone but its owner could replace a course's folder."""
    if not course.parent.stat().st_mode & stat.S_ISVTX:
        _refuse_open(course.parent, "1777")
    _refuse_open(course)


def _refuse_open(folder: Path, mode: str = "o-w") -> None:
    """Raise PermissionError if everyone can write to a folder; its owner should give it this mode."""
    if folder.stat().st_mode & stat.S_IWOTH:
        command = f"chmod {mode} {folder}"
        raise PermissionError(
            _("everyone can write to {folder}; its owner can fix that: {command}", folder=folder, command=command)
        )


class FetchEdition(ExchangeFetchAssignment):
    """Fetch the class's release; an existing copy becomes the new edition and keeps the student's work."""

    def init_dest(self):
        """Set the destination, a folder in the workspace that may already hold a copy; refuse unsafe releases."""
        self.replace_missing_files = True
        require_own(Path(self.src_path).parent)
        super().init_dest()

    def do_copy(self, src, dest):
        """Copy the released edition into the workspace, or merge it with the existing copy."""
        workspace = Path(self.assignment_dir).resolve()
        name = Path(dest).relative_to(workspace).as_posix()
        for change in bring_up_to_date({name: Path(src)}, workspace):
            if change.what == "failed":
                self.fail(change.says)
            self.log.info(change.says)


class ListEditions(ExchangeList):
    """List a fetched assignment as released, too, while the workspace has a different edition of it."""

    def parse_assignments(self):
        """Return nbgrader's list, plus the new editions of assignments that were fetched before."""
        assignments = super().parse_assignments()
        copies = [info for info in assignments if info["status"] == "fetched"]
        return assignments + [newer for info in copies for newer in self._newer(info)]

    def _newer(self, info: dict) -> list[dict]:
        released = Path(self.root, info["course_id"], "outbound", info["assignment_id"])
        workspace, copy = Path(self.assignment_dir).resolve(), Path(info["path"])
        if is_of_edition(released, copy.relative_to(workspace).as_posix(), workspace):
            return []
        return [{**info, "status": "released", "path": str(released), "notebooks": []}]
