"""Remember which flags an instructor has seen, so that `week` lists only new ones."""

import hashlib
import json
from pathlib import Path

import msgspec
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic

from ..steps import outcome
from .report import Report, Row


def unseen(course: CourseDirectory, report: Report) -> list[Row]:
    """Return the rows with flags, except those whose submission and flags were marked as seen."""
    seen = _read(_path(course, report.assignment))
    return [row for row in report.rows if row.flags and seen.get(row.student) != _mark(row)]


def mark(course: CourseDirectory, report: Report) -> None:
    """Mark all flags of a report as seen."""
    marks = {row.student: _mark(row) for row in report.rows if row.flags}
    atomic.write_text(_path(course, report.assignment), json.dumps(marks, indent=1) + "\n", mode=0o600)


def _mark(row: Row) -> str:
    """Return a digest of a submission and its flags."""
    said = [outcome.of(row.notebook).handed_in if row.notebook else "", *map(repr, row.flags)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, ValueError):
        return {}


def _path(course: CourseDirectory, name: str) -> Path:
    return Path(course.root, "reports", f"{name}.seen.json")
