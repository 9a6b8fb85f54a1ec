"""Keep the journal of a run: the submissions to grade and those done, so that an interrupted run can resume."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gradlab import atomic

from ..errors import ClassError


@contextlib.contextmanager
def only_run(class_folder: Path) -> Iterator[None]:
    """Lock the class during the block, so that the gradebook has one writer; raise ClassError if already locked."""
    lock = FileLock(_folder(class_folder) / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ClassError(f"Another run is using the class in {class_folder}; wait until it ends.") from None
    try:
        yield
    finally:
        lock.release()


class Journal:
    """The journal file of a run: a line of JSON for the run, then one per finished submission, synced to disk."""

    def __init__(self, class_folder: Path, assignment: str):
        self.path = _folder(class_folder) / f"{assignment}.jsonl"
        self.force, self.students, self.done = False, [], {}

    def begin(self, force: bool, students: list[str]) -> None:
        """Start the journal of a new run, replacing the last run's."""
        self.force, self.students, self.done = force, students, {}
        self._write([{"force": force, "students": students}])

    def resume(self) -> None:
        """Read the last run's progress; students whose lines are damaged are graded again.

        Raises ClassError if there was no run, or if its first line is damaged.
        """
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        lines = text.split("\n")[:-1]  # the last line is empty or truncated
        if not lines:
            raise ClassError(f"There is no run to resume: {self.path} is missing or empty. Start one without --resume.")
        first, *others = [_entry(line) for line in lines]
        if not {"force", "students"} <= first.keys():
            raise ClassError(f"{self.path} is damaged. Start again without --resume, with --force if you used it.")
        noted = [entry for entry in others if {"student", "status"} <= entry.keys()]
        if len(noted) < len(others):
            print(f"{self.path} is damaged; students in its damaged lines are graded again.", file=sys.stderr)
        self.force, self.students = first["force"], first["students"]
        self.done = {entry["student"]: entry["status"] for entry in noted}
        self._write([first, *noted])

    def note(self, student: str, status: str) -> None:
        """Record that a student's submission is done, and sync the file to disk."""
        self.done[student] = status
        self._add({"student": student, "status": status})

    def _write(self, entries: list[dict]) -> None:
        atomic.write_text(self.path, "".join(json.dumps(entry) + "\n" for entry in entries))

    def _add(self, entry: dict) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _entry(line: str) -> dict:
    """Parse a line of the journal; return {} if it is damaged."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _folder(class_folder: Path) -> Path:
    folder = Path(class_folder) / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
