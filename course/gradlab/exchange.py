"""nbgrader's exchange and the workspace: what a class hands out comes as any new edition does, with the student's work.

The Assignment List and `python -m gradlab lab` bring it the same way, so each knows what the other brought.
"""

import contextlib
import os
import stat
from pathlib import Path

from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeList
from traitlets.config.loader import PyFileConfigLoader

from .setup.workspace import bring_up_to_date, is_of_edition


def handed_out(settings: Path) -> dict[str, Path]:
    """Return what the class has released in its exchange, by name; settings: the workspace's nbgrader_config.py."""
    with contextlib.chdir(settings.parent):  # where nbgrader reads it
        c = PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
    if not Path(c.Exchange.root).is_dir():
        raise NotADirectoryError(f"the exchange {c.Exchange.root} is not a folder")
    outbound = Path(c.Exchange.root, c.CourseDirectory.course_id, "outbound")
    if outbound.is_dir():
        require_own(outbound)
    names = os.listdir(outbound) if outbound.is_dir() else []
    return {name: outbound / name for name in sorted(names) if (outbound / name).is_dir()}


def require_own(outbound: Path) -> None:
    """Raise PermissionError if another than its owner could have put something into what a course hands out."""
    course = outbound.parent
    require_course(course)
    if outbound.stat().st_mode & stat.S_IWOTH:
        raise PermissionError(f"everyone can write in {outbound}; its owner mends that: chmod o-w {outbound}")
    released = [path for path in outbound.iterdir() if path.is_dir()]
    if {path.lstat().st_uid for path in [outbound, *released]} != {course.stat().st_uid}:
        raise PermissionError(f"what is in {course} belongs to more than one; who teaches looks at it")


def require_course(course: Path) -> None:
    """Raise PermissionError if others than its owner could put another folder in the place of a course's."""
    root = course.parent
    if root.stat().st_mode & stat.S_IWOTH and not root.stat().st_mode & stat.S_ISVTX:
        raise PermissionError(f"everyone can rename what is in {root}; its owner mends that: chmod 1777 {root}")
    if course.stat().st_mode & stat.S_IWOTH:
        raise PermissionError(f"everyone can write in {course}; its owner mends that: chmod o-w {course}")


class FetchEdition(ExchangeFetchAssignment):
    """Fetch what the class has released; a copy that is there takes it in as a new edition."""

    def init_dest(self):
        """Find the place in the workspace, which may be taken."""
        self.replace_missing_files = True
        require_own(Path(self.src_path).parent)
        super().init_dest()

    def do_copy(self, src, dest):
        """Bring the released edition."""
        workspace = Path(self.assignment_dir).resolve()
        name = Path(dest).relative_to(workspace).as_posix()
        for change in bring_up_to_date({name: Path(src)}, workspace):
            if change.what == "failed":
                self.fail(change.says)
            self.log.info(change.says)


class ListEditions(ExchangeList):
    """List an assignment as released, too, while the workspace has another edition of it."""

    def parse_assignments(self):
        """Return what nbgrader lists, and what is there to fetch although there is a copy."""
        found = super().parse_assignments()
        copies = [info for info in found if info["status"] == "fetched"]
        return found + [newer for info in copies for newer in self._newer(info)]

    def _newer(self, info: dict) -> list[dict]:
        released = Path(self.root, info["course_id"], "outbound", info["assignment_id"])
        workspace, copy = Path(self.assignment_dir).resolve(), Path(info["path"])
        if is_of_edition(released, copy.relative_to(workspace).as_posix(), workspace):
            return []
        return [{**info, "status": "released", "path": str(released), "notebooks": []}]
